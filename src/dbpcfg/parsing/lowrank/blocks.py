"""Blocks of sentences that are parsed together in rank space.

Blocks depend only on the corpus, the size of the grammar and the bound. A block has distinct
sentences, longest first; sentences of one word are in separate blocks, as their root is no phrase.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Bytes, Floats, Longs
from dbpcfg.parsing.chart.layout import cell_count, chart_levels, crossing
from dbpcfg.parsing.lowrank.inside import (
    RankCharts,
    RankWorkspace,
    Rules,
    new_charts,
    new_workspace,
)

BLOCK_BYTES = 2**22
"""About the most memory for the charts of one block."""


class SentenceBlock(NamedTuple):
    """Some distinct sentences, longest first."""

    starts: Longs  # [s]   where their words begin in ``tokens``
    tokens: Longs  # [t]   words
    copies: Floats  # [s]  how often each counts
    numbers: list[Longs]  # [s]  the numbers of its copies in the corpus
    crossed: Bytes  #        spans that cross brackets


def block_edges(corpus: Encoded, cell_bytes: int) -> Longs:
    """The boundaries of blocks of distinct sentences.

    ``cell_bytes``: the memory for one span, `FactorParser.cell_bytes`.
    """
    edges, begin, size = [0], 0, 0
    lengths = corpus.lengths[corpus.distinct[0]].tolist()
    for number, n in enumerate(lengths):
        sentence_size = cell_bytes * cell_count(n)
        full = size + sentence_size > BLOCK_BYTES or (n == 1) != (lengths[begin] == 1)
        if full and number > begin:
            edges.append(number)
            begin, size = number, 0
        size += sentence_size
    return np.array([*edges, len(lengths)] if lengths else edges, dtype=np.int64)


def sentence_blocks(corpus: Encoded, copies: Floats | None, cell_bytes: int) -> list[SentenceBlock]:
    """The blocks of a corpus.

    ``copies``: ``[sentence]``: how often each sentence counts; once, if not given.
    """
    distinct, first_copy, all_copies = corpus.distinct
    blocks: list[SentenceBlock] = []
    for begin, end in itertools.pairwise(block_edges(corpus, cell_bytes).tolist()):
        numbers = np.split(
            all_copies[first_copy[begin] : first_copy[end]],
            first_copy[begin + 1 : end] - first_copy[begin],
        )
        times = [float(len(n)) if copies is None else copies[n].sum() for n in numbers]
        chosen = distinct[begin:end]
        sentences, crossed = corpus.select(chosen), crossing(corpus, chosen)
        tokens = sentences.tokens.astype(np.int64)
        blocks.append(SentenceBlock(sentences.starts, tokens, np.array(times), numbers, crossed))
    return blocks


def chart_cells(block: SentenceBlock, depth: int) -> Longs:
    """The number of cells of each sentence's chart."""
    lengths = np.diff(block.starts)
    sizes: Longs = chart_levels(depth) * (lengths * (lengths + 1) // 2)
    return sizes


def block_memory(blocks: list[SentenceBlock], G: Rules) -> tuple[RankCharts, RankWorkspace]:
    """Memory for the charts of one block after another."""
    cells = max((int(chart_cells(block, G.depth).sum()) for block in blocks), default=0)
    longest = max((int(block.starts[1]) for block in blocks), default=0)
    return new_charts(cells, G), new_workspace(longest, G)


def block_charts(
    block: SentenceBlock, depth: int, copies: Floats, memory: RankCharts
) -> RankCharts:
    """The charts of a block, before they are filled, in memory for at least as many cells."""
    first = np.concatenate([[0], np.cumsum(chart_cells(block, depth))]).astype(np.int64)
    return memory._replace(starts=block.starts, first=first, copies=copies)
