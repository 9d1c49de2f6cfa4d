"""The inside pass in rank space, of sentences of any lengths together.

With levels, spans and cells as in ``parsing.chart.layout``, a cell of a phrase has ::

    x_r(m,i,j) = Σ_k l_r(left child's level,i,k) · r_r(right child's level,k,j)
    h_A(m,i,j) = Σ_r u_Ar x_r(m,i,j)
    l_r(m,i,j) = Σ_A v_Ar h_A(m,i,j)  on even levels, whose nodes are left children
    r_r(m,i,j) = Σ_A w_Ar h_A(m,i,j)  on odd ones, whose nodes are right children

and a cell of a word has l_r = Σ_p v_pr G[p → w] or r_r = Σ_p w_pr G[p → w] on all levels, as words
can occur wherever phrases can. (L,D+1) is always a word, so (R,D) has one split point. P(sentence)
is Σ_A π_A h_A(L,1,0,n). Only the unbounded grammar is used; the bound determines the cells.

**Scaling.** A word's probabilities are divided by the greatest of them. Each cell has an exponent
of two: x is scaled by a power of two if its greatest entry is small, and h, l and r with it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dbpcfg.grammar.lowrank import Factors
from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.simd import aligned, copy_cell, round_to_zero, small_product, weighted_sum
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    beginnings,
    cell_count,
    cell_of,
    chart_levels,
    left_below,
    left_cell,
    padded,
    right_below,
    right_cell,
)

ROWS = 64
"""The number of spans that are multiplied by the factors together."""
SMALL, SMALL_SINGLE = 2.0**-100, 2.0**-10
"""x is scaled if its greatest entry is smaller."""


class Rules(NamedTuple):
    """Factors and a bound, laid out for kernels: N and R are padded to fill vectors."""

    root: Floats  # [A]       π of phrases
    parent: Floats  # [A, r]  u
    parent_by_rank: Floats  # [r, A]
    left: Floats  # [A, r]    v of phrases
    left_by_rank: Floats  # [r, A]
    right: Floats  # [A, r]   w of phrases
    right_by_rank: Floats  # [r, A]
    depth: int  # the bound D; 0 for no bound


class RankCharts(NamedTuple):
    """The charts of some sentences, one after another: each has its levels, with all cells."""

    starts: Longs  # [s]       where the words of each sentence begin, longest first
    first: Longs  # [s]        where its cells begin
    copies: Floats  # [s]      how often it counts
    sums: Floats  # [cell, r]    x
    phrases: Floats  # [cell, A] h
    uses: Floats  # [cell, r]    l or r
    above: Floats  # [cell, r]   ∂ log P / ∂ uses
    exponents: Ints  # [cell]


class RankWorkspace(NamedTuple):
    """Memory for a block of spans."""

    positions: Longs  # [row, 6]   sentence, level, start; cell; where its children's cells begin
    sums: Floats  # [row, r]
    phrases: Floats  # [row, A]
    uses: Floats  # [row, r]
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
    first_weight: Longs  # [s]  where the weights of each sentence's spans begin
    by_level: int  # 1 if each level has its own weights, or 0
    weights: Floats  # [cell, A]  posteriors; not written to if empty


def rules(factors: Factors, depth: int, dtype: Any) -> Rules:
    """Lay factors out for the kernels."""
    N, R = factors.phrases, factors.rank
    root = np.zeros(padded(N), dtype)
    root[:N] = factors.root[:N]

    def laid_out(array: Floats) -> tuple[Floats, Floats]:
        wide = np.zeros((padded(N), padded(R)), dtype)
        wide[:N, :R] = array
        return wide, np.ascontiguousarray(wide.T)

    parent, left, right = factors.parent, factors.left[:N], factors.right[:N]
    return Rules(root, *laid_out(parent), *laid_out(left), *laid_out(right), depth)


def new_charts(cells: int, G: Rules) -> RankCharts:
    """Memory for a number of cells."""
    N, R = G.parent.shape
    no_sentences = np.zeros(0, dtype=np.int64)
    return RankCharts(
        no_sentences,
        no_sentences,
        np.zeros(0),
        aligned(G.root, cells, R),
        aligned(G.root, cells, N),
        aligned(G.root, cells, R),
        aligned(G.root, cells, R),
        np.empty(cells, dtype=np.int32),
    )


def new_workspace(longest: int, G: Rules) -> RankWorkspace:
    """Memory for sentences up to a length."""
    N, R = G.parent.shape
    like = G.root
    return RankWorkspace(
        np.empty((ROWS, 6), dtype=np.int64),
        aligned(like, ROWS, R),
        aligned(like, ROWS, N),
        aligned(like, ROWS, R),
        aligned(like, ROWS, N),
        aligned(like, max(1, longest)),
        np.array([SMALL if like.itemsize == 8 else SMALL_SINGLE]),
    )


def new_sums(tokens: int, G: Rules, first_weight: Longs, by_level: int, weights: Floats) -> Sums:
    """Sums that are zero, for sentences with a number of words; weights need not be zero."""
    N, R = G.parent.shape
    parent, left, right = (np.zeros((N, R), G.root.dtype) for _ in range(3))
    left_words, right_words = (np.zeros((tokens, R), G.root.dtype) for _ in range(2))
    words = left_words, right_words
    return Sums(np.zeros(N), parent, left, right, *words, first_weight, by_level, weights)


@also_in_kernels
def splits_of(level: int, depth: int, width: int) -> int:
    """The number of split points: one if the left child must be a word."""
    return 1 if depth and level == 2 * depth - 1 else width - 1


@also_in_kernels
def scale(
    C: RankCharts, W: RankWorkspace, splits: int, left: int, right: int, exponent: int
) -> int:
    """Write 2^(e_k − e) to ``W.factors[k]``, where e_k is the exponent at split point k.

    e is ``exponent``, or the greatest e_k if that is ``EMPTY``. Return e.
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
def rescale(vector: Floats, exponent: int) -> int:
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


