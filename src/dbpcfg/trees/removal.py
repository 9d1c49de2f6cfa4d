"""Trees without some of their words."""

from __future__ import annotations

from collections.abc import Sequence

from dbpcfg.trees.tree import Tree


def without_words(tree: Tree, gone: Sequence[bool]) -> Tree:
    """The tree without some of its words, and without nodes that then have none.

    ``gone``: for each word whether it is removed; at least one stays.
    """
    marks = iter(gone)

    def kept(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
        children = [part for part in parts if part is not None]
        return Tree(node.label, children) if children else None

    whole = tree.fold(lambda word: None if next(marks) else word, kept)
    assert whole is not None
    return whole
