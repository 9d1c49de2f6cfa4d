"""Where a chain can start other than at a grammar from the prior."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import RuleCounts
from dbpcfg.numerics.kernels import Ints, Longs, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.parsing.derivations import Derivations


def branching_counts(
    corpus: Encoded, categories: int, branching: Literal["left", "right"], numbers: Stream
) -> RuleCounts:
    """Rule counts of left- or right-branching trees with categories drawn at random."""
    trees = Derivations.empty(corpus)
    branching_nodes(corpus.starts, categories, branching == "right", numbers, trees.nodes)
    return trees.counts(categories)


@kernel
def branching_nodes(
    starts: Longs, categories: int, right: bool, numbers: Stream, nodes: Ints
) -> None:
    """Pre-order nodes of branching trees: node t's category is drawn from draw t."""
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        base = 2 * starts[s] - s
        for t in range(2 * n - 1):
            if right:  # phrases and words take turns, the last one is a word
                start, end = t // 2, n if t % 2 == 0 else t // 2 + 1
            elif t < n:  # all phrases, from the longest, then the words
                start, end = 0, n - t
            else:
                start, end = t - n + 1, t - n + 2
            uniform, _ = uniform_pair(numbers, s, t)
            nodes[base + t] = np.array([start, end, int(uniform * categories)])
