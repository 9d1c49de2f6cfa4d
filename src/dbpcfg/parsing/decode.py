"""Minimum-Bayes-risk trees: the tree whose spans are expected to be right most often.

Given a weight for every span, its posterior probability or how many of the retained samples have
it, the tree of greatest total weight minimises the expected number of wrong spans (Goodman 1996).
It need not be the most probable tree, nor fit a depth bound that the weights came from.

Ties, common when weights are counts, go to the most even split; of two equally even ones to the
earlier if the span starts at an even position and else to the later. A rule such as "first split"
would hand right-branching trees to sentences about which nothing is known, and English would
reward that.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel


def minimum_bayes_risk(weights: Floats, labelled: bool = False) -> Ints:
    """Pre-order nodes of the best tree for ``weights[i, j, c]``, spans (i, j) half-open.

    A span's gain is its weight summed over labels c, or that of its best label if ``labelled``;
    its label is its best label either way.
    """
    n = len(weights) if weights.ndim else 0
    if weights.ndim != 3 or weights.shape[1] != n + 1 or weights.size == 0:
        raise DbpcfgError(f"expected weights of shape (n, n + 1, labels), got {weights.shape}")
    if not np.isfinite(weights).all():
        raise DbpcfgError("weights of spans must be finite")
    gain = weights.max(axis=2) if labelled else weights.sum(axis=2)
    nodes = np.empty((2 * n - 1, 3), dtype=np.int32)
    heaviest_tree(gain, weights.argmax(axis=2), nodes)
    return nodes


@kernel
def heaviest_tree(gain: Floats, labels: Longs, nodes: Ints) -> float:
    """The binary tree of greatest total gain, into pre-order ``nodes``; return its gain::

    total(i,j) = gain(i,j) + max_k total(i,k) + total(k,j)
    """
    n = gain.shape[0]
    total = np.zeros((n + 1, n + 1))
    split = np.zeros((n + 1, n + 1), dtype=np.int64)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            best, best_tilt = 0.0 if width == 1 else -np.inf, width
            for k in range(i + 1, j):
                score, tilt = total[i, k] + total[k, j], abs(2 * k - i - j)
                more_even = tilt < best_tilt or (tilt == best_tilt and i % 2 == 1)
                if score > best or (score == best and more_even):
                    best, best_tilt, split[i, j] = score, tilt, k
            total[i, j] = gain[i, j] + best
    stack = np.empty((n + 1, 2), dtype=np.int64)
    stack[0] = (0, n)
    top, node = 1, 0
    while top:
        top -= 1
        i, j = stack[top]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, labels[i, j]
        node += 1
        if j - i > 1:
            stack[top], stack[top + 1] = (split[i, j], j), (i, split[i, j])
            top += 2
    return float(total[0, n])
