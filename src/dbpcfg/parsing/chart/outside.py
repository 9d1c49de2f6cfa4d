"""The outside pass: posterior probabilities of labelled spans, exact for a fixed grammar.

v(s,d,c,i,j) is the derivative of Σ_c π_c u(L,1,c,0,n) by u(s,d,c,i,j); u · v over that sum is the
posterior probability of a node c on (i,j) at side s and depth d::

    v(L,1,c,0,n) = π_c
    v(l,a,i,k)  += Σ_j Σ_cb v(m,c,i,j) G[c → a b] u(r,b,k,j)      l, r: the levels of m's children
    v(r,b,k,j)  += Σ_i Σ_ca v(m,c,i,j) G[c → a b] u(l,a,i,k)
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, also_in_kernels, kernel
from dbpcfg.numerics.simd import round_to_zero
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
    settle,
)


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
def outside(
    words: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    v: Floats,
    v_exponents: Ints,
) -> None:
    """Fill v for one sentence, from the widest spans down.

    ``v`` has one level more than the chart: the last one is (L,D+1), whose spans are words.
    """
    n = len(words)
    levels = chart_levels(depth)
    v[:] = 0.0
    v_exponents[:] = EMPTY
    whole = left_cell(n, 0, n)
    v[0, whole] = G.root
    v_exponents[0, whole] = 0
    for width in range(n, 1, -1):
        for level in range(levels):
            l, r = left_below(level, depth), right_below(level, depth)
            for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
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


def marginals(words: Ints, depth: int, G: Tables, posterior: Floats, flush: bool = False) -> float:
    """Posterior probabilities of the labelled spans of one sentence.

    ``depth``: the bound D; 0 for no bound.
    ``posterior``: ``[i, j, c]``, written to: the probability of c on (i,j), sides and depths summed
    over. All zero if the sentence has probability zero.
    """
    n, K = len(words), G.root.shape[0]
    levels, size = chart_levels(depth), cell_count(n)
    cells, exponents = np.empty((1, levels, size, K)), np.empty((1, levels, size), dtype=np.int32)
    batch, work = words.reshape(1, n), new_workspace(n, G)
    inside(batch, depth, G, cells, exponents, work, flush, np.empty(1))
    v, v_exponents = (
        np.empty((levels + 1, size, K)),
        np.empty((levels + 1, size), dtype=np.int32),
    )
    posterior[:] = 0.0
    return add_marginals(words, depth, G, cells[0], exponents[0], v, v_exponents, posterior, flush)


@kernel
def add_marginals(
    words: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    v: Floats,
    v_exponents: Ints,
    posterior: Floats,
    flush: bool,
) -> float:
    """u · v / Σ_c π_c u(L,1,c,0,n) of a filled chart, to ``posterior[i, j, c]``; return log_inside.

    ``v`` is room for the outside pass.
    """
    round_to_zero(flush)
    n = len(words)
    levels = chart_levels(depth)
    whole = left_cell(n, 0, n)
    total, scale = np.dot(G.root, cells[0, whole]), exponents[0, whole]
    if exponents[0, whole] == EMPTY or total == 0.0:
        round_to_zero(False)
        return -np.inf
    outside(words, depth, G, cells, exponents, v, v_exponents)
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
                for c in range(posterior.shape[2]):
                    posterior[i, j, c] += math.ldexp(u[c] * v[level, cell, c] / total, shift)
    log_scale = scale * math.log(2.0)
    for i in range(n):
        log_scale += G.log_scale[words[i]]
    log = float(math.log(total) + log_scale)
    round_to_zero(False)
    return log
