"""Which sentences a chart kernel takes together, and the charts that they share.

Sentences of one length are parsed side by side, so that the matrix products of one width have many
rows; identical sentences share one chart, and each still draws its own tree. Which sentences are
taken together depends on the corpus, K and D only, never on the number of threads: so neither do
the last bits of the results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.inside import Workspace, inside, log_inside, new_workspace
from dbpcfg.parsing.chart.layout import Tables, cell_count, chart_levels

MOST_TOGETHER = 32
CHART_BYTES = 2**20
"""About the most memory for the charts of one batch: they should stay in the cache."""


class Batches(NamedTuple):
    """Distinct sentences, longest first, and which sentences of the corpus each stands for.

    Batch x is ``distinct[bounds[x] : bounds[x + 1]]``, all of one length; the y-th of them stands
    for ``copies[first_copy[y] : first_copy[y + 1]]``.
    """

    sentences: Sentences
    bounds: Longs
    distinct: Longs
    first_copy: Longs
    copies: Longs


def batches(corpus: Encoded, categories: int, depth: int) -> Batches:
    """The batches of a corpus.

    Parameters
    ----------
    corpus
        The sentences.
    categories
        The number of categories in the kernels (``layout.padded``).
    depth
        The bound D; 0 for no bound.
    """
    distinct, first_copy, copies = corpus.distinct
    return Batches(
        corpus.sentences,
        bounds(corpus.lengths[distinct], categories, depth),
        distinct,
        first_copy,
        copies,
    )


@kernel
def bounds(lengths: Longs, K: int, depth: int) -> Longs:
    """Where batches of sentences of these lengths, longest first, begin and end."""
    found = np.empty(len(lengths) + 1, dtype=np.int64)
    found[0] = 0
    number = 0
    for s in range(1, len(lengths) + 1):
        began = found[number]
        chart = 8 * K * chart_levels(depth) * cell_count(lengths[began])
        room = max(1, min(MOST_TOGETHER, CHART_BYTES // max(1, chart)))
        if s == len(lengths) or lengths[s] != lengths[began] or s - began == room:
            number += 1
            found[number] = s
    return found[: number + 1]


class Room(NamedTuple):
    """Room for the charts of one batch after another."""

    cells: Floats
    exponents: Ints
    work: Workspace


class Charts(NamedTuple):
    """The filled charts of one batch."""

    batch: Ints  # [m, i]                the words of sentence m
    cells: Floats  # [m, level, cell, c]
    exponents: Ints  # [m, level, cell]
    logs: Floats  # [m]                  ``log_inside``


@kernel
def largest(B: Batches, first: int, last: int) -> tuple[int, int]:
    """Of some batches: the length of the longest sentence, and the most cells of one level."""
    longest, most, starts = 0, 0, B.sentences.starts
    for number in range(first, last):
        s = B.distinct[B.bounds[number]]
        n = starts[s + 1] - starts[s]
        longest = max(longest, n)
        most = max(most, (B.bounds[number + 1] - B.bounds[number]) * cell_count(n))
    return longest, most


@kernel
def new_room(B: Batches, first: int, last: int, depth: int, G: Tables, careful: bool) -> Room:
    """Room for the charts of some batches; unless ``careful``, no cell is ever scaled."""
    longest, most = largest(B, first, last)
    size = chart_levels(depth) * most
    return Room(
        aligned(size * len(G.root), G.root),
        np.empty(size, dtype=np.int32),
        new_workspace(longest, G, careful),
    )


@kernel
def gather(B: Batches, number: int) -> Ints:
    """The words of one batch's sentences, a sentence a row."""
    first, last = B.bounds[number], B.bounds[number + 1]
    tokens, starts = B.sentences.tokens, B.sentences.starts
    n = starts[B.distinct[first] + 1] - starts[B.distinct[first]]
    batch = np.empty((last - first, n), dtype=np.int32)
    for m in range(last - first):
        s = B.distinct[first + m]
        batch[m] = tokens[starts[s] : starts[s + 1]]
    return batch


@kernel
def filled(B: Batches, number: int, depth: int, G: Tables, room: Room) -> Charts:
    """The charts of one batch, after the inside pass."""
    batch = gather(B, number)
    sentences, n = batch.shape
    levels, size, K = chart_levels(depth), cell_count(n), G.root.shape[0]
    whole = sentences * levels * size
    cells = room.cells[: whole * K].reshape(sentences, levels, size, K)
    exponents = room.exponents[:whole].reshape(sentences, levels, size)
    inside(batch, depth, G, cells, exponents, room.work)
    return Charts(batch, cells, exponents, log_inside(batch, G, cells, exponents))


@kernel
def copies_of(B: Batches, number: int, m: int) -> Longs:
    """The sentences of the corpus that sentence m of a batch stands for."""
    y = B.bounds[number] + m
    return B.copies[B.first_copy[y] : B.first_copy[y + 1]]


@kernel
def inside_batches(first: int, last: int, B: Batches, depth: int, G: Tables, logs: Floats) -> None:
    """``log_inside`` of the sentences of some batches into ``logs[sentence]``."""
    room = new_room(B, first, last, depth, G, True)
    for number in range(first, last):
        found = filled(B, number, depth, G, room).logs
        for m in range(len(found)):
            for s in copies_of(B, number, m):
                logs[s] = found[m]
