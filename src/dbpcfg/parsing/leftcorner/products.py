"""One word as a few matrix products: the step of the forward distribution, for sums only.

The four cases of ``filtering.fork`` and ``filtering.complete`` are two once one looks at what the
word finishes. Below the bottom sign y of a store q of depth d, a category c is finished if the word
forks and is a c, or if it is the b awaited by a fragment c/b on q::

    finished[q, c] = v[q] F_d(1|y) P_d(c|y) o[c]  +  Σ_b v[q c/b] F_d+1(0|b) o[b]

Then c joins y, or begins a fragment a/b' on q::

    v'[q, b' for y] = Σ_c finished[q, c] J_d(1|y c) B_R,d(b'|y c)
    v'[q a/b']      = Σ_c finished[q, c] J_d(0|y c) A_d(a|y c) B_L,d+1(b'|a c)

For stores with the same y both are products with one matrix, which no word changes. Below the
deepest bottom signs a word can only join, so there the forks of all c are one matrix as well::

    v'[q, b' for y] = Σ_y v[q] joined[y, b']
    joined[y, b']   = Σ_c F_D(1|y) P_D(c|y) o[c] J_D(1|y c) B_R,D(b'|y c)

The deepest stores come first, so that each is complete, and its probability can be added to
``near`` (see ``measures``), when what begins on the store below it has been added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, also_in_kernels
from dbpcfg.parsing.leftcorner.filtering import offset
from dbpcfg.parsing.leftcorner.models import Models


class Products(NamedTuple):
    """The matrices of all bottom signs y at all depths d, at index ``sign(d, y, K)``."""

    joins: Floats  # [(d, y), c, b'] J_d(1|y c) B_R,d(b'|y c)
    begins: Floats  # [(d, y), c, a K + b'] J_d(0|y c) A_d(a|y c) B_L,d+1(b'|a c), for d < D


@also_in_kernels
def sign(d: int, y: int, K: int) -> int:
    """The number of a bottom sign: T, then the K of each depth."""
    return 0 if d == 0 else 1 + (d - 1) * K + y


def products(M: Models) -> Products:
    """Multiply out the models that no word changes."""
    levels, K = M.fork.shape[:2]
    joins, begins = [], []
    for d in range(levels):
        signs = 1 if d == 0 else K
        joins.append(M.join[d, :signs, :, 1, None] * M.bottom_right[d, :signs])
        if d < levels - 1:
            below = M.join[d, :signs, :, 0, None] * M.top[d, :signs]  # [y, c, a]
            begun = below[..., None] * M.bottom_left[d].swapaxes(0, 1)
            begins.append(begun.reshape(signs, K, K * K))
    return Products(np.concatenate(joins), np.concatenate(begins))


@also_in_kernels
def deepest_joins(before: Floats, joins: Floats, forked: Floats, after: Floats) -> None:
    """``after[q, b']``: the deepest stores after a word that forks, with y the sign of q."""
    joined = np.empty(forked.shape)
    for y in range(len(forked)):
        np.dot(forked[y], joins[y], joined[y])
    np.dot(before, joined, after)


@also_in_kernels
def add(more: Floats, to: Floats) -> None:
    """to += more, by a loop that is in vectors."""
    for i in range(len(to)):
        to[i] += more[i]


@also_in_kernels
def put(begun: Floats, y: int, old: bool, on_top: Floats) -> None:
    """Add what begins on the stores with sign y to the old, or put it there if there is none."""
    for head in range(len(begun)):
        if old:
            for ab in range(begun.shape[1]):
                on_top[head, y, ab] += begun[head, ab]
        else:
            for ab in range(begun.shape[1]):
                on_top[head, y, ab] = begun[head, ab]


@also_in_kernels
def step_by_products(
    v: Floats, deepest: int, M: Models, T: Products, o: Floats, following: Floats, near: Floats
) -> int:
    """The unnormalised distribution over stores after a word, as ``filtering.step`` finds it.

    No store of v is deeper than ``deepest``; return the same of ``following``, which is not set
    beyond. ``near[d, y, a K + b]`` becomes the probability of the stores of depth d > 0 that end in
    a/b below y.
    """
    K, D = len(o), M.fork.shape[0] - 1
    forked, completing = np.empty((K, K)), np.empty(K)
    near[:] = 0.0
    for d in range(deepest, -1, -1):
        signs = 1 if d == 0 else K  # bottom signs at depth d
        here, deeper = offset(d, K), offset(d + 1, K)
        heads = (deeper - here) // signs
        before = v[here:deeper].reshape(heads, signs)
        after = following[here:deeper].reshape(heads, signs)
        for y in range(K):
            for p in range(K):
                forked[y, p] = M.fork[d, y, 1] * M.preterminal[d, y, p] * o[p]
        if d == D:
            deepest_joins(before, T.joins[sign(d, 0, K) :], forked, after)
            continue
        completed = np.zeros((heads, signs, K))
        if d < deepest:
            fragments = v[deeper : offset(d + 2, K)].reshape(heads * signs * K, K)
            for b in range(K):
                completing[b] = M.fork[d + 1, b, 0] * o[b]
            np.dot(fragments, completing, completed.reshape(heads * signs * K))
        on_top = following[deeper : offset(d + 2, K)].reshape(heads, signs, K * K)
        finished, begun = np.empty((heads, K)), np.empty((heads, K * K))
        joined = np.empty((heads, signs))
        after[:] = 0.0
        for y in range(signs):
            for head in range(heads):
                for c in range(K):
                    finished[head, c] = completed[head, y, c] + before[head, y] * forked[y, c]
            if d > 0:
                np.dot(finished, T.joins[sign(d, y, K)], joined)
                add(joined.reshape(heads * signs), after.reshape(heads * signs))
            else:
                for c in range(K):
                    after[0, 0] += finished[0, c] * T.joins[0, c, 0]
            np.dot(finished, T.begins[sign(d, y, K)], begun)
            put(begun, y, d < deepest, on_top)
        over_heads = near[d + 1, :signs].reshape(signs * K * K)
        np.dot(np.ones(heads), on_top.reshape(heads, signs * K * K), over_heads)
    reached: int = min(deepest + 1, D)
    return reached
