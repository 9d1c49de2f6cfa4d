"""What comes before, given what comes after: one word of backward sampling.

The store before a word is drawn given the one after it, (c,a',b'), in proportion to its message
times the step; then the word's tag. Those that can come before are::

    c               by push
    c,a',b          by join       for all b
    c,a,b           by replace    for all a, b
    (c,a',b),a₂,b₂  by pop        for all b, a₂, b₂

c is the number of a store without its deepest fragment, as in `filtering`.
"""

from __future__ import annotations

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels
from dbpcfg.systems.uhhmm.steps import Steps

F, J, A, B, G = range(5)
"""The columns of states."""


@also_in_kernels
def pick(weights: Floats, number: int, u: float) -> int:
    """One of the first weights, with a probability proportional to it."""
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
def pick_tag(emit: Floats, by_tag: Floats, weights: Floats, u: float) -> int:
    """A tag, in proportion to P(w|g) · by_tag(g)."""
    for g in range(len(emit)):
        weights[g] = emit[g] * by_tag[g]
    return pick(weights, len(emit), u)


@also_in_kernels
def last_store(emit: Floats, steps: Steps, message: Floats, weights: Floats, u: float) -> int:
    """A store of one fragment before the last word."""
    G, B = steps.last.shape
    pairs = steps.first.shape[1]
    for x in range(pairs):
        ends = 0.0
        for g in range(G):
            ends += emit[g] * steps.last[g, x % B]
        weights[x] = message[x] * ends
    return pick(weights, pairs, u)


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
    """The store before a word and its depth, given those after it; f, j, a and b are written."""
    pairs, B_ = steps.first.shape[1], steps.fill.shape[2]
    A_ = pairs // B_
    c, pair = store // pairs, store % pairs
    a, b = pair // B_, pair % B_
    up = c % B_ + 1 if d > 0 else 0
    weights[0] = 0.0
    if d > 0:
        above = c // pairs % B_ + 1 if d > 1 else 0
        by_tag = steps.push[d - 1, :, min(above, steps.push.shape[2] - 1), up - 1, pair]
        weights[0] = message[first[d - 1] + c] * _dot(emit, by_tag)
    number = 1
    here = d < deepest
    for x in range(B_):
        before = first[d] + c * pairs + a * B_ + x
        weights[number] = message[before] * _dot(emit, steps.join[d, :, x, b]) if here else 0.0
        number += 1
    for y in range(B_):
        done = _dot(emit, steps.fill[d, :, y]) if here else 0.0
        for x in range(y, pairs, B_):
            before = first[d] + c * pairs + x
            onwards = done * steps.replace[d, up, x // B_, pair]
            weights[number + x] = message[before] * onwards if here else 0.0
    number += pairs
    if d + 1 < deepest:
        for y in range(B_):
            done = _dot(emit, steps.fill[d + 1, :, y])
            for z in range(B_):
                before = first[d + 1] + (store - b + z) * pairs
                for x in range(y, pairs, B_):
                    onwards = done * steps.pop[d, z, x // B_, b]
                    weights[number + z * pairs + x] = message[before + x] * onwards
        number += B_ * pairs
    chosen = pick(weights, number, u)
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
    after: Ints,
) -> None:
    """The tag of a word, given the stores before and after it and how it was integrated."""
    pairs, B_ = steps.first.shape[1], steps.fill.shape[2]
    b = state[B]
    if state[F] == 0:
        state[G] = pick_tag(emit, steps.fill[d, :, b], weights, v)
    elif state[J] == 1:
        state[G] = pick_tag(emit, steps.join[d, :, b, after[B]], weights, v)
    else:
        up = store // pairs % B_ + 1 if d > 0 else 0
        by_tag = steps.push[d, :, min(up, steps.push.shape[2] - 1), b, after[A] * B_ + after[B]]
        state[G] = pick_tag(emit, by_tag, weights, v)
