"""MBR trees of a chain that samples none: decoded from its grammar when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.drawing import Drawn
from dbpcfg.induction.gold import GoldSpans
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts, mbr_trees, summed_posteriors
from dbpcfg.parsing.selection import parser_of

BATCH = 1000
"""Sentences that are decoded together."""


class DecodedTrees:
    """The MBR trees of the grammar of an iteration; a `TreeSource` that draws nothing.

    ``depth``: the bound D; None for no bound.
    """

    def __init__(self, corpus: Encoded, depth: int | None, threads: int = 1) -> None:
        self.corpus, self.depth, self.threads = corpus, depth, threads
        self.derivations: Derivations | None = None
        self._grammar: Grammar | None = None

    def of(self, grammar: Grammar) -> None:
        """The trees are those of this grammar from now on."""
        self._grammar, self.derivations = grammar, None

    def draw(self, grammar: Grammar, iteration: int, settings: ChainSettings) -> Drawn:
        """Raise an error: only the Gibbs sampler draws trees."""
        raise DbpcfgError(f"the learner {settings.learner!r} draws no trees")

    def count(self, spans: SpanCounts) -> None:
        """Count the spans of the trees."""
        spans.add(self._decoded())

    def keep(self) -> None:
        """Nothing to do: the chain has the grammar."""

    def f1(self, gold: GoldSpans) -> float:
        """F1 of the trees."""
        return gold.f1(self.corpus.starts, self._decoded().nodes)

    def _decoded(self) -> Derivations:
        assert self._grammar is not None
        if self.derivations is None:
            self.derivations = mbr_under([self._grammar], self.depth, self.corpus, self.threads)
        return self.derivations


def mbr_under(
    grammars: Sequence[Grammar], depth: int | None, corpus: Encoded, threads: int = 1
) -> Derivations:
    """MBR trees under one or more grammars, some sentences at a time.

    ``depth``: the bound D; None for no bound.
    """
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

    ``depth``: the bound D; None for no bound.
    Returns ``[cell]``, laid out as in `dbpcfg.parsing.derivations`.
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
