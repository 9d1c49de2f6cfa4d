"""The consensus of the trees of several chains, which each have their own categories.

A span has a vote of each chain whose tree has it, and the tree of greatest vote is chosen
(`SpanCounts`). Trees that only branch to the side of the language can vote too. The label of a
word is that of the selected chain; phrases have latent classes by what all chains say of them,
named as in the selected chain (`dbpcfg.parsing.labels`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.numerics.kernels import Ints, Longs
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations, first_node
from dbpcfg.parsing.direction import Side, branching_trees
from dbpcfg.parsing.labels import EDGES, LatentClasses, edge_categories
from dbpcfg.parsing.mbr import SpanCounts

BATCH = 1000
"""Sentences that are compared together."""
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

    def _vote(self, chains: Sequence[Derivations]) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Nodes with the labels of words, what chains say of phrases, and which nodes these are.

        Of a large text what they say takes much of the memory, so it is in small numbers.
        """
        corpus, side = chains[0].corpus, self.side
        most = max(int(trees.nodes[:, CATEGORY].max(initial=0)) for trees in chains)
        shape = (len(corpus.tokens) - len(corpus), self.columns(len(chains)))
        seen = np.empty(shape, dtype=np.int16 if most < 2**15 else np.int64)
        nodes, first = np.empty_like(chains[0].nodes), 0
        for rows, own in in_blocks(chains):
            spans = Derivations(self._spans(own), own[0].corpus)
            there = spans.nodes[:, END] - spans.nodes[:, START] > 1
            labels = np.stack([labels_on(trees, spans) for trees in own], axis=1)
            spans.nodes[:, CATEGORY] = labels[:, 0]  # every chain has the words
            nodes[rows], last = spans.nodes, first + int(there.sum())
            edges = [] if side is None else [edge_categories(x, spans.nodes, side) for x in own]
            seen[first:last] = np.column_stack([labels, *(edges * EDGES)])[there]
            first = last
        return nodes, seen, nodes[:, END] - nodes[:, START] > 1

    def _spans(self, chains: Sequence[Derivations]) -> Ints:
        """Nodes of the spans of greatest vote."""
        votes = SpanCounts(chains[0].corpus, 1)
        ballots = [trees.nodes for trees in (chains if self.selected else chains[1:])]
        if self.branching:
            assert self.side is not None
            ballots += [branching_trees(votes.corpus, self.side).nodes] * self.branching
        # Two of each, three of the selected chain.
        for ballot in [*ballots, *ballots, *(ballots[:1] * self.selected)]:
            votes.add(Derivations(ballot * UNLABELLED, votes.corpus))
        return votes.decode().nodes


def in_blocks(chains: Sequence[Derivations]) -> Iterator[tuple[slice, list[Derivations]]]:
    """The trees of several chains, some sentences after others, with the rows of their nodes."""
    corpus = chains[0].corpus
    for first in range(0, len(corpus), BATCH):
        last = min(first + BATCH, len(corpus))
        rows = slice(first_node(corpus.starts, first), first_node(corpus.starts, last))
        some = corpus.select(np.arange(first, last))
        yield rows, [Derivations(trees.nodes[rows], some) for trees in chains]


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
