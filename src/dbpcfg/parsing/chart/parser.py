"""The chart parser: one grammar, one bound, any corpus."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.bounding import check_depth, containment, require_fitting
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.numerics.philox import Stream
from dbpcfg.parsing.chart.batches import batches, inside_batches
from dbpcfg.parsing.chart.layout import Logs, Precision, Tables, logarithms, shifted, tables
from dbpcfg.parsing.chart.trees import sample_batches
from dbpcfg.parsing.derivations import Derivations, check_parsable, check_vocabulary, first_cells
from dbpcfg.parsing.parser import Parser

if TYPE_CHECKING:
    from dbpcfg.parsing.chart.expectation import Block

SCALING_SENTENCES = 32
"""The number of sentences from which the scale of single precision is estimated."""
NEGLIGIBLE = 1e-7
"""Spans with a smaller posterior probability are pruned."""
_scaling_samples: WeakKeyDictionary[Encoded, Encoded] = WeakKeyDictionary()


def scaling_sample_of(corpus: Encoded) -> Encoded:
    """Evenly spaced sentences of a corpus, from which the bits lost per word are estimated.

    They are the same in each iteration, so they are cached.
    """
    if corpus not in _scaling_samples:
        chosen = np.unique(np.linspace(0, len(corpus) - 1, SCALING_SENTENCES).astype(np.int64))
        _scaling_samples[corpus] = corpus.select(chosen)
    return _scaling_samples[corpus]


class ChartParser(Parser):
    """Exact inference for sentences under a grammar and a depth bound.

    With a bound, probabilities are those of the bounded grammar: conditional on the tree fitting
    the bound.

    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    ``precision``: ``"double"``, or ``"single"``, which is faster for many categories and accurate
    to about 5 digits.
    ``scaling_sample``: sentences from which the scale of single precision is estimated; by default
    `scaling_sample_of` the first corpus.
    ``weights``: weights of rules instead of the grammar's probabilities. They need not sum to one,
    and sums of weights are not divided by Z.
    """

    def __init__(
        self,
        grammar: Grammar,
        depth: int | None,
        threads: int = 1,
        precision: Precision = "double",
        scaling_sample: Encoded | None = None,
        weights: RuleWeights | None = None,
    ) -> None:
        self.grammar = grammar
        self.depth = depth
        self.threads = threads
        self.precision = precision
        self.scaling_sample = scaling_sample
        self._depth = 0 if depth is None else check_depth(depth)
        self._rules = grammar if weights is None else weights
        self._tables, self._shifted = tables(self._rules, self._depth, precision), False
        self._log_mass = (
            0.0
            if depth is None or weights is not None
            else math.log(require_fitting(grammar, containment(grammar, depth)))
        )

    @property
    def log_fitting_mass(self) -> float:
        """log Z: the logarithm of the probability that a tree fits the bound; 0 without a bound."""
        return self._log_mass

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""
        check_vocabulary(self.grammar, corpus)
        return self._log_inside(corpus, self._tables_for(corpus)) - self.log_fitting_mass

    def _log_inside(self, corpus: Encoded, G: Tables) -> Floats:
        logs = np.empty(len(corpus))
        self._in_batches(inside_batches, corpus, G, logs)
        return logs

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """Draw a tree from the posterior of every sentence.

        ``numbers``: the random numbers; sentence s has those of item s.
        """
        check_vocabulary(self.grammar, corpus)
        drawn, logs = Derivations.empty(corpus), np.empty(len(corpus))
        G = self._tables_for(corpus)
        self._in_batches(sample_batches, corpus, G, numbers, drawn.nodes, logs)
        check_parsable(self.grammar, corpus, logs)
        return drawn, logs - self.log_fitting_mass

    def posteriors(self, corpus: Encoded, negligible: float = NEGLIGIBLE) -> tuple[Floats, Floats]:
        """Posterior probabilities of all labelled spans, and every log P(sentence).

        Posteriors are ``[cell, c]``, as in `dbpcfg.parsing.derivations`; zero for a sentence of
        probability zero.

        ``negligible``: spans less probable than this are pruned, with all spans below them.
        """
        check_vocabulary(self.grammar, corpus)
        weights, logs = self._posteriors(corpus, self._tables_for(corpus), negligible, 1)
        return weights, logs - self.log_fitting_mass

    def level_posteriors(self, corpus: Encoded, negligible: float) -> tuple[Floats, Floats]:
        """Posteriors by level in double precision, and every log P(sentence) before Z."""
        return self._posteriors(corpus, self._exact, negligible, self.levels)

    def _posteriors(
        self, corpus: Encoded, G: Tables, negligible: float, levels: int
    ) -> tuple[Floats, Floats]:
        from dbpcfg.parsing.chart.expectation import posteriors_of_batches

        cells, logs = first_cells(corpus, levels), np.empty(len(corpus))
        weights = np.zeros((int(cells[-1]), self.grammar.categories))
        outputs = cells, int(levels > 1), weights, logs
        self._in_batches(posteriors_of_batches, corpus, G, self._exact, negligible, *outputs)
        return weights, logs

    def expected_counts(
        self, corpus: Encoded, copies: Floats | None = None, negligible: float = NEGLIGIBLE
    ) -> tuple[RuleWeights, Floats]:
        """The expected number of uses of each rule in all trees, and every log P(sentence).

        Nothing is counted for sentences of probability zero. A count divided by the rule's
        probability is the derivative of Σ log P(sentence) + N log Z (`dbpcfg.grammar.normaliser`
        has that of Z).

        ``copies``: ``[sentence]``: how often each sentence counts, 0 or more; once, if not given.
        ``negligible``: spans less probable than this are pruned, with all spans below them.
        """
        blocks, logs = self.count_blocks(corpus, copies, negligible)
        return self.sum_of_blocks(corpus, blocks), logs

    def count_blocks(
        self,
        corpus: Encoded,
        copies: Floats | None = None,
        negligible: float = NEGLIGIBLE,
        edges: Longs | None = None,
    ) -> tuple[list[Block], Floats]:
        """As `expected_counts`, but with separate sums for each block of sentences.

        ``edges``: the boundaries of blocks of batches; by default those of the whole corpus.
        """
        from dbpcfg.parsing.chart.expectation import Expectation, block_edges, count_all_blocks

        check_vocabulary(self.grammar, corpus)
        logs = np.empty(len(corpus))
        if not len(corpus):
            return [], logs
        G = self._tables_for(corpus)
        B = batches(corpus, G)
        times = np.ones(len(corpus)) if copies is None else np.asarray(copies, dtype=np.float64)
        task = Expectation(G, self._exact, negligible, times, logs)
        if edges is None:
            edges = block_edges(corpus.lengths[B.distinct], B.bounds, G.depth)
        return count_all_blocks(edges, B, task, self.threads), logs - self.log_fitting_mass

    def sum_of_blocks(self, corpus: Encoded, blocks: Sequence[Block]) -> RuleWeights:
        """The expected counts of a corpus from those of its blocks, in their order."""
        from dbpcfg.parsing.chart.expectation import sum_of_blocks

        return sum_of_blocks(blocks, self._tables_for(corpus), self._exact, self.grammar.categories)

    def _in_batches(self, kernel: Callable[..., None], corpus: Encoded, *arguments: object) -> None:
        """Run a kernel on all batches of a corpus, on several threads."""
        B = batches(corpus, self._tables)

        def work(first: int, last: int) -> None:
            kernel(first, last, B, *arguments)

        parallel_ranges(work, len(B.bounds) - 1, self.threads)

    @cached_property
    def logs(self) -> Logs:
        """The logarithms of the rules, and the bound."""
        return logarithms(self._rules, self.depth)

    @cached_property
    def _exact(self) -> Tables:
        """The tables in double precision."""
        return self._tables if self.precision == "double" else tables(self._rules, self._depth)

    def _tables_for(self, corpus: Encoded) -> Tables:
        """The tables, scaled so that most charts need no exponents in single precision.

        The scale is estimated from some sentences of the first corpus. Scaling by powers of two is
        exact, barring underflow.
        """
        if self.precision == "double" or not len(corpus) or self._shifted:
            return self._tables
        sample = self.scaling_sample
        if sample is None:
            sample = scaling_sample_of(corpus)
        logs = self._log_inside(sample, self._tables)
        scales = np.add.reduceat(self._tables.log_scale[sample.tokens], sample.starts[:-1])
        possible = np.isfinite(logs)
        lost = scales[possible] - logs[possible]
        bits = lost / sample.lengths[possible] / math.log(2.0)
        if len(bits):
            self._tables, self._shifted = shifted(self._tables, round(float(np.median(bits)))), True
        return self._tables
