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

The forward distribution over stores, without ever making the transition matrix.

A store of depth d is an index into a tensor over (a¹, b¹, …, aᵈ, bᵈ); the tensors of all depths
lie end to end in one vector. Each of the four fork and join cases is a small contraction on the
last axes. The empty store starts the sentence; a join at depth 0 ends it.

Every function here works with sums (the forward distribution) or, if ``best``, with maxima (the
most probable store sequence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, also_in_kernels, kernel
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


@also_in_kernels
def offset(depth: int, K: int) -> int:
    """Where the stores of a depth begin: after the Σ_{e < depth} K^(2e) stores of lower depth."""
    first = 0
    for e in range(depth):
        first += K ** (2 * e)
    return first


@also_in_kernels
def combine(x: float, y: float, best: bool) -> float:
    """Sum, or maximum."""
    return max(x, y) if best else x + y


@also_in_kernels
def word_moves(M: Models, o: Floats, d: int, best: bool, joined: Floats, begun: Floats) -> None:
    """What a forked word does below each bottom sign b at depth d.

    ``joined[b, b']``: it joins b, and b' is awaited; ``begun[b, a, b']``: it begins a fragment
    a/b'. Both are summed over the word's category p, with o[p] the word's probability::

        joined = F_d(1|b) P_d(p|b) o[p] J_d(1|b p) B_R,d(b'|b p)
        begun  = F_d(1|b) P_d(p|b) o[p] J_d(0|b p) A_d(a|b p) B_L,d+1(b'|a p)
    """
    K = len(o)
    joined[:] = 0.0
    begun[:] = 0.0
    for b in range(1 if d == 0 else K):
        for p in range(K):
            x = M.fork[d, b, 1] * M.preterminal[d, b, p] * o[p]
            if x == 0.0:
                continue
            y = x * M.join[d, b, p, 1]
            for b2 in range(K):
                joined[b, b2] = combine(joined[b, b2], y * M.bottom_right[d, b, p, b2], best)
            for a in range(K):
                y = x * M.join[d, b, p, 0] * M.top[d, b, p, a]
                if y == 0.0:
                    continue
                for b2 in range(K):
                    begun[b, a, b2] = combine(begun[b, a, b2], y * M.bottom_left[d, a, p, b2], best)


@also_in_kernels
def fork(
    v: Floats, d: int, D: int, best: bool, joined: Floats, begun: Floats, following: Floats
) -> None:
    """Add what becomes of stores of depth d when the next word forks."""
    K = joined.shape[0]
    signs = 1 if d == 0 else K  # bottom signs at depth d
    here, deeper = offset(d, K), offset(d + 1, K)
    for store in range(K ** (2 * d)):
        x = v[here + store]
        if x == 0.0:
            continue
        head, b = store // signs, store % signs
        for b2 in range(signs):
            to = here + head * signs + b2
            following[to] = combine(following[to], x * joined[b, b2], best)
        if d < D:
            for a in range(K):
                for b2 in range(K):
                    to = deeper + (store * K + a) * K + b2
                    following[to] = combine(following[to], x * begun[b, a, b2], best)


@also_in_kernels
def complete(v: Floats, M: Models, o: Floats, d: int, best: bool, following: Floats) -> None:
    """Add what becomes of stores of depth d > 0 when the next word is the bottom sign itself.

    Fragment d is then finished, and its top sign a joins the bottom sign y of depth d − 1, or
    becomes the left child of a new top sign at depth d::

        F_d(0|b) o[b] J_d−1(1|y a) B_R,d−1(b'|y a)
        F_d(0|b) o[b] J_d−1(0|y a) A_d−1(a'|y a) B_L,d(b'|a' a)
    """
    K = len(o)
    signs = 1 if d == 1 else K  # bottom signs at depth d − 1
    here, above = offset(d, K), offset(d - 1, K)
    for fragment in range(K ** (2 * d - 1)):
        x = 0.0
        for b in range(K):
            x = combine(x, v[here + fragment * K + b] * (M.fork[d, b, 0] * o[b]), best)
        if x == 0.0:
            continue
        store, a = fragment // K, fragment % K
        head, y = store // signs, store % signs
        z = x * M.join[d - 1, y, a, 1]
        for b2 in range(signs):
            to = above + head * signs + b2
            following[to] = combine(following[to], z * M.bottom_right[d - 1, y, a, b2], best)
        for a2 in range(K):
            z = x * M.join[d - 1, y, a, 0] * M.top[d - 1, y, a, a2]
            if z == 0.0:
                continue
            for b2 in range(K):
                to = here + (store * K + a2) * K + b2
                following[to] = combine(following[to], z * M.bottom_left[d - 1, a2, a, b2], best)


@also_in_kernels
def step(v: Floats, M: Models, o: Floats, best: bool, following: Floats) -> None:
    """One word: the unnormalised distribution over stores after it, from the one before it.

    Entry 0 of ``following``, the empty store, is the mass of sentences that end here.
    """
    K, D = len(o), M.fork.shape[0] - 1
    joined, begun = np.empty((K, K)), np.empty((K, K, K))
    following[:] = 0.0
    for d in range(D + 1):
        if d > 0:
            complete(v, M, o, d, best, following)
        elif v[0] == 0.0:
            continue
        word_moves(M, o, d, best, joined, begun)
        fork(v, d, D, best, joined, begun, following)


@kernel
def forward(words: Ints, M: Models, best: bool, v: Floats, logs: Floats) -> float:
    """v[t]: the distribution over stores after t words, t = 0 … n.

    v[t] is scaled to sum to one (greatest entry one if ``best``); ``logs[t]`` is the logarithm of
    the scale: log P(w_t | w_1 … w_t−1), for t > 0. A store that is empty for t > 0 has ended its
    sentence and does not go on. If nothing is left, logs[t] is −∞ and so is the rest. Return
    log P(sentence), or log P(best tree, sentence) if ``best``.
    """
    n = len(words)
    v[0] = 0.0
    v[0, 0] = 1.0
    logs[0] = 0.0
    before = v[0].copy()
    for t in range(1, n + 1):
        step(before, M, M.emission[words[t - 1]], best, v[t])
        total = 0.0
        for x in v[t]:
            total = combine(total, x, best)
        if total == 0.0:
            v[t:] = 0.0
            logs[t:] = -np.inf
            return -np.inf
        v[t] /= total
        logs[t] = np.log(total) + M.log_scale[words[t - 1]]
        before[:] = v[t]
        before[0] = 0.0
    return float(logs.sum() + np.log(v[n, 0]))
