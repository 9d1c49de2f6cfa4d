"""How much memory trees take: the depths that sentences need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from dbpcfg.evaluation.brackets import Brackets
from dbpcfg.evaluation.depths import span_depth, tree_depth
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.model.grammar_profile import Profile
from dbpcfg.parsing.derivations import Derivations


def memory(trees: Derivations, profile: Profile, gold: Gold | None) -> dict[str, Any]:
    """Shares of sentences by depth, from 1 up.

    ``profile``: the profile of the grammar, with the depths of the sentences that it generates.
    ``gold``: the gold trees of the same sentences, if there are any.
    """
    series = [
        {
            "name": "induced trees",
            "shares": shares(depths(trees)),
        },
        {"name": "the grammar's own sentences", "shares": profile.depths.tolist()},
    ]
    if gold is not None:
        needed = (tree_depth(tree, "right") for tree in gold.trees)
        series.append({"name": "gold trees, made binary to the right", "shares": shares(needed)})
    return {"bound": profile.depth, "series": series}


def depths(trees: Derivations) -> Iterator[int]:
    """The memory depth of each tree."""
    for s, words in enumerate(trees.corpus.lengths.tolist()):
        spans: Brackets = {(start, end): () for start, end, _ in trees[s].tolist()}
        yield span_depth(spans, words)


def shares(depths: Iterable[int]) -> list[float]:
    """The share of each depth, from 1 to the deepest."""
    counts = Counter(depths)
    total = sum(counts.values())
    return [counts[depth] / total for depth in range(1, max(counts, default=0) + 1)]
