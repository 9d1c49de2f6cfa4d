"""The inside pass: u(s,d,c,i,j) for every span of a sentence."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.grammar.bounding import right_level
from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.simd import aligned, copy_cell, in_tiles, product, round_to_zero, small_product
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    Tables,
    beginnings,
    cell_of,
    chart_levels,
    left_below,
    left_cell,
    rescale_cell,
    right_below,
    right_cell,
    size_limit,
)

BLOCK = 48
"""The number of spans whose sums over split points are multiplied by G together."""
HELD_BYTES = 2**23
"""About the most memory for the matrices of frequent words."""
UNKNOWN, RARE = -1, -2
"""In place of the number of a word's matrix: not computed yet; not stored."""


@also_in_kernels
def fill_words(batch: Ints, G: Tables, cells: Floats, exponents: Ints) -> None:
    """u(s,d,c,i,i+1) = G[c → w_i], on every level."""
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    emission, log_scale = G.emission, G.log_scale
    for m in range(sentences):
        for level in range(chart_levels(G.depth)):
            for i in range(n):
                word, cell = batch[m, i], cell_of(n, level, i, i + 1)
                to = ((m * levels + level) * size + cell) * K
                copy_cell(emission, word * K, cells, to, K, 0.0, 0.0)
                exponents[m, level, cell] = 0 if log_scale[word] > -np.inf else EMPTY


class Workspace(NamedTuple):
    """Memory for the inside passes of one batch after another."""

    outer: Floats  # [row, ab]    sums over split points, of a block of spans
    applied: Floats  # [row, c]   G applied to them
    positions: Ints  # [row, 4]        which sentence, level and start, and the sum's exponent
    steps: Floats  # [x, bc]      A_w, first of frequent words, then of others in a batch
    vectors: Floats  # [x, c]     these words' vectors
    kept: Ints  # [w]             which A_w is that of a frequent word
    used: Ints  # [2]             how many A_w of frequent words there are, and how many fit
    step_of: Ints  # [m · n + i]  which A_w is that of a word of the batch
    spans: Floats  # [j, c]       (R,D) spans of one start, and of the one after it
    left: Floats  # [k, c]        left children of one span, scaled
    scaled: Ints  # [0]           whether any exponent of the charts is not 0
    limits: Floats  # [2]         lower and upper limit of the greatest entry of a cell


