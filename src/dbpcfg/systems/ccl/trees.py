"""From brackets to a tree.

Brackets nest, with a rare exception: x and y are linked to each other at depth 0, and both are also
linked at depth 1, x to what is left of them and y to what is right.  Then x has a bracket with all
that y reaches, y one with all that x reaches, and the two cross.  What the links mean is that x and
y are one constituent inside a bigger one.  That is also how the brackets read when they are
written down: each closing bracket closes the last one still open.  (This is our own
reading: an account of CCL that foresees the case is not known to us.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbpcfg.trees.tree import Tree

LABEL = "X"


def tree_of(words: Sequence[str], brackets: Iterable[tuple[int, int]]) -> Tree:
    """The tree of a sentence whose nodes are its brackets of two words or more and the whole.

    Brackets are half-open spans; those that cross are read as above.
    """
    spans = nested(brackets) | {(0, len(words))}
    opening = sorted(spans, key=lambda span: (-span[0], span[1]))  # the first and longest last
    unclosed: list[tuple[int, list[Tree | str]]] = []
    closed: list[Tree | str] = []
    for position, word in enumerate(words):
        while opening and opening[-1][0] == position:
            unclosed.append((opening.pop()[1], []))
        unclosed[-1][1].append(word)
        while unclosed and unclosed[-1][0] == position + 1:
            tree = Tree(LABEL, unclosed.pop()[1])
            (unclosed[-1][1] if unclosed else closed).append(tree)
    (root,) = closed
    assert isinstance(root, Tree)
    return root


def nested(brackets: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Brackets of two words or more that begin and end where the given ones do, and nest."""
    spans = set(brackets)
    ends = [(end, False) for _, end in spans]
    starts = [(start, True) for start, _ in spans]
    found = set()
    unclosed: list[int] = []
    for position, opens in sorted(ends + starts):  # what ends at a position goes first
        if opens:
            unclosed.append(position)
        else:
            start = unclosed.pop()
            if position - start > 1:
                found.add((start, position))
    return found
