"""The inside pass: u(s,d,c,i,j) for every span of a sentence."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.chart.batches import Batches
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    SMALL,
    Tables,
    cell_count,
    cell_of,
    first_start,
    last_start,
    left_cell,
    left_level,
    level_count,
    right_cell,
    right_level,
    settle,
)

FEW_SPLITS = 3
"""Up to so many split points are summed over by hand: calling BLAS takes longer."""

BLOCK = 48
"""Spans whose sums over split points are multiplied by G together."""


@kernel
def fill_words(words: Ints, depth: int, G: Tables, cells: Floats, exponents: Ints, m: int) -> None:
    """u(s,d,c,i,i+1) = G[c → w_i], on every level."""
    n, K = len(words), G.root.shape[0]
    emission = G.emission
    for level in range(level_count(depth)):
        for i in range(n):
            word, cell = words[i], cell_of(n, level, i, i + 1)
            for c in range(K):
                cells[m, level, cell, c] = emission[word, c]
            exponents[m, level, cell] = 0 if G.log_scale[word] > -np.inf else EMPTY


@kernel
def sum_over_splits(
    left: Floats, left_exponents: Ints, right: Floats, right_exponents: Ints, outer: Floats
) -> int:
    """Σ_k u_left(i,k) ⊗ u_right(k,j) into ``outer``; return its exponent."""
    K = left.shape[1]
    outer[:] = 0.0
    exponent = EMPTY
    for k in range(len(left)):
        if left_exponents[k] == EMPTY or right_exponents[k] == EMPTY:
            continue
        shift = left_exponents[k] + right_exponents[k]
        factor = 1.0
        if exponent == EMPTY:
            exponent = shift
        elif shift > exponent:
            outer *= math.ldexp(1.0, exponent - shift)
            exponent = shift
        elif shift < exponent:
            factor = math.ldexp(1.0, shift - exponent)
        for a in range(K):
            x = left[k, a] * factor
            for b in range(K):
                outer[a * K + b] += x * right[k, b]
    return exponent


@kernel
def sum_of_few(left: Floats, right: Floats, outer: Floats) -> None:
    """Σ_k u_left(i,k) ⊗ u_right(k,j), by hand."""
    K = left.shape[1]
    for a in range(K):
        x = left[0, a]
        for b in range(K):
            outer[a, b] = x * right[0, b]
    for k in range(1, len(left)):
        for a in range(K):
            x = left[k, a]
            for b in range(K):
                outer[a, b] += x * right[k, b]


class Workspace(NamedTuple):
    """Room that the inside passes of one batch after another need."""

    outer: Floats  # [row, a, b]  sums over split points, of a block of spans
    flat: Floats  # [row, ab]     the same numbers
    product: Floats  # [row, c]   G applied to them
    rows: Ints  # [row, 4]        which sentence, level and start, and the sum's exponent
    steps: Floats  # [i, bc]      A_w of each word
    vectors: Floats  # [i, c]     each word's vector
    by_start: Floats  # [j, c]    (R,D) spans of one start
    before: Floats  # [j, c]      of the start after it
    scaled: Ints  # [0]           whether any exponent of the charts is not 0


@kernel
def new_workspace(longest: int, K: int) -> Workspace:
    """Room for sentences up to a length."""
    outer = np.empty((BLOCK, K, K))
    return Workspace(
        outer,
        outer.reshape(BLOCK, K * K),
        np.empty((BLOCK, K)),
        np.empty((BLOCK, 4), dtype=np.int32),
        np.empty((longest, K * K)),
        np.empty((longest, K)),
        np.empty((longest, K)),
        np.empty((longest, K)),
        np.zeros(1, dtype=np.int32),
    )


@kernel
def store(vectors: Floats, row: int, cells: Floats, m: int, level: int, cell: int) -> bool:
    """Copy a row into its cell; return whether it has an entry large enough to leave it as is."""
    large = 0
    for c in range(vectors.shape[1]):
        value = vectors[row, c]
        cells[m, level, cell, c] = value
        large += value >= SMALL
    return large > 0


@kernel
def deepest_right_nodes(
    words: Ints, depth: int, G: Tables, cells: Floats, exponents: Ints, m: int, W: Workspace
) -> None:
    """Level (R,D), whose left children are words: no sum over split points, and no K³.

    With A_w[c, b] = Σ_a G[c → a b] G[a → w],  u(i,j) = A_{w_i} u(i+1,j): one matrix product for all
    spans of one start.
    """
    n, K, level = len(words), G.root.shape[0], 2 * depth - 1
    before, here, vectors, steps, scaled = W.before, W.by_start, W.vectors, W.steps, W.scaled
    for i in range(n):
        for c in range(K):
            vectors[i, c] = G.emission[words[i], c]
    np.dot(vectors[:n], G.by_left, steps[:n])
    before[0] = vectors[n - 1]
    for i in range(n - 2, 0, -1):
        rows = n - i - 1
        np.dot(before[:rows], steps[i].reshape(K, K), here[1 : rows + 1])
        for c in range(K):
            here[0, c] = vectors[i, c]
        for j in range(i + 2, n + 1):
            cell = right_cell(i, j)
            exponent = exponents[m, level, right_cell(i + 1, j)]
            if not store(here, j - i - 1, cells, m, level, cell):
                exponent = settle(cells[m, level, cell], exponent)
                here[j - i - 1] = cells[m, level, cell]
                scaled[0] |= exponent != 0 and exponent != EMPTY
            exponents[m, level, cell] = exponent
        before, here = here, before


@kernel
def apply_rules(
    rows: int,
    width: int,
    depth: int,
    n: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    W: Workspace,
) -> None:
    """Multiply a block of sums over split points by G, and put the results into their cells."""
    product, placed, scaled = W.product, W.rows, W.scaled
    np.dot(W.flat[:rows], G.by_children, product[:rows])
    for row in range(rows):
        m, level, i, exponent = placed[row, 0], placed[row, 1], placed[row, 2], placed[row, 3]
        cell = cell_of(n, level, i, i + width)
        if not store(product, row, cells, m, level, cell):
            exponent = settle(cells[m, level, cell], exponent)
            scaled[0] |= exponent != 0 and exponent != EMPTY
        exponents[m, level, cell] = exponent
        if depth == 0:
            same = right_cell(i, i + width)
            cells[m, 1, same] = cells[m, 0, cell]
            exponents[m, 1, same] = exponent


@kernel
def inside(
    batch: Ints, depth: int, G: Tables, cells: Floats, exponents: Ints, W: Workspace
) -> None:
    """Fill the charts of sentences of one length, the rows of ``batch``, width by width.

    The sums over split points of all spans of one width make the rows of a matrix, and G is
    applied to them in one matrix product.
    """
    sentences, n = batch.shape
    W.scaled[0] = 0
    for m in range(sentences):
        fill_words(batch[m], depth, G, cells, exponents, m)
        if depth and n > 1:
            deepest_right_nodes(batch[m], depth, G, cells, exponents, m, W)
    levels = level_count(depth) - 1  # without (R,D); without a bound, without the copy
    outer, flat, placed, scaled = W.outer, W.flat, W.rows, W.scaled
    for width in range(2, n + 1):
        rows = 0
        for m in range(sentences):
            for level in range(levels):
                l, r = left_level(level, depth), right_level(level, depth)
                for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                    x, y = left_cell(n, i, i + 1), right_cell(i + 1, i + width)
                    left, right = cells[m, l, x : x + width - 1], cells[m, r, y : y + width - 1]
                    placed[rows, 0], placed[rows, 1] = m, level
                    placed[rows, 2], placed[rows, 3] = i, 0
                    if scaled[0]:
                        placed[rows, 3] = sum_over_splits(
                            left,
                            exponents[m, l, x : x + width - 1],
                            right,
                            exponents[m, r, y : y + width - 1],
                            flat[rows],
                        )
                    elif width <= FEW_SPLITS + 1:
                        sum_of_few(left, right, outer[rows])
                    else:
                        np.dot(left.T, right, outer[rows])
                    rows += 1
                    if rows == BLOCK:
                        apply_rules(rows, width, depth, n, G, cells, exponents, W)
                        rows = 0
        if rows:
            apply_rules(rows, width, depth, n, G, cells, exponents, W)


@kernel
def log_inside(words: Ints, G: Tables, cells: Floats, exponents: Ints) -> float:
    """log Σ_c π_c u(L,1,c,0,n): the sentence's probability before it is divided by Z."""
    n = len(words)
    whole = left_cell(n, 0, n)
    if exponents[0, whole] == EMPTY:
        return -np.inf
    total = 0.0
    for c in range(len(G.root)):
        total += G.root[c] * cells[0, whole, c]
    scales = exponents[0, whole] * math.log(2.0)
    for i in range(n):
        scales += G.log_scale[words[i]]
    return math.log(total) + scales if total > 0.0 else -np.inf


