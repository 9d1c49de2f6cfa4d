"""Trees drawn from the posterior, top down through a filled chart."""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.chart.batches import Batches
from dbpcfg.parsing.chart.inside import (
    charts,
    gather,
    inside,
    log_inside,
    new_workspace,
    room_for,
)
from dbpcfg.parsing.chart.layout import (
    Tables,
    cell_of,
    left_cell,
    left_level,
    level_count,
    right_cell,
    right_level,
)
from dbpcfg.philox import Stream, uniform_pair


@kernel
def choose(weights: Floats, uniform: float) -> int:
    """Index of the weight in which ``uniform`` of their total falls; one with weight zero never."""
    total = 0.0
    for weight in weights:
        total += weight
    target, running, chosen = uniform * total, 0.0, 0
    for x in range(len(weights)):
        if weights[x] > 0.0:
            chosen = x
            running += weights[x]
            if running >= target:
                break
    return chosen


@kernel
def sample_tree(
    words: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    above: Floats,
    weights: Floats,
    numbers: Stream,
    sentence: int,
    nodes: Ints,
) -> None:
    """Draw one tree from P(tree | sentence, G) into pre-order ``nodes``.

    A node (c, i, j) has its children at k with labels a, b with probability in proportion to
    G[c → a b] · u(a,i,k) · u(b,k,j). Node t uses the random numbers of draw t + 1, the root's
    category those of draw 0. ``above`` and ``weights`` are room for one row a split point:
    ``above[k, a]`` is Σ_b G[c → a b] · u(b,k,j).
    """
    n, K = len(words), G.root.shape[0]
    binary, by_right, emission = G.binary, G.by_right, G.emission
    uniform, _ = uniform_pair(numbers, sentence, 0)
    root = choose(G.root * cells[0, left_cell(n, 0, n)], uniform)
    stack = np.empty((n + 1, 4), dtype=np.int64)
    stack[0] = (0, n, root, 0)
    top, node = 1, 0
    while top:
        top -= 1
        i, j, c, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, c
        node += 1
        if j - i == 1:
            continue
        uniform_k, uniform_ab = uniform_pair(numbers, sentence, node)
        l, r = left_level(level, depth), right_level(level, depth)
        left_is_word = l == level_count(depth)
        x, y, k = left_cell(n, i, i + 1), right_cell(i + 1, j), 0
        if left_is_word:  # there is one split point
            for a in range(K):
                above[0, a] = 0.0
            for b in range(K):
                share = cells[r, y, b]
                for a in range(K):
                    above[0, a] += by_right[c, b, a] * share
        else:
            splits = j - i - 1
            np.dot(cells[r, y : y + splits], by_right[c], above[:splits])
            here = exponents[level, cell_of(n, level, i, j)]
            for k in range(splits):
                weight = 0.0
                for a in range(K):
                    weight += cells[l, x + k, a] * above[k, a]
                shift = exponents[l, x + k] + exponents[r, y + k] - here
                weights[k] = math.ldexp(weight, shift) if shift and weight else weight
            k = choose(weights[:splits], uniform_k)

        # The share of a's weight in which the number falls decides b: one number serves for both.
        total = 0.0
        for a in range(K):
            weights[a] = (emission[words[i], a] if left_is_word else cells[l, x + k, a]) * above[
                k, a
            ]
            total += weights[a]
        target, before, running, chosen_a, chosen_b = uniform_ab * total, 0.0, 0.0, 0, 0
        for a in range(K):
            if weights[a] > 0.0:
                chosen_a, before = a, running
                running += weights[a]
                if running >= target:
                    break
        share = weights[chosen_a] / above[k, chosen_a]
        for b in range(K):
            weight = share * (binary[c, chosen_a, b] * cells[r, y + k, b])
            if weight > 0.0:
                chosen_b = b
                before += weight
                if before >= target:
                    break
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = i + 1 + k, j, chosen_b, r
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = i, i + 1 + k, chosen_a, l
        top += 1


@kernel
def sample_batches(
    first: int,
    last: int,
    B: Batches,
    tokens: Ints,
    starts: Longs,
    depth: int,
    G: Tables,
    numbers: Stream,
    nodes: Ints,
    logs: Floats,
) -> None:
    """A tree for each sentence of some batches, and ``log_inside``; no tree if that is −∞."""
    K = G.root.shape[0]
    room, room_exponents, longest = room_for(B, first, last, starts, K, depth)
    work, above, weights = new_workspace(longest, K), np.empty((longest, K)), np.empty(longest + K)
    for number in range(first, last):
        batch = gather(B, number, tokens, starts)
        cells, exponents = charts(room, room_exponents, batch.shape[0], batch.shape[1], K, depth)
        inside(batch, depth, G, cells, exponents, work)
        for m in range(len(batch)):
            words, u, e = batch[m], cells[m], exponents[m]
            log = log_inside(words, G, u, e)
            y = B.bounds[number] + m
            for s in B.copies[B.first_copy[y] : B.first_copy[y + 1]]:
                logs[s] = log
                if log > -np.inf:
                    tree = nodes[2 * starts[s] - s : 2 * starts[s + 1] - s - 1]
                    sample_tree(words, depth, G, u, e, above, weights, numbers, s, tree)
