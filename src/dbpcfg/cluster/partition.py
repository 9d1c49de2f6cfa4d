"""Which sentences are in which shard.

The last bits of a sentence's log-probability depend on the sentences that are in its batch
(`dbpcfg.parsing.chart.batches`). So a shard is made of whole batches of the corpus: its own batches
are then the same, and so are all bits. If the bound changes during a run, sentences that are in one
batch at any of the bounds stay together.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Longs
from dbpcfg.parsing.chart.batches import together
from dbpcfg.parsing.chart.layout import padded


def parts(corpus: Encoded, settings: ChainSettings, shards: int) -> list[Longs]:
    """The sentences of each shard, in rising order; about the same work for each.

    ``shards``: the number of shards; there are fewer if there are fewer batches.
    """
    distinct, first_copy, copies = corpus.distinct
    edges = _edges(corpus.lengths[distinct], settings)
    n = corpus.lengths[distinct[edges[:-1]]].astype(float)
    K = settings.categories
    work = np.diff(edges) * n**2 * (n + K) + np.diff(first_copy[edges]) * n**2
    shares = [(0.0, shard) for shard in range(shards)]
    found: list[list[Longs]] = [[] for _ in range(shards)]
    for unit in np.argsort(-work, kind="stable").tolist():
        load, shard = heapq.heappop(shares)
        found[shard].append(copies[first_copy[edges[unit]] : first_copy[edges[unit + 1]]])
        heapq.heappush(shares, (load + float(work[unit]), shard))
    return [np.sort(np.concatenate(units)) for units in found if units]


def _edges(lengths: Longs, settings: ChainSettings) -> Longs:
    """Where groups of distinct sentences that stay together begin and end."""
    K, depth = padded(settings.categories), settings.depth
    depths = {0 if depth is None else depth}
    if depth is not None and settings.curriculum:
        depths = set(range(1, depth + 1))
    changes = np.flatnonzero(np.diff(lengths)) + 1
    found = []
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), len(lengths)]):
        size = math.lcm(*(together(int(lengths[first]), K, one) for one in depths))
        found.append(np.arange(first, last, size, dtype=np.int64))
    return np.concatenate([*found, np.array([len(lengths)], dtype=np.int64)])


def rows_of(starts: Longs, sentences: Longs) -> Longs:
    """The rows of some sentences, of which sentence s has ``starts[s]`` to ``starts[s + 1]``."""
    sizes = starts[sentences + 1] - starts[sentences]
    ends = np.cumsum(sizes)
    rows: Longs = np.arange(int(sizes.sum())) + np.repeat(starts[sentences] - ends + sizes, sizes)
    return rows
