"""Batches of sentences that are parsed together, and their charts.

Sentences of one length are parsed together, so that the matrix products of one width have many
rows; identical sentences share a chart, but each has its own tree. Batches depend on the corpus, K
and D only, so results are the same for any number of threads.

Loops over batches are in Python, because a kernel with such a loop would compile all that it calls
again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, specialised
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.inside import Workspace, inside, new_workspace
from dbpcfg.parsing.chart.layout import Tables, cell_count, chart_levels, crossing

MAX_BATCH_SIZE = 32
CHART_BYTES = 2**20
"""About the most memory for the charts of one batch, which should stay in the cache."""


class Batches(NamedTuple):
    """Distinct sentences, longest first, and their copies in the corpus.

    Batch x is ``distinct[bounds[x] : bounds[x + 1]]``, all of one length; the copies of the y-th
    are ``copies[first_copy[y] : first_copy[y + 1]]``. ``frequencies`` are those of words.
    """

    corpus: Encoded
    sentences: Sentences
    items: Longs
    frequencies: Longs
    bounds: Longs
    distinct: Longs
    first_copy: Longs
    copies: Longs


def batches(corpus: Encoded, G: Tables) -> Batches:
    """The batches of a corpus."""
    distinct, first_copy, copies = corpus.distinct
    return Batches(
        corpus,
        corpus.sentences,
        corpus.sentence_ids,
        corpus.frequencies,
        bounds(corpus.lengths[distinct], len(G.root), G.depth),
        distinct,
        first_copy,
        copies,
    )


def bounds(lengths: Longs, K: int, depth: int) -> Longs:
    """The boundaries of batches of sentences of these lengths, longest first."""
    starts, changes = [], np.flatnonzero(np.diff(lengths)) + 1
    edges = np.unique([0, *changes.tolist(), len(lengths)]).tolist()
    for first, last in itertools.pairwise(edges):
        size = batch_size(int(lengths[first]), K, depth)
        starts.append(np.arange(first, last, size, dtype=np.int64))
    return np.concatenate([*starts, np.array([len(lengths)], dtype=np.int64)])


def batch_size(length: int, K: int, depth: int) -> int:
    """The number of sentences of a length in a batch; the last batch may have fewer."""
    chart = 8 * K * chart_levels(depth) * cell_count(length)
    return max(1, min(MAX_BATCH_SIZE, CHART_BYTES // max(1, chart)))


class Buffers(NamedTuple):
    """Memory for the charts of one batch after another."""

    cells: Floats
    exponents: Ints
    work: Workspace
    inside: Callable[..., None]


class Charts(NamedTuple):
    """The filled charts of one batch."""

    batch: Ints  # [m, i]                the words of sentence m
    cells: Floats  # [m, level, cell, c]
    exponents: Ints  # [m, level, cell]
    logs: Floats  # [m]                  ``log_inside``
    crossed: Bytes  #                    spans that cross brackets


def buffer_sizes(B: Batches, first: int, last: int) -> tuple[int, int]:
    """The length of the longest sentence in some batches, and the most cells of one level."""
    begins, starts = B.bounds[first:last], B.sentences.starts
    n = starts[B.distinct[begins] + 1] - starts[B.distinct[begins]]
    cells = (B.bounds[first + 1 : last + 1] - begins) * (n * (n + 1) // 2)
    return int(n.max(initial=0)), int(cells.max(initial=0))


def new_buffers(B: Batches, first: int, last: int, G: Tables, scaling: bool) -> Buffers:
    """Memory for the charts of some batches; without ``scaling``, no cell is ever scaled."""
    longest, most_cells = buffer_sizes(B, first, last)
    size, starts = chart_levels(G.depth) * most_cells, B.sentences.starts
    begins = B.bounds[first:last]
    n = starts[B.distinct[begins] + 1] - starts[B.distinct[begins]]
    words = int(((B.bounds[first + 1 : last + 1] - begins) * n).max(initial=0))
    return Buffers(
        aligned(G.root, size * len(G.root)),
        np.empty(size, dtype=np.int32),
        new_workspace(longest, G, scaling, words, B.frequencies),
        specialised(inside, G.root.dtype),
    )


def batch_words(B: Batches, number: int) -> Ints:
    """The words of one batch's sentences, one sentence per row."""
    starts, distinct = B.sentences.starts, B.distinct[B.bounds[number] : B.bounds[number + 1]]
    n = starts[distinct[0] + 1] - starts[distinct[0]]
    return B.sentences.tokens[starts[distinct][:, np.newaxis] + np.arange(n)]


def fill_charts(
    B: Batches, number: int, G: Tables, buffers: Buffers, flush: bool = False
) -> Charts:
    """The charts of one batch, after the inside pass."""
    batch = batch_words(B, number)
    sentences, n = batch.shape
    levels, size, K = chart_levels(G.depth), cell_count(n), G.root.shape[0]
    total = sentences * levels * size
    cells = buffers.cells[: total * K].reshape(sentences, levels, size, K)
    exponents = buffers.exponents[:total].reshape(sentences, levels, size)
    logs = np.empty(sentences)
    crossed = crossing(B.corpus, B.distinct[B.bounds[number] : B.bounds[number + 1]])
    buffers.inside(batch, crossed, G, cells, exponents, buffers.work, flush, logs)
    return Charts(batch, cells, exponents, logs, crossed)


def copies_of(B: Batches, number: int) -> tuple[Longs, Longs]:
    """The copies of a batch's sentences in the corpus, and where those of each sentence begin."""
    first = B.first_copy[B.bounds[number] : B.bounds[number + 1] + 1]
    return B.copies[first[0] : first[-1]], first - first[0]


def inside_batches(first: int, last: int, B: Batches, G: Tables, logs: Floats) -> None:
    """``log_inside`` of the sentences of some batches into ``logs[sentence]``."""
    buffers = new_buffers(B, first, last, G, True)
    for number in range(first, last):
        copies, begins = copies_of(B, number)
        logs[copies] = np.repeat(fill_charts(B, number, G, buffers).logs, np.diff(begins))
