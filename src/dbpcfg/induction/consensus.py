"""What the trees of several chains have in common, and the consensus of them.

Chains whose trees do not branch to the side of the language have no vote. Trees that do nothing but
branch to that side vote in their place, and half as many times as the other chains, so they decide
where chains do not agree (`dbpcfg.induction.direction`).

Labels are not compared, as each chain names its categories in its own way. A span that all chains
have is sure as far as they go; one that only the selected chain has is its own opinion. The
agreement of chains is F1 of the spans of two of them, on average over all pairs: their own trees
are compared, as a consensus has most in common with the chains that voted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from dbpcfg.induction.direction import Side, follows
from dbpcfg.induction.labels import EDGES, edge_categories, latent_classes
from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations
from dbpcfg.parsing.mbr import SpanCounts

UNSURE, SURE = 0.7, 0.8
"""Agreement below which the trees depend on the chain, and from which on they hardly do: runs whose
chains shared 80% or more had nearly the same F1, and the chains of runs that shared less than 60%
differed in it by up to 28 points (docs/results-inference.md)."""
TRIVIAL = 0.95
"""Above this share of brackets, trees that branch to one side are no news."""
BATCH = 1000
"""Sentences whose votes are counted together."""
UNLABELLED: Ints = np.array([1, 1, 0], dtype=np.int32)
"""Times a node: its span alone."""


class SharedSpans:
    """The spans of two words or more, without the whole sentence, of several chains' trees.

    ``trees``: the trees of each chain, by its number; all of the same sentences.
    """

    def __init__(self, trees: Mapping[int, Derivations]) -> None:
        self.trees = dict(trees)
        starts = next(iter(self.trees.values())).corpus.starts
        lengths = np.diff(starts)
        # Of each node, so these take much of the memory of a large text.
        small = np.int32 if starts[-1] < 2**31 else np.int64
        self.sentence = np.repeat(np.arange(len(lengths), dtype=small), 2 * lengths - 1)
        """The sentence of each node."""
        self.spans = np.maximum(lengths - 2, 0)
        """The number of spans of each sentence: binary trees all have equally many."""
        self._first, self._length = (x.astype(small)[self.sentence] for x in (starts, lengths))
        self._keys = {number: self._spans(own) for number, own in self.trees.items()}

    def _numbers(self, nodes: Ints) -> Longs:
        """A number for the span of every node, the same for equal spans."""
        start = nodes[:, START].astype(np.int64)
        longest = self._length.max(initial=0)
        numbers: Longs = (self._first + start) * (longest + 1) + nodes[:, END] - start
        return numbers

    def _spans(self, trees: Derivations) -> Longs:
        """The same, and -1 for spans that are left out."""
        width = trees.nodes[:, END] - trees.nodes[:, START]
        return np.where((width > 1) & (width < self._length), self._numbers(trees.nodes), -1)

    @cached_property
    def _counts(self) -> tuple[Longs, Longs]:
        """The spans of all chains, and how many chains have each."""
        return np.unique(np.concatenate(list(self._keys.values())), return_counts=True)

    def votes(self, trees: Derivations) -> Longs:
        """How many chains have the span of each node: all, if it is left out."""
        spans, counts = self._counts
        keys = self._spans(trees)
        at = np.searchsorted(spans, keys).clip(max=len(spans) - 1)
        votes: Longs = np.where(spans[at] == keys, counts[at], 0)
        votes[keys < 0] = len(self.trees)
        return votes

    def _common(self, chains: Sequence[int]) -> Floats:
        """[s]: the mean number of spans that one of these chains and another one both have."""
        shared = np.zeros(len(self.spans))
        for chain in chains:
            counted = self._keys[chain] >= 0
            others = self.votes(self.trees[chain])[counted] - 1
            shared += np.bincount(self.sentence[counted], others, minlength=len(shared))
        return shared / (len(chains) * (len(self.trees) - 1))

    def between(self, chain: int, other: int) -> float:
        """F1 of the spans of one chain against those of another; nan if there are no spans.

        Binary trees of one sentence have equally many spans, so precision, recall and F1 are one
        number.
        """
        spans = self._keys[chain]
        spans = spans[spans >= 0]
        return float(np.isin(spans, self._keys[other]).mean()) if len(spans) else float("nan")

    def agreement(self, chain: int | None = None) -> float | None:
        """The mean of `between` over all pairs of chains, or over those with one chain.

        It is None if there is one chain only, or no span.
        """
        total = int(self.spans.sum())
        if len(self.trees) < 2 or not total:
            return None
        return float(self._common(list(self.trees) if chain is None else [chain]).sum() / total)

    def among(self, chains: Sequence[int]) -> float | None:
        """The agreement of two or more of the chains; None if there is no span."""
        return SharedSpans({chain: self.trees[chain] for chain in chains}).agreement()

    def sentences(self) -> Floats:
        """[s]: the agreement of the chains on each sentence; nan if there is none."""
        if len(self.trees) < 2:
            return np.full(len(self.spans), np.nan)
        shares: Floats = self._common(list(self.trees)) / np.where(self.spans, self.spans, np.nan)
        return shares

    def branching(self, trees: Derivations) -> dict[str, float]:
        """The share of brackets that right-branching trees have, and left-branching ones.

        Known brackets are all there is to be found at their level: counted are spans within the
        smallest of them, or within the sentence, which branch to one side if they reach its edge.
        """
        nodes = trees.nodes
        first, last = self._innermost
        begin, end = nodes[:, START], nodes[:, END]
        start_of, end_of = first[self._first + begin], last[self._first + begin]
        inside = (end <= end_of) & (end - begin > 1) & (end - begin < end_of - start_of)
        if not inside.any():
            return {}
        return {
            "right": float((end == end_of)[inside].mean()),
            "left": float((begin == start_of)[inside].mean()),
        }

    @cached_property
    def one_sided(self) -> list[int]:
        """The chains whose trees hardly do more than branch to one side."""
        return [
            chain
            for chain, trees in self.trees.items()
            if max(self.branching(trees).values(), default=0.0) > TRIVIAL
        ]

    @cached_property
    def _innermost(self) -> tuple[Ints, Ints]:
        """``[token]``: start and end of the smallest known bracket around it, or its sentence."""
        corpus = next(iter(self.trees.values())).corpus
        starts, lengths = corpus.starts, corpus.lengths
        first = np.zeros(len(corpus.tokens), dtype=np.int32)
        last = np.repeat(lengths.astype(np.int32), lengths)
        for s, i, j in [] if corpus.brackets is None else corpus.brackets.tolist():
            own = slice(starts[s] + i, starts[s] + j)
            smaller = j - i < last[own] - first[own]
            first[own][smaller], last[own][smaller] = i, j
        return first, last

    def astray(self, side: Side | None) -> list[int]:
        """The chains whose trees do not branch to the side to which the language does."""
        if side is None:
            return []
        return [n for n, trees in self.trees.items() if not follows(side, self.branching(trees))]

    def consensus(
        self,
        selected: int,
        voters: Sequence[int] | None = None,
        others: Sequence[Derivations] = (),
        side: Side | None = None,
    ) -> Derivations:
        """The trees of greatest vote: a span has a vote of each voter that has it.

        The selected chain decides ties if it votes, and labels words. Phrases have classes by what
        all voters say of them (`dbpcfg.induction.labels`), named as in the selected chain.

        ``others``: further trees of the same sentences that vote; their labels do not count.
        ``side``: that to which phrases branch, if it is known.
        """
        voters = list(self.trees) if voters is None else voters
        corpus = self.trees[selected].corpus
        ballots = [*(self.trees[number] for number in voters), *others]
        ballots += [*ballots, *([self.trees[selected]] if selected in voters else [])]
        nodes = np.empty_like(self.trees[selected].nodes)
        for first in range(0, len(corpus), BATCH):
            here = np.arange(first, min(first + BATCH, len(corpus)))
            rows = slice(*(int(2 * corpus.starts[s] - s) for s in (first, here[-1] + 1)))
            votes = SpanCounts(corpus.select(here), 1)
            for trees in ballots:  # two of each, three of the selected chain
                votes.add(Derivations(trees.nodes[rows] * UNLABELLED, votes.corpus))
            nodes[rows] = votes.decode().nodes
        chains = [selected, *(one for one in voters if one != selected)]
        labels = np.stack([self._labels(number, nodes) for number in chains], axis=1)
        phrases = nodes[:, END] - nodes[:, START] > 1
        nodes[:, CATEGORY] = labels[:, 0]  # every chain has the words
        edges = (
            []
            if side is None
            else [edge_categories(self.trees[number], nodes, side) for number in chains]
        )
        seen = np.column_stack([labels, *(edges * EDGES)])
        nodes[phrases, CATEGORY] = latent_classes(seen[phrases])
        return Derivations(nodes, corpus)

    def _labels(self, chain: int, nodes: Ints) -> Longs:
        """``[node]``: the label that a chain has on the span of each node, or -1."""
        there, spans = self.trees[chain].nodes, self._numbers(nodes)
        own = self._numbers(there)
        by_span = np.argsort(own)
        at = by_span[np.searchsorted(own, spans, sorter=by_span).clip(max=len(own) - 1)]
        return np.where(own[at] == spans, there[at, CATEGORY], -1).astype(np.int64)
