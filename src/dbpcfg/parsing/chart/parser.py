"""The chart parser: one grammar, one bound, any corpus."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.bounding import check_depth, containment, require_fitting
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.io.machine import in_pieces
from dbpcfg.numerics.kernels import Floats
from dbpcfg.numerics.philox import Stream
from dbpcfg.parsing.chart.batches import batches, inside_batches
from dbpcfg.parsing.chart.expectation import Expectation, expected_counts
from dbpcfg.parsing.chart.layout import Logs, Precision, Tables, logarithms, shifted, tables
from dbpcfg.parsing.chart.posteriors import posteriors_of_batches
from dbpcfg.parsing.chart.trees import sample_batches
from dbpcfg.parsing.derivations import Derivations, check_parsable, check_vocabulary, first_cells
from dbpcfg.parsing.trees import TreeParser

PILOTS = 32
"""The number of sentences that show how many bits a word costs."""
NEGLIGIBLE = 1e-7
"""Posterior probability of a span below which it is pruned."""
_PILOTS: WeakKeyDictionary[Encoded, Encoded] = WeakKeyDictionary()


def pilots_of(corpus: Encoded) -> Encoded:
    """Some sentences of a corpus, evenly spaced, that show how many bits a word costs.

    They are the same in each iteration, so they are kept as long as the corpus is.
    """
    if corpus not in _PILOTS:
        places = np.unique(np.linspace(0, len(corpus) - 1, PILOTS).astype(np.int64))
        _PILOTS[corpus] = corpus.chosen(places)
    return _PILOTS[corpus]


class ChartParser(TreeParser):
    """Exact inference for sentences under a grammar and a depth bound.

    With a bound, probabilities are those of the bounded grammar: conditional on the tree fitting
    the bound. Without one they are the PCFG's own.

    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    ``precision``: of the chart's numbers, ``"double"`` or ``"single"``: single is faster for many
    categories, and right to some 5 digits.
    ``pilots``: sentences that show how to scale numbers of single precision; by default `pilots_of`
    the first corpus.
    ``weights``: weights of rules to sum in place of the grammar's probabilities. They need not sum
    to one, and nothing is divided by Z: logarithms are those of sums of weights.
    """

    def __init__(
        self,
        grammar: Grammar,
        depth: int | None,
        threads: int = 1,
        precision: Precision = "double",
        pilots: Encoded | None = None,
        weights: RuleWeights | None = None,
    ) -> None:
        self.grammar = grammar
        self.depth = depth
        self.threads = threads
        self.precision = precision
        self.pilots = pilots
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
        """Posterior probabilities of all labelled spans.

        ``negligible``: spans less probable than this are pruned, with all that is below them.
        ``weights``: ``[cell, c]``, laid out as in `dbpcfg.parsing.derivations`; zero for a
        sentence of probability zero.
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
        cells, logs = first_cells(corpus, levels), np.empty(len(corpus))
        weights = np.zeros((int(cells[-1]), self.grammar.categories))
        outputs = cells, int(levels > 1), weights, logs
        self._in_batches(posteriors_of_batches, corpus, G, self._exact, negligible, *outputs)
        return weights, logs

    def expected_counts(
        self, corpus: Encoded, copies: Floats | None = None, negligible: float = NEGLIGIBLE
    ) -> tuple[RuleWeights, Floats]:
        """How often each rule is expected in the sentences' trees, of all that fit the bound.

        Divided by a rule's probability, the count is the derivative of Σ log P(sentence) + N log Z
        by it (`dbpcfg.grammar.normaliser` has that of Z).

        ``copies``: ``[sentence]``: how often each sentence counts, 0 or more; once, if not given.
        ``negligible``: spans less probable than this are pruned, with all that is below them.
        ``counts``: summed over the sentences; nothing is counted for one of probability zero.
        """
        check_vocabulary(self.grammar, corpus)
        words, K, logs = (
            len(self.grammar.vocabulary),
            self.grammar.categories,
            np.empty(len(corpus)),
        )
        if not len(corpus):
            return RuleWeights.zeros(K, words), logs
        G = self._tables_for(corpus)
        B = batches(corpus, G)
        times = np.ones(len(corpus)) if copies is None else np.asarray(copies, dtype=np.float64)
        task = Expectation(G, self._exact, negligible, times, logs)
        counts = expected_counts(B, task, K, words, self.threads)
        return counts, logs - self.log_fitting_mass

    def _in_batches(self, kernel: Callable[..., None], corpus: Encoded, *arguments: object) -> None:
        """Run a kernel on all batches of a corpus, on several threads."""
        B = batches(corpus, self._tables)

        def work(first: int, last: int) -> None:
            kernel(first, last, B, *arguments)

        in_pieces(work, len(B.bounds) - 1, self.threads)

    @cached_property
    def logs(self) -> Logs:
        """The logarithms of the rules, and the bound."""
        return logarithms(self._rules, self.depth)

    @cached_property
    def _exact(self) -> Tables:
        """The tables in double precision."""
        return self._tables if self.precision == "double" else tables(self._rules, self._depth)

    def _tables_for(self, corpus: Encoded) -> Tables:
        """The tables, scaled so that in single precision most charts need no exponents.

        Some sentences of the first corpus show how many bits a word costs. Scaling by powers of
        two changes no digit of what does not underflow.
        """
        if self.precision == "double" or not len(corpus) or self._shifted:
            return self._tables
        pilots = pilots_of(corpus) if self.pilots is None else self.pilots
        logs = self._log_inside(pilots, self._tables)
        scales = np.add.reduceat(self._tables.log_scale[pilots.tokens], pilots.starts[:-1])
        possible = np.isfinite(logs)
        lost = scales[possible] - logs[possible]
        bits = lost / pilots.lengths[possible] / math.log(2.0)
        if len(bits):
            self._tables, self._shifted = shifted(self._tables, round(float(np.median(bits)))), True
        return self._tables
