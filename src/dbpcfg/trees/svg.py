"""A tree as SVG: text and lines in the colour of the page around it, so in light and dark alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from html import escape

from dbpcfg.trees.layout import Node, Placed, place, text_width

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
BLANK = "·"
"""What a node without a label is shown as."""

# Lengths are in units of the size of the font.
_GAP, _MARGIN = 1.0, 0.6
_ROW, _WORD_ROW = 2.8, 2.1  # from baseline to baseline: of two nodes, of a preterminal and its word
_ABOVE, _BELOW = 0.95, 0.42  # from a baseline to where lines end above and begin below
_ROUND = 0.8  # of the corner where a line turns to go straight down
_LINE = 0.075
_LABEL_SIZE, _LABEL_OPACITY = 0.88, 0.72
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TITLE_WORDS = 40


def tree_svg(tree: Node, size: float = 15.0, title: str | None = None) -> str:
    """Draw a tree as SVG.

    Words stand on one line at the bottom. Nothing in a word or label is taken for markup.

    ``title``: the title for screen readers and pointing devices; by default the sentence.
    """
    items = place(tree, _width, _GAP)
    root = items[0]

    def at(item: Placed) -> tuple[float, float]:
        """The middle of its baseline."""
        down = _ROW * (root.row - item.row) - (_ROW - _WORD_ROW if item.is_word else 0.0)
        return _MARGIN + item.x, _MARGIN + _ABOVE + down

    branches = [_branch(at(item), at(child)) for item in items for child in item.children]
    path = "".join(
        f"{letter}{_numbers(numbers, size)}" for step in branches for letter, numbers in step
    )
    w, h = (_numbers([end], size) for end in (root.width + 2 * _MARGIN, at(items[-1])[1] + 1.0))
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
    return "\n".join(
        [
            svg,
            f"<title>{_xml(_sentence(items) if title is None else title)}</title>",
            lines,
            labels,
            *(_text(item.text, at(item), size) for item in items if not item.is_word),
            "</g>",
            *(_text(item.text, at(item), size) for item in items if item.is_word),
            "</svg>",
        ]
    )


def _branch(
    parent: tuple[float, float], child: tuple[float, float]
) -> list[tuple[str, list[float]]]:
    """The line from a node to a child: within one row to above the child, and then down to it."""
    (x, y), (end_x, end_y) = (parent[0], parent[1] + _BELOW), (child[0], child[1] - _ABOVE)
    turn = parent[1] + _ROW - _ABOVE
    steps = [("M", [x, y])]
    if end_x == x or turn + _ROUND > end_y:
        return [*steps, ("L", [end_x, end_y])]
    part = _ROUND / math.hypot(end_x - x, turn - y)
    before = [end_x - part * (end_x - x), turn - part * (turn - y)]
    return [*steps, ("L", before), ("Q", [end_x, turn, end_x, turn + _ROUND]), ("V", [end_y])]


def _text(text: str, at: tuple[float, float], size: float) -> str:
    x, y = (_numbers([number], size) for number in at)
    return f'<text x="{x}" y="{y}">{_xml(text or BLANK)}</text>'


def _width(text: str, is_word: bool) -> float:
    return text_width(text or BLANK) * (1.0 if is_word else _LABEL_SIZE)


def _numbers(lengths: Iterable[float], size: float) -> str:
    return " ".join(f"{length * size:.1f}".removesuffix(".0") for length in lengths)


def _sentence(items: Iterable[Placed]) -> str:
    words = [item.text for item in items if item.is_word]
    return " ".join(words[:_TITLE_WORDS]) + (" …" if len(words) > _TITLE_WORDS else "")


def _xml(text: str) -> str:
    return escape(_NOT_IN_XML.sub("?", text))
