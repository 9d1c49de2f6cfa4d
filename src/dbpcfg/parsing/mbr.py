"""Minimum-Bayes-risk (MBR) trees, which maximise the expected number of correct spans.

Given a weight for every span, its posterior probability or its frequency in samples, the tree of
greatest total weight minimises the expected number of wrong spans (Goodman 1996). It need not be
the most probable tree, nor fit the depth bound.

Ties, which are common if weights are counts, go to the most even split; of two equally even splits
to the first if the span starts at an even position, otherwise to the second. A rule such as "first
split" would give right-branching trees to sentences about which nothing is known, which would
increase scores for English.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import UnparsableError
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.chart.layout import crossing
from dbpcfg.parsing.derivations import Derivations, first_cells, first_node, span_cell
from dbpcfg.parsing.parser import Parser

GRAIN = 2.0**24
"""Weights are rounded to multiples of 1/GRAIN, so that ties do not depend on the order of sums."""


NEGLIGIBLE = 3e-3
"""Spans with a smaller posterior probability are pruned by `mbr`."""


def mbr(parsers: Sequence[Parser], corpus: Encoded, threads: int = 1) -> Derivations:
    """The MBR tree of every sentence under the mean of the posteriors of one or more grammars.

    A sentence that none of them can yield raises an `UnparsableError`.
    """
    weights, possible = summed_posteriors(parsers, corpus, NEGLIGIBLE)
    if not possible.all():
        raise UnparsableError(f"sentence {int(np.argmin(possible)) + 1} has probability zero")
    return mbr_trees(corpus, weights, threads)


def summed_posteriors(
    parsers: Sequence[Parser], corpus: Encoded, negligible: float = 1e-7
) -> tuple[Floats, NDArray[np.bool_]]:
    """Posterior probabilities of labelled spans, summed over one or more grammars.

    Returns them as in `dbpcfg.parsing.derivations`, and for each sentence whether any of the
    grammars can yield it. A grammar that cannot yield a sentence is ignored for it.

    ``negligible``: spans less probable than this under a grammar are pruned.
    """
    weights, logs = parsers[0].posteriors(corpus, negligible)
    possible = np.isfinite(logs)
    for parser in parsers[1:]:
        posteriors, logs = parser.posteriors(corpus, negligible)
        weights += posteriors
        possible |= np.isfinite(logs)
    return weights, possible


def mbr_trees(corpus: Encoded, weights: Floats | Ints, threads: int = 1) -> Derivations:
    """MBR trees of all sentences, given the weights of their labelled spans.

    A span's weight is the sum over its labels, and its label the one of greatest weight.

    ``weights``: ``[cell, c]``, as in `dbpcfg.parsing.derivations`; not negative.
    """
    trees, cells = Derivations.empty(corpus), first_cells(corpus)
    weights = _exclude_spans(corpus, cells, weights)

    def work(first: int, last: int) -> None:
        heaviest_trees(first, last, corpus.starts, cells, weights, trees.nodes)

    parallel_ranges(work, len(corpus), threads)
    return trees


def _exclude_spans(corpus: Encoded, cells: Longs, weights: Floats | Ints) -> Floats | Ints:
    """Give negative weights to spans that are known not to be constituents.

    Spans that cross known brackets need not be excluded, as their weights are zero.
    """
    if corpus.brackets is None or not (corpus.brackets[:, 1] > corpus.brackets[:, 2]).any():
        return weights
    weights = weights.copy()
    for s in np.unique(corpus.brackets[:, 0]).astype(np.int64).tolist():
        i, last = np.triu_indices(corpus.lengths[s])
        sentence_weights = weights[cells[s] : cells[s + 1]]
        crossed = crossing(corpus, np.array([s]))[(last + 1) * last // 2 + i]
        sentence_weights[crossed > 0, 0] = -1 - sentence_weights.sum()
    return weights


@kernel
def heaviest_trees(
    first: int, last: int, starts: Longs, first_cell: Longs, weights: Floats | Ints, nodes: Ints
) -> None:
    """``heaviest_tree`` of some sentences, where the gain of a span is the sum of its weights."""
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
        heaviest_tree(gain, labels, nodes[first_node(starts, s) : first_node(starts, s + 1)])


@also_in_kernels
def heaviest_tree(gain: Floats, labels: Longs, nodes: Ints) -> float:
    """The binary tree of greatest total gain, into pre-order ``nodes``; return its gain::

    total(i,j) = gain(i,j) + max_k total(i,k) + total(k,j)
    """
    n = gain.shape[0]
    total = np.zeros((n + 1, n + 1))
    split = np.zeros((n + 1, n + 1), dtype=np.int64)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            best, best_tilt = 0.0 if width == 1 else -np.inf, width
            for k in range(i + 1, j):
                score, tilt = total[i, k] + total[k, j], abs(2 * k - i - j)
                more_even = tilt < best_tilt or (tilt == best_tilt and i % 2 == 1)
                if score > best or (score == best and more_even):
                    best, best_tilt, split[i, j] = score, tilt, k
            total[i, j] = gain[i, j] + best
    stack = np.empty((n + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    top, node = 1, 0
    while top:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, labels[i, j]
        node += 1
        if j - i > 1:
            stack[top, 0], stack[top, 1] = split[i, j], j
            stack[top + 1, 0], stack[top + 1, 1] = i, split[i, j]
            top += 2
    return float(total[0, n])


MAX_BYTES = 2**30
"""The most memory for counts of spans: 85,000 sentences of 20 words with K = 15."""


class SpanCounts:
    """Counts of (start, end, category) over samples of the trees of one corpus.

    No counts are kept of a corpus for which they would take more than ``MAX_BYTES``: they grow
    with the corpus, more than anything else. Nor are they kept of a single sample, which is its own
    tree.

    ``counts``: counts so far, ``[cell, c]`` as in `dbpcfg.parsing.derivations`; zeros if not
    given.
    ``several``: whether there is more than one sample.
    """

    def __init__(
        self, corpus: Encoded, categories: int, counts: Ints | None = None, several: bool = True
    ) -> None:
        self.corpus, self.several = corpus, several
        self.first_cell = first_cells(corpus)
        size = int(self.first_cell[-1])
        self.kept = several and 4 * size * categories <= MAX_BYTES
        self.shape = (size if self.kept else 0, categories)
        if counts is not None:
            self.counts = counts

    @cached_property
    def counts(self) -> Ints:
        """The counts, which take no memory until the first sample."""
        return np.zeros(self.shape, dtype=np.int32)

    def add(self, derivations: Derivations) -> None:
        """Count the spans of one more sample."""
        if self.kept:
            add_spans(self.corpus.starts, self.first_cell, derivations.nodes, self.counts)

    def weights(self, sentence: int) -> Floats:
        """``[i, j, c]``: the counts of c on words i to j − 1 of a sentence."""
        n = int(self.corpus.lengths[sentence])
        i, width = np.triu_indices(n)
        dense = np.zeros((n, n + 1, self.counts.shape[1]))
        dense[i, width + 1] = self.counts[self.first_cell[sentence] : self.first_cell[sentence + 1]]
        return dense

    def decode(self, threads: int = 1) -> Derivations:
        """MBR trees of all sentences."""
        assert self.kept
        return mbr_trees(self.corpus, self.counts, threads)


@kernel
def add_spans(starts: Longs, first_cell: Longs, nodes: Ints, counts: Ints) -> None:
    """Add the spans of every sentence's nodes to its cells."""
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        for t in range(first_node(starts, s), first_node(starts, s + 1)):
            i, j, c = nodes[t, 0], nodes[t, 1], nodes[t, 2]
            counts[first_cell[s] + span_cell(n, i, j), c] += 1
