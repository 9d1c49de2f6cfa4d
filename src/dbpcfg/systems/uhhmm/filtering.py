"""Forward filtering: the probability of every store, given the words before it.

A store of depth d is numbered c · A · B + a · B + b, c being the number of the store without its
deepest fragment (a, b). Stores of depth 1 come first in a message, then those of depth 2, and so
on. Tags are not part of a message: given b, they depend on nothing before.

A store that is too deep to be down to one fragment before the last word is left out: before word t
of n, both counted from 0, its depth is at most n − t, and at most t.
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels
from dbpcfg.systems.uhhmm.steps import Steps


@also_in_kernels
def first_stores(pairs: int, depths: int) -> Longs:
    """Where the stores of each depth begin in a message, and the message's length."""
    first = np.zeros(depths + 1, dtype=np.int64)
    number = 1
    for d in range(depths):
        number *= pairs
        first[d + 1] = first[d] + number
    return first


@also_in_kernels
def depth_bound(t: int, n: int, D: int) -> int:
    """The depth that a store can have before word t of n."""
    return min(D, t, n - t)


@also_in_kernels
def sum_tags(probabilities: Floats, by_tag: Floats, total: Floats) -> None:
    """total(x) = Σ_g P(w|g) · by_tag(g,x); tags without the word are left out."""
    total[:] = 0.0
    for g in range(len(probabilities)):
        p = probabilities[g]
        if p > 0.0:
            for x in range(len(total)):
                total[x] += p * by_tag[g, x]


@also_in_kernels
def advance(
    here: Floats,
    after: Floats,
    first: Longs,
    bounds: tuple[int, int],
    word: tuple[Floats, Floats, Floats],
    steps: Steps,
) -> float:
    """Add the successors of all stores to ``after``, and divide it by its sum, which is returned.

    With up the awaited category of the deepest fragment of c, and the word's tag summed out::

        done(c,a)          = Σ_b here(c,a,b) · fill(b)
        after(c,a',b')    += Σ_a done(c,a) · replace(up,a,a',b')            f = 0, j = 0
        after(c with b')  += Σ_a done(c,a) · pop(up,a,b')                   f = 0, j = 1
        after(c,a,b')     += Σ_b here(c,a,b) · join(b,b')                   f = 1, j = 1
        after(cab,a',b')  += here(c,a,b) · push(b,a',b')                    f = 1, j = 0
    """
    fill, join, push = word
    A, B, pairs = steps.replace.shape[2], steps.pop.shape[3], steps.replace.shape[3]
    ups = steps.push.shape[2]
    deepest, deepest_after = bounds
    size = first[deepest_after]
    after[:size] = 0.0
    for d in range(deepest):
        for c in range((first[d + 1] - first[d]) // pairs):
            up = c % B + 1 if d > 0 else 0
            store = first[d] + c * pairs
            for a in range(A):
                done = 0.0
                row = store + a * B
                for b in range(B):
                    p = here[row + b]
                    done += p * fill[d, b]
                    if d < deepest_after:
                        for x in range(B):
                            after[row + x] += p * join[d, b * B + x]
                    if d + 1 < deepest_after:
                        child = first[d + 1] + (c * pairs + a * B + b) * pairs
                        entry = (min(up, ups - 1) * B + b) * pairs
                        for x in range(pairs):
                            after[child + x] += p * push[d, entry + x]
                if d < deepest_after:
                    for x in range(pairs):
                        after[store + x] += done * steps.replace[d, up, a, x]
                if d > 0:
                    parent = first[d - 1] + c - c % B
                    for x in range(B):
                        after[parent + x] += done * steps.pop[d - 1, up - 1, a, x]
    total = 0.0
    for x in range(size):
        total += after[x]
    for x in range(size):
        after[x] /= total
    return total


@also_in_kernels
def forward(words: Ints, steps: Steps, first: Longs, messages: Floats) -> float:
    """The message before each word but the first, each divided by its sum; log P(sentence)::

    log P = Σ_t log sum(t) + log Σ_{a,b} message(n−1; a,b) · Σ_g pos(g|b) · P(w|g)
    """
    n = len(words)
    D, G, B = steps.fill.shape
    tag = steps.emit[words[0]]
    if n == 1:
        total = 0.0
        for g in range(G):
            total += tag[g] * steps.alone[g]
        return math.log(total)
    pairs = steps.first.shape[1]
    fill, join = np.empty((D, B)), np.empty((D, B * B))
    width = steps.push.shape[2] * B * pairs
    push = np.empty((D - 1, width))
    join_by_tag = steps.join.reshape((D, G, B * B))
    push_by_tag = steps.push.reshape((D - 1, G, width))
    sum_tags(tag, steps.first, messages[1, :pairs])
    total = 0.0
    for x in range(pairs):
        total += messages[1, x]
    messages[1, :pairs] /= total
    log_probability = math.log(total)
    for t in range(1, n - 1):
        tag = steps.emit[words[t]]
        deepest, deepest_after = depth_bound(t, n, D), depth_bound(t + 1, n, D)
        for d in range(deepest):
            sum_tags(tag, steps.fill[d], fill[d])
            sum_tags(tag, join_by_tag[d], join[d])
            if d + 1 < deepest_after:
                sum_tags(tag, push_by_tag[d], push[d])
        log_probability += math.log(
            advance(
                messages[t],
                messages[t + 1],
                first,
                (deepest, deepest_after),
                (fill, join, push),
                steps,
            )
        )
    sum_tags(steps.emit[words[n - 1]], steps.last, fill[0])
    total = 0.0
    for x in range(pairs):
        total += messages[n - 1, x] * fill[0, x % B]
    return log_probability + math.log(total)