@also_in_kernels
def set_position(
    row: int, s: int, level: int, i: int, width: int, depth: int, C: RankCharts, W: RankWorkspace
) -> None:
    """Write the cell of a span, and where its children's cells start, to a row of the workspace."""
    positions, n = W.positions, C.starts[s + 1] - C.starts[s]
    size = cell_count(n)
    l, r = left_below(level, depth), right_below(level, depth)
    if depth and l == 2 * depth:  # a word: as on the level above
        l -= 2
    first = C.first[s]
    positions[row, 0], positions[row, 1], positions[row, 2] = s, level, i
    positions[row, 3] = first + level * size + cell_of(n, level, i, i + width)
    positions[row, 4] = first + l * size + left_cell(n, i, i + 1)
    positions[row, 5] = first + r * size + right_cell(i + 1, i + width)


@also_in_kernels
def fill_words(left_words: Floats, right_words: Floats, depth: int, C: RankCharts) -> None:
    """Write l or r of each word, on every level."""
    R, starts, uses, exponents = C.uses.shape[1], C.starts, C.uses, C.exponents
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        for level in range(chart_levels(depth)):
            for i in range(n):
                cell = C.first[s] + level * cell_count(n) + cell_of(n, level, i, i + 1)
                word = (starts[s] + i) * R
                if level % 2:
                    copy_cell(right_words, word, uses, cell * R, R, 0.0, 0.0)
                else:
                    copy_cell(left_words, word, uses, cell * R, R, 0.0, 0.0)
                exponents[cell] = 0


@also_in_kernels
def combine(rows: int, width: int, side: int, G: Rules, C: RankCharts, W: RankWorkspace) -> None:
    """Fill the cells of a block of spans, all on even levels or all on odd ones."""
    positions, sums, phrases, uses = W.positions, W.sums, W.phrases, W.uses
    N, R = G.parent.shape
    for row in range(rows):
        cell, left, right = positions[row, 3], positions[row, 4], positions[row, 5]
        splits = splits_of(positions[row, 1], G.depth, width)
        e = scale(C, W, splits, left, right, EMPTY)
        weighted_sum(W.factors, C.uses, left * R, C.uses, right * R, sums, row * R, R, splits)
        if not copy_cell(sums, row * R, C.sums, cell * R, R, W.small[0], np.inf):
            e = rescale(C.sums[cell], e)
            copy_cell(C.sums, cell * R, sums, row * R, R, 0.0, 0.0)
        C.exponents[cell] = e
    small_product(sums, 0, R, 1, G.parent_by_rank, 0, N, phrases, 0, N, rows, N, R)
    if side:
        small_product(phrases, 0, N, 1, G.right, 0, R, uses, 0, R, rows, R, N)
    else:
        small_product(phrases, 0, N, 1, G.left, 0, R, uses, 0, R, rows, R, N)
    for row in range(rows):
        copy_cell(phrases, row * N, C.phrases, positions[row, 3] * N, N, 0.0, 0.0)
        copy_cell(uses, row * R, C.uses, positions[row, 3] * R, R, 0.0, 0.0)
    if G.depth == 0:
        small_product(phrases, 0, N, 1, G.right, 0, R, uses, 0, R, rows, R, N)
        for row in range(rows):
            copy = cell_as_right(row, width, C, W)
            copy_cell(uses, row * R, C.uses, copy * R, R, 0.0, 0.0)
            C.exponents[copy] = C.exponents[positions[row, 3]]


