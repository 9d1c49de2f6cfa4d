"""One word as a few matrix products: the step of the forward distribution, for sums only.

The four cases of ``filtering.fork`` and ``filtering.complete`` are two once one looks at what the
word finishes. Below the bottom sign y of a store q of depth d, a category c is finished if the word
forks and is a c, or if it is the b awaited by a fragment c/b on q::

    finished[q, c] = v[q] F_d(1|y) P_d(c|y) o[c]  +  Σ_b v[q c/b] F_d+1(0|b) o[b]

Then c joins y, or begins a fragment a/b' on q::

    v'[q, b' for y] = Σ_c finished[q, c] J_d(1|y c) B_R,d(b'|y c)
    v'[q a/b']      = Σ_c finished[q, c] J_d(0|y c) A_d(a|y c) B_L,d+1(b'|a c)

For stores with the same y both are products with one matrix.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, also_in_kernels
from dbpcfg.parsing.leftcorner.filtering import offset
from dbpcfg.parsing.leftcorner.models import Models


@also_in_kernels
def joining(M: Models, d: int, y: int, signs: int, matrix: Floats) -> None:
    """``[c, b']``: J_d(1|y c) B_R,d(b'|y c)."""
    for c in range(len(matrix)):
        for b in range(signs):
            matrix[c, b] = M.join[d, y, c, 1] * M.bottom_right[d, y, c, b]


@also_in_kernels
def beginning(M: Models, d: int, y: int, matrix: Floats) -> None:
    """``[c, a K + b']``: J_d(0|y c) A_d(a|y c) B_L,d+1(b'|a c)."""
    K = len(matrix)
    for c in range(K):
        for a in range(K):
            x = M.join[d, y, c, 0] * M.top[d, y, c, a]
            for b in range(K):
                matrix[c, a * K + b] = x * M.bottom_left[d, a, c, b]


@also_in_kernels
def add(more: Floats, matrix: Floats) -> None:
    """matrix += more, by loops: they take less time to compile."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] += more[i, j]


@also_in_kernels
def step_by_products(v: Floats, M: Models, o: Floats, following: Floats) -> None:
    """The unnormalised distribution over stores after a word, as ``filtering.step`` finds it."""
    K, D = len(o), M.fork.shape[0] - 1
    begins, forked, completing = np.empty((K, K * K)), np.empty((K, K)), np.empty(K)
    following[:] = 0.0
    for d in range(D + 1):
        signs = 1 if d == 0 else K  # bottom signs at depth d
        here, deeper = offset(d, K), offset(d + 1, K)
        heads = (deeper - here) // signs
        before = v[here:deeper].reshape(heads, signs)
        after = following[here:deeper].reshape(heads, signs)
        joins = np.empty((K, signs))
        for y in range(K):
            for p in range(K):
                forked[y, p] = M.fork[d, y, 1] * M.preterminal[d, y, p] * o[p]
        if d == D:  # nothing lies on these stores, and the word can only join
            joined = np.empty((signs, signs))
            for y in range(signs):
                joining(M, d, y, signs, joins)
                np.dot(forked[y], joins, joined[y])
            add(np.dot(before, joined), after)
            return
        fragments = v[deeper : offset(d + 2, K)].reshape(heads * signs * K, K)
        for b in range(K):
            completing[b] = M.fork[d + 1, b, 0] * o[b]
        completed = np.dot(fragments, completing).reshape(heads, signs, K)
        on_top = following[deeper : offset(d + 2, K)].reshape(heads, signs, K * K)
        finished = np.empty((heads, K))
        for y in range(signs):
            for head in range(heads):
                for c in range(K):
                    finished[head, c] = completed[head, y, c] + before[head, y] * forked[y, c]
            joining(M, d, y, signs, joins)
            beginning(M, d, y, begins)
            add(np.dot(finished, joins), after)
            begun = np.dot(finished, begins)
            for head in range(heads):
                for ab in range(K * K):
                    on_top[head, y, ab] = begun[head, ab]
