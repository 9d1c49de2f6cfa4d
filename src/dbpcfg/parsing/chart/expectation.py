"""Expected rule counts of a corpus, on several threads, with the same bits for any number of them.

Batches are put together in blocks, at most ``BLOCKS`` of them, that depend on the corpus, K and D
only. Each block has sums of its own, which are added up in the order of the blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.io.machine import in_pieces
from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, repeated
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.batches import Batches, copies_of, filled, gather, largest, new_room
from dbpcfg.parsing.chart.counts import counts_of_batch, new_expansion, take
from dbpcfg.parsing.chart.layout import Tables, chart_levels
from dbpcfg.parsing.chart.outside import Counted, add_expected_counts, filled_chart

BLOCKS = 32
"""More balance the work better, fewer take less memory."""
BLOCK_CELLS = 2000
"""Chart cells of rules that a block has at least: adding up blocks takes time too."""
OFTEN = 16
"""Batches whose sums are made in the precision of the chart, before they are added in double."""


class Block(NamedTuple):
    """The sums of some batches."""

    words: Longs
    """The words that occur in them."""
    counted: Counted
    """``lexical`` has a row for each of these words."""


class Expectation(NamedTuple):
    """What to count, and how."""

    G: Tables
    exact: Tables
    """The same in double precision, for sentences whose charts need exponents."""
    negligible: float
    """Spans less probable than this are pruned."""
    copies: Floats
    """``[sentence]``: what the counts of each sentence are multiplied by."""
    logs: Floats
    """``[sentence]``: ``log_inside``, written to."""


def expected_counts(
    B: Batches, task: Expectation, categories: int, vocabulary: int, threads: int
) -> RuleWeights:
    """Expected rule counts of a corpus; not finite if quotients of probabilities overflow."""
    edges = block_edges(B, task.G.depth)
    blocks: list[Block | None] = [None] * (len(edges) - 1)

    def work(first: int, last: int) -> None:
        found = count_blocks(edges[first : last + 1].tolist(), B, task)
        for block, sums in zip(range(first, last), found, strict=True):
            blocks[block] = sums

    in_pieces(work, len(blocks), threads)
    K, G = len(task.G.root), task.exact
    root, by_parent, by_left = np.zeros(K), np.zeros((K, K * K)), np.zeros((K, K * K))
    lexical = np.zeros((vocabulary, K))
    for done in blocks:
        assert done is not None
        root += done.counted.root
        by_parent += done.counted.by_parent
        by_left += done.counted.by_left
        lexical[done.words] += done.counted.lexical
    binary = by_parent.reshape(K, K, K) + by_left.reshape(K, K, K).transpose(1, 0, 2)
    k = categories
    with np.errstate(over="ignore", invalid="ignore"):
        return RuleWeights(
            root[:k],
            (binary * G.binary)[:k, :k, :k],
            np.ascontiguousarray((lexical * task.G.emission)[:, :k].T),
        )


def block_edges(B: Batches, depth: int) -> Longs:
    """Where blocks of batches begin and end."""
    numbers, lengths = len(B.bounds) - 1, np.diff(B.sentences.starts)[B.distinct]
    spans = lengths * (lengths + 1) // 2
    cells = int((spans if not depth else lengths + (2 * depth - 2) * spans).sum())
    count = max(1, min(numbers, BLOCKS, cells // BLOCK_CELLS))
    return np.linspace(0, numbers, count + 1).astype(np.int64)


def count_blocks(edges: list[int], B: Batches, task: Expectation) -> Iterator[Block]:
    """The sums of the batches between one edge and the next, for all edges, in the same room."""
    first, last, G = edges[0], edges[-1], task.G
    K, levels, single = len(G.root), chart_levels(G.depth), G.root.itemsize == 4
    room, (longest, most) = new_room(B, first, last, G, False), largest(B, first, last)
    batches = [gather(B, number) for number in range(first, last)]
    above = aligned(G.root, levels * most * K)
    tokens = max(batch.size for batch in batches)
    W = new_expansion(longest, tokens, len(G.log_scale), G)
    W.by_parent[:], W.by_left[:] = 0.0, 0.0
    count, row_of = repeated(counts_of_batch, G.root.dtype), np.zeros(len(G.log_scale), np.int32)
    for begin, end in itertools.pairwise(edges):
        here = batches[begin - first : end - first]
        row_of[:] = 0
        for batch in here:
            row_of[batch] = 1
        words = np.flatnonzero(row_of)
        row_of[words] = np.arange(len(words))
        counted = _zeros(K, len(words))
        for number, batch in zip(range(begin, end), here, strict=True):
            _, cells, _, logs, crossed = filled(B, number, G, room, single)
            which, begins = copies_of(B, number)
            copies, totals = np.add.reduceat(task.copies[which], begins[:-1]), np.empty(len(batch))
            v, rows = above[: cells.size].reshape(cells.shape), row_of[batch]
            v.fill(0.0)
            settle = number == end - 1 or (single and (number - begin) % OFTEN == OFTEN - 1)
            sums = task.negligible, totals, counted, settle, single
            count(batch, rows, crossed, copies, G, cells, v, W, *sums)
            for m in np.flatnonzero(np.isinf(totals)).tolist():
                size, times = cells.shape[2], float(copies[m])
                own = crossed[m * size : (m + 1) * size]
                logs[m] = _add_exact(batch[m], own, rows[m], times, task, counted)
            task.logs[which] = np.repeat(logs, np.diff(begins))
            if settle:
                take(W.by_parent, counted.by_parent)
                if G.depth:
                    take(W.by_left, counted.by_left)
        yield Block(words, counted)


def _zeros(K: int, words: int) -> Counted:
    return Counted(np.zeros(K), np.zeros((K, K * K)), np.zeros((K, K * K)), np.zeros((words, K)))


def _add_exact(
    words: Ints, crossed: Bytes, places: Ints, copies: float, task: Expectation, counted: Counted
) -> float:
    """The same for a sentence that needs a chart with exponents; return its ``log_inside``.

    ``lexical`` is multiplied by scaled emissions later, and the scales differ.
    """
    own = counted._replace(lexical=np.zeros((len(words), len(task.exact.root))))
    chart, log = filled_chart(words, task.exact, crossed=crossed)
    if copies and log > -np.inf:
        rows = np.arange(len(words), dtype=np.int32)
        add_expected_counts(chart, task.exact, rows, copies, own)
    emission = task.G.emission[words].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        counts = own.lexical * task.exact.emission[words]
        np.divide(counts, emission, out=counts, where=emission > 0)
    np.add.at(counted.lexical, places, np.where(emission > 0, counts, 0.0))
    return log
