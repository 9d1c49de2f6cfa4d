"""The chart sampler as a textbook has it, in NumPy, one sentence at a time: what to be faster than.

Same model, same levels, same sum-then-rules order; vectorised over categories and split points.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.grammar.bounding import left_child, right_child
from dbpcfg.grammar.pcfg import Grammar


def inside(words: np.ndarray, grammar: Grammar, depth: int) -> list[np.ndarray]:
    """u[level][i, j] for every level but the last, which is a word's own vector."""
    n, K = len(words), grammar.categories
    G = grammar.binary.reshape(K, K * K)
    u = [np.zeros((n, n + 1, K)) for _ in range(2 * depth + 1)]
    for i, word in enumerate(words):
        for level in u:
            level[i, i + 1] = grammar.lexical[:, word]
    for width in range(2, n + 1):
        for level in range(2 * depth):
            left, right = u[left_child(level)], u[right_child(level)]
            for i in range(n - width + 1):
                j = i + width
                pairs = left[i, i + 1 : j].T @ right[i + 1 : j, j]
                u[level][i, j] = G @ pairs.ravel()
    return u


def sample(
    words: np.ndarray, grammar: Grammar, depth: int, rng: np.random.Generator
) -> list[tuple[int, int, int]]:
    """One tree from the posterior, as pre-order (start, end, category)."""
    n = len(words)
    u = inside(words, grammar, depth)
    top = np.cumsum(grammar.root * u[0][0, n])
    nodes, todo = [], [(0, n, int(np.searchsorted(top, rng.random() * top[-1])), 0)]
    while todo:
        i, j, c, level = todo.pop()
        nodes.append((i, j, c))
        if j - i > 1:
            left, right = u[left_child(level)], u[right_child(level)]
            weights = np.einsum(
                "ka,ab,kb->kab", left[i, i + 1 : j], grammar.binary[c], right[i + 1 : j, j]
            )
            running = np.cumsum(weights)
            choice = int(np.searchsorted(running, rng.random() * running[-1]))
            k, a, b = np.unravel_index(choice, weights.shape)
            todo.append((i + 1 + int(k), j, int(b), right_child(level)))
            todo.append((i, i + 1 + int(k), int(a), left_child(level)))
    return nodes
