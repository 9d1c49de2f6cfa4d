"""What the trees of several chains have in common, and which chains have a vote in a consensus.

Chains whose trees do not branch to the side of the language have no vote. Trees that do nothing but
branch to that side vote in their place, and half as many times as the other chains, but at most
twice, so they decide where chains do not agree (`dbpcfg.parsing.direction`).

Labels are not compared, as each chain names its categories in its own way. A span that all chains
have is sure as far as they go; one that only the selected chain has is its own opinion. The
agreement of chains is F1 of the spans of two of them, on average over all pairs: their own trees
are compared, as a consensus has most in common with the chains that voted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.consensus import in_blocks, span_numbers
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
        self.corpus = next(iter(self.trees.values())).corpus
        self.spans = np.maximum(self.corpus.lengths - 2, 0)
        """The number of spans of each sentence: binary trees all have equally many."""

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], Ints]:
        """``[s]``: how many spans of a sentence two chains share."""
        found: dict[tuple[int, int], list[Longs]] = {
            pair: [] for pair in combinations(self.trees, 2)
        }
        for _, own in in_blocks(list(self.trees.values())):
            keys = dict(zip(self.trees, map(_spans_of, own), strict=True))
            lengths = own[0].corpus.lengths
            sentence = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
            for (one, other), numbers in found.items():
                both = (keys[one] >= 0) & np.isin(keys[one], keys[other])
                numbers.append(np.bincount(sentence[both], minlength=len(lengths)))
        return {pair: np.concatenate(own).astype(np.int32) for pair, own in found.items()}

    def _shared(self, one: int, other: int) -> Ints | Longs:
        """``[s]``: how many spans of a sentence two chains share; all, if they are one chain."""
        if one == other:
            return self.spans
        return self._pairs[(one, other) if (one, other) in self._pairs else (other, one)]

    def votes(self, trees: Derivations) -> Longs:
        """How many chains have the span of each node: all, if it is left out."""
        votes = np.empty(len(trees.nodes), dtype=np.int64)
        for rows, (asked, *own) in in_blocks([trees, *self.trees.values()]):
            keys = _spans_of(asked)
            votes[rows] = sum(np.isin(keys, _spans_of(one)).astype(np.int64) for one in own)
            votes[rows][keys < 0] = len(own)
        return votes

    def _common(self, chains: Sequence[int], others: Sequence[int]) -> Floats:
        """``[s]``: the mean number of spans that one of some chains and one of others both have."""
        shared = np.zeros(len(self.spans))
        for chain in chains:
            for other in others:
                if other != chain:
                    shared += self._shared(chain, other)
        return shared / (len(chains) * (len(others) - 1))

    def between(self, chain: int, other: int) -> float:
        """F1 of the spans of one chain against those of another; nan if there are no spans.

        Binary trees of one sentence have equally many spans, so precision, recall and F1 are one
        number.
        """
        total = int(self.spans.sum())
        return int(self._shared(chain, other).sum()) / total if total else float("nan")

    def agreement(self, chain: int | None = None) -> float | None:
        """The mean of `between` over all pairs of chains, or over those with one chain.

        It is None if there is one chain only, or no span.
        """
        return self._agreement(list(self.trees) if chain is None else [chain], list(self.trees))

    def _agreement(self, chains: Sequence[int], others: Sequence[int]) -> float | None:
        total = int(self.spans.sum())
        if len(others) < 2 or not total:
            return None
        return float(self._common(chains, others).sum() / total)

    def among(self, chains: Sequence[int]) -> float | None:
        """The agreement of two or more of the chains; None if there is no span."""
        return self._agreement(chains, chains)

    def sentences(self) -> Floats:
        """``[s]``: the agreement of the chains on each sentence; nan if there is none."""
        if len(self.trees) < 2:
            return np.full(len(self.spans), np.nan)
        common, spans = self._common(list(self.trees), list(self.trees)), self.spans
        shares: Floats = common / np.where(spans, spans, np.nan)
        return shares

    def branching(self, trees: Derivations) -> dict[str, float]:
        """The share of brackets that right-branching trees have, and left-branching ones.

        Known brackets are all there is to be found at their level: counted are spans within the
        smallest of them, or within the sentence, which branch to one side if they reach its edge.
        """
        first, last = self._innermost
        token, number = 0, np.zeros(3, dtype=np.int64)  # right, left, all
        for _, (own,) in in_blocks([trees]):
            starts, lengths = own.corpus.starts, own.corpus.lengths
            begin, end = own.nodes[:, START], own.nodes[:, END]
            at = token + np.repeat(starts[:-1], 2 * lengths - 1) + begin
            start_of, end_of = first[at], last[at]
            inside = (end <= end_of) & (end - begin > 1) & (end - begin < end_of - start_of)
            edges = (end == end_of) & inside, (begin == start_of) & inside, inside
            number += [int(edge.sum()) for edge in edges]
            token += len(own.corpus.tokens)
        right, left, total = number.tolist()
        return {"right": right / total, "left": left / total} if total else {}

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
        corpus = self.corpus
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


def _spans_of(trees: Derivations) -> Longs:
    """A number for the span of each node; -1 for spans that are left out."""
    lengths, numbers = trees.corpus.lengths, span_numbers(trees)
    width = trees.nodes[:, END] - trees.nodes[:, START]
    numbers[(width <= 1) | (width >= np.repeat(lengths, 2 * lengths - 1))] = -1
    return numbers
