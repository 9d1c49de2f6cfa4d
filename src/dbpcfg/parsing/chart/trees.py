"""Draw trees from the posterior, top down, given filled charts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel, specialised
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.numerics.simd import aligned, small_product
from dbpcfg.parsing.chart.batches import (
    Batches,
    Charts,
    buffer_sizes,
    copies_of,
    fill_charts,
    new_buffers,
)
from dbpcfg.parsing.chart.layout import (
    Tables,
    cell_of,
    left_below,
    left_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.derivations import first_node

BUNCH = 4
"""Split points whose weights are computed together."""


class SamplingWorkspace(NamedTuple):
    """Memory for drawing one tree after another."""

    above: Floats  # [k, a]    Σ_b G[c → a b] · u(b,k,j) for each split point of a node
    stack: Longs  # [node, 4]  start, end, category and level of nodes still to be drawn


def new_sampling_workspace(longest: int, G: Tables) -> SamplingWorkspace:
    """Memory for sentences up to a length."""
    return SamplingWorkspace(
        aligned(G.root, longest, len(G.root)), np.empty((longest + 1, 4), dtype=np.int64)
    )


@also_in_kernels
def sample_tree(
    C: Charts,
    m: int,
    G: Tables,
    work: SamplingWorkspace,
    numbers: Stream,
    sentence: int,
    node: int,
    nodes: Ints,
) -> None:
    """Draw a tree of sentence m of a batch from P(tree | sentence, G), into ``nodes[node:]``.

    A node (c, i, j) is split at k with labels a, b with probability proportional to
    G[c → a b] · u(a,i,k) · u(b,k,j). Nodes are in pre-order; the t-th uses the random numbers of
    draw t, from 1, and the root's category those of draw 0. Choices of weight zero are never made:
    if rounding keeps a sum from reaching its target, the last choice of positive weight is made.
    """
    depth, batch, cells, exponents = G.depth, C.batch, C.cells, C.exponents
    n, (levels, size, K) = batch.shape[1], cells.shape[1:]
    root, binary, by_right, emission = G.root, G.binary, G.by_right, G.emission
    above, stack = work.above, work.stack
    uniform, _ = uniform_pair(numbers, sentence, 0)
    whole, total, running, top_category = left_cell(n, 0, n), 0.0, 0.0, 0
    for c in range(K):
        total += root[c] * cells[m, 0, whole, c]
    for c in range(K):
        weight = root[c] * cells[m, 0, whole, c]
        if weight > 0.0:
            top_category = c
            running += weight
            if running >= uniform * total:
                break
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, top_category, 0
    top, draw = 1, 0
    while top:
        top -= 1
        i, j, c, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, c
        node += 1
        draw += 1
        if j - i == 1:
            continue
        uniform_k, uniform_ab = uniform_pair(numbers, sentence, draw)
        l, r = left_below(level, depth), right_below(level, depth)
        cell, x, y = cell_of(n, level, i, j), left_cell(n, i, i + 1), right_cell(i + 1, j)
        left_is_word = l == levels
        splits = 1 if left_is_word else j - i - 1
        rights = ((m * levels + r) * size + y) * K
        # The weights of all split points sum to u(c,i,j), so those after the chosen split point and
        # labels need not be computed.
        total, exponent, k = float(cells[m, level, cell, c]), exponents[m, level, cell], 0
        if left_is_word:
            small_product(cells, rights, K, 1, by_right, c * K * K, K, above, 0, K, 1, K, K)
            if exponents[m, r, y] != exponent:
                total = math.ldexp(total, exponent - exponents[m, r, y])
        else:
            target, running, chosen = uniform_k * total, 0.0, 0
            for k in range(splits):
                if k % BUNCH == 0:
                    to, rows = k * K, min(BUNCH, splits - k)
                    small_product(
                        cells, rights + to, K, 1, by_right, c * K * K, K, above, to, K, rows, K, K
                    )
                s0, s1, s2, s3 = (
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                )  # an addition waits for the one before
                for a in range(0, K, 4):
                    s0 += cells[m, l, x + k, a] * above[k, a]
                    s1 += cells[m, l, x + k, a + 1] * above[k, a + 1]
                    s2 += cells[m, l, x + k, a + 2] * above[k, a + 2]
                    s3 += cells[m, l, x + k, a + 3] * above[k, a + 3]
                weight = (s0 + s1) + (s2 + s3)
                if weight > 0.0:
                    chosen, total = k, weight
                    shift = exponents[m, l, x + k] + exponents[m, r, y + k] - exponent
                    running += math.ldexp(weight, shift) if shift else weight
                    if running >= target:
                        break
            k = chosen

        # The position of the number within a's weight determines b: one number serves for both.
        target, running_b, running, chosen_a, chosen_b = uniform_ab * total, 0.0, 0.0, 0, 0
        share = 0.0
        for a in range(K):
            left = emission[batch[m, i], a] if left_is_word else cells[m, l, x + k, a]
            weight = left * above[k, a]
            if weight > 0.0:
                chosen_a, running_b, share = a, running, left
                running += weight
                if running >= target:
                    break
        for b in range(K):
            weight = share * (binary[c, chosen_a, b] * cells[m, r, y + k, b])
            if weight > 0.0:
                chosen_b = b
                running_b += weight
                if running_b >= target:
                    break
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = i + 1 + k, j, chosen_b, r
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = i, i + 1 + k, chosen_a, l
        top += 1


@kernel
def sample_trees(
    C: Charts,
    copies: Longs,
    begins: Longs,
    starts: Longs,
    items: Longs,
    G: Tables,
    work: SamplingWorkspace,
    numbers: Stream,
    nodes: Ints,
    logs: Floats,
) -> None:
    """Draw a tree for each copy of a batch's sentences, unless its ``log_inside`` is −∞."""
    for m in range(len(C.logs)):
        for y in range(begins[m], begins[m + 1]):
            s = copies[y]
            logs[s] = C.logs[m]
            if C.logs[m] > -np.inf:
                sample_tree(C, m, G, work, numbers, items[s], first_node(starts, s), nodes)


def sample_batches(
    first: int, last: int, B: Batches, G: Tables, numbers: Stream, nodes: Ints, logs: Floats
) -> None:
    """Draw a tree for each sentence of some batches, unless its ``log_inside`` is −∞."""
    buffers = new_buffers(B, first, last, G, True)
    work, starts = new_sampling_workspace(buffer_sizes(B, first, last)[0], G), B.sentences.starts
    draw = specialised(sample_trees, G.root.dtype)
    for number in range(first, last):
        C = fill_charts(B, number, G, buffers)
        draw(C, *copies_of(B, number), starts, B.items, G, work, numbers, nodes, logs)
