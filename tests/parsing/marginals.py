"""Posterior probabilities of the labelled spans of one sentence, by the chart and by stores.

For the left-corner parser, by forward and backward:

A store does not say where its fragments begin, so spans are found by what happens to a fragment
between two words. A node that begins at word i below or at a bottom sign of depth d is either

- the awaited right node itself: it ends when fragment d is next completed; or
- a left node of fragment d + 1, begun by a fork at word i: each completion of that fragment ends
  one, its top sign, until it joins depth d.

This costs n² D K times a forward step, and is here to show that the parser has the same posterior
as the chart; the chart is the way to compute it.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.outside import add_marginals, filled_chart
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.filtering import (
    complete,
    fork,
    forward,
    offset,
    step,
    word_moves,
)
from dbpcfg.parsing.leftcorner.models import Models
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser


def marginals(parser: ChartParser | LeftCornerParser, corpus: Encoded, sentence: int) -> Floats:
    """``[i, j, c]``: the posterior probability of a node c on words i to j − 1, exact.

    All zero if the sentence has probability zero.
    """
    words, grammar = corpus.numbers(sentence), parser.grammar
    if isinstance(parser, LeftCornerParser):
        return leftcorner_marginals(words, parser.models)
    posterior = np.zeros((len(words), len(words) + 1, grammar.categories))
    with one_blas_thread():
        G = tables(grammar, parser.depth or 0)
        add_marginals(filled_chart(words, G)[0], G, posterior, False)
    return posterior


def step_back(v: Floats, M: Models, o: Floats) -> Floats:
    """The transpose of ``filtering.step``: from values of stores after a word to before it."""
    K, D = len(o), len(M.fork) - 1
    before = np.zeros_like(v)
    for d in range(D + 1):
        signs = 1 if d == 0 else K
        here = slice(offset(d, K), offset(d + 1, K))
        joined, begun = _word_moves(M, o, d)
        same = v[here].reshape(-1, signs)
        forked = same @ joined[:signs, :signs].T
        if d < D:
            deeper = v[offset(d + 1, K) : offset(d + 2, K)].reshape(-1, signs, K, K)
            forked = forked + np.einsum("hbac,bac->hb", deeper, begun[:signs])
        before[here] += forked.ravel()
        if d > 0:
            signs = 1 if d == 1 else K
            above = v[offset(d - 1, K) : offset(d, K)].reshape(-1, signs)
            join, bottom = M.join[d - 1, :signs], M.bottom_right[d - 1, :signs, :, :signs]
            value = np.einsum("hc,yac,ya->hya", above, bottom, join[..., 1])
            fragments = v[here].reshape(-1, signs, K, K)
            value += np.einsum(
                "hyec,ya,yae,eac->hya",
                fragments,
                join[..., 0],
                M.top[d - 1, :signs],
                M.bottom_left[d - 1],
                optimize=True,
            )
            word = M.fork[d, :, 0] * o
            before[here] += np.multiply.outer(value, word).ravel()
    return before


def _word_moves(M: Models, o: Floats, d: int) -> tuple[Floats, Floats]:
    K = len(o)
    joined, begun = np.empty((K, K)), np.empty((K, K, K))
    word_moves(M, o, d, False, joined, begun)
    return joined, begun


def _forked(v: Floats, M: Models, o: Floats, d: int) -> Floats:
    following = np.zeros_like(v)
    fork(v, d, len(M.fork) - 1, False, *_word_moves(M, o, d), following)
    return following


def _completed(v: Floats, M: Models, o: Floats, d: int) -> Floats:
    following = np.zeros_like(v)
    complete(v, M, o, d, False, following)
    return following


def _kept(v: Floats, M: Models, o: Floats, floor: int) -> Floats:
    """One word during which fragment ``floor`` is not completed."""
    following = _forked(v, M, o, floor)
    for d in range(floor + 1, len(M.fork)):
        following += _forked(v, M, o, d) + _completed(v, M, o, d)
    return following


def _only(v: Floats, d: int, K: int, axis: int, sign: int) -> Floats:
    """The stores of depth d whose last top (axis 1) or bottom sign (axis 2) is this one."""
    kept = np.zeros_like(v)
    here = slice(offset(d, K), offset(d + 1, K))
    chosen = np.moveaxis(kept[here].reshape(-1, K, K), axis, 0)
    chosen[sign] = np.moveaxis(v[here].reshape(-1, K, K), axis, 0)[sign]
    return kept


def leftcorner_marginals(words: Ints, M: Models) -> Floats:
    """``[i, j, c]``: posterior probability of a node c on words i to j − 1.

    All zero if the sentence has probability zero.
    """
    n, D, K = len(words), len(M.fork) - 1, M.fork.shape[1]
    v, logs = np.empty((n + 1, int(offset(D + 1, K)))), np.empty(n + 1)
    forward(words, M, False, v, logs)
    posterior = np.zeros((n, n + 1, K))
    total = v[n, 0]
    if total == 0.0:
        return posterior
    v[1:, 0] = 0.0  # a sentence that has ended does not go on
    # Dividing each word's vector by P(word | words before) keeps every pass below in scale.
    o = M.emission[words] / np.exp(logs[1:] - M.log_scale[words])[:, np.newaxis]
    after = np.zeros_like(v)
    after[n, 0] = 1.0
    for t in range(n - 1, -1, -1):
        after[t] = step_back(after[t + 1], M, o[t])
        after[t, 0] *= t == 0

    following = np.empty_like(v[0])
    for i in range(n):
        for c in range(K):
            step(v[i], M, o[i] * (np.arange(K) == c), False, following)
            posterior[i, i + 1, c] = following @ after[i + 1]
        for d in range(D + 1):
            here = np.zeros_like(v[i])
            depth_d = slice(offset(d, K), offset(d + 1, K))
            here[depth_d] = v[i, depth_d]
            if d > 0:
                for c in range(K):
                    posterior[i, :, c] += _awaited_node(_only(here, d, K, 2, c), M, o, after, i, d)
            if d < D:
                posterior[i] += _left_nodes(here, M, o, after, i, d)
    posterior /= total
    return posterior


def _awaited_node(v: Floats, M: Models, o: Floats, after: Floats, i: int, d: int) -> Floats:
    """``[j]``: mass of the right node awaited at word i by fragment d ending at j > i + 1."""
    ends = np.zeros(len(o) + 1)
    for t in range(i, len(o)):
        if t > i:
            ends[t + 1] = _completed(v, M, o[t], d) @ after[t + 1]
        v = _kept(v, M, o[t], d)
    return ends


def _left_nodes(v: Floats, M: Models, o: Floats, after: Floats, i: int, d: int) -> Floats:
    """``[j, c]``: mass of left nodes c, begun by a fork at word i below depth d, ending at j."""
    K = o.shape[1]
    shallower = offset(d + 1, K)
    ends = np.zeros((len(o) + 1, K))
    v = _forked(v, M, o[i], d)
    v[:shallower] = 0.0  # what joined depth d at once is the word alone
    for t in range(i + 1, len(o)):
        for c in range(K):
            done = _completed(_only(v, d + 1, K, 1, c), M, o[t], d + 1)
            ends[t + 1, c] = done @ after[t + 1]
        again = _completed(v, M, o[t], d + 1)
        again[:shallower] = 0.0
        v = _kept(v, M, o[t], d + 1) + again
    return ends
