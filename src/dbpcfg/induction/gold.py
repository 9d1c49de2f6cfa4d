"""F1 of a chain's sampled trees, fast enough to be logged as it runs. Never used for selection.

The convention is the paper's: unlabelled spans of two words or more, each once, punctuation
removed, the whole sentence counted, all sentences pooled. ``dbpcfg.evaluation`` gives the same
number, with more detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dbpcfg.evaluation.parseval import f1
from dbpcfg.io.archive import ArchiveError, read_archive, write_archive
from dbpcfg.io.files import reading
from dbpcfg.numerics.kernels import Ints, Longs, kernel
from dbpcfg.trees.tree import Tree

FORMAT, VERSION = "dbpcfg gold spans", 1
LOG_EVERY = 10
"""Iterations between two scores in the trace."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class GoldSpans:
    """Gold spans over words without punctuation.

    ``kept[t]``: how many words stand before token t of the corpus in its sentence, itself not
    counted. ``spans`` are dense: sentence s has ``(m + 1)²`` entries from ``first[s]`` on, m its
    number of words.
    """

    kept: Ints
    words: Ints
    first: Longs
    spans: Bytes

    def f1(self, starts: Longs, nodes: Ints) -> float:
        """F1 of trees."""
        counts = span_counts(starts, nodes, self.kept, self.words, self.first, self.spans)
        return float(f1(*counts))


def gold_spans(trees: Sequence[Tree], punctuation: Sequence[Sequence[bool]]) -> GoldSpans:
    """Gold spans of trees."""
    words = np.array([marks.count(False) for marks in map(list, punctuation)], dtype=np.int32)
    first = np.concatenate([[0], np.cumsum((words.astype(np.int64) + 1) ** 2)])
    spans = np.zeros(int(first[-1]), dtype=np.uint8)
    kept: list[int] = []
    for s, (tree, marks) in enumerate(zip(trees, punctuation, strict=True)):
        before = np.concatenate([[0], np.cumsum(~np.array(marks, dtype=bool))])
        kept += before[:-1].tolist()
        for start, end, _ in tree.spans():
            i, j = int(before[start]), int(before[end])
            if j - i > 1:
                spans[first[s] + i * (words[s] + 1) + j] = 1
    return GoldSpans(np.array(kept, dtype=np.int32), words, first, spans)


@kernel
def span_counts(
    starts: Longs, nodes: Ints, kept: Ints, words: Ints, first: Longs, spans: Bytes
) -> tuple[int, int, int]:
    """Numbers of matched, predicted and gold spans over all sentences."""
    matched, predicted, gold = 0, 0, 0
    for s in range(len(words)):
        m, n = words[s], starts[s + 1] - starts[s]
        if m < 2:
            continue
        here = spans[first[s] : first[s + 1]]
        seen = np.zeros(len(here), dtype=np.uint8)
        base = 2 * starts[s] - s
        for t in range(base, base + 2 * n - 1):
            i = kept[starts[s] + nodes[t, 0]]
            j = kept[starts[s] + nodes[t, 1]] if nodes[t, 1] < n else m
            span = i * (m + 1) + j
            if j - i > 1 and not seen[span]:
                seen[span] = 1
                predicted += 1
                matched += here[span]
        for span in range(len(here)):
            gold += here[span]
    return matched, predicted, gold


def save_gold(gold: GoldSpans, path: Path) -> None:
    """Write the gold spans of a run."""
    arrays = {"kept": gold.kept, "words": gold.words, "first": gold.first, "spans": gold.spans}
    write_archive(path, FORMAT, VERSION, {}, arrays)


def load_gold(path: Path, starts: Longs) -> GoldSpans:
    """Read the gold spans of a run."""
    dtypes = {"kept": np.int32, "words": np.int32, "first": np.int64, "spans": np.uint8}
    with reading(path):
        _, arrays = read_archive(path, FORMAT, VERSION, dtypes)
        gold = GoldSpans(**arrays)
        if not _fits(gold, starts):
            raise ArchiveError("its spans are not those of the run's sentences")
    return gold


def _fits(gold: GoldSpans, starts: Longs) -> bool:
    """Whether the kernel, which checks no bounds, will stay within these arrays."""
    lengths, words = np.diff(starts), gold.words.astype(np.int64)
    if words.shape != lengths.shape or gold.kept.shape != (starts[-1],) or gold.spans.ndim != 1:
        return False
    first = np.concatenate([[0], np.cumsum((words + 1) ** 2)])
    return bool(
        np.array_equal(gold.first, first)
        and len(gold.spans) == first[-1]
        and (gold.kept >= 0).all()
        and (gold.kept <= np.repeat(words, lengths)).all()
    )
