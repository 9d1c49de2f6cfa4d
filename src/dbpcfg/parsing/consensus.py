"""The consensus of the trees of several chains, which each have their own categories.

A span has a vote of each chain whose tree has it, and the tree of greatest vote is chosen
(`SpanCounts`). Trees that only branch to the side of the language can vote too. The label of a
word is that of the selected chain; phrases have latent classes by what all chains say of them,
named as in the selected chain (`dbpcfg.parsing.labels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.numerics.kernels import Ints, Longs
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations
from dbpcfg.parsing.direction import Side, branching_trees
from dbpcfg.parsing.labels import EDGES, LatentClasses, edge_categories
from dbpcfg.parsing.mbr import SpanCounts

BATCH = 1000
"""Sentences whose votes are counted together."""
UNLABELLED: Ints = np.array([1, 1, 0], dtype=np.int32)
"""Times a node: its span alone."""


@dataclass(frozen=True, eq=False)
class Consensus:
    """How the trees of several chains become one tree, for any sentences.

    The methods take the trees of the selected chain first, then those of the others.
    """

    selected: bool = True
    """Whether the selected chain votes, and decides ties; it labels words even if it does not."""
    side: Side | None = None
    """The side to which the language branches, if it is known."""
    branching: int = 0
    """How many votes trees have that only branch to that side."""
    classes: LatentClasses | None = None
    """The labels of phrases, once they are learned."""

    def columns(self, chains: int) -> int:
        """How many labels are seen of a phrase."""
        return chains * (1 + EDGES * (self.side is not None))

    def table(self) -> dict[str, Any]:
        """What it has beside arrays."""
        return {"selected": self.selected, "side": self.side, "branching": self.branching}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Those of the classes."""
        assert self.classes is not None
        return vars(self.classes)

    def learn(self, chains: Sequence[Derivations]) -> tuple[Derivations, Consensus]:
        """The trees of the sentences that were learned from, and this with classes of phrases."""
        nodes, seen, phrases = self._vote(chains)
        classes = LatentClasses.learn(seen)
        nodes[phrases, CATEGORY] = classes.of(seen)
        return Derivations(nodes, chains[0].corpus), replace(self, classes=classes)

    def trees(self, chains: Sequence[Derivations]) -> Derivations:
        """The trees of any sentences."""
        assert self.classes is not None
        nodes, seen, phrases = self._vote(chains)
        nodes[phrases, CATEGORY] = self.classes.of(seen)
        return Derivations(nodes, chains[0].corpus)

    def _vote(self, chains: Sequence[Derivations]) -> tuple[Ints, Longs, NDArray[np.bool_]]:
        """Nodes with the labels of words, what chains say of phrases, and which nodes these are."""
        nodes = self._spans(chains)
        phrases = nodes[:, END] - nodes[:, START] > 1
        spans = Derivations(nodes, chains[0].corpus)
        labels = np.stack([labels_on(trees, spans) for trees in chains], axis=1)
        nodes[:, CATEGORY] = labels[:, 0]  # every chain has the words
        side = self.side
        edges = [] if side is None else [edge_categories(trees, nodes, side) for trees in chains]
        return nodes, np.column_stack([labels, *(edges * EDGES)])[phrases], phrases

    def _spans(self, chains: Sequence[Derivations]) -> Ints:
        """Nodes of the spans of greatest vote."""
        corpus, voters = chains[0].corpus, chains if self.selected else chains[1:]
        nodes = np.empty_like(chains[0].nodes)
        for first in range(0, len(corpus), BATCH):
            here = np.arange(first, min(first + BATCH, len(corpus)))
            rows = slice(*(int(2 * corpus.starts[s] - s) for s in (first, here[-1] + 1)))
            votes = SpanCounts(corpus.select(here), 1)
            ballots = [trees.nodes[rows] for trees in voters]
            if self.branching:
                assert self.side is not None
                ballots += [branching_trees(votes.corpus, self.side).nodes] * self.branching
            # Two of each, three of the selected chain.
            for ballot in [*ballots, *ballots, *(ballots[:1] * self.selected)]:
                votes.add(Derivations(ballot * UNLABELLED, votes.corpus))
            nodes[rows] = votes.decode().nodes
        return nodes


def span_numbers(trees: Derivations) -> Longs:
    """A number for the span of each node, the same for equal spans of these sentences."""
    starts, lengths, nodes = trees.corpus.starts, trees.corpus.lengths, trees.nodes
    start = nodes[:, START].astype(np.int64)
    first = np.repeat(starts[:-1], 2 * lengths - 1)
    numbers: Longs = (first + start) * (lengths.max(initial=0) + 1) + nodes[:, END] - start
    return numbers


def labels_on(trees: Derivations, spans: Derivations) -> Longs:
    """``[node]``: the label that trees have on the span of each node of others, or -1."""
    there, numbers = span_numbers(trees), span_numbers(spans)
    by_span = np.argsort(there)
    at = by_span[np.searchsorted(there, numbers, sorter=by_span).clip(max=len(there) - 1)]
    labels = trees.nodes[at, CATEGORY]
    return np.where(there[at] == numbers, labels, -1).astype(np.int64)
