"""How often each labelled span occurs in sampled trees, and the trees that follow from it.

Weights of labelled spans are laid out as ``weights[cell, c]``: a sentence of n words has n(n + 1)/2
cells in a row, those of one start together, shortest first.
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel
from dbpcfg.parsing.decode import heaviest_tree
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.runtime.threads import in_pieces

GRAIN = 2.0**24
"""Spans' weights are rounded to so many parts of one, lest the order of sums decide ties."""

MOST_BYTES = 2**30
"""The most memory for counts of spans: 85,000 sentences of 20 words with K = 15."""


def first_cells(corpus: Encoded) -> Longs:
    """Where the cells of each sentence begin, and where the last one's end."""
    sizes = corpus.lengths * (corpus.lengths + 1) // 2
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


class SpanCounts:
    """Counts of (start, end, category) over samples of the trees of one corpus.

    Of a corpus whose counts would take more than ``MOST_BYTES`` none are kept: they grow with the
    corpus, nothing else does so much.
    """

    def __init__(self, corpus: Encoded, categories: int, counts: Ints | None = None) -> None:
        self.corpus = corpus
        self.first_cell = first_cells(corpus)
        size = int(self.first_cell[-1])
        self.kept = 4 * size * categories <= MOST_BYTES
        shape = (size if self.kept else 0, categories)
        self.counts = np.zeros(shape, dtype=np.int32) if counts is None else counts

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
        """Minimum-Bayes-risk trees of all sentences."""
        return least_risk(self.corpus, self.counts, threads)


def least_risk(corpus: Encoded, weights: Floats | Ints, threads: int = 1) -> Derivations:
    """Minimum-Bayes-risk trees of all sentences, given the weights of their labelled spans."""
    trees, cells = Derivations.empty(corpus), first_cells(corpus)

    def work(first: int, last: int) -> None:
        heaviest_trees(first, last, corpus.starts, cells, weights, trees.nodes)

    in_pieces(work, len(corpus), threads)
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


@kernel
def heaviest_trees(
    first: int,
    last: int,
    starts: Longs,
    first_cell: Longs,
    weights: Floats | Ints,
    nodes: Ints,
) -> None:
    """``heaviest_tree`` of some sentences: a span gains the sum of its weights, and has the label
    of the greatest."""
    for s in range(first, last):
        n = starts[s + 1] - starts[s]
        gain, labels = np.zeros((n, n + 1)), np.zeros((n, n + 1), dtype=np.int64)
        cell = first_cell[s]
        for i in range(n):
            for j in range(i + 1, n + 1):
                total, greatest = 0.0, -1.0
                for c in range(weights.shape[1]):
                    total += weights[cell, c]
                    if weights[cell, c] > greatest:
                        greatest, labels[i, j] = weights[cell, c], c
                gain[i, j] = math.floor(total * GRAIN + 0.5) / GRAIN
                cell += 1
        heaviest_tree(gain, labels, nodes[2 * starts[s] - s : 2 * starts[s + 1] - s - 1])
