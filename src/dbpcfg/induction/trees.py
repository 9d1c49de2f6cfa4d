"""The trees of an iteration: what draws or decodes them, and where they are.

A chain needs of its trees that someone adds up their spans; a sampler needs log P(sentence) of each
sentence and the counts of their rules besides. `DrawnTrees` is that someone in this process; on a
cluster the trees of parts of the corpus are drawn where the parts are. The trees of learners that
sample none are MBR trees of the grammar, decoded when they are asked for: `DecodedTrees`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts, mbr_trees, summed_posteriors
from dbpcfg.parsing.parsers import parser_of

if TYPE_CHECKING:
    from dbpcfg.induction.settings import ChainSettings

NOT_HERE: Ints = np.zeros((0, 3), dtype=np.int32)
"""In place of the nodes of trees that are not in this process."""
BATCH = 1000
"""Sentences that are decoded together."""


class Drawn(NamedTuple):
    """What a sampler needs to know of the trees of one iteration."""

    logs: Floats
    """log P(sentence) of every sentence."""
    counts: RuleWeights
    """The rules of the trees, but for those of sentences that are kept aside."""


class TreeSource(Protocol):
    """What draws or decodes the trees of a chain, and holds them."""

    derivations: Derivations | None
    """The last trees; None if they are not in this process, or not decoded yet."""

    def draw(self, grammar: Grammar, iteration: int) -> Drawn:
        """Draw the trees of an iteration."""

    def of(self, grammar: Grammar) -> None:
        """The trees are those of this grammar from now on."""

    def count(self, spans: SpanCounts) -> None:
        """Count the spans of the last trees."""

    def keep(self) -> None:
        """The last trees are the chain's best ones."""

    def f1(self, gold: GoldSpans) -> float:
        """F1 of the last trees."""


class _Trees:
    """Trees that are held in this process."""

    derivations: Derivations | None = None

    def __init__(self, corpus: Encoded, threads: int) -> None:
        self.corpus, self.threads = corpus, threads

    def draw(self, grammar: Grammar, iteration: int) -> Drawn:
        """Draw the trees of an iteration."""
        raise DbpcfgError("only samplers draw trees")

    def of(self, grammar: Grammar) -> None:
        """The trees are those of this grammar from now on."""

    def count(self, spans: SpanCounts) -> None:
        """Count the spans of the last trees."""
        spans.add(self._last())

    def keep(self) -> None:
        """Nothing to do: the chain has what it needs."""

    def f1(self, gold: GoldSpans) -> float:
        """F1 of the last trees."""
        return gold.f1(self.corpus.starts, self._last().nodes)

    def _last(self) -> Derivations:
        assert self.derivations is not None
        return self.derivations


class DrawnTrees(_Trees):
    """Trees that a sampler draws in this process."""

    def __init__(self, corpus: Encoded, settings: ChainSettings, threads: int = 1) -> None:
        super().__init__(corpus, threads)
        self.settings = settings

    def draw(self, grammar: Grammar, iteration: int) -> Drawn:
        """Draw the trees of an iteration."""
        settings = self.settings
        sample = settings.learner.sample_trees
        trees, logs = sample(self.corpus, grammar, iteration, settings, self.threads)
        self.derivations = trees
        return Drawn(logs, trees.counts(settings.categories, settings.aside))


class DecodedTrees(_Trees):
    """The MBR trees of a grammar, under a bound."""

    def __init__(self, corpus: Encoded, depth: int | None, threads: int = 1) -> None:
        super().__init__(corpus, threads)
        self.depth = depth
        self._grammar: Grammar | None = None

    def of(self, grammar: Grammar) -> None:
        """The trees are those of this grammar from now on."""
        self._grammar, self.derivations = grammar, None

    def _last(self) -> Derivations:
        assert self._grammar is not None
        if self.derivations is None:
            self.derivations = mbr_under([self._grammar], self.depth, self.corpus, self.threads)
        return self.derivations


def mbr_under(
    grammars: Sequence[Grammar], depth: int | None, corpus: Encoded, threads: int = 1
) -> Derivations:
    """MBR trees by the mean of the posteriors under one or more grammars."""
    trees = Derivations.empty(corpus)
    for first, here, weights in _posteriors(grammars, depth, corpus, threads):
        start = 2 * corpus.starts[first] - first
        found = mbr_trees(here, weights, threads).nodes
        trees.nodes[start : start + len(found)] = found
    return trees


def span_probabilities(
    grammar: Grammar, depth: int | None, corpus: Encoded, threads: int = 1
) -> Floats:
    """The posterior probability of every span, whatever its category.

    Returns ``[cell]``, laid out as by `dbpcfg.parsing.derivations.first_cells`.
    """
    parts = _posteriors([grammar], depth, corpus, threads)
    return np.concatenate([weights.sum(axis=1) for _, _, weights in parts])


def _posteriors(
    grammars: Sequence[Grammar], depth: int | None, corpus: Encoded, threads: int
) -> Iterator[tuple[int, Encoded, Floats]]:
    """Some sentences at a time: the number of the first, the sentences, and ``[cell, c]``."""
    charts = [parser_of(grammar, depth, threads) for grammar in grammars]
    for first in range(0, len(corpus), BATCH):
        here = corpus.chosen(np.arange(first, min(first + BATCH, len(corpus))))
        yield first, here, summed_posteriors(charts, here)[0]