@also_in_kernels
def cell_as_right(row: int, width: int, C: RankCharts, W: RankWorkspace) -> int:
    """Without a bound: the cell of a span as a right child."""
    s, i = W.positions[row, 0], W.positions[row, 2]
    cell: int = C.first[s] + cell_count(C.starts[s + 1] - C.starts[s]) + right_cell(i, i + width)
    return cell


@also_in_kernels
def leave_empty(row: int, width: int, G: Rules, C: RankCharts, W: RankWorkspace) -> None:
    """A span that crosses a bracket: x = h = l = r = 0."""
    cell = W.positions[row, 3]
    for r in range(C.uses.shape[1]):
        C.sums[cell, r] = C.uses[cell, r] = 0.0
    for A in range(C.phrases.shape[1]):
        C.phrases[cell, A] = 0.0
    C.exponents[cell] = EMPTY
    if G.depth == 0:
        copy = cell_as_right(row, width, C, W)
        for r in range(C.uses.shape[1]):
            C.uses[copy, r] = 0.0
        C.exponents[copy] = EMPTY


@kernel
def inside(
    G: Rules,
    left_words: Floats,
    right_words: Floats,
    crossed: Bytes,
    C: RankCharts,
    W: RankWorkspace,
    flush: bool,
    logs: Floats,
) -> None:
    """Fill the charts of some sentences, longest first, width by width.

    ``left_words`` and ``right_words`` are l and r of words, ``crossed`` is ``layout.crossing``.
    log P, before scales of words are added, is written to ``logs[s]`` for sentences of two words or
    more. If ``flush``, denormal numbers are treated as zero.
    """
    round_to_zero(flush)
    starts, depth = C.starts, G.depth
    fill_words(left_words, right_words, depth, C)
    sentences, levels = len(starts) - 1, chart_levels(depth) if depth else 1
    for width in range(2, starts[1] - starts[0] + 1):
        for side in range(2 if depth else 1):
            rows = 0
            for s in range(sentences):
                n = starts[s + 1] - starts[s]
                if n < width:
                    break
                for level in range(side, levels, 2):
                    for i in beginnings(level, depth, n, width):
                        set_position(rows, s, level, i, width, depth, C, W)
                        if len(crossed):
                            span = C.first[s] // chart_levels(depth) + right_cell(i, i + width)
                            if crossed[span]:
                                leave_empty(rows, width, G, C, W)
                                continue
                        rows += 1
                        if rows == ROWS:
                            combine(rows, width, side, G, C, W)
                            rows = 0
            if rows:
                combine(rows, width, side, G, C, W)
    for s in range(sentences):
        n = starts[s + 1] - starts[s]
        if n == 1:
            break
        whole = C.first[s] + left_cell(n, 0, n)
        total = total_of(whole, G, C)
        log_scale = C.exponents[whole] * math.log(2.0)
        logs[s] = math.log(total) + log_scale if total > 0.0 else -np.inf
    round_to_zero(False)


@also_in_kernels
def total_of(whole: int, G: Rules, C: RankCharts) -> float:
    """Σ_A π_A h_A of a whole sentence, before it is scaled."""
    total = 0.0
    if C.exponents[whole] != EMPTY:
        for A in range(len(G.root)):
            total += G.root[A] * C.phrases[whole, A]
    return total
