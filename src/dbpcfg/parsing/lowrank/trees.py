"""Draw trees from the posterior in rank space, top down, given filled charts.

A node A on (i,j) first draws its hidden symbol r, then the split point, then each child
independently, with x, h, l and r of ``inside``::

    P(r) ∝ u_Ar x_r(i,j)        P(k | r) ∝ l_r(i,k) r_r(k,j)
    P(B | r, k) ∝ v_Br h_B(i,k)        P(C | r, k) ∝ w_Cr h_C(k,j)

with G[p → w] instead of h if a child is a word. The product, summed over r, is the posterior of the
rule and the split point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    cell_count,
    cell_of,
    left_below,
    left_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.derivations import first_node
from dbpcfg.parsing.lowrank.inside import RankCharts, RankWorkspace, Rules, scale, splits_of


class WordRules(NamedTuple):
    """Rules of words' categories, for the words of some sentences."""

    root: Floats  # [p]          π
    left: Floats  # [p, r]       v
    right: Floats  # [p, r]      w
    emission: Floats  # [token, p]


@also_in_kernels
def draw_index(weights: Floats, size: int, uniform: float) -> int:
    """Draw the index of one of the first weights, in proportion to them; never of weight zero."""
    target, running, chosen = 0.0, 0.0, 0
    for x in range(size):
        target += weights[x]
    target *= uniform
    for x in range(size):
        if weights[x] > 0.0:
            chosen = x
            running += weights[x]
            if running >= target:
                break
    return chosen


@also_in_kernels
def draw_child(
    cell: int,
    token: int,
    r: int,
    uniform: float,
    phrases: Floats,
    words: Floats,
    C: RankCharts,
    V: WordRules,
    N: int,
    weights: Floats,
) -> int:
    """Draw the category of a child of hidden symbol r: a phrase, or a word if ``token`` ≥ 0.

    ``phrases`` and ``words`` are the factors of its side, v or w; N is the number of phrases.
    """
    if token >= 0:
        for p in range(len(words)):
            weights[p] = words[p, r] * V.emission[token, p]
        return N + draw_index(weights, len(words), uniform)
    for A in range(N):
        weights[A] = phrases[A, r] * C.phrases[cell, A]
    return draw_index(weights, N, uniform)


@also_in_kernels
def sample_tree(
    s: int,
    N: int,
    G: Rules,
    C: RankCharts,
    W: RankWorkspace,
    V: WordRules,
    numbers: Stream,
    item: int,
    weights: Floats,
    nodes: Ints,
) -> None:
    """Draw a tree of sentence s, into pre-order ``nodes``.

    The root's category uses the random numbers of draw 0, the t-th node, from 1, those of draws 2t
    (r and k) and 2t + 1 (its children's categories).
    """
    depth, begin, n = G.depth, C.starts[s], C.starts[s + 1] - C.starts[s]
    first, size = C.first[s], cell_count(n)
    uniform, _ = uniform_pair(numbers, item, 0)
    if n == 1:
        for p in range(len(V.root)):
            weights[p] = V.root[p] * V.emission[begin, p]
        category = N + draw_index(weights, len(V.root), uniform)
    else:
        for A in range(N):
            weights[A] = G.root[A] * C.phrases[first + left_cell(n, 0, n), A]
        category = draw_index(weights, N, uniform)
    stack = np.empty((n + 1, 4), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, category, 0
    top, node = 1, 0
    while top:
        top -= 1
        i, j, A, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, A
        node += 1
        if j - i == 1:
            continue
        uniform_r, uniform_k = uniform_pair(numbers, item, 2 * node)
        uniform_left, uniform_right = uniform_pair(numbers, item, 2 * node + 1)
        cell = first + level * size + cell_of(n, level, i, j)
        for x in range(G.parent.shape[1]):
            weights[x] = G.parent[A, x] * C.sums[cell, x]
        r = draw_index(weights, G.parent.shape[1], uniform_r)
        l, r_level = left_below(level, depth), right_below(level, depth)
        word_level = depth > 0 and l == 2 * depth  # a word: as on the level above
        left = first + (l - 2 if word_level else l) * size + left_cell(n, i, i + 1)
        right, splits = (
            first + r_level * size + right_cell(i + 1, j),
            splits_of(level, depth, j - i),
        )
        scale(C, W, splits, left, right, EMPTY)
        for x in range(splits):
            weights[x] = W.factors[x] * C.uses[left + x, r] * C.uses[right + x, r]
        x = draw_index(weights, splits, uniform_k)
        k = i + 1 + x
        token = begin + i if k - i == 1 else -1
        B = draw_child(left + x, token, r, uniform_left, G.left, V.left, C, V, N, weights)
        # Without a bound, phrases are stored only as left children.
        cell = right + x if depth else first + left_cell(n, k, j)
        token = begin + k if j - k == 1 else -1
        D = draw_child(cell, token, r, uniform_right, G.right, V.right, C, V, N, weights)
        stack[top, 0], stack[top, 1], stack[top, 2] = k, j, D
        stack[top, 3] = r_level if depth else 0
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2] = i, k, B
        stack[top, 3] = l
        top += 1


@kernel
def sample_trees(
    N: int,
    G: Rules,
    C: RankCharts,
    W: RankWorkspace,
    V: WordRules,
    logs: Floats,
    copies: Longs,
    begins: Longs,
    starts: Longs,
    items: Longs,
    numbers: Stream,
    nodes: Ints,
) -> None:
    """Draw a tree for each copy of a block's sentences, unless its log probability is −∞."""
    longest = C.starts[1] - C.starts[0]
    weights = np.empty(max(longest, len(V.root), G.parent.shape[0], G.parent.shape[1]))
    for s in range(len(logs)):
        if logs[s] > -np.inf:
            for y in range(begins[s], begins[s + 1]):
                rows = nodes[first_node(starts, copies[y]) : first_node(starts, copies[y] + 1)]
                sample_tree(s, N, G, C, W, V, numbers, items[copies[y]], weights, rows)
