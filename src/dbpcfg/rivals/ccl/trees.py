"""From brackets to a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbpcfg.trees import Tree

LABEL = "X"


def tree_of(words: Sequence[str], brackets: Iterable[Sequence[int]]) -> Tree:
    """The tree of a sentence whose nodes are its brackets of two words or more and the whole.

    Brackets are half-open and nest: of two that share a word, one is inside the other.
    """
    n = len(words)
    wanted = {(start, end) for start, end in brackets if end - start > 1} | {(0, n)}
    opening = sorted(wanted, key=lambda span: (span[0], -span[1]))  # outer before inner
    opening.reverse()
    unclosed: list[tuple[int, list[Tree | str]]] = []
    for position, word in enumerate(words):
        while opening and opening[-1][0] == position:
            unclosed.append((opening.pop()[1], []))
        unclosed[-1][1].append(word)
        while unclosed[-1][0] == position + 1:
            tree = Tree(LABEL, unclosed.pop()[1])
            if not unclosed:
                return tree
            unclosed[-1][1].append(tree)
    raise AssertionError("the bracket of the whole sentence ends with its last word")
