"""The inside pass: u(s,d,c,i,j) for every span of a sentence."""

from __future__ import annotations

import math

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


@kernel
def inside(
    words: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    outer: Floats,
    product: Floats,
) -> None:
    """Fill the chart of one sentence, width by width.

    The sums over split points of all spans of one width and level make the rows of one matrix, and
    G is applied to them in one matrix product. On level (R,D) the left child is a word: with
    A_w[c, b] = Σ_a G[c → a b] G[a → w] a span costs one matrix-vector product and no sum.
    """
    n, K = len(words), G.root.shape[0]
    fill_words(words, depth, G, cells, exponents)
    word_steps = np.empty((0, K, K))
    if depth and n > 2:
        vectors = np.empty((n, K))
        for i in range(n):
            vectors[i] = G.emission[words[i]]
        word_steps = np.dot(vectors, G.by_left).reshape(n, K, K)
    for width in range(2, n + 1):
        for level in range(level_count(depth)):
            if depth and level == 2 * depth - 1:
                for i in range(1, n - width + 1):
                    cell, rest = right_cell(i, i + width), right_cell(i + 1, i + width)
                    np.dot(word_steps[i], cells[level, rest], cells[level, cell])
                    exponents[level, cell] = settle(cells[level, cell], exponents[level, rest])
                continue
            if depth == 0 and level == 1:
                for i in range(n - width + 1):
                    cell, same = right_cell(i, i + width), left_cell(n, i, i + width)
                    cells[1, cell] = cells[0, same]
                    exponents[1, cell] = exponents[0, same]
                continue
            first, last = first_start(level, depth), last_start(level, depth, n, width)
            if last < first:
                continue
            l, r = left_level(level, depth), right_level(level, depth)
            for i in range(first, last + 1):
                x, y = left_cell(n, i, i + 1), right_cell(i + 1, i + width)
                cell = cell_of(n, level, i, i + width)
                exponents[level, cell] = sum_over_splits(
                    cells[l, x : x + width - 1],
                    exponents[l, x : x + width - 1],
                    cells[r, y : y + width - 1],
                    exponents[r, y : y + width - 1],
                    outer[i - first],
                )
            rows = last - first + 1
            np.dot(outer[:rows], G.by_children, product[:rows])
            for i in range(first, last + 1):
                cell = cell_of(n, level, i, i + width)
                cells[level, cell] = product[i - first]
                exponents[level, cell] = settle(cells[level, cell], exponents[level, cell])


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
    outer, product = np.empty((longest, K * K)), np.empty((longest, K))
    for s in sentences:
        words = tokens[starts[s] : starts[s + 1]]
        inside(words, depth, G, cells, exponents, outer, product)
        logs[s] = log_inside(words, G, cells, exponents)
