"""Measures of the stores before and after each word of a sentence.

They follow from the distribution over stores given the words so far. The possible decisions at the
next word depend only on the depth d of a store and on its last signs, a/b below y, so a few small
tables represent the whole distribution. Everything but the stores and their entropy can be computed
much faster from the chart (``chart.prefix``). The entropy of stores takes most of the time:
logarithms are computed in vectors, for one block of stores after another.

**A word as a few matrix products.** The four cases of ``filtering.fork`` and ``filtering.complete``
reduce to two, by the category that the word completes. Below the bottom sign y of a store q of
depth d, a category c is finished if the word forks and is a c, or if it is the b awaited by a
fragment c/b on q::

    finished[q, c] = v[q] F_d(1|y) P_d(c|y) o[c]  +  Σ_b v[q c/b] F_d+1(0|b) o[b]

Then c joins y, or starts a fragment a/b' on q::

    v'[q, b' for y] = Σ_c finished[q, c] J_d(1|y c) B_R,d(b'|y c)
    v'[q a/b']      = Σ_c finished[q, c] J_d(0|y c) A_d(a|y c) B_L,d+1(b'|a c)

For stores with the same y both are products with one matrix, which does not depend on the word.
Below the deepest bottom signs a word can only join, so the forks of all c are one matrix too::

    v'[q, b' for y] = Σ_y v[q] joined[y, b']
    joined[y, b']   = Σ_c F_D(1|y) P_D(c|y) o[c] J_D(1|y c) B_R,D(b'|y c)

The deepest stores come first, so that each is complete, and its probability can be added to
``near``, after the fragments that start on the store below it have been added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.elementary import log
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.leftcorner.filtering import offset
from dbpcfg.parsing.leftcorner.models import Models

NEAR = 2**11
"""The number of stores whose logarithms are computed at once; they stay in the nearest cache."""


class Trace(NamedTuple):
    """One sentence of n words: entry t = 0 … n − 1 is word w_t, and entry n the sentence's end.

    *Before* means given the words before it, w_0 … w_t−1; *after* means given w_t too. After a word
    (or end) of probability zero everything is NaN.
    """

    logs: Floats  # [t] log P(w_t), before
    ended: Floats  # [t] probability that the sentence has ended, before
    category: Floats  # [t, p] probability that there is a word, and that it is a p, before
    depth: Floats  # [t] expected number of fragments in the store, before
    entropy: Floats  # [t] entropy of the store in nats, before
    best: Longs  # [t] number of the most probable store, before; −1: unknown
    best_probability: Floats  # [t] and its probability
    fork: Floats  # [t] probability that w_t forked, after
    join: Floats  # [t] probability that there was a join at w_t, after
    depths: Floats  # [t, d] probability of a store of d fragments, before; of 0: not ended
    closed: Floats  # [t, d] probability that w_t ends fragment d, which joins d − 1, after


def empty_trace(words: int, categories: int, depth: int) -> Trace:
    """The measures of a sentence, all unknown."""
    n, unknown = words + 1, np.nan
    columns = {name: np.full(n, unknown) for name in Trace._fields}
    columns["category"] = np.full((n, categories), unknown)
    columns["depths"] = np.full((n, depth + 1), unknown)
    columns["closed"] = np.full((n, depth + 1), unknown)
    return Trace(**columns)._replace(best=np.full(n, -1, dtype=np.int64))


@also_in_kernels
def bottom_signs(near: Floats) -> Floats:
    """``[d, b]``: the probability of the stores of depth d that await b.

    It is the sum over y and a of ``near[d, y, a, b]``, the probability of the stores of depth d
    that end in a/b below a bottom sign y (0 where there is no such sign).
    """
    K = near.shape[1]
    awaited = np.zeros((len(near), K))
    for d in range(len(near)):
        for y in range(K if d > 1 else 1):
            for a in range(K):
                for b in range(K):
                    awaited[d, b] += near[d, y, a, b]
    return awaited


@also_in_kernels
def measure_before(awaited: Floats, ended: float, M: Models, trace: Trace, t: int) -> None:
    """Compute the measures before word t.

    The word is a p if it forks as one, or if a p is awaited::

        P(p) = Σ_d Σ_b awaited[d, b] F_d(1|b) P_d(p|b)  +  Σ_d awaited[d, p] F_d(0|p)
    """
    K, D = M.fork.shape[1], M.fork.shape[0] - 1
    depth = 0.0
    trace.category[t] = 0.0
    for d in range(D + 1):
        trace.depths[t, d] = awaited[d].sum()
        depth += d * trace.depths[t, d]
        for b in range(K):
            trace.category[t, b] += awaited[d, b] * M.fork[d, b, 0]
            y = awaited[d, b] * M.fork[d, b, 1]
            if y > 0.0:
                for p in range(K):
                    trace.category[t, p] += y * M.preterminal[d, b, p]
    trace.ended[t], trace.depth[t] = ended, depth


@also_in_kernels
def divide(x: Floats, total: float) -> None:
    """x /= total, by a loop that the compiler turns into vectors."""
    inverse = 1.0 / total
    if inverse < np.inf:
        for i in range(len(x)):
            x[i] *= inverse
    else:  # total is not a normal number
        for i in range(len(x)):
            x[i] /= total


@also_in_kernels
def take_logs(x: Floats, logs: Floats) -> None:
    """The logarithms of numbers; some finite number for 0."""
    for i in range(len(x)):
        logs[i] = log(x[i])


@also_in_kernels
def greatest_of(bits: Longs) -> np.int64:
    """The bits of the greatest of some non-negative numbers, which are the greatest bits."""
    greatest = np.int64(0)
    for i in range(len(bits)):
        greatest = max(greatest, bits[i])
    return greatest


@also_in_kernels
def measure_stores(v: Floats, total: float, ended: float, trace: Trace, t: int) -> None:
    """v /= total; the entropy of all stores, and the first of the most probable ones."""
    entropy = -ended * np.log(ended) if ended > 0.0 else 0.0
    best, greatest = 0, ended  # a sentence that has ended is the empty store, number 0
    buffer = np.empty(NEAR)
    for first in range(0, len(v), NEAR):
        x = v[first : first + NEAR]
        logs = buffer[: len(x)]
        divide(x, total)
        take_logs(x, logs)
        entropy -= np.dot(x, logs)
        bits = x.view(np.int64)
        greatest_bits = greatest_of(bits)
        i = 0
        while bits[i] != greatest_bits:
            i += 1
        if x[i] > greatest:
            best, greatest = first + i, x[i]
    trace.entropy[t] = max(entropy, 0.0)
    trace.best[t], trace.best_probability[t] = best, greatest


@also_in_kernels
def measure_word(
    near: Floats, awaited: Floats, M: Models, word: int, total: float, trace: Trace, t: int
) -> None:
    """Measures after word t, of probability ``total`` (scaled as its o[p] are)::

    forked = Σ awaited[d, b] F_d(1|b) P_d(p|b) o[p]
    closed[d] = Σ near[d, y, a, b] F_d(0|b) o[b] J_d−1(1|y a)
    joined = Σ awaited[d, b] F_d(1|b) P_d(p|b) o[p] J_d(1|b p) + Σ closed[d]
    """
    o = M.emission[word]
    D, K = near.shape[0] - 1, len(o)
    forked, joined = 0.0, 0.0
    completing, finished = np.empty(K), np.empty(K * K)
    trace.closed[t] = 0.0
    for d in range(D + 1):
        for b in range(K):
            completing[b] = M.fork[d, b, 0] * o[b]
            x = awaited[d, b] * M.fork[d, b, 1]
            if x == 0.0:
                continue
            for p in range(K):
                z = x * M.preterminal[d, b, p] * o[p]
                forked += z
                joined += z * M.join[d, b, p, 1]
        if d == 0:
            continue
        closed = 0.0
        np.dot(near[d].reshape(K * K, K), completing, finished)
        for y in range(K if d > 1 else 1):
            for a in range(K):
                closed += finished[y * K + a] * M.join[d - 1, y, a, 1]
        joined += closed
        trace.closed[t, d] = min(closed / total, 1.0)
    trace.logs[t] = np.log(total) + M.log_scale[word]
    trace.fork[t], trace.join[t] = min(forked / total, 1.0), min(joined / total, 1.0)


class Products(NamedTuple):
    """The matrices of all bottom signs y at all depths d, at index ``sign(d, y, K)``."""

    joins: Floats  # [(d, y), c, b'] J_d(1|y c) B_R,d(b'|y c)
    starts: Floats  # [(d, y), c, a K + b'] J_d(0|y c) A_d(a|y c) B_L,d+1(b'|a c), for d < D


@also_in_kernels
def sign(d: int, y: int, K: int) -> int:
    """The number of a bottom sign: T, then the K of each depth."""
    return 0 if d == 0 else 1 + (d - 1) * K + y


def products(M: Models) -> Products:
    """Multiply out the models that no word changes."""
    levels, K = M.fork.shape[:2]
    joins, starts = [], []
    for d in range(levels):
        signs = 1 if d == 0 else K
        joins.append(M.join[d, :signs, :, 1, None] * M.bottom_right[d, :signs])
        if d < levels - 1:
            below = M.join[d, :signs, :, 0, None] * M.top[d, :signs]  # [y, c, a]
            started = below[..., None] * M.bottom_left[d].swapaxes(0, 1)
            starts.append(started.reshape(signs, K, K * K))
    return Products(np.concatenate(joins), np.concatenate(starts))


@also_in_kernels
def deepest_joins(before: Floats, joins: Floats, forked: Floats, after: Floats) -> None:
    """``after[q, b']``: the deepest stores after a word that forks, with y the sign of q."""
    joined = np.empty(forked.shape)
    for y in range(len(forked)):
        np.dot(forked[y], joins[y], joined[y])
    np.dot(before, joined, after)


@also_in_kernels
def add(other: Floats, to: Floats) -> None:
    """to += more, by a loop that the compiler turns into vectors."""
    for i in range(len(to)):
        to[i] += other[i]


@also_in_kernels
def add_or_set(started: Floats, y: int, old: bool, on_top: Floats) -> None:
    """Add the fragments that start on stores with sign y to the old ones, or set them."""
    for head in range(len(started)):
        if old:
            for ab in range(started.shape[1]):
                on_top[head, y, ab] += started[head, ab]
        else:
            for ab in range(started.shape[1]):
                on_top[head, y, ab] = started[head, ab]


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
        finished, started = np.empty((heads, K)), np.empty((heads, K * K))
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
            np.dot(finished, T.starts[sign(d, y, K)], started)
            add_or_set(started, y, d < deepest, on_top)
        over_heads = near[d + 1, :signs].reshape(signs * K * K)
        np.dot(np.ones(heads), on_top.reshape(heads, signs * K * K), over_heads)
    reached: int = min(deepest + 1, D)
    return reached


@kernel
def follow(words: Ints, M: Models, T: Products, trace: Trace) -> None:
    """Compute the measures of a sentence; −1 is a word that no category emits.

    As in ``filtering.forward``, the empty store after a word is the end of the sentence.
    """
    n, K, D = len(words), M.fork.shape[1], M.fork.shape[0] - 1
    v, following = np.empty(offset(D + 1, K)), np.empty(offset(D + 1, K))
    near, near_after = np.zeros((D + 1, K, K, K)), np.empty((D + 1, K, K, K))
    v[0], near[0, 0, 0, 0], ended, deepest, total = 1.0, 1.0, 0.0, 0, 1.0
    awaited = bottom_signs(near)
    for t in range(n + 1):
        measure_stores(v[: offset(deepest + 1, K)], total, ended, trace, t)
        measure_before(awaited, ended, M, trace, t)
        if t == n:
            trace.logs[t] = np.log(ended)
            return
        total, before = 0.0, awaited
        if words[t] >= 0:
            o, after = M.emission[words[t]], near_after.reshape(D + 1, K, K * K)
            deepest = step_by_products(v, deepest, M, T, o, following, after)
            awaited = bottom_signs(near_after)
            total = following[0] + awaited.sum()
        if total == 0.0:
            trace.logs[t] = -np.inf
            return
        measure_word(near, before, M, words[t], total, trace, t)
        v, following, near, near_after = following, v, near_after, near
        ended, v[0] = v[0] / total, 0.0
        divide(near.reshape(near.size), total)
        divide(awaited.reshape(awaited.size), total)
