"""What the parser expects before every word, and knows after it.

All of it is read off the distribution over stores given the words so far. What the next word can
do depends on the depth d of a store and on the signs on top of it, a/b below y, only: so a few
small tables stand for the whole distribution, whether that is exact (``follow``) or pruned to a
beam (``beam.follow_beam``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.leftcorner.filtering import offset
from dbpcfg.parsing.leftcorner.models import Models
from dbpcfg.parsing.leftcorner.products import step_by_products

BLOCK = 2**20
"""Probabilities of next words held at once."""


class Trace(NamedTuple):
    """One sentence of n words: entry t = 0 … n − 1 is word w_t, and entry n the sentence's end.

    *Before* means given the words before it, w_0 … w_t−1; *after* means given w_t too. Whatever
    comes after a word (or end) of probability zero is not a number.
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
    lost: Floats  # [t] share of the probability that a beam dropped, after
    depths: Floats  # [t, d] probability of a store of d fragments, before; of 0: not ended
    closed: Floats  # [t, d] probability that w_t ends fragment d, which joins d − 1, after


def empty_trace(words: int, categories: int, depth: int) -> Trace:
    """Room for the measures of a sentence, all unknown."""
    n, unknown = words + 1, np.nan
    columns = {name: np.full(n, unknown) for name in Trace._fields}
    columns["category"] = np.full((n, categories), unknown)
    columns["depths"] = np.full((n, depth + 1), unknown)
    columns["closed"] = np.full((n, depth + 1), unknown)
    return Trace(**columns)._replace(best=np.full(n, -1, dtype=np.int64))


@also_in_kernels
def bottom_signs(near: Floats) -> Floats:
    """``[d, b]``: the probability of the stores of depth d that await b."""
    K = near.shape[1]
    awaited = np.zeros((len(near), K))
    for d in range(len(near)):
        for y in range(K if d > 1 else 1):
            for a in range(K):
                for b in range(K):
                    awaited[d, b] += near[d, y, a, b]
    return awaited


@also_in_kernels
def observe(
    numbers: Longs, x: Floats, ended: float, M: Models, trace: Trace, t: int, near: Floats
) -> None:
    """Note what is known before word t: stores ``numbers``, ascending, have probabilities ``x``.

    ``near[d, y, a, b]`` becomes the probability of the stores of depth d that end in a/b below a
    bottom sign y (0 where there is no such sign). With its sums over y and a as awaited[d, b], the
    next word is a p if it forks as one, or if it is the p that is awaited::

        P(p) = Σ_d Σ_b awaited[d, b] F_d(1|b) P_d(p|b)  +  Σ_d awaited[d, p] F_d(0|p)
    """
    K, D = M.fork.shape[1], M.fork.shape[0] - 1
    near[:] = 0.0
    last = near.reshape(D + 1, K**3)
    entropy = -ended * np.log(ended) if ended > 0.0 else 0.0
    best, greatest = 0, ended  # a sentence that has ended is the empty store, number 0
    d, first, after = 0, 0, 1
    for i in range(len(numbers)):
        if x[i] == 0.0:
            continue
        while numbers[i] >= after:
            d, first, after = d + 1, after, offset(d + 2, K)
        last[d, (numbers[i] - first) % K**3] += x[i]
        entropy -= x[i] * np.log(x[i])
        if x[i] > greatest:
            best, greatest = numbers[i], x[i]
    awaited = bottom_signs(near)
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
    trace.entropy[t] = max(entropy, 0.0)
    trace.best[t], trace.best_probability[t] = best, greatest


@also_in_kernels
def note_word(near: Floats, M: Models, word: int, total: float, trace: Trace, t: int) -> None:
    """Note what is known after word t, of probability ``total`` (scaled as its o[p] are)::

    forked = Σ near[d, y, a, b] F_d(1|b) P_d(p|b) o[p]
    joined = Σ near[d, y, a, b] (F_d(1|b) P_d(p|b) o[p] J_d(1|b p) + F_d(0|b) o[b] J_d−1(1|y a))
    closed[d] = Σ near[d, y, a, b] F_d(0|b) o[b] J_d−1(1|y a)
    """
    o = M.emission[word]
    D, K = near.shape[0] - 1, len(o)
    awaited = bottom_signs(near)
    forked, joined = 0.0, 0.0
    trace.closed[t] = 0.0
    for d in range(D + 1):
        for b in range(K):
            x = awaited[d, b] * M.fork[d, b, 1]
            if x == 0.0:
                continue
            for p in range(K):
                z = x * M.preterminal[d, b, p] * o[p]
                forked += z
                joined += z * M.join[d, b, p, 1]
        if d == 0:
            continue
        for y in range(K if d > 1 else 1):
            for a in range(K):
                for b in range(K):
                    x = near[d, y, a, b] * (M.fork[d, b, 0] * o[b])
                    joined += x * M.join[d - 1, y, a, 1]
                    trace.closed[t, d] += x * M.join[d - 1, y, a, 1]
        trace.closed[t, d] = min(trace.closed[t, d] / total, 1.0)
    trace.logs[t] = np.log(total) + M.log_scale[word]
    trace.fork[t], trace.join[t] = min(forked / total, 1.0), min(joined / total, 1.0)


@kernel
def follow(words: Ints, M: Models, trace: Trace) -> None:
    """Follow a sentence with all stores, two distributions at a time; −1 is a word of no category.

    As in ``filtering.forward``, the empty store after a word is the end of the sentence.
    """
    n, K, D = len(words), M.fork.shape[1], M.fork.shape[0] - 1
    numbers = np.arange(offset(D + 1, K))
    v, following = np.zeros(len(numbers)), np.empty(len(numbers))
    near = np.empty((D + 1, K, K, K))
    v[0], ended = 1.0, 0.0
    for t in range(n + 1):
        observe(numbers, v, ended, M, trace, t, near)
        if t == n:
            trace.logs[t], trace.lost[t] = np.log(ended), 0.0
            return
        total = 0.0
        if words[t] >= 0:
            step_by_products(v, M, M.emission[words[t]], following)
            total = following.sum()
        trace.lost[t] = 0.0
        if total == 0.0:
            trace.logs[t] = -np.inf
            return
        note_word(near, M, words[t], total, trace, t)
        v, following = following, v
        v /= total
        ended, v[0] = v[0], 0.0


@kernel
def next_word_entropies(category: Floats, ended: Floats, words: Floats, entropies: Floats) -> None:
    """Entropy in nats of what comes next, a word or the end, before each word::

        P(w) = Σ_p P(p) words[p, w]        H = − ended log ended − Σ_w P(w) log P(w)

    with words[p, w] = G[p → w] / lex(p): one matrix product for the words of a sentence.
    """
    rows = max(1, BLOCK // words.shape[1])
    for first in range(0, len(ended), rows):
        P = np.dot(category[first : first + rows], words)
        for r in range(len(P)):
            x = ended[first + r]
            H = -x * np.log(x) if x > 0.0 else 0.0 * x  # not a number stays that
            for y in P[r]:
                if y > 0.0:
                    H -= y * np.log(y)
            entropies[first + r] = max(H, 0.0) if H == H else H
