"""How often each labelled span occurs in sampled trees, and the trees that follow from it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.derivations import Derivations, first_node
from dbpcfg.parsing.mbr import mbr_trees
from dbpcfg.parsing.span_weights import first_cells, span_cell

MOST_BYTES = 2**30
"""The most memory for counts of spans: 85,000 sentences of 20 words with K = 15."""


class SpanCounts:
    """Counts of (start, end, category) over samples of the trees of one corpus.

    No counts are kept of a corpus for which they would take more than ``MOST_BYTES``: they grow
    with the corpus, more than anything else.

    ``counts``: counts so far, ``[cell, c]`` as in `dbpcfg.parsing.span_weights`; zeros if not
    given.
    """

    def __init__(self, corpus: Encoded, categories: int, counts: Ints | None = None) -> None:
        self.corpus = corpus
        self.first_cell = first_cells(corpus)
        size = int(self.first_cell[-1])
        self.kept = 4 * size * categories <= MOST_BYTES
        self.shape = (size if self.kept else 0, categories)
        if counts is not None:
            self.counts = counts

    @cached_property
    def counts(self) -> Ints:
        """The counts; until the first sample there are none, and they take no memory."""
        return np.zeros(self.shape, dtype=np.int32)

    def add(self, derivations: Derivations) -> None:
        """Count the spans of one more sample."""
        if self.kept:
            add_spans(self.corpus.starts, self.first_cell, derivations.nodes, self.counts)

    def weights(self, sentence: int) -> Floats:
        """``[i, j, c]``: how often c was on words i to j − 1 of this sentence."""
        n = int(self.corpus.lengths[sentence])
        i, width = np.triu_indices(n)
        dense = np.zeros((n, n + 1, self.counts.shape[1]))
        dense[i, width + 1] = self.counts[self.first_cell[sentence] : self.first_cell[sentence + 1]]
        return dense

    def decode(self, threads: int = 1) -> Derivations:
        """MBR trees of all sentences."""
        return mbr_trees(self.corpus, self.counts, threads)


@kernel
def add_spans(starts: Longs, first_cell: Longs, nodes: Ints, counts: Ints) -> None:
    """Add the spans of every sentence's nodes to its cells."""
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        for t in range(first_node(starts, s), first_node(starts, s + 1)):
            i, j, c = nodes[t, 0], nodes[t, 1], nodes[t, 2]
            counts[first_cell[s] + span_cell(n, i, j), c] += 1
