"""Expected rule counts and posteriors of a corpus, on several threads.

Counts are exactly the same for any number of threads: batches are grouped into at most ``BLOCKS``
blocks, which depend on the corpus, K and D only. Each block has its own sums, which are added in
the order of the blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.kernels import Floats, Longs, specialised
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.batches import (
    Batches,
    batch_words,
    buffer_sizes,
    copies_of,
    fill_charts,
    new_buffers,
)
from dbpcfg.parsing.chart.layout import Tables, chart_levels
from dbpcfg.parsing.chart.outside import RuleSums, SpanWeights, move_sums, new_workspace, outside
from dbpcfg.parsing.chart.scaled import fill_chart, scaled_outside

BLOCKS = 32
"""More blocks balance the work better, fewer take less memory."""
BLOCK_CELLS = 2000
"""The least number of chart cells with rules in a block, as adding up blocks takes time too."""
BATCHES_PER_SUM = 16
"""The number of batches that are summed in the precision of the chart, before double precision."""
_NO_WEIGHTS = SpanWeights(np.zeros(0, dtype=np.int64), 0, np.zeros((0, 0)))


class Block(NamedTuple):
    """The sums of some batches."""

    words: Longs
    """The words that occur in them."""
    counted: RuleSums
    """``lexical`` has a row for each of these words."""


class Expectation(NamedTuple):
    """The inputs and outputs of counting."""

    G: Tables
    exact: Tables
    """The grammar in double precision, for sentences whose charts need exponents."""
    negligible: float
    """Spans less probable than this are pruned."""
    copies: Floats
    """``[sentence]``: how often each sentence counts."""
    logs: Floats
    """``[sentence]``: ``log_inside``, written to."""


def count_all_blocks(edges: Longs, B: Batches, task: Expectation, threads: int) -> list[Block]:
    """The sums of each block, on several threads.

    ``edges``: the boundaries of blocks of batches.
    """
    blocks: dict[int, Block] = {}

    def work(first: int, last: int) -> None:
        sums = count_blocks(edges[first : last + 1].tolist(), B, task)
        blocks.update(zip(range(first, last), sums, strict=True))

    parallel_ranges(work, len(edges) - 1, threads)
    return [blocks[number] for number in range(len(edges) - 1)]


def sum_of_blocks(
    blocks: Sequence[Block], G: Tables, exact: Tables, categories: int
) -> RuleWeights:
    """Expected rule counts; not finite if quotients of probabilities overflow."""
    K = len(G.root)
    root, by_parent, by_left = np.zeros(K), np.zeros((K, K * K)), np.zeros((K, K * K))
    lexical = np.zeros(G.emission.shape)
    for words, counted in blocks:
        root += counted.root
        by_parent += counted.by_parent
        by_left += counted.by_left
        lexical[words] += counted.lexical
    binary = by_parent.reshape(K, K, K) + by_left.reshape(K, K, K).transpose(1, 0, 2)
    k = categories
    with np.errstate(over="ignore", invalid="ignore"):
        return RuleWeights(
            root[:k],
            (binary * exact.binary)[:k, :k, :k],
            np.ascontiguousarray((lexical * G.emission)[:, :k].T),
        )


def block_edges(lengths: Longs, bounds: Longs, depth: int) -> Longs:
    """The boundaries of blocks of batches.

    ``lengths``: the lengths of the distinct sentences, longest first.
    ``bounds``: the boundaries of their batches.
    """
    numbers = len(bounds) - 1
    spans = lengths * (lengths + 1) // 2
    cells = int((spans if not depth else lengths + (2 * depth - 2) * spans).sum())
    count = max(1, min(numbers, BLOCKS, cells // BLOCK_CELLS))
    return np.linspace(0, numbers, count + 1).astype(np.int64)


def count_blocks(edges: list[int], B: Batches, task: Expectation) -> Iterator[Block]:
    """Yield the sums of the batches between each two edges; buffers are reused."""
    first, last, G = edges[0], edges[-1], task.G
    K, levels, single = len(G.root), chart_levels(G.depth), G.root.itemsize == 4
    buffers, (longest, most_cells) = (
        new_buffers(B, first, last, G, False),
        buffer_sizes(B, first, last),
    )
    batches = [batch_words(B, number) for number in range(first, last)]
    v_buffer = aligned(G.root, levels * most_cells * K)
    W = new_workspace(longest, max(batch.size for batch in batches), len(G.log_scale), G)
    run, row_of = specialised(outside, G.root.dtype), np.zeros(len(G.log_scale), np.int32)
    for begin, end in itertools.pairwise(edges):
        block_batches = batches[begin - first : end - first]
        row_of[:] = 0
        for batch in block_batches:
            row_of[batch] = 1
        words = np.flatnonzero(row_of)
        row_of[words] = np.arange(len(words))
        pairs = np.zeros((2, K, K * K))
        counted = RuleSums(np.zeros(K), pairs[0], pairs[1], np.zeros((len(words), K)))
        for number, batch in zip(range(begin, end), block_batches, strict=True):
            _, cells, _, logs, crossed = fill_charts(B, number, G, buffers, single)
            sentences, begins = copies_of(B, number)
            copies, totals = (
                np.add.reduceat(task.copies[sentences], begins[:-1]),
                np.empty(len(batch)),
            )
            v, rows = v_buffer[: cells.size].reshape(cells.shape), row_of[batch]
            v.fill(0.0)
            finish = number == end - 1 or (
                single and (number - begin) % BATCHES_PER_SUM == BATCHES_PER_SUM - 1
            )
            sums = task.negligible, totals, counted, True, finish, _NO_WEIGHTS, single
            run(batch, rows, crossed, copies, G, cells, v, W, *sums)
            for m in np.flatnonzero(np.isinf(totals)).tolist():
                # Derivatives by scaled emissions, and the scales differ.
                sentence_counts = counted._replace(lexical=np.zeros((batch.shape[1], K)))
                crossed_here = crossed[m * cells.shape[2] : (m + 1) * cells.shape[2]]
                chart, logs[m] = fill_chart(batch[m], task.exact, crossed=crossed_here)
                if copies[m] and logs[m] > -np.inf:
                    scaled_outside(
                        chart, task.exact, copies[m], sentence_counts, True, 0, np.zeros((0, 0))
                    )
                emission = G.emission[batch[m]].astype(np.float64)
                with np.errstate(over="ignore", invalid="ignore"):
                    counts = sentence_counts.lexical * task.exact.emission[batch[m]]
                    np.divide(counts, emission, out=counts, where=emission > 0)
                np.add.at(counted.lexical, rows[m], np.where(emission > 0, counts, 0.0))
            task.logs[sentences] = np.repeat(logs, np.diff(begins))
            if finish:
                move_sums(W.by_parent, counted.by_parent)
                move_sums(W.by_left, counted.by_left)
        yield Block(words, counted)


def posteriors_of_batches(
    first: int,
    last: int,
    B: Batches,
    G: Tables,
    exact: Tables,
    negligible: float,
    first_cell: Longs,
    by_level: int,
    weights: Floats,
    logs: Floats,
) -> None:
    """Write the posterior probabilities of all labelled spans to ``weights``, which are zero.

    ``log_inside`` is written to ``logs``; sentences for which it is −∞ have no posteriors.
    ``exact`` is the grammar in double precision, for long sentences. ``by_level``: 1 to separate
    levels.
    """
    K, levels, single = len(G.root), chart_levels(G.depth), G.root.itemsize == 4
    buffers, (longest, most_cells) = (
        new_buffers(B, first, last, G, False),
        buffer_sizes(B, first, last),
    )
    tokens = max((batch_words(B, number).size for number in range(first, last)), default=0)
    v_buffer, W = (
        aligned(G.root, levels * most_cells * K),
        new_workspace(longest, longest, tokens, G),
    )
    run, no_rules = specialised(outside, G.root.dtype), np.zeros((0, 0))
    for number in range(first, last):
        batch, cells, _, batch_logs, crossed = fill_charts(B, number, G, buffers, single)
        copies, begins = copies_of(B, number)
        (sentences, n), size = batch.shape, cells.shape[2]
        v, totals = v_buffer[: cells.size].reshape(cells.shape), np.empty(sentences)
        v.fill(0.0)
        local = np.arange(batch.size, dtype=np.int32).reshape(batch.shape)
        counted = RuleSums(np.zeros(K), no_rules, no_rules, np.zeros((batch.size, K)))
        X = SpanWeights(first_cell[copies[begins[:-1]]], by_level, weights)
        sums = negligible, totals, counted, False, True, X, single
        run(batch, local, crossed, np.ones(sentences), G, cells, v, W, *sums)
        words = counted.lexical.reshape(sentences, n, K) * G.emission[batch]
        for m in np.flatnonzero(np.isinf(totals)).tolist():
            sentence_counts = RuleSums(np.zeros(K), no_rules, no_rules, np.zeros((n, K)))
            crossed_here = crossed[m * size : (m + 1) * size]
            chart, batch_logs[m] = fill_chart(batch[m], exact, crossed=crossed_here)
            if batch_logs[m] > -np.inf:
                scaled_outside(
                    chart, exact, 1.0, sentence_counts, False, by_level, weights[X.first[m] :]
                )
            words[m] = sentence_counts.lexical * exact.emission[batch[m]]
        word_cells = np.cumsum(np.arange(n + 1, 1, -1)) - n - 1
        weights[X.first[:, np.newaxis] + word_cells] = words[..., : weights.shape[1]]
        logs[copies] = np.repeat(batch_logs, np.diff(begins))
        for m in np.flatnonzero(np.diff(begins) > 1).tolist() if len(copies) > sentences else ():
            first_copy = copies[begins[m]]
            posteriors = weights[first_cell[first_copy] : first_cell[first_copy + 1]]
            for s in copies[begins[m] + 1 : begins[m + 1]].tolist():
                weights[first_cell[s] : first_cell[s + 1]] = posteriors
