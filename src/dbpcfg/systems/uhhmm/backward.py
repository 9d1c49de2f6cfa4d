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
from dbpcfg.systems.uhhmm.predecessors import (
    A,
    B,
    F,
    G,
    J,
    last_store,
    pick_tag,
    store_before,
    tag_between,
)
from dbpcfg.systems.uhhmm.steps import Steps


def draw_states(
    corpus: Encoded, steps: Steps, numbers: Stream, threads: int = 1
) -> tuple[Ints, Floats]:
    """Draw the states of all sentences; equal sentences share a forward pass.

    ``threads``: the number of threads; the result does not depend on it.
    ``states``: ``[token, 5]``.
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
def backward(
    words: Ints,
    steps: Steps,
    first: Longs,
    messages: Floats,
    numbers: Stream,
    item: int,
    states: Ints,
) -> None:
    """Draw states from the last word to the first, given the messages of `forward`."""
    n = len(words)
    D, _, up_to = steps.fill.shape
    weights = np.empty(1 + up_to + (1 + up_to) * steps.first.shape[1] + steps.fill.shape[1])
    u, v = uniform_pair(numbers, item, n - 1)
    emit = steps.emit[words[n - 1]]
    states[n - 1, F], states[n - 1, J] = 0, 1
    if n == 1:
        states[0, G] = pick_tag(emit, steps.alone, weights, v)
        return
    store, d = last_store(emit, steps, messages[n - 1], weights, u), 0
    b = store % up_to
    states[n - 1, A], states[n - 1, B] = store // up_to, b
    states[n - 1, G] = pick_tag(emit, steps.last[:, b], weights, v)
    for t in range(n - 2, 0, -1):
        u, v = uniform_pair(numbers, item, t)
        emit = steps.emit[words[t]]
        deepest = depth_bound(t, n, D)
        store, d = store_before(
            emit, steps, first, deepest, messages[t], weights, u, store, d, states[t]
        )
        tag_between(emit, steps, weights, v, store, d, states[t], states[t + 1])
    _, v = uniform_pair(numbers, item, 0)
    states[0, F], states[0, J] = 1, 0
    states[0, G] = pick_tag(steps.emit[words[0]], steps.first[:, store], weights, v)
