"""The outside pass of one sentence whose chart has exponents, in double precision.

It computes the same sums as ``outside``, for sentences whose probability is out of range there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Bytes, Floats, Ints, also_in_kernels, kernel
from dbpcfg.parsing.chart.inside import inside, new_workspace
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    NOTHING_CROSSES,
    Tables,
    beginnings,
    cell_count,
    cell_of,
    chart_levels,
    left_below,
    left_cell,
    rescale_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.chart.outside import RuleSums
from dbpcfg.parsing.derivations import level_cell


class ScaledChart(NamedTuple):
    """The chart of one sentence, and memory for its outside pass, which has one level more."""

    words: Ints
    cells: Floats
    exponents: Ints
    v: Floats
    v_exponents: Ints


def fill_chart(
    words: Ints, G: Tables, flush: bool = False, crossed: Bytes = NOTHING_CROSSES
) -> tuple[ScaledChart, float]:
    """The chart after the inside pass, and ``log_inside``."""
    n, K, logs = len(words), G.root.shape[0], np.empty(1)
    levels, size = chart_levels(G.depth), cell_count(n)
    cells, exponents = np.empty((1, levels, size, K)), np.empty((1, levels, size), dtype=np.int32)
    inside(words.reshape(1, n), crossed, G, cells, exponents, new_workspace(n, G), flush, logs)
    v, v_exponents = np.empty((levels + 1, size, K)), np.empty((levels + 1, size), dtype=np.int32)
    return ScaledChart(words, cells[0], exponents[0], v, v_exponents), float(logs[0])


@also_in_kernels
def add_scaled(vector: Floats, exponent: int, other: Floats, shift: int) -> int:
    """vector · 2^exponent += more · 2^shift; return the exponent."""
    if shift > exponent:
        vector *= math.ldexp(1.0, exponent - shift) if exponent != EMPTY else 0.0
        vector += other
        return shift
    vector += other * math.ldexp(1.0, shift - exponent)
    return exponent


@kernel
def scaled_outside(
    C: ScaledChart,
    G: Tables,
    copies: float,
    counted: RuleSums,
    counting: bool,
    by_level: int,
    weights: Floats,
) -> None:
    """Fill v, and add the sums of ``outside`` for a sentence of positive probability.

    Row i of ``counted.lexical`` is for word i; the sentence counts ``copies`` times. Posteriors of
    phrases are added to ``weights``, unless it is empty. The last level of v is (L,D+1), whose
    spans are words.
    """
    words, cells, exponents, v, v_exponents = C
    n, depth, levels, K = len(words), G.depth, chart_levels(G.depth), len(G.root)
    whole, outer = left_cell(n, 0, n), np.empty((K, K))
    scale = exponents[0, whole]
    share = copies / np.dot(G.root, cells[0, whole])
    v[:], v_exponents[:] = 0.0, EMPTY
    v[0, whole], v_exponents[0, whole] = G.root * share, -scale
    counted.root[:] += cells[0, whole] * v[0, whole]
    for width in range(n, 1, -1):
        for level in range(levels):
            l, r = left_below(level, depth), right_below(level, depth)
            for i in beginnings(level, depth, n, width):
                j, cell = i + width, cell_of(n, level, i, i + width)
                v_exponents[level, cell] = rescale_cell(v[level, cell], v_exponents[level, cell])
                above = v_exponents[level, cell]
                if above == EMPTY or exponents[level, cell] == EMPTY:
                    continue
                if len(weights):
                    span, shift = (
                        level_cell(n, by_level * level, i, j),
                        above + exponents[level, cell],
                    )
                    for c in range(weights.shape[1]):
                        posterior = math.ldexp(cells[level, cell, c] * v[level, cell, c], shift)
                        weights[span, c] += posterior
                outer[:] = 0.0
                pairs = np.dot(v[level, cell], G.by_parent).reshape(K, K)
                for k in range(i + 1, i + 2 if l == levels else j):
                    x, y = left_cell(n, i, k), right_cell(k, j)
                    left = G.emission[words[i]] if l == levels else cells[l, x]
                    of_left = 0 if l == levels else exponents[l, x]
                    if of_left == EMPTY or exponents[r, y] == EMPTY:
                        continue
                    right, of_right = cells[r, y], exponents[r, y]
                    v_exponents[l, x] = add_scaled(
                        v[l, x], v_exponents[l, x], np.dot(pairs, right), above + of_right
                    )
                    v_exponents[r, y] = add_scaled(
                        v[r, y], v_exponents[r, y], np.dot(left, pairs), above + of_left
                    )
                    factor = math.ldexp(1.0, above + of_left + of_right)
                    for a in range(K if counting else 0):
                        for b in range(K):
                            outer[a, b] += factor * left[a] * right[b]
                for c in range(K if counting else 0):
                    for a in range(K):
                        for b in range(K):
                            counted.by_parent[c, a * K + b] += v[level, cell, c] * outer[a, b]
    for level in range(levels + 1):
        for i in range(n):
            cell = cell_of(n, level, i, i + 1)
            if v_exponents[level, cell] != EMPTY:
                counted.lexical[i] += v[level, cell] * math.ldexp(1.0, v_exponents[level, cell])
