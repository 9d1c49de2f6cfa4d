"""Where the charts of a low-rank grammar keep their numbers.

With levels, spans and cells as in ``parsing.chart.layout``, a cell of a phrase has ::

    x_r(m,i,j) = Σ_k l_r(left child's level,i,k) · r_r(right child's level,k,j)
    h_A(m,i,j) = Σ_r u_Ar x_r(m,i,j)
    l_r(m,i,j) = Σ_A v_Ar h_A(m,i,j)  on even levels, whose nodes are left children
    r_r(m,i,j) = Σ_A w_Ar h_A(m,i,j)  on odd ones, whose nodes are right children

and a cell of a word has l_r = Σ_p v_pr G[p → w] or r_r = Σ_p w_pr G[p → w] on all levels, as a word
can stand wherever a phrase can. (L,D+1) is a word always, so (R,D) has one split point. P(sentence)
is Σ_A π_A h_A(L,1,0,n). Only the unbounded grammar enters; the bound decides which cells there are.

**Scaling.** A word's probabilities are divided by the greatest of them. Each cell has an exponent
of two: x is scaled by a power of two if its greatest entry is small, and h, l and r with it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dbpcfg.grammar.lowrank import Factors
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.layout import EMPTY, padded

ROWS = 64
"""Spans that are multiplied by the factors together."""
SMALL, SMALL_SINGLE = 2.0**-100, 2.0**-10
"""x is scaled if its greatest entry is smaller."""


class Rules(NamedTuple):
    """Factors as kernels want them: N and R padded with zeros to fill vector registers."""

    root: Floats  # [A]       π of phrases
    parent: Floats  # [A, r]  u
    parent_by_rank: Floats  # [r, A]
    left: Floats  # [A, r]    v of phrases
    left_by_rank: Floats  # [r, A]
    right: Floats  # [A, r]   w of phrases
    right_by_rank: Floats  # [r, A]


class RankCharts(NamedTuple):
    """The charts of some sentences, one after another: each has its levels, with all cells."""

    first: Longs  # [s]        where the cells of each sentence begin
    sums: Floats  # [cell, r]    x
    phrases: Floats  # [cell, A] h
    uses: Floats  # [cell, r]    l or r
    above: Floats  # [cell, r]   ∂ log P / ∂ uses
    exponents: Ints  # [cell]


class RankWorkspace(NamedTuple):
    """Room for a block of spans."""

    rows: Longs  # [row, 6]   sentence, level, start; cell; where its children's cells begin
    sums: Floats  # [row, r]
    phrases: Floats  # [row, A]
    uses: Floats  # [row, r]
    more: Floats  # [row, r]
    derivatives: Floats  # [row, A]
    factors: Floats  # [k]    powers of two
    small: Floats  # [0]


class Sums(NamedTuple):
    """Derivatives of Σ log P by the factors, times the number of copies."""

    root: Floats  # [A]
    parent: Floats  # [A, r]
    left: Floats  # [A, r]    of phrases
    right: Floats  # [A, r]
    left_words: Floats  # [token, r]  by l of each word
    right_words: Floats  # [token, r]


def rules(factors: Factors, dtype: Any) -> Rules:
    """Lay factors out for the kernels."""
    N = factors.phrases
    size = padded(N), padded(factors.rank)

    def laid_out(array: Floats) -> Floats:
        wide = np.zeros(size, dtype)
        wide[:N, : factors.rank] = array
        return wide

    root = np.zeros(size[0], dtype)
    root[:N] = factors.root[:N]
    found = [root]
    for array in (factors.parent, factors.left[:N], factors.right[:N]):
        wide = laid_out(array)
        found += [wide, np.ascontiguousarray(wide.T)]
    return Rules(*found)


def new_charts(cells: int, G: Rules) -> RankCharts:
    """Room for a number of cells."""
    N, R = G.parent.shape
    return RankCharts(
        np.zeros(0, dtype=np.int64),
        aligned(G.root, cells, R),
        aligned(G.root, cells, N),
        aligned(G.root, cells, R),
        aligned(G.root, cells, R),
        np.empty(cells, dtype=np.int32),
    )


def new_workspace(longest: int, G: Rules) -> RankWorkspace:
    """Room for sentences up to a length."""
    N, R = G.parent.shape
    like = G.root
    return RankWorkspace(
        np.empty((ROWS, 6), dtype=np.int64),
        aligned(like, ROWS, R),
        aligned(like, ROWS, N),
        aligned(like, ROWS, R),
        aligned(like, ROWS, R),
        aligned(like, ROWS, N),
        aligned(like, max(1, longest)),
        np.array([SMALL if like.itemsize == 8 else SMALL_SINGLE]),
    )


def new_sums(tokens: int, G: Rules) -> Sums:
    """Sums of zero for sentences of so many words."""
    N, R = G.parent.shape
    shapes = (N, R), (N, R), (N, R), (tokens, R), (tokens, R)
    return Sums(np.zeros(N), *(np.zeros(shape, G.root.dtype) for shape in shapes))


@also_in_kernels
def splits_of(level: int, depth: int, width: int) -> int:
    """The number of split points: one if the left child must be a word."""
    return 1 if depth and level == 2 * depth - 1 else width - 1


@also_in_kernels
def scale(
    C: RankCharts, W: RankWorkspace, splits: int, left: int, right: int, exponent: int
) -> int:
    """2^(e_k − e) into ``W.factors[k]``, e_k being the exponent of the product at split point k.

    e is the exponent given, unless it is ``EMPTY``: then it is the greatest of e_k. Return e.
    """
    exponents, factors = C.exponents, W.factors
    if exponent == EMPTY:
        for k in range(splits):
            if exponents[left + k] != EMPTY and exponents[right + k] != EMPTY:
                exponent = max(exponent, exponents[left + k] + exponents[right + k])
    for k in range(splits):
        factors[k] = 0.0
        if exponents[left + k] != EMPTY and exponents[right + k] != EMPTY:
            shift = exponents[left + k] + exponents[right + k] - exponent
            factors[k] = math.ldexp(1.0, shift) if shift else 1.0
    return exponent


@also_in_kernels
def settled(vector: Floats, exponent: int) -> int:
    """Scale a vector so that its greatest entry is near 1; return its exponent."""
    greatest = 0.0
    for r in range(len(vector)):
        greatest = max(greatest, vector[r])
    if greatest == 0.0 or exponent == EMPTY:
        return EMPTY
    _, shift = math.frexp(greatest)
    factor = math.ldexp(1.0, -shift)
    for r in range(len(vector)):
        vector[r] *= factor
    return exponent + shift
