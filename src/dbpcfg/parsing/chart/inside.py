"""The inside pass: u(s,d,c,i,j) for every span of a sentence."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    Tables,
    cell_of,
    first_start,
    last_start,
    left_cell,
    left_level,
    level_count,
    new_chart,
    right_cell,
    right_level,
    settle,
)

BLOCK = 48
"""Spans whose sums over split points are multiplied by G together."""


@kernel
def fill_words(words: Ints, depth: int, G: Tables, cells: Floats, exponents: Ints) -> None:
    """u(s,d,c,i,i+1) = G[c → w_i], on every level."""
    n = len(words)
    for level in range(level_count(depth)):
        for i in range(n):
            cell = cell_of(n, level, i, i + 1)
            cells[level, cell] = G.emission[words[i]]
            exponents[level, cell] = settle(cells[level, cell], 0)


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


class Workspace(NamedTuple):
    """Room that the inside pass of one sentence after another needs."""

    outer: Floats  # [row, a, b]  sums over split points, of a block of spans
    flat: Floats  # [row, ab]     the same numbers
    product: Floats  # [row, c]   G applied to them
    row_level: Ints
    row_start: Ints
    row_exponent: Ints
    steps: Floats  # [i, cb]      A_w of each word
    by_start: Floats  # [j, c]    (R,D) spans of one start
    before: Floats  # [j, c]      of the start after it
    scaled: Ints  # [0]           whether any exponent of the chart is not 0


@kernel
def new_workspace(longest: int, K: int) -> Workspace:
    """Room for sentences up to a length."""
    outer = np.empty((BLOCK, K, K))
    return Workspace(
        outer,
        outer.reshape(BLOCK, K * K),
        np.empty((BLOCK, K)),
        np.empty(BLOCK, dtype=np.int32),
        np.empty(BLOCK, dtype=np.int32),
        np.empty(BLOCK, dtype=np.int32),
        np.empty((longest, K * K)),
        np.empty((longest, K)),
        np.empty((longest, K)),
        np.zeros(1, dtype=np.int32),
    )


@kernel
def put(
    vector: Floats,
    exponent: int,
    level: int,
    cell: int,
    cells: Floats,
    exponents: Ints,
    W: Workspace,
) -> None:
    """Store a vector in its cell, scaled back up if it has become small."""
    cells[level, cell] = vector
    exponent = settle(cells[level, cell], exponent)
    exponents[level, cell] = exponent
    if exponent != 0 and exponent != EMPTY:
        W.scaled[0] = 1


@kernel
def deepest_right_nodes(
    words: Ints, depth: int, G: Tables, cells: Floats, exponents: Ints, W: Workspace
) -> None:
    """Level (R,D), whose left children are words: no sum over split points, and no K³.

    With A_w[c, b] = Σ_a G[c → a b] G[a → w],  u(i,j) = A_{w_i} u(i+1,j): one matrix product for all
    spans of one start.
    """
    n, K, level = len(words), G.root.shape[0], 2 * depth - 1
    before, here = W.before, W.by_start
    vectors = np.empty((n, K))
    for i in range(n):
        vectors[i] = G.emission[words[i]]
    np.dot(vectors, G.by_left, W.steps[:n])
    before[0] = cells[level, right_cell(n - 1, n)]
    for i in range(n - 2, 0, -1):
        rows = n - i - 1
        np.dot(before[:rows], W.steps[i].reshape(K, K).T, here[1 : rows + 1])
        here[0] = cells[level, right_cell(i, i + 1)]
        for j in range(i + 2, n + 1):
            cell = right_cell(i, j)
            exponent = exponents[level, right_cell(i + 1, j)]
            put(here[j - i - 1], exponent, level, cell, cells, exponents, W)
            if W.scaled[0]:
                here[j - i - 1] = cells[level, cell]
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
    np.dot(W.flat[:rows], G.by_children, W.product[:rows])
    for row in range(rows):
        level, i = W.row_level[row], W.row_start[row]
        cell = cell_of(n, level, i, i + width)
        put(W.product[row], W.row_exponent[row], level, cell, cells, exponents, W)
        if depth == 0:
            same = right_cell(i, i + width)
            cells[1, same] = cells[0, cell]
            exponents[1, same] = exponents[0, cell]


@kernel
def inside(
    words: Ints, depth: int, G: Tables, cells: Floats, exponents: Ints, W: Workspace
) -> None:
    """Fill the chart of one sentence, width by width.

    The sums over split points of all spans of one width make the rows of one matrix, and G is
    applied to them in one matrix product.
    """
    n = len(words)
    W.scaled[0] = 0
    fill_words(words, depth, G, cells, exponents)
    if depth and n > 1:
        deepest_right_nodes(words, depth, G, cells, exponents, W)
    levels = level_count(depth) - 1  # without (R,D); without a bound, without the copy
    for width in range(2, n + 1):
        rows = 0
        for level in range(levels):
            l, r = left_level(level, depth), right_level(level, depth)
            for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                x, y = left_cell(n, i, i + 1), right_cell(i + 1, i + width)
                left, right = cells[l, x : x + width - 1], cells[r, y : y + width - 1]
                W.row_level[rows], W.row_start[rows], W.row_exponent[rows] = level, i, 0
                if W.scaled[0]:
                    W.row_exponent[rows] = sum_over_splits(
                        left,
                        exponents[l, x : x + width - 1],
                        right,
                        exponents[r, y : y + width - 1],
                        W.flat[rows],
                    )
                else:
                    np.dot(left.T, right, W.outer[rows])
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
def longest_of(sentences: Longs, starts: Longs) -> int:
    """The length of the longest of some sentences."""
    longest = 0
    for s in sentences:
        longest = max(longest, starts[s + 1] - starts[s])
    return longest


@kernel
def inside_sentences(
    sentences: Longs, tokens: Ints, starts: Longs, depth: int, G: Tables, logs: Floats
) -> None:
    """``log_inside`` of some sentences of a corpus into ``logs[sentence]``."""
    longest, K = longest_of(sentences, starts), G.root.shape[0]
    cells, exponents = new_chart(longest, K, depth)
    work = new_workspace(longest, K)
    for s in sentences:
        words = tokens[starts[s] : starts[s + 1]]
        inside(words, depth, G, cells, exponents, work)
        logs[s] = log_inside(words, G, cells, exponents)
