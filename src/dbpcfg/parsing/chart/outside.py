"""The outside pass of one sentence whose chart has exponents: spans' posteriors, expected counts.

v(s,d,c,i,j) is the derivative of Σ_c π_c u(L,1,c,0,n) by u(s,d,c,i,j); u · v over that sum is the
posterior probability of a node c on (i,j) at side s and depth d::

    v(L,1,c,0,n) = π_c
    v(l,a,i,k)  += Σ_j Σ_cb v(m,c,i,j) G[c → a b] u(r,b,k,j)      l, r: the levels of m's children
    v(r,b,k,j)  += Σ_i Σ_ca v(m,c,i,j) G[c → a b] u(l,a,i,k)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Bytes, Floats, Ints, also_in_kernels, kernel
from dbpcfg.numerics.simd import round_to_zero
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
    right_below,
    right_cell,
    settle,
)
from dbpcfg.parsing.derivations import level_cell


class ScaledChart(NamedTuple):
    """The chart of one sentence, and room for its outside pass, which has one level more."""

    words: Ints
    cells: Floats
    exponents: Ints
    v: Floats
    v_exponents: Ints


def filled_chart(
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
def add_scaled(vector: Floats, exponent: int, more: Floats, shift: int) -> int:
    """vector · 2^exponent += more · 2^shift; return the exponent."""
    if shift > exponent:
        vector *= math.ldexp(1.0, exponent - shift) if exponent != EMPTY else 0.0
        vector += more
        return shift
    vector += more * math.ldexp(1.0, shift - exponent)
    return exponent


@also_in_kernels
def outside(C: ScaledChart, G: Tables) -> None:
    """Fill v, from the widest spans down; its last level is (L,D+1), whose spans are words."""
    words, cells, exponents, v, v_exponents = C
    n, depth, levels = len(words), G.depth, chart_levels(G.depth)
    v[:] = 0.0
    v_exponents[:] = EMPTY
    whole = left_cell(n, 0, n)
    v[0, whole] = G.root
    v_exponents[0, whole] = 0
    for width in range(n, 1, -1):
        for level in range(levels):
            l, r = left_below(level, depth), right_below(level, depth)
            for i in beginnings(level, depth, n, width):
                j = i + width
                cell = cell_of(n, level, i, j)
                v_exponents[level, cell] = settle(v[level, cell], v_exponents[level, cell])
                above = v_exponents[level, cell]
                if above == EMPTY or exponents[level, cell] == EMPTY:
                    continue
                pairs = np.dot(v[level, cell], G.by_parent).reshape(len(G.root), len(G.root))
                for k in range(i + 1, i + 2 if l == levels else j):
                    x, y = left_cell(n, i, k), right_cell(k, j)
                    left = G.emission[words[i]] if l == levels else cells[l, x]
                    left_exponent = 0 if l == levels else exponents[l, x]
                    if left_exponent == EMPTY or exponents[r, y] == EMPTY:
                        continue
                    v_exponents[l, x] = add_scaled(
                        v[l, x],
                        v_exponents[l, x],
                        np.dot(pairs, cells[r, y]),
                        above + exponents[r, y],
                    )
                    v_exponents[r, y] = add_scaled(
                        v[r, y], v_exponents[r, y], np.dot(left, pairs), above + left_exponent
                    )


@kernel
def add_marginals(C: ScaledChart, G: Tables, apart: int, weights: Floats, flush: bool) -> float:
    """u · v / Σ_c π_c u(L,1,c,0,n) to the weights of spans, of all levels together or apart.

    ``apart``: 0 or 1.
    Return ``log_inside``; if it is −∞, nothing is added.
    """
    round_to_zero(flush)
    words, cells, exponents, v, v_exponents = C
    n, levels = len(words), chart_levels(G.depth)
    whole = left_cell(n, 0, n)
    total, scale = np.dot(G.root, cells[0, whole]), exponents[0, whole]
    if exponents[0, whole] == EMPTY or total == 0.0:
        round_to_zero(False)
        return -np.inf
    outside(C, G)
    for level in range(levels + 1):
        for i in range(n):
            for j in range(i + 1, n + 1):
                cell = cell_of(n, level, i, j)
                if v_exponents[level, cell] == EMPTY:
                    continue
                if level < levels:
                    u, shift = cells[level, cell], exponents[level, cell]
                else:
                    u, shift = G.emission[words[i]], 0
                if shift == EMPTY:
                    continue
                shift += v_exponents[level, cell] - scale
                span = level_cell(n, apart * level, i, j)
                for c in range(weights.shape[1]):
                    weights[span, c] += math.ldexp(u[c] * v[level, cell, c] / total, shift)
    log_scale = scale * math.log(2.0)
    for i in range(n):
        log_scale += G.log_scale[words[i]]
    log = float(math.log(total) + log_scale)
    round_to_zero(False)
    return log


class Counted(NamedTuple):
    """Sums over sentences, in double precision, before they are multiplied by G."""

    root: Floats  # [c]
    by_parent: Floats  # [c, ab]
    by_left: Floats  # [a, cb]
    lexical: Floats  # [w, c]


@kernel
def add_expected_counts(
    C: ScaledChart, G: Tables, places: Ints, copies: float, counted: Counted
) -> None:
    """Add the sums of ``counts`` over the spans, ``copies`` times."""
    round_to_zero(False)
    words, cells, exponents, v, v_exponents = C
    n, depth, levels, K = len(words), G.depth, chart_levels(G.depth), len(G.root)
    whole = left_cell(n, 0, n)
    total, scale = np.dot(G.root, cells[0, whole]), exponents[0, whole]
    share, outer = copies / total, np.empty((K, K))
    outside(C, G)
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
            for i in beginnings(level, depth, n, width):
                j, cell = i + width, cell_of(n, level, i, i + width)
                here = v_exponents[level, cell]
                if here == EMPTY or exponents[level, cell] == EMPTY:
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
