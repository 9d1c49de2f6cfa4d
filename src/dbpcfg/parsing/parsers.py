"""The parser of a grammar, and what parsers have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.numerics.philox import Stream
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations

if TYPE_CHECKING:
    from dbpcfg.parsing.prefixes import PrefixParser


class Sampler(Protocol):
    """A grammar and a bound, ready for sentences: what the left-corner parser does too."""

    @property
    def grammar(self) -> Grammar:
        """G, without a bound."""

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """A tree from the posterior of every sentence, and every log P(sentence)."""

    def viterbi(self, corpus: Encoded) -> tuple[Derivations, Floats]:
        """The most probable tree of every sentence, and log P(tree, sentence) of each."""


class Parser(Sampler, Protocol):
    """What a grammar's own parser does. Its ``expected_counts`` are of rules, or of factors."""

    @property
    def log_fitting_mass(self) -> float:
        """log Z: the logarithm of the probability that a tree fits the bound; 0 without a bound."""

    def n_best(self, corpus: Encoded, n: int) -> list[Ints]:
        """``[tree, node, 3]`` of every sentence: its n most probable trees, best first."""

    def samples(self, corpus: Encoded, n: int, seed: int, items: Sequence[int]) -> list[Ints]:
        """``[tree, node, 3]`` of every sentence: n trees from its posterior."""

    def posteriors(self, corpus: Encoded, negligible: float = ...) -> tuple[Floats, Floats]:
        """Posterior probabilities of all labelled spans, and every log P(sentence)."""


def parser_of(
    grammar: Grammar, depth: int | None, threads: int = 1, precision: Precision = "double"
) -> Parser:
    """The parser of a grammar: a chart of its categories, or of its ranks if it has factors.

    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    """
    if isinstance(grammar, LowRankGrammar):
        from dbpcfg.parsing.lowrank.parser import LowRankParser

        return LowRankParser(grammar, depth, threads, precision)
    return ChartParser(grammar, depth, threads, precision)


def prefix_parser_of(grammar: Grammar, depth: int | None) -> PrefixParser:
    """What follows sentences word by word under a grammar and a bound; None for no bound."""
    if isinstance(grammar, LowRankGrammar):
        from dbpcfg.parsing.lowrank.prefix import RankPrefixParser

        return RankPrefixParser(grammar.factors, depth)
    from dbpcfg.parsing.chart.prefix import ChartPrefixParser

    return ChartPrefixParser(grammar, depth)
