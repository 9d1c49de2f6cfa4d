"""Backward sampling: the states of whole sentences, from their exact distribution.

The state of a word is a row ``(f, j, a, b, g)``: its tag, the deepest fragment before it (−1, −1 if
there is none), and how it is integrated. These determine all stores (`counts`). The last word has
f = 0 and j = 1: it completes the sentence.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.runtime.threads import in_pieces
from dbpcfg.systems.uhhmm.filtering import depth_bound, first_stores, forward
from dbpcfg.systems.uhhmm.steps import Steps

F, J, A, B, G = range(5)
"""The columns of states."""


def draw_states(
    corpus: Encoded, steps: Steps, numbers: Stream, threads: int = 1
) -> tuple[Ints, Floats]:
    """Draw the states of all sentences; equal sentences share a forward pass.

    Parameters
    ----------
    corpus
        The sentences.
    steps
        The contracted sub-models.
    numbers
        The random numbers of one iteration.
    threads
        The number of threads; the result does not depend on it.

    Returns
    -------
    states
        ``[token, 5]``.
    log_probabilities
        That of each sentence, natural logarithms.
    """
    states = np.full((len(corpus.tokens), 5), -1, dtype=np.int32)
    logs = np.empty(len(corpus))

    def work(first: int, last: int) -> None:
        draw_sentences(first, last, corpus.sentences, corpus.distinct, steps, numbers, states, logs)

    in_pieces(work, len(corpus.distinct[0]), threads)
    return states, logs


@kernel
def draw_sentences(
    first_kind: int,
    last_kind: int,
    sentences: Sentences,
    distinct: tuple[Longs, Longs, Longs],
    steps: Steps,
    numbers: Stream,
    states: Ints,
    logs: Floats,
) -> None:
    """Filter some of the different sentences, and draw states for all that are equal to them."""
    tokens, starts = sentences
    kinds, first_copy, copies = distinct
    D = steps.fill.shape[0]
    first = first_stores(steps.first.shape[1], D)
    longest = 1
    for kind in range(first_kind, last_kind):
        longest = max(longest, starts[kinds[kind] + 1] - starts[kinds[kind]])
    messages = np.empty((longest, first[D]))
    for kind in range(first_kind, last_kind):
        words = tokens[starts[kinds[kind]] : starts[kinds[kind] + 1]]
        log_probability = forward(words, steps, first, messages)
        for copy in range(first_copy[kind], first_copy[kind + 1]):
            s = copies[copy]
            logs[s] = log_probability
            backward(words, steps, first, messages, numbers, s, states[starts[s] : starts[s + 1]])


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
def backward(
    words: Ints,
    steps: Steps,
    first: Longs,
    messages: Floats,
    numbers: Stream,
    item: int,
    states: Ints,
) -> None:
    """Draw states from the last word to the first, given the messages of `forward`.

    The store before word t is drawn given the one after it, (c,a',b'), in proportion to its message
    times the step; then the word's tag. Those that can come before are::

        c            by push          c,a',b    by join     for all b
        c,a,b        by replace       for all a, b
        (c,a',b),a₂,b₂  by pop        for all b, a₂, b₂
    """
    n = len(words)
    D, _, up_to = steps.fill.shape
    weights = np.empty(1 + up_to + (1 + up_to) * steps.first.shape[1] + steps.fill.shape[1])
    u, v = uniform_pair(numbers, item, n - 1)
    emit = steps.emit[words[n - 1]]
    states[n - 1, F], states[n - 1, J] = 0, 1
    if n == 1:
        states[0, G] = pick_tag(emit, steps.alone, weights, v)
        return
    store, d = _last_store(emit, steps, messages[n - 1], weights, u), 0
    b = store % up_to
    states[n - 1, A], states[n - 1, B] = store // up_to, b
    states[n - 1, G] = pick_tag(emit, steps.last[:, b], weights, v)
    for t in range(n - 2, 0, -1):
        u, v = uniform_pair(numbers, item, t)
        emit = steps.emit[words[t]]
        deepest = depth_bound(t, n, D)
        store, d = _store_before(
            emit, steps, first, deepest, messages[t], weights, u, store, d, states[t]
        )
        _tag(emit, steps, weights, v, store, d, states[t], states[t + 1])
    _, v = uniform_pair(numbers, item, 0)
    states[0, F], states[0, J] = 1, 0
    states[0, G] = pick_tag(steps.emit[words[0]], steps.first[:, store], weights, v)


@also_in_kernels
def _last_store(emit: Floats, steps: Steps, message: Floats, weights: Floats, u: float) -> int:
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
def _store_before(
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
def _tag(
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
