"""Trees from the brackets over a whole text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dbpcfg.numerics.kernels import Longs
from dbpcfg.systems.branching import LABEL
from dbpcfg.systems.upparse.tags import BOUNDARIES
from dbpcfg.trees.tree import Tree


def build_trees(
    sentences: Sequence[Sequence[str]], symbols: Longs, brackets: Sequence[Longs]
) -> list[Tree]:
    """A tree for each sentence, from brackets over positions of the sequence of symbols."""
    is_word = symbols >= BOUNDARIES
    words_before: Longs = np.cumsum(is_word) - is_word
    spans = words_before[np.concatenate([np.empty((0, 2), dtype=np.int64), *brackets])]
    spans = spans[np.lexsort((-spans[:, 1], spans[:, 0]))]
    ends = np.cumsum([len(words) for words in sentences])
    parts: list[Longs] = np.split(spans, np.searchsorted(spans[:, 0], ends[:-1]))
    return [
        tree(words, (part - (end - len(words))).tolist())
        for words, part, end in zip(sentences, parts, ends)
    ]


def tree(words: Sequence[str], spans: Iterable[Sequence[int]]) -> Tree:
    """The tree of nested half-open spans, in pre-order, under a root that is there only once."""
    n = len(words)
    waiting = [(start, end) for start, end in spans if end - start < n]
    waiting.reverse()
    unclosed: list[tuple[int, list[Tree | str]]] = [(n, [])]
    for position, word in enumerate(words):
        while waiting and waiting[-1][0] == position:
            unclosed.append((waiting.pop()[1], []))
        unclosed[-1][1].append(word)
        while len(unclosed) > 1 and unclosed[-1][0] == position + 1:
            _, children = unclosed.pop()
            unclosed[-1][1].append(Tree(LABEL, children))
    return Tree(LABEL, unclosed[0][1])
