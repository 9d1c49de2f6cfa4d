"""Draw trees as SVG; the layout also serves drawings in the terminal.

Words are in row 0; a node is one row above its highest child, so preterminals are next to their
words. Each node has a vertical strip, made of the strips of its children and wide enough for its
text over their middle. A branch crosses to the column of the child within one row and then goes
straight down, so branches never cross anything.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
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
_MAX_LETTERS = 556
_WIDE = 1000


def text_width(text: str) -> float:
    """The approximate width of a text, in units of the size of the font."""
    total = 0
    for letter in unicodedata.normalize("NFD", text):
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            continue  # a combining accent or an invisible character
        wide = unicodedata.east_asian_width(letter) in "WF"
        total += _WIDE if wide else _WIDTH_OF.get(letter, _MAX_LETTERS)
    return total / 1000


class Node(Protocol):
    """A node to draw: a label over children, each another node or a word."""

    @property
    def label(self) -> str:
        """The text of the node."""

    @property
    def children(self) -> Sequence[Node | str]:
        """Child nodes and words, from left to right."""


@dataclass(slots=True, eq=False)
class Item:
    """A word or node, and its position."""

    text: str
    is_word: bool
    depth: int
    """The distance from the root."""
    children: list[Item] = field(default_factory=list)
    row: int = 0
    """0 for words, greater above."""
    x: float = 0
    """The middle of its text, from the left end of the picture."""
    left: float = 0
    """The left end of its strip."""
    width: float = 0
    """The width of its strip."""


def _half_way(first: float, last: float) -> float:
    return (first + last) / 2


def layout(
    tree: Node,
    halves: Callable[[str, bool], tuple[float, float]],
    gap: float,
    middle: Callable[[float, float], float] = _half_way,
) -> list[Item]:
    """Place all nodes and words of a tree; return them with parents before their children.

    ``halves``: returns the widths to the left and right of the middle of a text; its second
    argument says whether the text is a word.
    ``middle``: returns the position between two positions.
    """
    items: list[Item] = []
    todo: list[tuple[Item, Node | None]] = [(Item(tree.label, False, 0), tree)]
    while todo:
        item, node = todo.pop()
        items.append(item)
        child_items: list[tuple[Item, Node | None]] = []
        for child in node.children if node else ():
            inner = None if isinstance(child, str) else child
            text = child if isinstance(child, str) else child.label
            child_items.append((Item(text, inner is None, item.depth + 1), inner))
        item.children = [child_item for child_item, _ in child_items]
        todo.extend(reversed(child_items))
    for item in reversed(items):  # children before their parents
        _measure(item, *halves(item.text, item.is_word), gap, middle)
    for item in items:  # convert positions in the parent's strip to positions in the picture
        for child_item in item.children:
            child_item.left += item.left
            child_item.x += item.left
    return items


def _measure(
    item: Item,
    width_left: float,
    width_right: float,
    gap: float,
    middle: Callable[[float, float], float],
) -> None:
    """Place the children side by side, and the text over their middle.

    Then ``x`` of the item and of its children is relative to the left end of the item's strip.
    """
    item.width, item.x = width_left + width_right, width_left
    if not item.children:
        return
    item.row = 1 + max(child.row for child in item.children)
    width = -gap
    for child in item.children:
        child.left = width + gap
        child.x += child.left
        width = child.left + child.width
    over = middle(item.children[0].x, item.children[-1].x)
    shift = max(0, width_left - over)
    for child in item.children:
        child.left += shift
        child.x += shift
    item.x = over + shift
    item.width = max(width + shift, item.x + width_right)


_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
BLANK = "·"
"""The text of a node without a label."""

# Lengths are in units of the size of the font.
_GAP, _MARGIN = 1.0, 0.6
_ROW, _WORD_ROW = 2.8, 2.1  # from baseline to baseline: of two nodes, of a preterminal and its word
_ABOVE, _BELOW = 0.95, 0.42  # from a baseline to where lines end above and begin below
_ROUND = 0.8  # of the corner where a line turns to go straight down
_LINE = 0.075
_LABEL_SIZE, _LABEL_OPACITY = 0.88, 0.72
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TITLE_WORDS = 40


class Svg(str):
    """A picture as the text of an SVG file; notebooks show it."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def tree_svg(tree: Node, size: float = 15.0, title: str | None = None) -> Svg:
    """Draw a tree as SVG, its words on one line at the bottom; words and labels are escaped.

    ``title``: for screen readers and as a tooltip; the sentence if not given.
    """
    items = layout(tree, _halves, _GAP)
    root = items[0]

    def point(item: Item) -> tuple[float, float]:
        """The middle of the baseline of an item."""
        down = _ROW * (root.row - item.row) - (_ROW - _WORD_ROW if item.is_word else 0.0)
        return _MARGIN + item.x, _MARGIN + _ABOVE + down

    branches = [_branch(point(item), point(child)) for item in items for child in item.children]
    path = "".join(
        f"{letter}{_numbers(numbers, size)}" for step in branches for letter, numbers in step
    )
    w, h = (_numbers([end], size) for end in (root.width + 2 * _MARGIN, point(items[-1])[1] + 1.0))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{w}" height="{h}" '
        f'viewBox="0 0 {w} {h}" fill="currentColor" text-anchor="middle" '
        f'font-family="{_FONT}" font-size="{size:g}">'
    )
    lines = (
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity="0.45" '
        f'stroke-width="{_numbers([_LINE], size)}" stroke-linecap="round"/>'
    )
    labels = f'<g font-size="{_numbers([_LABEL_SIZE], size)}" fill-opacity="{_LABEL_OPACITY}">'
    return Svg(
        "\n".join(
            [
                svg,
                f"<title>{_xml(_sentence(items) if title is None else title)}</title>",
                lines,
                labels,
                *(_text(item.text, point(item), size) for item in items if not item.is_word),
                "</g>",
                *(_text(item.text, point(item), size) for item in items if item.is_word),
                "</svg>",
            ]
        )
    )


def _branch(
    parent: tuple[float, float], child: tuple[float, float]
) -> list[tuple[str, list[float]]]:
    """The branch from a node to a child: to above the child within one row, then straight down."""
    (x, y), (end_x, end_y) = (parent[0], parent[1] + _BELOW), (child[0], child[1] - _ABOVE)
    turn = parent[1] + _ROW - _ABOVE
    steps = [("M", [x, y])]
    if end_x == x or turn + _ROUND > end_y:
        return [*steps, ("L", [end_x, end_y])]
    part = _ROUND / math.hypot(end_x - x, turn - y)
    corner = [end_x - part * (end_x - x), turn - part * (turn - y)]
    return [*steps, ("L", corner), ("Q", [end_x, turn, end_x, turn + _ROUND]), ("V", [end_y])]


def _text(text: str, point: tuple[float, float], size: float) -> str:
    x, y = (_numbers([number], size) for number in point)
    return f'<text x="{x}" y="{y}">{_xml(text or BLANK)}</text>'


def _halves(text: str, is_word: bool) -> tuple[float, float]:
    half = text_width(text or BLANK) * (1.0 if is_word else _LABEL_SIZE) / 2
    return half, half


def _numbers(lengths: Iterable[float], size: float) -> str:
    return " ".join(f"{length * size:.1f}".removesuffix(".0") for length in lengths)


def _sentence(items: Iterable[Item]) -> str:
    words = [item.text for item in items if item.is_word]
    return " ".join(words[:_TITLE_WORDS]) + (" …" if len(words) > _TITLE_WORDS else "")


def _xml(text: str) -> str:
    return escape(_NOT_IN_XML.sub("?", text))
