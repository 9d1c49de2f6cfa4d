"""Store sequences, and the trees that they build.

A store sequence is one row ``(fork, join, preterminal, top, bottom)`` for each word: the two
decisions, the word's category, the top sign of the fragment begun if there is no join (else −1),
and the bottom sign then awaited (−1 at the end of the sentence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Ints, kernel

FORK, JOIN, PRETERMINAL, TOP, BOTTOM = 0, 1, 2, 3, 4


class Fragment(NamedTuple):
    """A derivation fragment top/bottom: a top sign lacking a bottom sign."""

    top: str
    bottom: str

    def __str__(self) -> str:
        return f"{self.top}/{self.bottom}"


@kernel
def nodes_of(steps: Ints, nodes: Ints) -> None:
    """The tree of a store sequence, into pre-order ``nodes``."""
    n = len(steps)
    category = np.empty(2 * n, dtype=np.int64)
    left, right = np.full(2 * n, -1), np.full(2 * n, -1)
    tops, awaited = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    made, depth, root = 0, 0, 0
    for t in range(n):
        if steps[t, FORK]:
            finished = made
            category[made] = steps[t, PRETERMINAL]
            made += 1
        else:
            finished = tops[depth]
            depth -= 1
        if steps[t, JOIN] and depth == 0:
            root = finished
            continue
        if steps[t, JOIN]:
            above = awaited[depth]
        else:
            above = made
            category[made] = steps[t, TOP]
            made += 1
            depth += 1
            tops[depth] = above
        left[above], right[above] = finished, made
        awaited[depth] = made
        category[made] = steps[t, BOTTOM]
        made += 1
    stack = np.empty(n + 1, dtype=np.int64)
    stack[0] = root
    waiting, node, words = 1, 0, 0
    while waiting:
        waiting -= 1
        x = stack[waiting]
        nodes[node, 0], nodes[node, 2] = words, category[x]
        if left[x] < 0:
            words += 1
            nodes[node, 1] = words
        else:
            nodes[node, 1] = -1
            stack[waiting], stack[waiting + 1] = right[x], left[x]
            waiting += 2
        node += 1
    # A phrase ends where its right child ends: fill in ends from the last node to the first.
    waiting = 0
    for node in range(2 * n - 2, -1, -1):
        if nodes[node, 1] < 0:
            nodes[node, 1] = stack[waiting - 2]
            waiting -= 2
        stack[waiting] = nodes[node, 1]
        waiting += 1
