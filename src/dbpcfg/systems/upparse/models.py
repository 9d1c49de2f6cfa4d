"""The four tags, the two models over them as tables of arcs, training and decoding.

=====  ==================================  =================
tag    what it says of its symbol          may be followed by
=====  ==================================  =================
STOP   a boundary: EOS or STOP             STOP, B, O
B      the first word of a chunk           I
I      a further word of a chunk           STOP, B, I, O
O      a word outside all chunks           STOP, B, O
=====  ==================================  =================

Boundaries are always tagged STOP and words never are, so the tagging of a segment depends on no
other segment.

An arc ``[w, j, k]`` is the probability that tag j emits symbol w and is followed by tag k.  A model
estimates arcs from counts of arcs, c(w,j,k); sums over an index are written by leaving it out, as
in c(j,k) = Σ_w c(w,j,k).  Both models have transitions P(k|j) = c(j,k) / c(j).

Only words are smoothed, by λ.  The entries for a word tagged STOP, or a boundary tagged otherwise,
are never used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, kernel

STOP, B, I, O = range(4)
TAGS = 4

ALLOWED: Floats = np.array(
    [
        # STOP B  I  O
        [1.0, 1, 0, 1],  # after STOP
        [0.0, 0, 1, 0],  # after B
        [1.0, 1, 1, 1],  # after I
        [1.0, 1, 0, 1],  # after O
    ]
)
"""1 where the tag of the column may follow that of the row."""

EOS, SEGMENT_END = range(2)
BOUNDARIES = 2
"""Symbols below this number are boundaries, those from it on are words and pseudo-words."""


@kernel
def tags_of(symbol: int) -> tuple[int, int]:
    """The tags that a symbol may have, as a half-open range."""
    if symbol < BOUNDARIES:
        return STOP, STOP + 1
    return B, O + 1


ChunkModel: TypeAlias = Literal["prlg", "hmm"]


def uniform_arcs(symbols: int) -> Floats:
    """P(k|j) · P(w|j), where all allowed tags, and all symbols of a tag, are equally probable."""
    emissions = np.zeros((symbols, TAGS))
    emissions[:BOUNDARIES, STOP] = 1 / BOUNDARIES
    emissions[BOUNDARIES:, STOP + 1 :] = 1 / (symbols - BOUNDARIES)
    transitions = ALLOWED / ALLOWED.sum(axis=1, keepdims=True)
    joint: Floats = emissions[:, :, None] * transitions
    return joint


def first_arcs(model: ChunkModel, symbols: int, smoothing: float) -> Floats:
    """Where EM starts: uniform arcs; for the PRLG they are taken for counts and smoothed."""
    uniform = uniform_arcs(symbols)
    return uniform if model == "hmm" else arcs(model, uniform, smoothing)


def arcs(model: ChunkModel, counts: Floats, smoothing: float) -> Floats:
    """The arcs that a model estimates from counts, in which every tag must occur."""
    of_pairs = counts.sum(axis=0)
    transitions: Floats = of_pairs / of_pairs.sum(axis=1, keepdims=True)
    if model == "hmm":
        return transitions * hmm_emissions(counts.sum(axis=2), smoothing)[:, :, None]
    return transitions * prlg_emissions(counts, smoothing)


def hmm_emissions(counts: Floats, smoothing: float) -> Floats:
    """P(w|j) = (c(w,j) + λ) / (c(j) + λV') for words; relative frequencies for the tag STOP.

    V' is the number of symbols that are never tagged STOP. A text without segment ends has one
    more of these than it has words.
    """
    of_tags = counts.sum(axis=0)
    others = np.count_nonzero(counts[:, STOP] == 0)
    emissions: Floats = (counts + smoothing) / (of_tags + smoothing * others)
    emissions[:, STOP] = counts[:, STOP] / of_tags[STOP]
    return emissions


def prlg_emissions(counts: Floats, smoothing: float) -> Floats:
    """P(w|j,k) = (c(w,j,k) + λ) / (c(j,k) + λV), where V is the number of all symbols.

    So a little probability goes to words at boundaries and to boundaries among words, which never
    happens.
    """
    emissions: Floats = (counts + smoothing) / (counts.sum(axis=0) + smoothing * len(counts))
    return emissions


@kernel
def expected_counts(symbols: Longs, arcs: Floats, counts: Floats) -> float:
    """Write the expected count of every arc to ``counts``; the log-likelihood of the sequence.

    The sequence begins and ends with a boundary; the last symbol is arrived at, but not emitted.
    With w = symbol t and each row of α divided by its sum z::

        α(0,STOP) = 1      α(t+1,k) = Σ_j α(t,j) · arc(w,j,k) / z(t+1)
        β(n-1,STOP) = 1    β(t,j)   = Σ_k arc(w,j,k) · β(t+1,k) / z(t+1)
        count(w,j,k)       = Σ_t α(t,j) · arc(w,j,k) · β(t+1,k) / z(t+1)
        log-likelihood     = Σ_t log z(t)
    """
    n = len(symbols)
    forward = np.zeros((n, TAGS))
    scale = np.ones(n)
    log_likelihood = 0.0
    forward[0, STOP] = 1.0
    for t in range(n - 1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        z = 0.0
        for k in range(first_k, end_k):
            for j in range(first_j, end_j):
                forward[t + 1, k] += forward[t, j] * arcs[w, j, k]
            z += forward[t + 1, k]
        for k in range(first_k, end_k):
            forward[t + 1, k] /= z
        scale[t + 1] = z
        log_likelihood += np.log(z)

    counts[:] = 0.0
    here, after = np.zeros(TAGS), np.zeros(TAGS)
    after[STOP] = 1.0
    for t in range(n - 2, -1, -1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        for j in range(first_j, end_j):
            here[j] = 0.0
            for k in range(first_k, end_k):
                onwards = arcs[w, j, k] * after[k] / scale[t + 1]
                counts[w, j, k] += forward[t, j] * onwards
                here[j] += onwards
        here, after = after, here
    return log_likelihood


TIE = 1e-9
"""Logarithms of probabilities that differ by no more are the same but for rounding."""


@kernel
def best_tags(symbols: Longs, log_arcs: Floats) -> Longs:
    """The most probable tags; of equally probable ones the first in the order STOP, B, I, O.

    With w = symbol t, from right to left::

        best(t,j) = max_k log arc(w,j,k) + best(t+1,k)

    Reading off the tags from left to right, the first k that attains the maximum is taken.  Ties
    are real: where a word is repeated, the HMM gives B I B I I and B I I B I the same probability.
    All taggings meet at a boundary, so scores start from 0 there and stay small and exact.
    """
    n = len(symbols)
    following = np.zeros((n, TAGS), dtype=np.int64)
    here, after = np.zeros(TAGS), np.zeros(TAGS)
    for t in range(n - 2, -1, -1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        for j in range(first_j, end_j):
            here[j] = -np.inf
            for k in range(first_k, end_k):
                score = log_arcs[w, j, k] + after[k]
                if score > here[j] + TIE:
                    here[j] = score
                    following[t, j] = k
        if end_j == STOP + 1:
            here[STOP] = 0.0
        here, after = after, here

    tags = np.zeros(n, dtype=np.int64)
    for t in range(n - 1):
        tags[t + 1] = following[t, tags[t]]
    return tags


@dataclass(frozen=True)
class Trainer:
    """A model and how it is trained."""

    model: ChunkModel
    smoothing: float
    """λ, which is added to the counts of words."""
    tolerance: float
    """The relative fall of perplexity at which EM stops."""

    def train(
        self, symbols: Longs, number: int, report: Callable[[], None] = lambda: None
    ) -> Floats | None:
        """Learn arcs from a sequence.

        ``report``: called after every iteration, of which there are at least two.
        Returns the arcs. None if a tag is impossible everywhere, so that there are no transitions
        from it to estimate: that is so if all segments are single words, which can only be O.
        """
        learnt = first_arcs(self.model, number, self.smoothing)
        counts = np.empty_like(learnt)
        before = math.inf
        while True:
            log_likelihood = expected_counts(symbols, learnt, counts)
            if not counts.sum(axis=(0, 2)).all():
                return None
            learnt = arcs(self.model, counts, self.smoothing)
            report()
            perplexity = math.exp(-log_likelihood / len(symbols))
            if (before - perplexity) / perplexity <= self.tolerance:
                return learnt
            before = perplexity
