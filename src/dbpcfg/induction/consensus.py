"""What the trees of several chains have in common, and which chains have a vote in a consensus.

Chains whose trees do not branch to the side of the language have no vote. Trees that do nothing but
branch to that side vote in their place, and half as many times as the other chains, so they decide
where chains do not agree (`dbpcfg.parsing.direction`).

Labels are not compared, as each chain names its categories in its own way. A span that all chains
have is sure as far as they go; one that only the selected chain has is its own opinion. The
agreement of chains is F1 of the spans of two of them, on average over all pairs: their own trees
are compared, as a consensus has most in common with the chains that voted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.consensus import span_numbers
from dbpcfg.parsing.derivations import END, START, Derivations
from dbpcfg.parsing.direction import Side, follows

UNSURE, SURE = 0.7, 0.8
"""Agreement below which the trees depend on the chain, and from which on they hardly do: runs whose
chains shared 80% or more had nearly the same F1, and the chains of runs that shared less than 60%
differed in it by up to 28 points (docs/results-inference.md)."""
TRIVIAL = 0.95
"""Above this share of brackets, trees that branch to one side are no news."""


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

    def _spans(self, trees: Derivations) -> Longs:
        """A number for the span of each node; -1 for spans that are left out."""
        width, numbers = trees.nodes[:, END] - trees.nodes[:, START], span_numbers(trees)
        numbers[(width <= 1) | (width >= self._length)] = -1
        return numbers

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
