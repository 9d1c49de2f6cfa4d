"""Trees drawn from the posterior, top down through a filled chart."""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.chart.inside import inside, log_inside, longest_of
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    Tables,
    cell_of,
    left_cell,
    left_level,
    level_count,
    new_chart,
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
def choose_children(
    rules: Floats, left: Floats, right: Floats, weight: float, uniform: float
) -> tuple[int, int]:
    """Draw (a, b) in proportion to G[c → a b] · left[a] · right[b], which sums to ``weight``."""
    K = len(left)
    target, before, chosen_a, chosen_b = uniform * weight, 0.0, 0, 0
    running = 0.0
    for a in range(K):
        row = 0.0
        for b in range(K):
            row += rules[a, b] * right[b]
        if left[a] * row > 0.0:
            chosen_a, before = a, running
            running += left[a] * row
            if running >= target:
                break
    running = before
    for b in range(K):
        share = left[chosen_a] * (rules[chosen_a, b] * right[b])
        if share > 0.0:
            chosen_b = b
            running += share
            if running >= target:
                break
    return chosen_a, chosen_b


@kernel
def sample_tree(
    words: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    numbers: Stream,
    sentence: int,
    nodes: Ints,
) -> None:
    """Draw one tree from P(tree | sentence, G) into pre-order ``nodes``.

    A node (c, i, j) has its children at k with labels a, b with probability in proportion to
    G[c → a b] · u(a,i,k) · u(b,k,j). Node t uses the random numbers of draw t + 1, the root's
    category those of draw 0.
    """
    n, K = len(words), G.root.shape[0]
    uniform, _ = uniform_pair(numbers, sentence, 0)
    root = choose(G.root * cells[0, left_cell(n, 0, n)], uniform)
    stack = np.empty((n + 1, 4), dtype=np.int64)
    stack[0] = (0, n, root, 0)
    top, node = 1, 0
    while top:
        top -= 1
        i, j, c, level = stack[top]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, c
        node += 1
        if j - i == 1:
            continue
        uniform_k, uniform_ab = uniform_pair(numbers, sentence, node)
        rules = G.binary[c]
        l, r = left_level(level, depth), right_level(level, depth)
        left_is_word = l == level_count(depth)
        here = cell_of(n, level, i, j)
        target, running, weight, k = uniform_k * cells[level, here, c], 0.0, 0.0, i
        for split in range(i + 1, i + 2 if left_is_word else j):
            y = right_cell(split, j)
            shift = exponents[r, y] - exponents[level, here]
            if left_is_word:
                left = G.emission[words[i]]
            else:
                x = left_cell(n, i, split)
                if exponents[l, x] == EMPTY:
                    continue
                left = cells[l, x]
                shift += exponents[l, x]
            if exponents[r, y] == EMPTY:
                continue
            right = cells[r, y]
            share = 0.0
            for a in range(K):
                inner = 0.0
                for b in range(K):
                    inner += rules[a, b] * right[b]
                share += left[a] * inner
            if share > 0.0:
                k, weight = split, share
                running += math.ldexp(share, shift)
                if running >= target:
                    break
        left = G.emission[words[i]] if left_is_word else cells[l, left_cell(n, i, k)]
        a, b = choose_children(rules, left, cells[r, right_cell(k, j)], weight, uniform_ab)
        stack[top] = (k, j, b, r)
        stack[top + 1] = (i, k, a, l)
        top += 2


@kernel
def sample_sentences(
    sentences: Longs,
    tokens: Ints,
    starts: Longs,
    depth: int,
    G: Tables,
    numbers: Stream,
    nodes: Ints,
    logs: Floats,
) -> None:
    """A tree for each of some sentences, and ``log_inside``; no tree if that is −∞."""
    longest, K = longest_of(sentences, starts), G.root.shape[0]
    cells, exponents = new_chart(longest, K, depth)
    outer, product = np.empty((longest, K * K)), np.empty((longest, K))
    for s in sentences:
        words = tokens[starts[s] : starts[s + 1]]
        inside(words, depth, G, cells, exponents, outer, product)
        logs[s] = log_inside(words, G, cells, exponents)
        if logs[s] > -np.inf:
            first, last = 2 * starts[s] - s, 2 * starts[s + 1] - s - 1
            sample_tree(words, depth, G, cells, exponents, numbers, s, nodes[first:last])
