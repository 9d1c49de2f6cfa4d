"""Expected rule counts of one sentence whose chart needs exponents: see ``counts``.

Expected rule counts of a corpus, on several threads, with the same bits for any number of them.

Batches are put together in blocks, at most ``BLOCKS`` of them, that depend on the corpus, K and D
only. Each block has sums of its own, which are added up in the order of the blocks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dbpcfg.grammar.weights import RuleWeights
from dbpcfg.io.machine import in_pieces
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel, repeated
from dbpcfg.numerics.simd import aligned, round_to_zero
from dbpcfg.parsing.chart.batches import Batches, copies_of, filled, gather, largest, new_room
from dbpcfg.parsing.chart.counts import Counted, counts_of_batch, new_expansion, take
from dbpcfg.parsing.chart.inside import inside, new_workspace
from dbpcfg.parsing.chart.layout import (
    EMPTY,
    Tables,
    cell_count,
    cell_of,
    chart_levels,
    first_start,
    last_start,
    left_below,
    left_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.chart.outside import outside


def add_counts_of(
    words: Ints, places: Ints, depth: int, G: Tables, copies: float, counted: Counted
) -> float:
    """Add the expected counts of one sentence.

    ``depth``: the bound D; 0 for no bound.
    Returns ``log_inside`` of the sentence; if it is −∞, nothing is added.
    """
    n, K = len(words), G.root.shape[0]
    levels, size = chart_levels(depth), cell_count(n)
    cells, exponents = np.empty((1, levels, size, K)), np.empty((1, levels, size), dtype=np.int32)
    logs = np.empty(1)
    inside(words.reshape(1, n), depth, G, cells, exponents, new_workspace(n, G), False, logs)
    if copies and logs[0] > -np.inf:
        v = np.empty((levels + 1, size, K))
        v_exponents = np.empty((levels + 1, size), dtype=np.int32)
        add_scaled_counts(
            words, places, depth, G, cells[0], exponents[0], v, v_exponents, copies, counted
        )
    return float(logs[0])


@kernel
def add_scaled_counts(
    words: Ints,
    places: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    exponents: Ints,
    v: Floats,
    v_exponents: Ints,
    copies: float,
    counted: Counted,
) -> None:
    """The sums of ``counts`` over the spans of one filled chart; ``v`` is room for the outside."""
    round_to_zero(False)
    n, levels, K = len(words), chart_levels(depth), len(G.root)
    whole = left_cell(n, 0, n)
    total, scale = np.dot(G.root, cells[0, whole]), exponents[0, whole]
    share, outer = copies / total, np.empty((K, K))
    outside(words, depth, G, cells, exponents, v, v_exponents)
    counted.root[:] += G.root * cells[0, whole] * share
    for level in range(levels + 1):
        for i in range(n):  # words; the last level, (L,D+1), has no others
            cell = cell_of(n, level, i, i + 1)
            if v_exponents[level, cell] != EMPTY:
                factor = math.ldexp(share, v_exponents[level, cell] - scale)
                counted.lexical[places[i]] += v[level, cell] * factor
    for level in range(levels):
        l, r = left_below(level, depth), right_below(level, depth)
        for width in range(2, n + 1):
            for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                j, cell = i + width, cell_of(n, level, i, i + width)
                here = v_exponents[level, cell]
                if here == EMPTY:
                    continue
                outer[:] = 0.0
                for k in range(i + 1, i + 2 if l == levels else j):
                    x, y = left_cell(n, i, k), right_cell(k, j)
                    left = G.emission[words[i]] if l == levels else cells[l, x]
                    of_left = 0 if l == levels else exponents[l, x]
                    if of_left == EMPTY or exponents[r, y] == EMPTY:
                        continue
                    factor = math.ldexp(share, here + of_left + exponents[r, y] - scale)
                    for a in range(K):
                        for b in range(K):
                            outer[a, b] += factor * left[a] * cells[r, y, b]
                for c in range(K):
                    for a in range(K):
                        for b in range(K):
                            counted.by_parent[c, a * K + b] += v[level, cell, c] * outer[a, b]


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

    depth: int
    """The bound D; 0 for no bound."""
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
    """Expected rule counts of a corpus."""
    edges = block_edges(B, task.depth)
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
    first, last, G, depth = edges[0], edges[-1], task.G, task.depth
    K, levels, single = len(G.root), chart_levels(depth), G.root.itemsize == 4
    room, (longest, most) = new_room(B, first, last, depth, G, False), largest(B, first, last)
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
            _, cells, _, logs = filled(B, number, depth, G, room, single)
            which, begins = copies_of(B, number)
            copies, totals = np.add.reduceat(task.copies[which], begins[:-1]), np.empty(len(batch))
            v, rows = above[: cells.size].reshape(cells.shape), row_of[batch]
            v.fill(0.0)
            settle = number == end - 1 or (single and (number - begin) % OFTEN == OFTEN - 1)
            sums = task.negligible, totals, counted, settle, single
            count(batch, rows, copies, depth, G, cells, v, W, *sums)
            for m in np.flatnonzero(np.isinf(totals)).tolist():
                logs[m] = _add_exact(batch[m], rows[m], float(copies[m]), task, counted)
            task.logs[which] = np.repeat(logs, np.diff(begins))
            if settle:
                take(W.by_parent, counted.by_parent)
                if depth:
                    take(W.by_left, counted.by_left)
        yield Block(words, counted)


def _zeros(K: int, words: int) -> Counted:
    return Counted(np.zeros(K), np.zeros((K, K * K)), np.zeros((K, K * K)), np.zeros((words, K)))


def _add_exact(
    words: Ints, places: Ints, copies: float, task: Expectation, counted: Counted
) -> float:
    """The same for a sentence that needs a chart with exponents; return its ``log_inside``.

    ``lexical`` is multiplied by scaled emissions later, and the scales differ.
    """
    K = len(task.exact.root)
    own = counted._replace(lexical=np.zeros((len(words), K)))
    log = add_counts_of(
        words, np.arange(len(words), dtype=np.int32), task.depth, task.exact, copies, own
    )
    counts = own.lexical * task.exact.emission[words]
    emission = task.G.emission[words].astype(np.float64)
    np.add.at(
        counted.lexical,
        places,
        np.divide(counts, emission, out=np.zeros_like(counts), where=emission > 0),
    )
    return log
