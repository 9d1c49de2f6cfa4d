"""The interface of parsers, and the search for best trees that chart parsers share."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.numerics.philox import Stream, stream
from dbpcfg.parsing.chart.layout import Logs
from dbpcfg.parsing.derivations import (
    Derivations,
    check_parsable,
    check_vocabulary,
    first_cells,
    first_node,
)

FIRST = 0.1
"""The first threshold of `best_of_sentences`, divided by the number of trees."""
NEGLIGIBLE = 1e-3
"""The first posterior probability below which spans are pruned, divided by the number of trees."""
MAX_BYTES = 2**24
"""About the most memory for the posteriors, or the trees, of one batch of sentences."""
_NO_CHAIN = 2**24 - 1
"""A chain number that no run has, so that random numbers differ from those of its trees."""


class Sampler(Protocol):
    """Any parser that can sample, including left-corner parsers."""

    @property
    def grammar(self) -> Grammar:
        """G, without a bound."""

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """Draw a tree from the posterior of every sentence; also every log P(sentence)."""

    def viterbi(self, corpus: Encoded) -> tuple[Derivations, Floats]:
        """The most probable tree of every sentence, and log P(tree, sentence) of each."""


class Parser(ABC):
    """A chart parser: `ChartParser`, or `LowRankParser` for grammars of low rank."""

    grammar: Grammar
    """G, without a bound."""
    threads: int

    @property
    @abstractmethod
    def log_fitting_mass(self) -> float:
        """log Z: the logarithm of the probability that a tree fits the bound; 0 without a bound."""

    @property
    @abstractmethod
    def logs(self) -> Logs:
        """The logarithms of the rules, and the bound."""

    @abstractmethod
    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""

    @abstractmethod
    def posteriors(self, corpus: Encoded, negligible: float = ...) -> tuple[Floats, Floats]:
        """Posterior probabilities of all labelled spans, and every log P(sentence)."""

    @abstractmethod
    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """Draw a tree from the posterior of every sentence; also every log P(sentence)."""

    @abstractmethod
    def level_posteriors(self, corpus: Encoded, negligible: float) -> tuple[Floats, Floats]:
        """Posteriors by level in double precision, and every log P(sentence) before Z.

        Posteriors are ``[cell, c]``, with ``levels`` levels of cells for each sentence.
        """

    @property
    def levels(self) -> int:
        """The number of combinations of side and depth of a span; 1 without a bound."""
        return max(1, 2 * self.logs.depth)

    def viterbi(self, corpus: Encoded) -> tuple[Derivations, Floats]:
        """The most probable tree of every sentence."""
        trees, logs = self._best(corpus, 1)
        nodes = np.concatenate([np.empty((0, 3), np.int32), *(best[0] for best in trees)])
        return Derivations(nodes, corpus), logs[:, 0] - self.log_fitting_mass

    def n_best(self, corpus: Encoded, n: int) -> list[Ints]:
        """The n most probable trees of every sentence, best first: ``[tree, node, 3]``."""
        return self._best(corpus, n)[0]

    def samples(self, corpus: Encoded, n: int, seed: int, items: Sequence[int]) -> list[Ints]:
        """Draw n trees from the posterior of every sentence: ``[tree, node, 3]``.

        ``items``: a number for each sentence, on which its random numbers depend.
        """
        order, trees = np.argsort(-corpus.lengths, kind="stable").tolist(), dict[int, Ints]()

        def some(first: int, last: int) -> None:
            for s in order[first:last]:
                copies = corpus.select(np.full(n, s))
                drawn, _ = self.sample(copies, stream(seed, _NO_CHAIN, items[s]))
                trees[s] = drawn.nodes.reshape(n, -1, 3)

        parallel_ranges(some, len(corpus), self.threads)
        return [trees[s] for s in range(len(corpus))]

    def _best(self, corpus: Encoded, n: int) -> tuple[list[Ints], Floats]:
        """The trees, and ``[sentence, tree]``: log P(tree, sentence) before Z, −∞ for no tree."""
        check_vocabulary(self.grammar, corpus)
        trees: list[Ints] = [np.empty((0, 0, 3), dtype=np.int32)] * len(corpus)
        logs = np.full((len(corpus), n), -np.inf)
        distinct, first_copy, copies = corpus.distinct
        thresholds, negligible = np.full(len(distinct), FIRST / n), NEGLIGIBLE / n
        while (thresholds >= 0).any():
            unfinished = np.flatnonzero(thresholds >= 0)
            for batch in self._batches(corpus.lengths[distinct[unfinished]], n):
                numbers = unfinished[batch]
                sentences, t = corpus.select(distinct[numbers]), thresholds[numbers]
                nodes, scores = self._search(sentences, n, negligible, t)
                thresholds[numbers] = t
                number, sizes = np.isfinite(scores).sum(axis=1).tolist(), 2 * sentences.lengths - 1
                by_sentence = np.split(nodes, n * np.cumsum(sizes)[:-1])
                for s in np.flatnonzero(t < 0).tolist():
                    equal_sentences = copies[first_copy[numbers[s]] : first_copy[numbers[s] + 1]]
                    logs[equal_sentences] = scores[s]
                    best = by_sentence[s].reshape(n, -1, 3)[: number[s]]
                    for copy in equal_sentences.tolist():
                        trees[copy] = best
            negligible = thresholds.min(where=thresholds >= 0, initial=negligible)
        check_parsable(self.grammar, corpus, logs[:, 0])
        return trees, logs

    def _search(
        self, corpus: Encoded, n: int, negligible: float, thresholds: Floats
    ) -> tuple[Ints, Floats]:
        from dbpcfg.parsing.nbest import best_of_sentences

        weights, totals = self.level_posteriors(corpus, negligible)
        cells, size = first_cells(corpus, self.levels), first_node(corpus.starts, len(corpus))
        nodes, logs = np.empty((n * size, 3), dtype=np.int32), np.empty((len(corpus), n))
        inputs = corpus.sentences, cells, weights, totals, self.logs, n, negligible

        def work(begin: int, end: int) -> None:
            best_of_sentences(begin, end, *inputs, nodes, logs, thresholds)

        parallel_ranges(work, len(corpus), self.threads)
        return nodes, logs

    def _batches(self, lengths: Longs, n: int) -> list[slice]:
        """Split sentences into batches whose posteriors and trees fit into memory."""
        cell = 4 * self.levels * self.grammar.categories
        sizes = np.maximum(cell * lengths * (lengths + 1), 24 * n * lengths)
        part = np.cumsum(sizes) // MAX_BYTES
        edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(lengths)]
        return [slice(*pair) for pair in itertools.pairwise(edges)]