def new_workspace(
    longest: int,
    G: Tables,
    scaling: bool = True,
    words: int | None = None,
    frequencies: Longs | None = None,
) -> Workspace:
    """Memory for the inside passes of batches.

    ``words``: the greatest number of words of a batch; by default that of one sentence.
    ``frequencies``: how often each word occurs; if not given, no matrices of words are kept.
    """
    K, like, words = G.root.shape[0], G.root, longest if words is None else words
    capacity, kept = 0, np.full(len(G.emission), RARE, dtype=np.int32)
    if frequencies is not None and in_tiles(G.by_left):  # BLAS may round differently
        repeated = np.flatnonzero(frequencies > 1)
        capacity = min(len(repeated), HELD_BYTES // (K * K * like.itemsize))
        if capacity < len(repeated):
            repeated = repeated[np.argpartition(-frequencies[repeated], capacity)[:capacity]]
        kept[repeated] = UNKNOWN
    return Workspace(
        aligned(like, BLOCK, K * K),
        aligned(like, BLOCK, K),
        np.empty((BLOCK, 4), dtype=np.int32),
        aligned(like, capacity + words, K * K),
        aligned(like, capacity + words, K),
        kept,
        np.array([0, capacity], dtype=np.int32),
        np.empty(words, dtype=np.int32),
        aligned(like, 2 * longest, K),
        aligned(like, longest, K),
        np.zeros(1, dtype=np.int32),
        np.array([1 / size_limit(like), size_limit(like)]) if scaling else np.array([0.0, np.inf]),
    )


@also_in_kernels
def align_exponents(
    splits: int,
    m: int,
    l: int,
    x: int,
    r: int,
    y: int,
    cells: Floats,
    exponents: Ints,
    W: Workspace,
) -> int:
    """Scale left children so that all products with right children have the same exponent.

    Write u_left(i,k) · 2^(e_k − e) to ``W.left[k]``, where e_k is the exponent of the product at
    split point k, and e the greatest of them; return e.
    """
    left, exponent = W.left, EMPTY
    for k in range(splits):
        if exponents[m, l, x + k] != EMPTY and exponents[m, r, y + k] != EMPTY:
            exponent = max(exponent, exponents[m, l, x + k] + exponents[m, r, y + k])
    for k in range(splits):
        factor = 0.0
        if exponents[m, l, x + k] != EMPTY and exponents[m, r, y + k] != EMPTY:
            shift = exponents[m, l, x + k] + exponents[m, r, y + k] - exponent
            factor = math.ldexp(1.0, shift) if shift else 1.0
        for c in range(cells.shape[3]):
            left[k, c] = cells[m, l, x + k, c] * factor
    return exponent


@also_in_kernels
def find_step_matrices(
    batch: Ints, first: int, last: int, G: Tables, W: Workspace
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Assign matrices A_w to the words of sentences ``first`` to ``last − 1``.

    Return the ranges of those to be computed; A_w of frequent words is computed only once. The
    first and the last word of a sentence need none.
    """
    n, K = batch.shape[1], len(G.root)
    vectors, kept, step_of, emission = W.vectors, W.kept, W.step_of, G.emission
    begin, capacity = int(W.used[0]), int(W.used[1])
    frequent, rare = begin, capacity
    for m in range(first, last):
        for i in range(1, n - 1):
            word = batch[m, i]
            step = kept[word]
            if step < 0:
                if step == UNKNOWN:
                    step = kept[word] = frequent
                    frequent += 1
                else:
                    step = rare
                    rare += 1
                copy_cell(emission, word * K, vectors, step * K, K, 0.0, 0.0)
            step_of[m * n + i] = step
    W.used[0] = frequent
    return (begin, frequent), (capacity, rare)


@also_in_kernels
def deepest_right_nodes(
    batch: Ints, crossed: Bytes, G: Tables, cells: Floats, exponents: Ints, W: Workspace
) -> None:
    """Level (R,D), whose left children are words: no sum over split points, and no K³.

    With A_w[c, b] = Σ_a G[c → a b] G[a → w],  u(i,j) = A_{w_i} u(i+1,j): one matrix product for all
    spans of one start.
    """
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    level, lower, upper = right_level(G.depth), W.limits[0], W.limits[1]
    steps, spans, scaled, step_of = W.steps, W.spans, W.scaled, W.step_of
    emission, stride = G.emission, sentences if in_tiles(G.by_left) else 1
    for m in range(sentences):
        if m % stride == 0:
            for begins, ends in find_step_matrices(batch, m, m + stride, G, W):
                product(W.vectors, begins, ends, G.by_left, steps)
        current, previous = 0, len(spans) // 2 * K  # the halves take turns
        copy_cell(emission, batch[m, n - 1] * K, spans, previous, K, lower, upper)
        for i in range(n - 2, 0, -1):
            rows, step = n - i - 1, step_of[m * n + i] * K * K
            small_product(spans, previous, K, 1, steps, step, K, spans, current + K, K, rows, K, K)
            copy_cell(emission, batch[m, i] * K, spans, current, K, lower, upper)
            for j in range(i + 2, n + 1):
                cell = right_cell(i, j)
                exponent = exponents[m, level, right_cell(i + 1, j)]
                row, to = current + (j - i - 1) * K, ((m * levels + level) * size + cell) * K
                if len(crossed) and crossed[m * size + cell]:
                    for c in range(K):
                        spans[row // K, c] = 0.0
                if not copy_cell(spans, row, cells, to, K, lower, upper):
                    exponent = rescale_cell(cells[m, level, cell], exponent)
                    copy_cell(cells, to, spans, row, K, lower, upper)
                    scaled[0] |= exponent != 0 and exponent != EMPTY
                exponents[m, level, cell] = exponent
            previous, current = current, previous


@also_in_kernels
def apply_rules(
    rows: int, width: int, n: int, G: Tables, cells: Floats, exponents: Ints, W: Workspace
) -> None:
    """Multiply a block of sums over split points by G, and store the results in their cells."""
    applied, positions, scaled = W.applied, W.positions, W.scaled
    levels, size, K = cells.shape[1:]
    lower, upper = W.limits[0], W.limits[1]
    product(W.outer, 0, rows, G.by_children, applied)
    for row in range(rows):
        m, level = positions[row, 0], positions[row, 1]
        i, exponent = positions[row, 2], positions[row, 3]
        cell = cell_of(n, level, i, i + width)
        to = ((m * levels + level) * size + cell) * K
        if not copy_cell(applied, row * K, cells, to, K, lower, upper):
            exponent = rescale_cell(cells[m, level, cell], exponent)
            scaled[0] |= exponent != 0 and exponent != EMPTY
        exponents[m, level, cell] = exponent
        if G.depth == 0:
            copy = right_cell(i, i + width)
            for c in range(K):
                cells[m, 1, copy, c] = cells[m, 0, cell, c]
            exponents[m, 1, copy] = exponent


@also_in_kernels
def leave_empty(m: int, level: int, cell: int, cells: Floats, exponents: Ints) -> None:
    """A span that crosses a bracket: u = 0."""
    for c in range(cells.shape[3]):
        cells[m, level, cell, c] = 0.0
    exponents[m, level, cell] = EMPTY


@kernel
def inside(
    batch: Ints,
    crossed: Bytes,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    W: Workspace,
    flush: bool,
    logs: Floats,
) -> None:
    """Fill the charts of sentences of one length, the rows of ``batch``, width by width.

    The sums over split points of all spans of one width are the rows of a matrix, which is
    multiplied by G at once. Spans that cross brackets (``layout.crossing``) have u = 0.
    ``log_inside`` of sentence m is written to ``logs[m]``. If ``flush``, denormal numbers are
    treated as zero.
    """
    round_to_zero(flush)
    depth, (sentences, n) = G.depth, batch.shape
    W.scaled[0] = 0
    fill_words(batch, G, cells, exponents)
    if depth and n > 1:
        deepest_right_nodes(batch, crossed, G, cells, exponents, W)
    levels = chart_levels(depth) - 1  # without (R,D); without a bound, without the copy
    outer, left, positions, scaled = W.outer, W.left, W.positions, W.scaled
    K, size = cells.shape[3], cells.shape[2] * cells.shape[3]
    for width in range(2, n + 1):
        rows, splits = 0, width - 1
        for m in range(sentences):
            for level in range(levels):
                l, r = left_below(level, depth), right_below(level, depth)
                lefts, rights = (m * cells.shape[1] + l) * size, (m * cells.shape[1] + r) * size
                for i in beginnings(level, depth, n, width):
                    if len(crossed) and crossed[m * cells.shape[2] + right_cell(i, i + width)]:
                        leave_empty(m, level, cell_of(n, level, i, i + width), cells, exponents)
                        if depth == 0:
                            leave_empty(m, 1, right_cell(i, i + width), cells, exponents)
                        continue
                    x, y = left_cell(n, i, i + 1), right_cell(i + 1, i + width)
                    positions[rows, 0], positions[rows, 1] = m, level
                    positions[rows, 2], positions[rows, 3] = i, 0
                    # Σ_k u_left(i,k) ⊗ u_right(k,j)
                    to, b = rows * K * K, rights + y * K
                    if scaled[0]:
                        positions[rows, 3] = align_exponents(
                            splits, m, l, x, r, y, cells, exponents, W
                        )
                        small_product(left, 0, 1, K, cells, b, K, outer, to, K, K, K, splits)
                    else:
                        a = lefts + x * K
                        small_product(cells, a, 1, K, cells, b, K, outer, to, K, K, K, splits)
                    rows += 1
                    if rows == BLOCK:
                        apply_rules(rows, width, n, G, cells, exponents, W)
                        rows = 0
        if rows:
            apply_rules(rows, width, n, G, cells, exponents, W)
    log_inside(batch, G, cells, exponents, logs)
    round_to_zero(False)


@also_in_kernels
def log_inside(batch: Ints, G: Tables, cells: Floats, exponents: Ints, logs: Floats) -> None:
    """log Σ_c π_c u(L,1,c,0,n): log probabilities of sentences before division by Z."""
    sentences, n = batch.shape
    whole = left_cell(n, 0, n)
    root, log_scale = G.root, G.log_scale
    for m in range(sentences):
        total, scales = 0.0, exponents[m, 0, whole] * math.log(2.0)
        if exponents[m, 0, whole] != EMPTY:
            for c in range(len(root)):
                total += root[c] * cells[m, 0, whole, c]
        for i in range(n):
            scales += log_scale[batch[m, i]]
        logs[m] = math.log(total) + scales if total > 0.0 else -np.inf
