"""Expected rule counts of one sentence whose chart needs exponents: see ``counts``."""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, kernel
from dbpcfg.numerics.simd import round_to_zero
from dbpcfg.parsing.chart.counts import Counted
from dbpcfg.parsing.chart.inside import inside, new_workspace
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    Tables,
    cell_count,
    cell_of,
    chart_levels,
    first_start,
    last_start,
    left_below,
    left_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.chart.outside import outside


def add_counts_of(
    words: Ints, places: Ints, depth: int, G: Tables, copies: float, counted: Counted
) -> float:
    """Add the expected counts of one sentence.

    ``depth``: the bound D; 0 for no bound.
    Returns ``log_inside`` of the sentence; if it is −∞, nothing is added.
    """
    n, K = len(words), G.root.shape[0]
    levels, size = chart_levels(depth), cell_count(n)
    cells, exponents = np.empty((1, levels, size, K)), np.empty((1, levels, size), dtype=np.int32)
    logs = np.empty(1)
    inside(words.reshape(1, n), depth, G, cells, exponents, new_workspace(n, G), False, logs)
    if copies and logs[0] > -np.inf:
        v = np.empty((levels + 1, size, K))
        v_exponents = np.empty((levels + 1, size), dtype=np.int32)
        add_scaled_counts(
            words, places, depth, G, cells[0], exponents[0], v, v_exponents, copies, counted
        )
    return float(logs[0])


@kernel
def add_scaled_counts(
    words: Ints,
    places: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    v: Floats,
    v_exponents: Ints,
    copies: float,
    counted: Counted,
) -> None:
    """The sums of ``counts`` over the spans of one filled chart; ``v`` is room for the outside."""
    round_to_zero(False)
    n, levels, K = len(words), chart_levels(depth), len(G.root)
    whole = left_cell(n, 0, n)
    total, scale = np.dot(G.root, cells[0, whole]), exponents[0, whole]
    share, outer = copies / total, np.empty((K, K))
    outside(words, depth, G, cells, exponents, v, v_exponents)
    counted.root[:] += G.root * cells[0, whole] * share
    for level in range(levels + 1):
        for i in range(n):  # words; the last level, (L,D+1), has no others
            cell = cell_of(n, level, i, i + 1)
            if v_exponents[level, cell] != EMPTY:
                factor = math.ldexp(share, v_exponents[level, cell] - scale)
                counted.lexical[places[i]] += v[level, cell] * factor
    for level in range(levels):
        l, r = left_below(level, depth), right_below(level, depth)
        for width in range(2, n + 1):
            for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                j, cell = i + width, cell_of(n, level, i, i + width)
                here = v_exponents[level, cell]
                if here == EMPTY:
                    continue
                outer[:] = 0.0
                for k in range(i + 1, i + 2 if l == levels else j):
                    x, y = left_cell(n, i, k), right_cell(k, j)
                    left = G.emission[words[i]] if l == levels else cells[l, x]
                    of_left = 0 if l == levels else exponents[l, x]
                    if of_left == EMPTY or exponents[r, y] == EMPTY:
                        continue
                    factor = math.ldexp(share, here + of_left + exponents[r, y] - scale)
                    for a in range(K):
                        for b in range(K):
                            outer[a, b] += factor * left[a] * cells[r, y, b]
                for c in range(K):
                    for a in range(K):
                        for b in range(K):
                            counted.by_parent[c, a * K + b] += v[level, cell, c] * outer[a, b]
