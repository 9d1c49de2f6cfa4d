"""Which parser a grammar has for what sums over all trees: the fastest that is exact."""

from __future__ import annotations

from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.lowrank.parser import LowRankParser
from dbpcfg.parsing.protocol import SpanParser


def parser_of(
    grammar: Grammar, depth: int | None, threads: int = 1, precision: Precision = "double"
) -> SpanParser:
    """A parser for probabilities of sentences and posteriors of spans.

    ``grammar``: G, without a bound; the chart of a low-rank grammar is in rank space.
    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    """
    if isinstance(grammar, LowRankGrammar):
        return LowRankParser(grammar.factors, depth, threads, precision)
    return ChartParser(grammar, depth, threads, precision)
