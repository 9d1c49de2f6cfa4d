"""How much memory trees take: the depths that sentences need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from dbpcfg.evaluation.depths import tree_depth
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.grammar.levels import left_child, right_child
from dbpcfg.model.grammar_profile import Profile
from dbpcfg.numerics.kernels import Ints
from dbpcfg.parsing.derivations import Derivations


def memory(trees: Derivations, profile: Profile, gold: Gold | None) -> dict[str, Any]:
    """Shares of sentences by depth, from 1 up.

    Parameters
    ----------
    trees
        The trees of the selected chain.
    profile
        The profile of the grammar, with the depths of the sentences that it generates.
    gold
        The gold trees of the same sentences, if there are any.
    """
    series = [
        {
            "name": "induced trees",
            "shares": shares(depth_of(trees[s]) for s in range(len(trees))),
        },
        {"name": "the grammar's own sentences", "shares": profile.depths.tolist()},
    ]
    if gold is not None:
        depths = (tree_depth(tree, "right") for tree in gold.trees)
        series.append({"name": "gold trees, made binary to the right", "shares": shares(depths)})
    return {"bound": profile.depth, "series": series}


def depth_of(nodes: Ints) -> int:
    """The memory depth of one tree, that of its deepest right node and at least 1."""
    levels = [0] * len(nodes)
    deepest = 1
    for t, (start, end, _) in enumerate(rows := nodes.tolist()):
        if end - start > 1:
            right = t + 2 * (rows[t + 1][1] - start)
            levels[t + 1], levels[right] = left_child(levels[t]), right_child(levels[t])
            deepest = max(deepest, levels[right] // 2 + 1)
    return deepest


def shares(depths: Iterable[int]) -> list[float]:
    """The share of each depth, from 1 to the deepest."""
    counts = Counter(depths)
    total = sum(counts.values())
    return [counts[depth] / total for depth in range(1, max(counts, default=0) + 1)]
