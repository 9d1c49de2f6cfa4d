"""Trees from nested spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbpcfg.trees.tree import Tree

LABEL = "X"
"""The label of all nodes, for systems without categories."""


def tree_from_spans(words: Sequence[str], spans: Iterable[Sequence[int]]) -> Tree:
    """Build the tree that has a node for every span, and one root.

    ``spans``: half-open spans of two words or more that nest, in pre-order. The whole sentence may
    be among them or not.
    """
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
