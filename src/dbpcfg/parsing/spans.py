"""How often each labelled span occurs in sampled trees, and the trees that follow from it."""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.decode import minimum_bayes_risk
from dbpcfg.parsing.derivations import Derivations


class SpanCounts:
    """Counts of (start, end, category) over samples of the trees of one corpus.

    ``counts[cell, c]``: spans of a sentence of n words have n(n + 1)/2 cells in a row, those of one
    start together, shortest first.
    """

    def __init__(self, corpus: Encoded, categories: int, counts: Ints | None = None) -> None:
        self.corpus = corpus
        sizes = corpus.lengths * (corpus.lengths + 1) // 2
        self.first_cell = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shape = (int(self.first_cell[-1]), categories)
        self.counts = np.zeros(shape, dtype=np.int32) if counts is None else counts

    def add(self, derivations: Derivations) -> None:
        """Count the spans of one more sample."""
        add_spans(self.corpus.starts, self.first_cell, derivations.nodes, self.counts)

    def weights(self, sentence: int) -> Floats:
        """``[i, j, c]``: how often c was on words i to j − 1 of this sentence."""
        n = int(self.corpus.lengths[sentence])
        i, width = np.triu_indices(n)
        dense = np.zeros((n, n + 1, self.counts.shape[1]))
        dense[i, width + 1] = self.counts[self.first_cell[sentence] : self.first_cell[sentence + 1]]
        return dense

    def decode(self) -> Derivations:
        """Minimum-Bayes-risk trees of all sentences."""
        trees = Derivations.empty(self.corpus)
        for sentence in range(len(self.corpus)):
            trees[sentence][:] = minimum_bayes_risk(self.weights(sentence))
        return trees


@kernel
def add_spans(starts: Longs, first_cell: Longs, nodes: Ints, counts: Ints) -> None:
    """Add the spans of every sentence's nodes to its cells."""
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        base = 2 * starts[s] - s
        for t in range(base, base + 2 * n - 1):
            i, j, c = nodes[t, 0], nodes[t, 1], nodes[t, 2]
            cell = first_cell[s] + i * n - i * (i - 1) // 2 + j - i - 1
            counts[cell, c] += 1
