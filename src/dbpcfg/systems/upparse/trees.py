"""Trees from the brackets over a whole text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbpcfg.numerics.kernels import Longs
from dbpcfg.systems.spans import tree_from_spans
from dbpcfg.systems.upparse.tags import BOUNDARIES
from dbpcfg.trees.tree import Tree


def build_trees(
    sentences: Sequence[Sequence[str]], symbols: Longs, brackets: Sequence[Longs]
) -> list[Tree]:
    """Build a tree for each sentence.

    ``brackets``: of each level, half-open pairs of positions in that sequence.
    """
    is_word = symbols >= BOUNDARIES
    words_before: Longs = np.cumsum(is_word) - is_word
    spans = words_before[np.concatenate([np.empty((0, 2), dtype=np.int64), *brackets])]
    spans = spans[np.lexsort((-spans[:, 1], spans[:, 0]))]
    ends = np.cumsum([len(words) for words in sentences])
    parts: list[Longs] = np.split(spans, np.searchsorted(spans[:, 0], ends[:-1]))
    return [
        tree_from_spans(words, (part - (end - len(words))).tolist())
        for words, part, end in zip(sentences, parts, ends)
    ]
