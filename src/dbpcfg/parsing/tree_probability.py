"""The log-probability of a given tree."""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Ints, kernel
from dbpcfg.parsing.chart.layout import Logs, chart_levels, left_below, right_below
from dbpcfg.parsing.derivations import CATEGORY, END, START


@kernel
def log_probability(nodes: Ints, words: Ints, G: Logs) -> float:
    """The sum of the logarithms of a tree's rules, before Z; −∞ if it does not fit the bound.

    The tree is given by its pre-order nodes.
    """
    total = G.root[nodes[0, CATEGORY]]
    levels = np.zeros(len(nodes), dtype=np.int64)
    for t in range(len(nodes)):
        start, end, c, level = nodes[t, START], nodes[t, END], nodes[t, CATEGORY], levels[t]
        if end - start == 1:
            total += G.lexical[words[start], c]
            continue
        if level == chart_levels(G.depth):  # (L,D+1), which must be a word
            return -np.inf
        left = t + 1
        right = t + 2 * (nodes[left, END] - start)
        levels[left], levels[right] = (
            left_below(levels[t], G.depth),
            right_below(levels[t], G.depth),
        )
        total += G.binary[c, nodes[left, CATEGORY], nodes[right, CATEGORY]]
    return float(total)
