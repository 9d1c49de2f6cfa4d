"""The inside pass in rank space, of sentences of any lengths together."""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels, kernel
from dbpcfg.numerics.simd import copy_cell, round_to_zero, small_product, weighted_sum
from dbpcfg.parsing.chart.layout import (
    EMPTY,
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
from dbpcfg.parsing.lowrank.layout import (
    ROWS,
    RankCharts,
    RankWorkspace,
    Rules,
    scale,
    settled,
    splits_of,
)


@also_in_kernels
def place(
    row: int,
    s: int,
    n: int,
    level: int,
    i: int,
    width: int,
    depth: int,
    C: RankCharts,
    W: RankWorkspace,
) -> None:
    """Note a span in a row of the workspace: its cell, and where its children's cells begin."""
    rows, size = W.rows, cell_count(n)
    l, r = left_below(level, depth), right_below(level, depth)
    if depth and l == 2 * depth:  # a word: as on the level above
        l -= 2
    first = C.first[s]
    rows[row, 0], rows[row, 1], rows[row, 2] = s, level, i
    rows[row, 3] = first + level * size + cell_of(n, level, i, i + width)
    rows[row, 4] = first + l * size + left_cell(n, i, i + 1)
    rows[row, 5] = first + r * size + right_cell(i + 1, i + width)


@also_in_kernels
def fill_words(
    starts: Longs, depth: int, left_words: Floats, right_words: Floats, C: RankCharts
) -> None:
    """l or r of each word, on every level."""
    R, uses, exponents = C.uses.shape[1], C.uses, C.exponents
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
def combine(
    rows: int,
    starts: Longs,
    width: int,
    depth: int,
    side: int,
    G: Rules,
    C: RankCharts,
    W: RankWorkspace,
) -> None:
    """Fill the cells of a block of spans, all on even levels or all on odd ones."""
    placed, sums, phrases, uses = W.rows, W.sums, W.phrases, W.uses
    N, R = G.parent.shape
    for row in range(rows):
        cell, left, right = placed[row, 3], placed[row, 4], placed[row, 5]
        splits = splits_of(placed[row, 1], depth, width)
        e = scale(C, W, splits, left, right, EMPTY)
        weighted_sum(W.factors, C.uses, left * R, C.uses, right * R, sums, row * R, R, splits)
        if not copy_cell(sums, row * R, C.sums, cell * R, R, W.small[0], np.inf):
            e = settled(C.sums[cell], e)
            copy_cell(C.sums, cell * R, sums, row * R, R, 0.0, 0.0)
        C.exponents[cell] = e
    small_product(sums, 0, R, 1, G.parent_by_rank, 0, N, phrases, 0, N, rows, N, R)
    if side:
        small_product(phrases, 0, N, 1, G.right, 0, R, uses, 0, R, rows, R, N)
    else:
        small_product(phrases, 0, N, 1, G.left, 0, R, uses, 0, R, rows, R, N)
    for row in range(rows):
        copy_cell(phrases, row * N, C.phrases, placed[row, 3] * N, N, 0.0, 0.0)
        copy_cell(uses, row * R, C.uses, placed[row, 3] * R, R, 0.0, 0.0)
    if depth == 0:
        small_product(phrases, 0, N, 1, G.right, 0, R, uses, 0, R, rows, R, N)
        for row in range(rows):
            same = cell_as_right(row, starts, width, C, W)
            copy_cell(uses, row * R, C.uses, same * R, R, 0.0, 0.0)
            C.exponents[same] = C.exponents[placed[row, 3]]


@also_in_kernels
def cell_as_right(row: int, starts: Longs, width: int, C: RankCharts, W: RankWorkspace) -> int:
    """Without a bound: the cell of a span as a right child."""
    s, i = W.rows[row, 0], W.rows[row, 2]
    cell: int = C.first[s] + cell_count(starts[s + 1] - starts[s]) + right_cell(i, i + width)
    return cell


@kernel
def inside(
    starts: Longs,
    depth: int,
    G: Rules,
    left_words: Floats,
    right_words: Floats,
    C: RankCharts,
    W: RankWorkspace,
    flush: bool,
    logs: Floats,
) -> None:
    """Fill the charts of some sentences of two words or more, longest first, width by width.

    Sentence s has words ``starts[s]`` to ``starts[s + 1] − 1``, whose l and r are given. log P goes
    into ``logs[s]``, before scales of words are added. If ``flush``, denormal numbers are taken for
    zero.
    """
    round_to_zero(flush)
    fill_words(starts, depth, left_words, right_words, C)
    sentences, levels = len(starts) - 1, chart_levels(depth) if depth else 1
    for width in range(2, starts[1] - starts[0] + 1):
        for side in range(2 if depth else 1):
            rows = 0
            for s in range(sentences):
                n = starts[s + 1] - starts[s]
                if n < width:
                    break
                for level in range(side, levels, 2):
                    begin, end = first_start(level, depth), last_start(level, depth, n, width)
                    for i in range(begin, end + 1):
                        place(rows, s, n, level, i, width, depth, C, W)
                        rows += 1
                        if rows == ROWS:
                            combine(rows, starts, width, depth, side, G, C, W)
                            rows = 0
            if rows:
                combine(rows, starts, width, depth, side, G, C, W)
    for s in range(sentences):
        n = starts[s + 1] - starts[s]
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
