"""Places of all nodes and words in a drawn tree.

Words stand in row 0, in their order; a node stands one row above the highest of its children, so
that all preterminals are next to their words. From side to side, each node has a strip of its own:
the strips of its children side by side, and room for its text over their middle. So a line that
leaves a node within the row below it, and then goes straight down to a child, meets nothing else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

# Widths of Helvetica, in thousandths of its size; those of Arial and Liberation Sans are the same.
_WIDTHS = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckvsxyz",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "…—",
    1015: "@",
}
_WIDTH_OF = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_MOST_LETTERS = 556
_WIDE = 1000


def text_width(text: str) -> float:
    """The approximate width of a text, in units of the size of the font."""
    total = 0
    for letter in unicodedata.normalize("NFD", text):
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            continue  # an accent over the letter before, or nothing to see
        wide = unicodedata.east_asian_width(letter) in "WF"
        total += _WIDE if wide else _WIDTH_OF.get(letter, _MOST_LETTERS)
    return total / 1000


class Node(Protocol):
    """A node to draw: a label over children, each another node or a word."""

    @property
    def label(self) -> str:
        """The text of the node."""

    @property
    def children(self) -> Sequence[Node | str]:
        """Nodes and words below it, from left to right."""


@dataclass(slots=True, eq=False)
class Placed:
    """A word or a node, and its place."""

    text: str
    """The word or label."""
    is_word: bool
    """Whether it is a word."""
    children: list[Placed] = field(default_factory=list)
    """What is below it, from left to right."""
    row: int = 0
    """0 for words; counted upwards."""
    x: float = 0.0
    """The middle of its text, counted from the left end of the picture."""
    left: float = 0.0
    """The left end of its strip, counted likewise."""
    width: float = 0.0
    """The width of its strip."""


def place(tree: Node, width_of: Callable[[str, bool], float], gap: float) -> list[Placed]:
    """Place everything in a tree.

    ``width_of``: gives the width of a text, and is called with it and whether it is a word.
    """
    items: list[Placed] = []
    root = Placed(tree.label, is_word=False)
    todo: list[tuple[Placed, Node | None]] = [(root, tree)]
    while todo:
        item, node = todo.pop()
        items.append(item)
        below: list[tuple[Placed, Node | None]] = []
        for child in node.children if node else ():
            if isinstance(child, str):
                below.append((Placed(child, is_word=True), None))
            else:
                below.append((Placed(child.label, is_word=False), child))
        item.children = [part for part, _ in below]
        todo.extend(reversed(below))
    for item in reversed(items):  # children before their parents
        _measure(item, width_of(item.text, item.is_word), gap)
    for item in items:  # from places within the parent's strip to places in the picture
        for part in item.children:
            part.left += item.left
            part.x += item.left
    return items


def _measure(item: Placed, text: float, gap: float) -> None:
    """Put the children side by side and the text over their middle; make room if it sticks out.

    Afterwards ``x`` is counted from the left end of the item's own strip, and those of its children
    from there as well.
    """
    item.width, item.x = text, text / 2
    if not item.children:
        return
    item.row = 1 + max(child.row for child in item.children)
    width = -gap
    for child in item.children:
        child.left = width + gap
        child.x += child.left
        width = child.left + child.width
    middle = (item.children[0].x + item.children[-1].x) / 2
    shift = max(0.0, text / 2 - middle)
    for child in item.children:
        child.left += shift
        child.x += shift
    item.x = middle + shift
    item.width = max(width + shift, item.x + text / 2)
