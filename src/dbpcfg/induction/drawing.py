"""The trees of an iteration: what draws them, and where they are.

A chain needs of its trees log P(sentence) of each sentence, the counts of their rules, and that
someone adds up their spans. `LocalTrees` is that someone in this process. On a cluster the trees
of parts of the corpus are drawn where the parts are, by the same `sample_trees`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import Grammar, RuleCounts
from dbpcfg.induction.gold import GoldSpans
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from dbpcfg.parsing.mbr import SpanCounts
from dbpcfg.parsing.protocol import Parser

ELSEWHERE: Ints = np.zeros((0, 3), dtype=np.int32)
"""In place of the nodes of trees that are not in this process."""


class Drawn(NamedTuple):
    """What a chain needs to know of the trees of one iteration."""

    logs: Floats
    """log P(sentence) of every sentence."""
    counts: RuleCounts
    """The rules of the trees, but for those of sentences that are kept aside."""


class TreeSource(Protocol):
    """What draws the trees of a chain, and holds them."""

    derivations: Derivations | None
    """The trees that were drawn last; None if they are not in this process."""

    def draw(self, grammar: Grammar, iteration: int, settings: ChainSettings) -> Drawn:
        """Draw the trees of an iteration."""

    def count(self, spans: SpanCounts) -> None:
        """Count the spans of the last trees."""

    def keep(self) -> None:
        """The last trees are the chain's best ones."""

    def f1(self, gold: GoldSpans) -> float:
        """F1 of the last trees."""


class LocalTrees:
    """Trees that are drawn and held in this process."""

    def __init__(self, corpus: Encoded, threads: int = 1) -> None:
        self.corpus, self.threads = corpus, threads
        self.derivations: Derivations | None = None

    def draw(self, grammar: Grammar, iteration: int, settings: ChainSettings) -> Drawn:
        """Draw the trees of an iteration."""
        trees, logs = sample_trees(self.corpus, grammar, iteration, settings, self.threads)
        self.derivations = trees
        return Drawn(logs, trees.counts(settings.categories, settings.aside))

    def count(self, spans: SpanCounts) -> None:
        """Count the spans of the last trees."""
        assert self.derivations is not None
        spans.add(self.derivations)

    def keep(self) -> None:
        """Nothing to do: the chain has the trees."""

    def f1(self, gold: GoldSpans) -> float:
        """F1 of the last trees."""
        assert self.derivations is not None
        return gold.f1(self.corpus.starts, self.derivations.nodes)


def sample_trees(
    corpus: Encoded,
    grammar: Grammar,
    iteration: int,
    settings: ChainSettings,
    threads: int = 1,
    pilots: Encoded | None = None,
) -> tuple[Derivations, Floats]:
    """Draw a tree for every sentence of a corpus or of a part of one.

    ``logs``: log P(sentence) of each under the grammar, at the bound of the iteration.
    """
    depth, temperature = settings.depth_at(iteration), settings.temperature_at(iteration)
    numbers = stream(settings.seed, settings.chain, iteration, Purpose.TREES)
    parser = parser_for(flattened(grammar, temperature), depth, settings, threads, pilots)
    trees, logs = parser.sample(corpus, numbers)
    if temperature > 1:  # what is reported is the likelihood of the grammar itself
        exact = parser_for(grammar, depth, settings, threads, pilots)
        logs = exact.log_probabilities(corpus)
    return trees, logs


def flattened(grammar: Grammar, temperature: float) -> Grammar:
    """The grammar with every distribution raised to the power 1/temperature and renormalised."""
    if temperature == 1:
        return grammar
    root = grammar.root ** (1 / temperature)
    rows = grammar.rows ** (1 / temperature)
    rows /= rows.sum(axis=1, keepdims=True)
    K = grammar.categories
    return Grammar(
        root / root.sum(), rows[:, : K * K].reshape(K, K, K), rows[:, K * K :], grammar.vocabulary
    )


def parser_for(
    grammar: Grammar,
    depth: int | None,
    settings: ChainSettings,
    threads: int = 1,
    pilots: Encoded | None = None,
) -> Parser:
    """The parser that the settings name, for a grammar and a bound (None: no bound)."""
    if settings.parser == "leftcorner" and depth is not None:
        return LeftCornerParser(grammar, depth, threads)
    return ChartParser(grammar, depth, threads, settings.precision, pilots)
