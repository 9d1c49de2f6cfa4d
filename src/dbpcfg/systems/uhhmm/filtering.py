"""Forward filtering, and one word of backward sampling.

**Forward**: the probability of every store, given the words before it. A store of depth d has the
number c · A · B + a · B + b, where c is the number of the store without its deepest fragment (a,
b). Stores of depth 1 come first in a message, then those of depth 2, and so on. Tags are not part
of a message: given b, they do not depend on earlier words. Stores that are too deep to have one
fragment before the last word are left out: before word t of n, counted from 0, the depth is at most
n − t, and at most t.

**Backward**: the store before a word is drawn given the store after it, (c,a',b'), in proportion to
its message times the step; then the word's tag. The possible stores before it are::

    c               by push
    c,a',b          by join       for all b
    c,a,b           by replace    for all a, b
    (c,a',b),a₂,b₂  by pop        for all b, a₂, b₂
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels
from dbpcfg.systems.uhhmm.model import Steps

F, J, A, B, G = range(5)
"""The columns of states."""


@also_in_kernels
def draw_index(weights: Floats, number: int, u: float) -> int:
    """Draw the index of one of the first weights, in proportion to them."""
    total = 0.0
    for x in range(number):
        total += weights[x]
    remaining, last = u * total, 0
    for x in range(number):
        if weights[x] > 0.0:
            last = x
            remaining -= weights[x]
            if remaining < 0.0:
                return x
    return last


@also_in_kernels
def draw_tag(emit: Floats, by_tag: Floats, weights: Floats, u: float) -> int:
    """Draw a tag in proportion to P(w|g) · by_tag(g)."""
    for g in range(len(emit)):
        weights[g] = emit[g] * by_tag[g]
    return draw_index(weights, len(emit), u)


@also_in_kernels
def last_store(emit: Floats, steps: Steps, message: Floats, weights: Floats, u: float) -> int:
    """Draw the store of one fragment before the last word."""
    G, B = steps.last.shape
    pairs = steps.first.shape[1]
    for x in range(pairs):
        ends = 0.0
        for g in range(G):
            ends += emit[g] * steps.last[g, x % B]
        weights[x] = message[x] * ends
    return draw_index(weights, pairs, u)


@also_in_kernels
def _dot(x: Floats, y: Floats) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@also_in_kernels
def store_before(
    emit: Floats,
    steps: Steps,
    first: Longs,
    deepest: int,
    message: Floats,
    weights: Floats,
    u: float,
    store: int,
    d: int,
    state: Ints,
) -> tuple[int, int]:
    """Draw the store before a word, given the one after it; write f, j, a and b to ``state``.

    Return the store and its depth.
    """
    pairs, B_ = steps.first.shape[1], steps.fill.shape[2]
    A_ = pairs // B_
    c, pair = store // pairs, store % pairs
    a, b = pair // B_, pair % B_
    up = c % B_ + 1 if d > 0 else 0
    weights[0] = 0.0
    if d > 0:
        up_above = c // pairs % B_ + 1 if d > 1 else 0
        by_tag = steps.push[d - 1, :, min(up_above, steps.push.shape[2] - 1), up - 1, pair]
        weights[0] = message[first[d - 1] + c] * _dot(emit, by_tag)
    number = 1
    same_depth = d < deepest
    for x in range(B_):
        previous = first[d] + c * pairs + a * B_ + x
        weights[number] = (
            message[previous] * _dot(emit, steps.join[d, :, x, b]) if same_depth else 0.0
        )
        number += 1
    for y in range(B_):
        completed = _dot(emit, steps.fill[d, :, y]) if same_depth else 0.0
        for x in range(y, pairs, B_):
            previous = first[d] + c * pairs + x
            onwards = completed * steps.replace[d, up, x // B_, pair]
            weights[number + x] = message[previous] * onwards if same_depth else 0.0
    number += pairs
    if d + 1 < deepest:
        for y in range(B_):
            completed = _dot(emit, steps.fill[d + 1, :, y])
            for z in range(B_):
                previous = first[d + 1] + (store - b + z) * pairs
                for x in range(y, pairs, B_):
                    onwards = completed * steps.pop[d, z, x // B_, b]
                    weights[number + z * pairs + x] = message[previous + x] * onwards
        number += B_ * pairs
    chosen = draw_index(weights, number, u)
    if chosen == 0:
        state[F], state[J] = 1, 0
        store, d = c, d - 1
    elif chosen < 1 + B_:
        state[F], state[J] = 1, 1
        store = c * pairs + a * B_ + chosen - 1
    elif chosen < 1 + B_ + A_ * B_:
        state[F], state[J] = 0, 0
        store = c * pairs + chosen - 1 - B_
    else:
        state[F], state[J] = 0, 1
        chosen -= 1 + B_ + pairs
        store, d = (store - b + chosen // pairs) * pairs + chosen % pairs, d + 1
    state[A], state[B] = store % pairs // B_, store % B_
    return store, d


@also_in_kernels
def tag_between(
    emit: Floats,
    steps: Steps,
    weights: Floats,
    v: float,
    store: int,
    d: int,
    state: Ints,
    next_state: Ints,
) -> None:
    """Draw the tag of a word, given the stores before and after it and its decisions."""
    pairs, B_ = steps.first.shape[1], steps.fill.shape[2]
    b = state[B]
    if state[F] == 0:
        state[G] = draw_tag(emit, steps.fill[d, :, b], weights, v)
    elif state[J] == 1:
        state[G] = draw_tag(emit, steps.join[d, :, b, next_state[B]], weights, v)
    else:
        up = store // pairs % B_ + 1 if d > 0 else 0
        by_tag = steps.push[
            d, :, min(up, steps.push.shape[2] - 1), b, next_state[A] * B_ + next_state[B]
        ]
        state[G] = draw_tag(emit, by_tag, weights, v)


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
    """The greatest depth of a store before word t of n."""
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
    message: Floats,
    next_message: Floats,
    first: Longs,
    bounds: tuple[int, int],
    word: tuple[Floats, Floats, Floats],
    steps: Steps,
) -> float:
    """Compute the next message, divided by its sum; return the sum.

    With up the awaited category of the deepest fragment of c, and the word's tag summed out::

        completed(c,a)    = Σ_b message(c,a,b) · fill(b)
        next(c,a',b')    += Σ_a completed(c,a) · replace(up,a,a',b')        f = 0, j = 0
        next(c with b')  += Σ_a completed(c,a) · pop(up,a,b')               f = 0, j = 1
        next(c,a,b')     += Σ_b message(c,a,b) · join(b,b')                 f = 1, j = 1
        next(cab,a',b')  += message(c,a,b) · push(b,a',b')                  f = 1, j = 0
    """
    fill, join, push = word
    A, B, pairs = steps.replace.shape[2], steps.pop.shape[3], steps.replace.shape[3]
    ups = steps.push.shape[2]
    deepest, deepest_after = bounds
    size = first[deepest_after]
    next_message[:size] = 0.0
    for d in range(deepest):
        for c in range((first[d + 1] - first[d]) // pairs):
            up = c % B + 1 if d > 0 else 0
            store = first[d] + c * pairs
            for a in range(A):
                completed = 0.0
                row = store + a * B
                for b in range(B):
                    p = message[row + b]
                    completed += p * fill[d, b]
                    if d < deepest_after:
                        for x in range(B):
                            next_message[row + x] += p * join[d, b * B + x]
                    if d + 1 < deepest_after:
                        child = first[d + 1] + (c * pairs + a * B + b) * pairs
                        entry = (min(up, ups - 1) * B + b) * pairs
                        for x in range(pairs):
                            next_message[child + x] += p * push[d, entry + x]
                if d < deepest_after:
                    for x in range(pairs):
                        next_message[store + x] += completed * steps.replace[d, up, a, x]
                if d > 0:
                    parent = first[d - 1] + c - c % B
                    for x in range(B):
                        next_message[parent + x] += completed * steps.pop[d - 1, up - 1, a, x]
    total = 0.0
    for x in range(size):
        total += next_message[x]
    for x in range(size):
        next_message[x] /= total
    return total


@also_in_kernels
def forward(words: Ints, steps: Steps, first: Longs, messages: Floats) -> float:
    """Compute the normalised message before each word but the first; return log P(sentence)::

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