@kernel
def gather(B: Batches, number: int, tokens: Ints, starts: Longs) -> Ints:
    """The words of one batch's sentences, a sentence a row."""
    first, last = B.bounds[number], B.bounds[number + 1]
    n = starts[B.distinct[first] + 1] - starts[B.distinct[first]]
    batch = np.empty((last - first, n), dtype=np.int32)
    for m in range(last - first):
        s = B.distinct[first + m]
        batch[m] = tokens[starts[s] : starts[s + 1]]
    return batch


@kernel
def room_for(
    B: Batches, first: int, last: int, starts: Longs, K: int, depth: int
) -> tuple[Floats, Ints, int]:
    """Charts for the largest of some batches, and the length of the longest sentence."""
    longest, most = 0, 0
    for number in range(first, last):
        s = B.distinct[B.bounds[number]]
        n = starts[s + 1] - starts[s]
        longest = max(longest, n)
        most = max(most, (B.bounds[number + 1] - B.bounds[number]) * cell_count(n))
    size = level_count(depth) * most
    return np.empty(size * K), np.empty(size, dtype=np.int32), longest


@kernel
def charts(
    room: Floats, room_exponents: Ints, sentences: int, n: int, K: int, depth: int
) -> tuple[Floats, Ints]:
    """Cells and exponents for a batch, in room that is there."""
    levels, size = level_count(depth), cell_count(n)
    whole = sentences * levels * size
    return (
        room[: whole * K].reshape(sentences, levels, size, K),
        room_exponents[:whole].reshape(sentences, levels, size),
    )


@kernel
def inside_batches(
    first: int,
    last: int,
    B: Batches,
    tokens: Ints,
    starts: Longs,
    depth: int,
    G: Tables,
    logs: Floats,
) -> None:
    """``log_inside`` of the sentences of some batches into ``logs[sentence]``."""
    K = G.root.shape[0]
    room, room_exponents, longest = room_for(B, first, last, starts, K, depth)
    work = new_workspace(longest, K)
    for number in range(first, last):
        batch = gather(B, number, tokens, starts)
        cells, exponents = charts(room, room_exponents, batch.shape[0], batch.shape[1], K, depth)
        inside(batch, depth, G, cells, exponents, work)
        for m in range(len(batch)):
            log = log_inside(batch[m], G, cells[m], exponents[m])
            y = B.bounds[number] + m
            for s in B.copies[B.first_copy[y] : B.first_copy[y + 1]]:
                logs[s] = log
