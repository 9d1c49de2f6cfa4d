"""Which sentences a chart kernel takes together, and the charts that they share.

Sentences of one length are parsed side by side, so that the matrix products of one width have many
rows; identical sentences share one chart, and each still draws its own tree. Which sentences are
taken together depends on the corpus, K and D only, never on the number of threads: so neither do
the last bits of the results.

The loops over batches are in Python, which calls a kernel or two for each: a kernel with such a
loop would be compiled together with all that it calls, once more for each of these loops.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, repeated
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.inside import Workspace, inside, new_workspace
from dbpcfg.parsing.chart.layout import Tables, cell_count, chart_levels, crossing

MOST_TOGETHER = 32
CHART_BYTES = 2**20
"""About the most memory for the charts of one batch: they should stay in the cache."""


class Batches(NamedTuple):
    """Distinct sentences, longest first, and which sentences of the corpus each stands for.

    Batch x is ``distinct[bounds[x] : bounds[x + 1]]``, all of one length; the y-th of them stands
    for ``copies[first_copy[y] : first_copy[y + 1]]``. ``frequencies`` are those of words.
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
        corpus.items,
        corpus.frequencies,
        bounds(corpus.lengths[distinct], len(G.root), G.depth),
        distinct,
        first_copy,
        copies,
    )


def bounds(lengths: Longs, K: int, depth: int) -> Longs:
    """Where batches of sentences of these lengths, longest first, begin and end."""
    found, changes = [], np.flatnonzero(np.diff(lengths)) + 1
    edges = np.unique([0, *changes.tolist(), len(lengths)]).tolist()
    for first, last in itertools.pairwise(edges):
        most = together(int(lengths[first]), K, depth)
        found.append(np.arange(first, last, most, dtype=np.int64))
    return np.concatenate([*found, np.array([len(lengths)], dtype=np.int64)])


def together(length: int, K: int, depth: int) -> int:
    """The number of sentences of a length that are in one batch, but for the last one's rest."""
    chart = 8 * K * chart_levels(depth) * cell_count(length)
    return max(1, min(MOST_TOGETHER, CHART_BYTES // max(1, chart)))


class Room(NamedTuple):
    """Room for the charts of one batch after another."""

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


def largest(B: Batches, first: int, last: int) -> tuple[int, int]:
    """Of some batches: the length of the longest sentence, and the most cells of one level."""
    begins, starts = B.bounds[first:last], B.sentences.starts
    n = starts[B.distinct[begins] + 1] - starts[B.distinct[begins]]
    cells = (B.bounds[first + 1 : last + 1] - begins) * (n * (n + 1) // 2)
    return int(n.max(initial=0)), int(cells.max(initial=0))


def new_room(B: Batches, first: int, last: int, G: Tables, careful: bool) -> Room:
    """Room for the charts of some batches; unless ``careful``, no cell is ever scaled."""
    longest, most = largest(B, first, last)
    size, starts = chart_levels(G.depth) * most, B.sentences.starts
    begins = B.bounds[first:last]
    n = starts[B.distinct[begins] + 1] - starts[B.distinct[begins]]
    words = int(((B.bounds[first + 1 : last + 1] - begins) * n).max(initial=0))
    return Room(
        aligned(G.root, size * len(G.root)),
        np.empty(size, dtype=np.int32),
        new_workspace(longest, G, careful, words, B.frequencies),
        repeated(inside, G.root.dtype),
    )


def gather(B: Batches, number: int) -> Ints:
    """The words of one batch's sentences, a sentence a row."""
    starts, distinct = B.sentences.starts, B.distinct[B.bounds[number] : B.bounds[number + 1]]
    n = starts[distinct[0] + 1] - starts[distinct[0]]
    return B.sentences.tokens[starts[distinct][:, np.newaxis] + np.arange(n)]


def filled(B: Batches, number: int, G: Tables, room: Room, flush: bool = False) -> Charts:
    """The charts of one batch, after the inside pass."""
    batch = gather(B, number)
    sentences, n = batch.shape
    levels, size, K = chart_levels(G.depth), cell_count(n), G.root.shape[0]
    whole = sentences * levels * size
    cells = room.cells[: whole * K].reshape(sentences, levels, size, K)
    exponents = room.exponents[:whole].reshape(sentences, levels, size)
    logs = np.empty(sentences)
    crossed = crossing(B.corpus, B.distinct[B.bounds[number] : B.bounds[number + 1]])
    room.inside(batch, crossed, G, cells, exponents, room.work, flush, logs)
    return Charts(batch, cells, exponents, logs, crossed)


def copies_of(B: Batches, number: int) -> tuple[Longs, Longs]:
    """The sentences of the corpus that a batch stands for, and where those of each begin."""
    first = B.first_copy[B.bounds[number] : B.bounds[number + 1] + 1]
    return B.copies[first[0] : first[-1]], first - first[0]


def inside_batches(first: int, last: int, B: Batches, G: Tables, logs: Floats) -> None:
    """``log_inside`` of the sentences of some batches into ``logs[sentence]``."""
    room = new_room(B, first, last, G, True)
    for number in range(first, last):
        copies, begins = copies_of(B, number)
        logs[copies] = np.repeat(filled(B, number, G, room).logs, np.diff(begins))
