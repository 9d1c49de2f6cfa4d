"""The four tags, the two models as tables of arcs, training and decoding.

=====  ==================================  =================
tag    symbol                              may be followed by
=====  ==================================  =================
STOP   a boundary: EOS or STOP             STOP, B, O
B      the first word of a chunk           I
I      another word of a chunk             STOP, B, I, O
O      a word outside all chunks           STOP, B, O
=====  ==================================  =================

Boundaries are always tagged STOP and words never are, so the tags of a segment do not depend on
other segments.

An arc ``[w, j, k]`` is the probability that tag j emits symbol w and is followed by tag k.  A model
estimates arcs from their counts, c(w,j,k); a missing index means a sum, as in c(j,k) = Σ_w
c(w,j,k).  Both models have transitions P(k|j) = c(j,k) / c(j).

Only words are smoothed, by λ.  The entries for words tagged STOP and for boundaries with other tags
are not used.
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
"""Symbols below this number are boundaries, all others words and pseudo-words."""


@kernel
def tags_of(symbol: int) -> tuple[int, int]:
    """The possible tags of a symbol, as a half-open range."""
    if symbol < BOUNDARIES:
        return STOP, STOP + 1
    return B, O + 1


ChunkModel: TypeAlias = Literal["prlg", "hmm"]


def uniform_arcs(symbols: int) -> Floats:
    """P(k|j) · P(w|j), with uniform distributions over allowed tags and over symbols."""
    emissions = np.zeros((symbols, TAGS))
    emissions[:BOUNDARIES, STOP] = 1 / BOUNDARIES
    emissions[BOUNDARIES:, STOP + 1 :] = 1 / (symbols - BOUNDARIES)
    transitions = ALLOWED / ALLOWED.sum(axis=1, keepdims=True)
    joint: Floats = emissions[:, :, None] * transitions
    return joint


def first_arcs(model: ChunkModel, symbols: int, smoothing: float) -> Floats:
    """The start of EM: uniform arcs; for the PRLG they are smoothed as if they were counts."""
    uniform = uniform_arcs(symbols)
    return uniform if model == "hmm" else arcs(model, uniform, smoothing)


def arcs(model: ChunkModel, counts: Floats, smoothing: float) -> Floats:
    """Estimate arcs from counts, in which every tag must occur."""
    of_pairs = counts.sum(axis=0)
    transitions: Floats = of_pairs / of_pairs.sum(axis=1, keepdims=True)
    if model == "hmm":
        return transitions * hmm_emissions(counts.sum(axis=2), smoothing)[:, :, None]
    return transitions * prlg_emissions(counts, smoothing)


def hmm_emissions(counts: Floats, smoothing: float) -> Floats:
    """P(w|j) = (c(w,j) + λ) / (c(j) + λV') for words; relative frequencies for the tag STOP.

    V' is the number of symbols that are never tagged STOP, including the segment end if it does not
    occur.
    """
    of_tags = counts.sum(axis=0)
    others = np.count_nonzero(counts[:, STOP] == 0)
    emissions: Floats = (counts + smoothing) / (of_tags + smoothing * others)
    emissions[:, STOP] = counts[:, STOP] / of_tags[STOP]
    return emissions


def prlg_emissions(counts: Floats, smoothing: float) -> Floats:
    """P(w|j,k) = (c(w,j,k) + λ) / (c(j,k) + λV), where V is the number of all symbols.

    So boundaries tagged as words, and words tagged as boundaries, get a little probability, though
    they are impossible.
    """
    emissions: Floats = (counts + smoothing) / (counts.sum(axis=0) + smoothing * len(counts))
    return emissions


@kernel
def expected_counts(symbols: Longs, arcs: Floats, counts: Floats) -> float:
    """Write the expected count of every arc to ``counts``; return the log-likelihood.

    The sequence begins and ends with a boundary; the last symbol is reached, but not emitted.
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
    backward, next_backward = np.zeros(TAGS), np.zeros(TAGS)
    next_backward[STOP] = 1.0
    for t in range(n - 2, -1, -1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        for j in range(first_j, end_j):
            backward[j] = 0.0
            for k in range(first_k, end_k):
                arc_backward = arcs[w, j, k] * next_backward[k] / scale[t + 1]
                counts[w, j, k] += forward[t, j] * arc_backward
                backward[j] += arc_backward
        backward, next_backward = next_backward, backward
    return log_likelihood


TIE = 1e-9
"""Log probabilities that differ by no more are equal up to rounding."""


@kernel
def best_tags(symbols: Longs, log_arcs: Floats) -> Longs:
    """The most probable tags; ties go to the first in the order STOP, B, I, O.

    With w = symbol t, from right to left::

        best(t,j) = max_k log arc(w,j,k) + best(t+1,k)

    Tags are then read off from left to right.  There are real ties: if a word is repeated, the HMM
    gives B I B I I and B I I B I the same probability.  Scores are reset to 0 at each boundary, so
    they stay small and exact.
    """
    n = len(symbols)
    following = np.zeros((n, TAGS), dtype=np.int64)
    best, next_best = np.zeros(TAGS), np.zeros(TAGS)
    for t in range(n - 2, -1, -1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        for j in range(first_j, end_j):
            best[j] = -np.inf
            for k in range(first_k, end_k):
                score = log_arcs[w, j, k] + next_best[k]
                if score > best[j] + TIE:
                    best[j] = score
                    following[t, j] = k
        if end_j == STOP + 1:
            best[STOP] = 0.0
        best, next_best = next_best, best

    tags = np.zeros(n, dtype=np.int64)
    for t in range(n - 1):
        tags[t + 1] = following[t, tags[t]]
    return tags


@dataclass(frozen=True)
class Trainer:
    """A model and its settings for training."""

    model: ChunkModel
    smoothing: float
    """λ, which is added to the counts of words."""
    tolerance: float
    """The relative fall of perplexity at which EM stops."""

    def train(
        self, symbols: Longs, number: int, report: Callable[[], None] = lambda: None
    ) -> Floats | None:
        """Learn arcs from a sequence.

        None if a tag is impossible everywhere, so that its transitions cannot be estimated; for
        example if all segments are single words, which can only be O.

        ``report``: called after every iteration.
        """
        learned = first_arcs(self.model, number, self.smoothing)
        counts = np.empty_like(learned)
        previous_perplexity = math.inf
        while True:
            log_likelihood = expected_counts(symbols, learned, counts)
            if not counts.sum(axis=(0, 2)).all():
                return None
            learned = arcs(self.model, counts, self.smoothing)
            report()
            perplexity = math.exp(-log_likelihood / len(symbols))
            if (previous_perplexity - perplexity) / perplexity <= self.tolerance:
                return learned
            previous_perplexity = perplexity
