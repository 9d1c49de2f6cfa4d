"""Map and reduce over the parts of a corpus.

What an iteration needs of the sentences is a pure function of them: sampled trees, whose random
numbers depend on seed, chain, iteration and sentence only, or expected counts. So a learner maps
such a function over parts of the corpus, and puts the results together. `Mapper` calls it in this
process, where the corpus is one part and the parsers use several threads; that of
`dbpcfg.cluster.mapping` calls it on other machines.

**Results are the same to the bit.** The last bits of a sentence's log-probability depend on the
sentences that are in its batch (`dbpcfg.parsing.chart.batches`), so a part is made of whole batches
of the corpus. Sums of floats depend on their order, so a part is made of whole blocks where counts
are expected ones; their sums come back block by block, and are added up in the order of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.chart.batches import bounds
from dbpcfg.parsing.chart.layout import padded
from dbpcfg.parsing.chart.parser import scaling_sample_of

if TYPE_CHECKING:
    from dbpcfg.induction.settings import ChainSettings


@dataclass(frozen=True, eq=False)
class CorpusPart:
    """Some sentences of a corpus, or all of them."""

    sentences: Encoded
    scaling_sample: Encoded | None = None
    """`scaling_sample_of` the whole corpus; None if this is all of it."""
    blocks: Longs | None = None
    """Where blocks of batches begin and end, if it is made of blocks."""


class Divide(Protocol):
    """How a corpus is divided; two that divide alike are equal."""

    def __call__(self, corpus: Encoded, most: int) -> list[CorpusPart]:
        """Divide a corpus into parts, at most so many."""

    def __hash__(self) -> int: ...


class Mapper:
    """Calls functions of the parts of a corpus, here."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def parts(self, corpus: Encoded, divide: Divide) -> list[CorpusPart]:
        """The parts of a corpus."""
        return [CorpusPart(corpus)]

    def map(
        self, function: Callable[..., Any], parts: Sequence[CorpusPart], *shared: Any
    ) -> list[Any]:
        """``function(part, *shared, threads)`` of each part, in their order."""
        return [function(part, *shared, self.threads) for part in parts]


class Counting(Mapper):
    """The same in as many parts as there can be, with progress in sentences."""

    def __init__(self, threads: int, progress: Progress) -> None:
        super().__init__(threads)
        self.progress = progress

    def parts(self, corpus: Encoded, divide: Divide) -> list[CorpusPart]:
        """The parts of a corpus."""
        return divide(corpus, len(corpus))

    def map(
        self, function: Callable[..., Any], parts: Sequence[CorpusPart], *shared: Any
    ) -> list[Any]:
        """``function(part, *shared, threads)`` of each part, in their order."""
        found, done = [], 0
        for part in parts:
            found += super().map(function, [part], *shared)
            done += len(part.sentences)
            self.progress.update(done)
        return found


@dataclass(frozen=True)
class InBatches:
    """Parts of whole batches of the chart, for some number of categories and a bound, or 0."""

    categories: int
    depth: int

    @classmethod
    def of(cls, settings: ChainSettings) -> Self:
        """Those of a chain."""
        return cls(settings.categories, settings.depth or 0)

    def __call__(self, corpus: Encoded, most: int) -> list[CorpusPart]:
        """Divide a corpus."""
        # Longest first, so that each part has sentences of all lengths: about the same work.
        ranges = list(pairwise(self.bounds(corpus).tolist()))
        return parts_of(corpus, [ranges[n::most] for n in range(min(most, len(ranges)))])

    def bounds(self, corpus: Encoded) -> Longs:
        """Where batches of distinct sentences begin and end."""
        lengths = corpus.lengths[corpus.distinct[0]]
        return bounds(lengths, padded(self.categories), self.depth)


@dataclass(frozen=True)
class InBlocks(InBatches):
    """Parts of whole blocks of batches, in the order of blocks."""

    def __call__(self, corpus: Encoded, most: int) -> list[CorpusPart]:
        """Divide a corpus."""
        from dbpcfg.parsing.chart.expectation import block_edges

        bounds = self.bounds(corpus)
        blocks = block_edges(corpus.lengths[corpus.distinct[0]], bounds, self.depth)
        edges = [blocks[some[0] : some[-1] + 2] for some in together(len(blocks) - 1, most)]
        parts = parts_of(corpus, [[(bounds[own[0]], bounds[own[-1]])] for own in edges])
        return [replace(part, blocks=own - own[0]) for part, own in zip(parts, edges, strict=True)]


def together(blocks: int, most: int) -> list[Longs]:
    """The numbers of the blocks of each part."""
    return np.array_split(np.arange(blocks), min(most, blocks))


def _batch_bounds(corpus: Encoded, settings: ChainSettings) -> Longs:
    lengths = corpus.lengths[corpus.distinct[0]]
    return bounds(lengths, padded(settings.categories), settings.depth or 0)


def parts_of(corpus: Encoded, ranges: Iterable[Iterable[tuple[int, int]]]) -> list[CorpusPart]:
    """Parts of a corpus, each of some ranges of its distinct sentences, with all their copies."""
    _, first_copy, copies = corpus.distinct
    scaling_sample = scaling_sample_of(corpus)
    parts = []
    for some in ranges:
        own = [copies[first_copy[begin] : first_copy[end]] for begin, end in some]
        parts.append(
            CorpusPart(corpus.select(np.sort(np.concatenate(own)), keep_ids=True), scaling_sample)
        )
    return parts


def in_corpus_order(corpus: Encoded, parts: Sequence[CorpusPart], logs: Iterable[Floats]) -> Floats:
    """A number for each sentence, from those of parts."""
    joined = np.empty(len(corpus))
    for part, own in zip(parts, logs, strict=True):
        joined[part.sentences.sentence_ids] = own
    return joined


def joined_nodes(corpus: Encoded, parts: Sequence[CorpusPart], nodes: Sequence[Ints]) -> Ints:
    """The nodes of all sentences' trees, from those of parts."""
    if len(parts) == 1:
        return nodes[0]
    starts = 2 * corpus.starts - np.arange(len(corpus) + 1)
    joined = np.empty((int(starts[-1]), 3), dtype=np.int32)
    for part, own in zip(parts, nodes, strict=True):
        joined[rows_of(starts, part.sentences.sentence_ids)] = own
    return joined


def rows_of(starts: Longs, sentences: Longs) -> Longs:
    """The rows of some sentences, of which sentence s has ``starts[s]`` to ``starts[s + 1]``."""
    sizes = starts[sentences + 1] - starts[sentences]
    ends = np.cumsum(sizes)
    rows: Longs = np.arange(int(sizes.sum())) + np.repeat(starts[sentences] - ends + sizes, sizes)
    return rows
