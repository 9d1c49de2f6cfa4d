"""The parser of a grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.parser import Parser

if TYPE_CHECKING:
    from dbpcfg.parsing.prefixes import PrefixParser


def parser_of(
    grammar: Grammar, depth: int | None, threads: int = 1, precision: Precision = "double"
) -> Parser:
    """The chart parser of a grammar, in rank space if it is a low-rank grammar.

    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    """
    if isinstance(grammar, LowRankGrammar):
        from dbpcfg.parsing.lowrank.parser import LowRankParser

        return LowRankParser(grammar, depth, threads, precision)
    return ChartParser(grammar, depth, threads, precision)


def prefix_parser_of(grammar: Grammar, depth: int | None) -> PrefixParser:
    """The parser for measures at each word.

    ``depth``: the bound D; None for no bound.
    """
    if isinstance(grammar, LowRankGrammar):
        from dbpcfg.parsing.lowrank.prefix import RankPrefixParser

        return RankPrefixParser(grammar.factors, depth)
    from dbpcfg.parsing.chart.prefix import ChartPrefixParser

    return ChartPrefixParser(grammar, depth)
