"""The outside pass in rank space: derivatives of log P by all factors.

With x, h, l and r as in ``layout``, and ∂ for the derivative of log P by what follows::

    ∂h_A(L,1,0,n) = π_A / P
    ∂h_A = Σ_r v_Ar ∂l_r  or  Σ_r w_Ar ∂r_r        ∂x_r = Σ_A u_Ar ∂h_A
    ∂l_r(i,k) += Σ_j ∂x_r(i,j) r_r(k,j)            ∂r_r(k,j) += Σ_i ∂x_r(i,j) l_r(i,k)
    ∂u_Ar = Σ ∂h_A x_r        ∂v_Ar = Σ h_A ∂l_r        ∂w_Ar = Σ h_A ∂r_r

h_A · ∂h_A is the posterior probability of a labelled span, u_Ar · ∂u_Ar the expected number of
times that A chooses r. If a cell is scaled by 2^e, derivatives by its entries are scaled by 2^−e,
so products of the two need no scale, and are never too large.
"""

from __future__ import annotations

from dbpcfg.numerics.kernels import Floats, also_in_kernels, kernel
from dbpcfg.numerics.simd import (
    add_small_product,
    add_weighted,
    cell_product,
    copy_cell,
    round_to_zero,
    small_product,
)
from dbpcfg.parsing.chart.layout import (
    beginnings,
    cell_count,
    cell_of,
    chart_levels,
    left_cell,
    right_cell,
)
from dbpcfg.parsing.derivations import level_cell
from dbpcfg.parsing.lowrank.inside import (
    ROWS,
    RankCharts,
    RankWorkspace,
    Rules,
    Sums,
    cell_as_right,
    scale,
    set_position,
    splits_of,
    total_of,
)


@also_in_kernels
def expand(
    rows: int, width: int, side: int, G: Rules, C: RankCharts, W: RankWorkspace, S: Sums
) -> None:
    """Compute derivatives by children and factors from those of a block of spans."""
    positions, sums, phrases, uses, slopes = W.positions, W.sums, W.phrases, W.uses, W.derivatives
    depth, starts, weights, (N, R) = G.depth, C.starts, S.weights, G.parent.shape
    for row in range(rows):
        cell = positions[row, 3]
        copy_cell(C.above, cell * R, uses, row * R, R, 0.0, 0.0)
        copy_cell(C.sums, cell * R, sums, row * R, R, 0.0, 0.0)
        copy_cell(C.phrases, cell * N, phrases, row * N, N, 0.0, 0.0)
    if side:
        small_product(uses, 0, R, 1, G.right_by_rank, 0, N, slopes, 0, N, rows, N, R)
        add_small_product(phrases, 0, 1, N, uses, 0, R, S.right, 0, R, N, R, rows)
    else:
        small_product(uses, 0, R, 1, G.left_by_rank, 0, N, slopes, 0, N, rows, N, R)
        add_small_product(phrases, 0, 1, N, uses, 0, R, S.left, 0, R, N, R, rows)
    if depth == 0:
        for row in range(rows):
            copy = cell_as_right(row, width, C, W)
            copy_cell(C.above, copy * R, uses, row * R, R, 0.0, 0.0)
        add_small_product(uses, 0, R, 1, G.right_by_rank, 0, N, slopes, 0, N, rows, N, R)
        add_small_product(phrases, 0, 1, N, uses, 0, R, S.right, 0, R, N, R, rows)
    for row in range(rows):
        s, i = positions[row, 0], positions[row, 2]
        n = starts[s + 1] - starts[s]
        if n == width:
            share = C.copies[s] / total_of(positions[row, 3], G, C)
            for A in range(N):
                slopes[row, A] = G.root[A] * share
                S.root[A] += phrases[row, A] * share
        if len(weights):
            at = S.first_weight[s] + level_cell(n, S.by_level * positions[row, 1], i, i + width)
            for A in range(min(N, weights.shape[1])):
                weights[at, A] += phrases[row, A] * slopes[row, A]
    add_small_product(slopes, 0, 1, N, sums, 0, R, S.parent, 0, R, N, R, rows)
    small_product(slopes, 0, N, 1, G.parent, 0, R, sums, 0, R, rows, R, N)
    for row in range(rows):
        left, right = positions[row, 4], positions[row, 5]
        splits = splits_of(positions[row, 1], depth, width)
        scale(C, W, splits, left, right, C.exponents[positions[row, 3]])
        x, l, r = row * R, left * R, right * R
        add_weighted(W.factors, sums, x, C.uses, r, C.above, l, R, splits)
        add_weighted(W.factors, sums, x, C.uses, l, C.above, r, R, splits)


@kernel
def outside(
    G: Rules, C: RankCharts, W: RankWorkspace, negligible: float, flush: bool, S: Sums
) -> None:
    """Fill ``C.above``, which is zero, after the inside pass, and add derivatives to the sums.

    Spans less probable than ``negligible`` are pruned.
    """
    round_to_zero(flush)
    R, starts, depth = C.uses.shape[1], C.starts, G.depth
    sentences, levels = len(starts) - 1, chart_levels(depth) if depth else 1
    for width in range(starts[1] - starts[0], 1, -1):
        for side in range(2 if depth else 1):
            rows = 0
            for s in range(sentences):
                n, min_mass = starts[s + 1] - starts[s], negligible * C.copies[s]
                if n < width:
                    break
                if total_of(C.first[s] + left_cell(n, 0, n), G, C) == 0.0:
                    continue
                for level in range(side, levels, 2):
                    for i in beginnings(level, depth, n, width):
                        set_position(rows, s, level, i, width, depth, C, W)
                        cell = W.positions[rows, 3]
                        mass = cell_product(C.uses, cell * R, C.above, cell * R, R)
                        if depth == 0:
                            copy = C.first[s] + cell_count(n) + right_cell(i, i + width)
                            mass += cell_product(C.uses, copy * R, C.above, copy * R, R)
                        rows += mass > min_mass or (level == 0 and width == n)
                        if rows == ROWS:
                            expand(rows, width, side, G, C, W, S)
                            rows = 0
            if rows:
                expand(rows, width, side, G, C, W, S)
    for s in range(sentences):
        n = starts[s + 1] - starts[s]
        for level in range(chart_levels(depth)):
            for i in range(n):
                cell = C.first[s] + level * cell_count(n) + cell_of(n, level, i, i + 1)
                add_word(S, level, starts[s] + i, C.above, cell)
    round_to_zero(False)


@also_in_kernels
def add_word(S: Sums, level: int, token: int, above: Floats, cell: int) -> None:
    """Derivatives by l or r of a word, from one of its cells."""
    for r in range(above.shape[1]):
        if level % 2:
            S.right_words[token, r] += above[cell, r]
        else:
            S.left_words[token, r] += above[cell, r]
