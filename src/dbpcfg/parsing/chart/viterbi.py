"""The most probable tree: the chart's recurrence with max in place of +, on logarithms.

As with sums, the best split point is found first for each pair of labels,
max_k (u_left(i,k,a) + u_right(k,j,b)), and the rules are applied once per span. Among equally
probable trees the one with the earliest split, then the lowest categories, is taken.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, kernel
from dbpcfg.parsing.chart.batches import Batches, largest
from dbpcfg.parsing.chart.layout import (
    Logs,
    cell_of,
    chart_levels,
    first_start,
    last_start,
    left_below,
    left_cell,
    new_chart,
    right_below,
    right_cell,
)
from dbpcfg.parsing.derivations import first_node


@kernel
def best_inside(words: Ints, G: Logs, cells: Floats, pairs: Floats) -> None:
    """Log-probability of the best subtree for every span, level and category."""
    depth, binary, lexical = G.depth, G.binary, G.lexical
    n, K = len(words), binary.shape[0]
    levels = chart_levels(depth)
    for level in range(levels):
        for i in range(n):
            cell = cell_of(n, level, i, i + 1)
            for c in range(K):
                cells[level, cell, c] = lexical[words[i], c]
    for width in range(2, n + 1):
        for level in range(levels):
            l, r = left_below(level, depth), right_below(level, depth)
            for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                j = i + width
                for a in range(K):
                    for b in range(K):
                        pairs[a, b] = -np.inf
                for k in range(i + 1, i + 2 if l == levels else j):
                    left = lexical[words[i]] if l == levels else cells[l, left_cell(n, i, k)]
                    right = cells[r, right_cell(k, j)]
                    for a in range(K):
                        for b in range(K):
                            pairs[a, b] = max(pairs[a, b], left[a] + right[b])
                best = cells[level, cell_of(n, level, i, j)]
                for c in range(K):
                    best[c] = -np.inf
                    for a in range(K):
                        for b in range(K):
                            best[c] = max(best[c], binary[c, a, b] + pairs[a, b])


@kernel
def best_tree(words: Ints, G: Logs, cells: Floats, nodes: Ints) -> float:
    """Follow the best choices down into pre-order ``nodes``; return the tree's log-probability.

    No tree is written if it is −∞.
    """
    depth, binary, lexical = G.depth, G.binary, G.lexical
    n, K = len(words), binary.shape[0]
    levels = chart_levels(depth)
    whole, category, greatest = left_cell(n, 0, n), 0, -np.inf
    for c in range(K):
        score = G.root[c] + cells[0, whole, c]
        if score > greatest:
            category, greatest = c, score
    if greatest == -np.inf:
        return -np.inf
    stack = np.empty((n + 1, 4), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, category, 0
    top, node = 1, 0
    while top:
        top -= 1
        i, j, c, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, c
        node += 1
        if j - i == 1:
            continue
        l, r = left_below(level, depth), right_below(level, depth)
        best, best_k, best_a, best_b = -np.inf, i + 1, 0, 0
        for k in range(i + 1, i + 2 if l == levels else j):
            left = lexical[words[i]] if l == levels else cells[l, left_cell(n, i, k)]
            right = cells[r, right_cell(k, j)]
            for a in range(K):
                for b in range(K):
                    score = binary[c, a, b] + (left[a] + right[b])
                    if score > best:
                        best, best_k, best_a, best_b = score, k, a, b
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = best_k, j, best_b, r
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = i, best_k, best_a, l
        top += 1
    return float(greatest)


def best_of_batches(first: int, last: int, B: Batches, G: Logs, nodes: Ints, logs: Floats) -> None:
    """The best tree of each sentence of some batches and its log-probability, before Z."""
    K, (tokens, starts) = len(G.root), B.sentences
    cells, _ = new_chart(largest(B, first, last)[0], K, G.depth)
    pairs = np.empty((K, K))
    for y in range(int(B.bounds[first]), int(B.bounds[last])):
        words = tokens[starts[B.distinct[y]] : starts[B.distinct[y] + 1]]
        best_inside(words, G, cells, pairs)
        for s in B.copies[B.first_copy[y] : B.first_copy[y + 1]].tolist():
            tree = nodes[first_node(starts, s) : first_node(starts, s + 1)]
            logs[s] = best_tree(words, G, cells, tree)
