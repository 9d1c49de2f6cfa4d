"""From brackets to a tree.

Brackets nest, with a rare exception: x and y are linked to each other at depth 0, and both are also
linked at depth 1, x to what is left of them and y to what is right.  Then x has a bracket with all
that y reaches, y one with all that x reaches, and the two cross.  What the links mean is that x and
y are one constituent inside a bigger one.  That is also how the brackets read when they are
written down: each closing bracket closes the last one still open.  (This is our own reading: we
know no description of CCL that has this case.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbpcfg.systems.spans import tree_from_spans
from dbpcfg.trees.tree import Tree


def tree_from_brackets(words: Sequence[str], brackets: Iterable[tuple[int, int]]) -> Tree:
    """The tree of a sentence whose nodes are its brackets of two words or more and the whole.

    ``brackets``: half-open spans in any order; those that cross are read as above.
    """
    preorder = sorted(nested(brackets), key=lambda span: (span[0], -span[1]))
    return tree_from_spans(words, preorder)


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
