"""Measures at each word of a sentence, from prefix probabilities.

``chart.prefix`` and ``lowrank.prefix`` compute prefix probabilities.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.elementary import log
from dbpcfg.numerics.kernels import Floats, Ints, kernel
from dbpcfg.parsing.chart.layout import EMPTY

BLOCK = 2**18
"""The most probabilities of next words in memory at once."""


class Prefixes(NamedTuple):
    """A sentence of n words: entry t = 0 … n − 1 is word w_t, and entry n the sentence's end.

    *Before* means given the words before it, *after* means given the word too. After a word, or
    end, of probability zero everything is NaN. Without a bound, depth 1 stands for all depths.

    At every word, exp(logs[t]) = Σ_c awaited[t, c] G[c → w_t], and the logs sum to log P(sentence).
    If there is no bound and some derivations never end, ``awaited`` before the first word has only
    the mass of those that end. Everything else is conditional on the sentence ending.
    """

    logs: Floats  # [t] log P(w_t), before
    ended: Floats  # [t] probability that the sentence has ended, before
    awaited: Floats  # [t, c] P(next word is w) = Σ_c awaited[t, c] G[c → w], before
    depths: Floats  # [t, d] probability of d fragments in memory, before; of 0: not ended
    fork: Floats  # [t] probability that w_t forked, after
    join: Floats  # [t] probability that there was a join at w_t, after
    closed: Floats  # [t, d] probability that w_t ends fragment d, which joins d − 1, after


class PrefixBatch(NamedTuple):
    """Prefix probabilities of a batch of sentences, with exponents of two.

    Rows are the sums of a(R,1), a(R,2), …: of left parents (L,d), then of right ones (R,d).
    """

    scale: Ints  # [m, k]            exponents
    masses: Floats  # [m, k, row]    Σ_b a(R,d,b,k) h(R,d,b)
    early_scale: Ints  # [m, k]
    early: Floats  # [m, k, row]     the same, without left children that are one word
    words: Floats  # [m, t, 2]       P(words before, w_t): as a left node, as a right one
    awaited: Floats  # [m, t, c]     y


def new_prefix_batch(sentences: int, n: int, categories: int, depths: int) -> PrefixBatch:
    """Memory for a batch."""
    scale = np.full((2, sentences, n + 1), EMPTY, dtype=np.int32)
    scale[:, :, 0] = 0
    masses, words = np.zeros((2, sentences, n + 1, 2 * depths)), np.zeros((sentences, n + 1, 2))
    awaited = np.empty((sentences, n + 1, categories))
    return PrefixBatch(scale[0], masses[0], scale[1], masses[1], words, awaited)


def prefix_measures(
    batch: PrefixBatch, ending: Floats, exponents: Ints, log_scale: Floats
) -> Prefixes:
    """The measures at each word of a batch, with sentences as the first axis.

    ``ending``: ``[m, k − 1]``: P(words before k, end), with its exponents.
    ``log_scale``: ``[m, t]``: the logarithm of what the probabilities of a word were divided by.
    """
    sentences, n = ending.shape
    common = np.maximum(batch.scale[:, 1:], exponents)
    shift = (batch.scale[:, 1:] - common)[..., np.newaxis]
    masses, end = np.ldexp(batch.masses[:, 1:], shift), np.ldexp(ending, exponents - common)
    left, right = masses[..., ::2], masses[..., 1::2]
    words, awaited = batch.words, batch.awaited
    words[:, 1:] = np.ldexp(words[:, 1:], shift)
    awaited[:, 1:] = np.ldexp(awaited[:, 1:], shift)
    total = words[:, :n].sum(axis=2)
    before = np.ones((sentences, n + 1))
    before[:, 1:] = masses.sum(axis=2) + end
    before[:, 1:][np.logical_or.accumulate(total == 0.0, axis=1)] = np.nan
    after = before[:, 1:, np.newaxis]
    early_shift = (batch.early_scale[:, 1:] - common)[..., np.newaxis]
    ends_fragment = np.ldexp(batch.early[:, 1:, 1::2], early_shift)  # d, which joins d − 1
    ended, fork, join = (np.full((sentences, n + 1), x) for x in (0.0, np.nan, np.nan))
    depths, closed = (np.full((*before.shape, left.shape[2] + 1), x) for x in (0.0, np.nan))
    ended[:, 1:] = end / before[:, 1:]
    depths[:, 0, 0] = 1.0
    depths[:, 1:, :1] = 0.0 * after
    depths[:, 1:, 1:] = (left + right) / after
    closed[:, :n, :1] = 0.0 * after
    closed[:, :n, 1] = ended[:, 1:]
    closed[:, 0, 1] *= 0.0  # a sentence of one word has no fragments
    closed[:, :n, 2:] = np.minimum(ends_fragment[..., :-1] / after, 1.0)
    join[:, :n] = np.minimum((right.sum(axis=2) + end) / before[:, 1:], 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        possible = total + 0.0 * before[:, 1:]
        fork[:, :n] = np.minimum(words[:, :n, 0] / possible, 1.0)
        logs = np.log(np.concatenate([total, ended[:, n:]], axis=1))
        logs[:, :n] += log_scale
        logs[:, 1:n] -= np.log(before[:, 1:n])
    logs[np.isnan(before)] = np.nan
    awaited = awaited / before[..., np.newaxis]  # not in place: rows are next to each other
    return Prefixes(logs, ended, awaited, depths, fork, join, closed)


@kernel
def next_word_entropies(awaited: Floats, ended: Floats, lexical: Floats, entropies: Floats) -> None:
    """Entropy in nats of what comes next, a word or the end, before each word::

        P(w) = Σ_c awaited[t, c] G[c → w]        H = − ended log ended − Σ_w P(w) log P(w)

    by one matrix product for the words of a sentence.
    """
    rows = max(1, BLOCK // lexical.shape[1])
    logs = np.empty(lexical.shape[1])
    for first in range(0, len(ended), rows):
        P = np.dot(awaited[first : first + rows], lexical)
        for r in range(len(P)):
            x = ended[first + r]
            H = -x * np.log(x) if x > 0.0 else 0.0 * x  # NaN stays NaN
            for w in range(len(logs)):
                logs[w] = log(P[r, w])  # some finite number for 0
            H -= np.dot(P[r], logs)
            entropies[first + r] = max(H, 0.0) if H == H else H


class PrefixParser(ABC):
    """Computes measures at each word, for a grammar and a bound.

    ``lexical``: ``[c, w]``: the words of the categories that have any.
    ``mass``: the probability of all sentences.
    """

    def __init__(self, lexical: Floats, mass: float) -> None:
        self.lexical, self.mass = lexical, mass
        self.impossible = lexical.shape[1]
        """The number of a word that no category emits."""

    @abstractmethod
    def prefixes(self, corpus: Encoded, threads: int = 1) -> list[Prefixes]:
        """The measures at each word of all sentences of a corpus.

        ``threads``: the number of threads; results do not depend on it.
        """

    def entropies(self, prefixes: Prefixes) -> Floats:
        """``[t]``: the entropy of what comes next, before each word; in nats."""
        entropies, awaited = np.empty(len(prefixes.logs)), prefixes.awaited.copy()
        awaited[0] /= self.mass
        next_word_entropies(awaited, prefixes.ended, self.lexical, entropies)
        return entropies
