"""Expected rule counts of a corpus, on several threads, with the same bits for any number of them.

Batches are put together in blocks, at most ``BLOCKS`` of them, that depend on the corpus, K and D
only. Each block has sums of its own, which are added up in the order of the blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.grammar.weights import RuleWeights
from dbpcfg.numerics.kernels import Floats, Ints, repeated
from dbpcfg.numerics.simd import aligned
from dbpcfg.parsing.chart.batches import Batches, copies_of, filled, gather, largest, new_room
from dbpcfg.parsing.chart.counts import Counted, counts_of_batch, new_expansion
from dbpcfg.parsing.chart.layout import Tables, chart_levels, fair_size
from dbpcfg.parsing.chart.single_counts import add_counts_of
from dbpcfg.runtime.threads import in_pieces

BLOCKS = 48
"""More balance the work better, fewer take less memory."""


class Block(NamedTuple):
    """The sums of some batches."""

    words: Ints
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
    """Expected rule counts of a corpus.

    Parameters
    ----------
    B
        Its batches.
    task
        What to count.
    categories
        K.
    vocabulary
        W.
    threads
        The number of threads.
    """
    numbers = len(B.bounds) - 1
    edges = np.linspace(0, numbers, min(numbers, BLOCKS) + 1).astype(np.int64)
    blocks: list[Block | None] = [None] * (len(edges) - 1)

    def work(first: int, last: int) -> None:
        for block in range(first, last):
            blocks[block] = count_block(int(edges[block]), int(edges[block + 1]), B, task)

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


def count_block(first: int, last: int, B: Batches, task: Expectation) -> Block:
    """The sums of the batches of a block."""
    depth, G = task.depth, task.G
    K, levels, flush = len(G.root), chart_levels(depth), G.root.itemsize == 4
    room, (longest, most) = new_room(B, first, last, depth, G, False), largest(B, first, last)
    batches = [gather(B, number) for number in range(first, last)]
    words = np.unique(np.concatenate([batch.reshape(-1) for batch in batches]))
    room_above = aligned(G.root, levels * most * K)
    W = new_expansion(longest, max(batch.size for batch in batches), G)
    counted = Counted(
        np.zeros(K), np.zeros((K, K * K)), np.zeros((K, K * K)), np.zeros((len(words), K))
    )
    count = repeated(counts_of_batch, G.root.dtype)
    for number, batch in zip(range(first, last), batches, strict=True):
        _, cells, _, found = filled(B, number, depth, G, room, flush)
        copies, begins = copies_of(B, number)
        weights = np.add.reduceat(task.copies[copies], begins[:-1])
        whole = cells[:, 0, _whole(batch.shape[1])].astype(np.float64)
        totals = whole @ G.root.astype(np.float64)
        fair = (totals >= 1 / fair_size(G.root)) & (totals <= fair_size(G.root))
        shares = np.where(fair, weights, 0.0) / np.where(fair, totals, 1.0)
        here, slots = np.unique(batch, return_inverse=True)
        places = np.searchsorted(words, here).astype(np.int32)
        slots = slots.reshape(batch.shape).astype(np.int32)
        v = room_above[: cells.size].reshape(cells.shape)
        least = task.negligible * weights
        count(batch, slots, here, depth, G, cells, v, W, shares, least, places, counted, flush)
        for m in np.flatnonzero(~fair).tolist():
            rows = places[slots[m]]
            found[m] = _add_exact(batch[m], rows, float(weights[m]), task, counted)
        task.logs[copies] = np.repeat(found, np.diff(begins))
    return Block(words, counted)


def _whole(n: int) -> int:
    """The cell of a whole sentence."""
    return n * (n - 1) // 2 + n - 1


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
