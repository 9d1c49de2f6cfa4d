r"""Trees drawn in the terminal, with box-drawing characters or plain ASCII.

::

          X3             X3
       ┌──┴──┐        .--+--.
       X1    X3       X1    X3
     ┌─┴─┐   │      .-+-.   |
     a   b   c      a   b   c

All words stand in the last line, in their order. A node stands in the line of its distance from the
root, over the middle of its children; the lines between hold the branches. A picture is plain text
without white space at the ends of its lines: `draw` makes one, `beside` puts several next to each
other. Every character counts as one column. Nothing here recurses.

A tree as LaTeX, for the packages ``forest`` and ``tikz-qtree``.

Every word and label stands in braces, and characters that are special to LaTeX are escaped: a word
is never a command, and a bracket in a word is never one of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import SPECIAL
from dbpcfg.trees.tree import Tree

BOX_CHARACTERS = "─│┌┐┬┴┼·"
"""What pictures are made of besides words and labels, unless they are ASCII."""
_ASCII = dict(zip(BOX_CHARACTERS, "-|..+++*"))
_UNPRINTABLE = "?"


@dataclass(slots=True)
class _Box:
    """A word or node with the room that it and all below it need."""

    text: str
    depth: int
    is_word: bool
    children: list[_Box] = field(default_factory=list)
    width: int = 0
    anchor: int = 0
    """Column of the line to the parent, counted from the left end of the box."""
    left: int = 0
    """Left end of the box, from that of the parent while measured, then from that of the page."""


def draw(tree: Tree, *, ascii: bool = False, gap: int = 2) -> str:
    """Draw a tree with box-drawing characters or plain ASCII.

    A node without a label is a dot. Characters that cannot be printed become question marks.
    """
    if gap < 1:
        raise DbpcfgError(f"words need a gap of at least 1 between them, got {gap}")
    marks = {mark: _ASCII[mark] if ascii else mark for mark in BOX_CHARACTERS}
    boxes = _boxes(tree, marks["·"])
    for box in reversed(boxes):  # children before their parents
        _measure(box, gap)
    for box in boxes:
        for child in box.children:
            child.left += box.left
    last = 2 * max(box.depth for box in boxes)
    lines: list[dict[int, str]] = [{} for _ in range(last + 1)]
    for box in boxes:
        _paint(box, lines, marks)
    return "\n".join(map(_line, lines))


def beside(pictures: Iterable[str], width: int = 80, *, gap: int = 4) -> str:
    """Put pictures next to each other, their tops in line.

    A blank line divides rows. A picture that is itself too wide has a row of its own, uncut.
    """
    rows: list[list[list[str]]] = []
    room = 0
    for picture in pictures:
        lines = picture.split("\n")
        needed = gap + max(map(len, lines))
        if needed > room:
            rows.append([])
            room = width + gap
        rows[-1].append(lines)
        room -= needed
    return "\n\n".join(_abreast(row, gap) for row in rows)


def _boxes(tree: Tree, blank: str) -> list[_Box]:
    """A box for everything in a tree, in pre-order; ``blank`` stands for the empty label."""
    boxes = []
    root = _Box(_shown(tree.label) or blank, 0, is_word=False)
    todo: list[tuple[_Box, Tree | None]] = [(root, tree)]
    while todo:
        box, node = todo.pop()
        boxes.append(box)
        if node is None:
            continue
        below = []
        for child in node.children:
            text, its_node = (child, None) if isinstance(child, str) else (child.label, child)
            its_box = _Box(_shown(text) or blank, box.depth + 1, is_word=its_node is None)
            box.children.append(its_box)
            below.append((its_box, its_node))
        todo.extend(reversed(below))
    return boxes


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else _UNPRINTABLE for letter in text)


def _measure(box: _Box, gap: int) -> None:
    """Put the children side by side and the text over their middle; make room where it sticks out.

    Two anchors are never neighbours, as boxes have a gap between them: the middle is always free.
    """
    for child in box.children:
        child.left = box.width
        box.width += child.width + gap
    if box.children:
        box.width -= gap
        first, last = box.children[0], box.children[-1]
        box.anchor = (first.left + first.anchor + last.left + last.anchor) // 2
    else:
        box.anchor = (len(box.text) - 1) // 2
    start = _text_start(box)
    if start < 0:
        for child in box.children:
            child.left -= start
        box.width -= start
        box.anchor -= start
    box.width = max(box.width, _text_start(box) + len(box.text))


def _text_start(box: _Box) -> int:
    return box.anchor - (len(box.text) - 1) // 2


def _paint(box: _Box, lines: list[dict[int, str]], marks: dict[str, str]) -> None:
    """Write a box's text, the branches under it, and the long line down to a word."""
    row, at = 2 * box.depth, box.left + box.anchor
    if box.is_word:
        for line in lines[row:-1]:
            line[at] = marks["│"]
        row = len(lines) - 1
    lines[row].update(enumerate(box.text, box.left + _text_start(box)))
    if not box.children:
        return
    branches, anchors = lines[row + 1], [child.left + child.anchor for child in box.children]
    if len(anchors) == 1:
        branches[at] = marks["│"]
        return
    branches.update(dict.fromkeys(range(anchors[0], anchors[-1]), marks["─"]))
    branches.update(dict.fromkeys(anchors, marks["┬"]))
    branches[anchors[0]], branches[anchors[-1]] = marks["┌"], marks["┐"]
    branches[at] = marks["┼"] if at in anchors else marks["┴"]


def _line(marks: dict[int, str]) -> str:
    pieces, end = [], 0
    for column in sorted(marks):
        pieces.append(" " * (column - end) + marks[column])
        end = column + 1
    return "".join(pieces).rstrip()


def _abreast(pictures: list[list[str]], gap: int) -> str:
    widths = [max(map(len, lines)) + gap for lines in pictures]
    height = max(map(len, pictures))
    return "\n".join(
        "".join(
            (lines[row] if row < len(lines) else "").ljust(width)
            for lines, width in zip(pictures, widths)
        ).rstrip()
        for row in range(height)
    )


LatexPackage: TypeAlias = Literal["forest", "qtree"]

_SPECIAL = {**SPECIAL, '"': r"\char34{}"}  # with babel, a quotation mark itself may be a command
_LIGATURE = re.compile("-(?=-)|[?!](?=`)")  # -- would be printed as one dash, ?` as ¿
_BLANK = r"\textperiodcentered{}"
_DEEPEST = 40  # blanks before a line, at most: deep trees would take quadratic space

_FOREST_OPTIONS = (
    "for tree={parent anchor=south, child anchor=north}, where n children=0{tier=word}{}"
)
_PREAMBLE = {
    "forest": r"\documentclass[border=5pt,multi=forest]{standalone}"
    "\n\\usepackage[T1]{fontenc}\n\\usepackage{lmodern}\n\\usepackage{forest}",
    "qtree": r"\documentclass[border=5pt,multi=tikzpicture]{standalone}"
    "\n\\usepackage[T1]{fontenc}\n\\usepackage{lmodern}\n\\usepackage{tikz-qtree}",
}


def forest(tree: Tree) -> str:
    r"""The tree for ``\usepackage{forest}``, its words in one line at the bottom."""
    body = _nodes(tree, "[{%s}", "[{%s}]", "]")
    return f"\\begin{{forest}}\n{_FOREST_OPTIONS}\n{body}\n\\end{{forest}}"


def qtree(tree: Tree) -> str:
    r"""The tree for ``\usepackage{tikz-qtree}``."""
    body = _nodes(tree, "[.{%s}", " {%s}", " ]")
    return f"\\begin{{tikzpicture}}\n\\Tree\n{body}\n\\end{{tikzpicture}}"


def latex_document(pictures: Iterable[str], package: LatexPackage) -> str:
    """A whole LaTeX document with a page for each picture."""
    if package not in _PREAMBLE:
        raise DbpcfgError(f"the package of LaTeX must be forest or qtree, not {package!r}")
    body = "\n\n".join(pictures)
    return f"{_PREAMBLE[package]}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"


def _nodes(tree: Tree, opening: str, word: str, closing: str) -> str:
    """A line for every preterminal with its word, and for every other node and word."""
    pieces: list[str] = []
    todo: list[tuple[int, Tree | str | None]] = [(0, tree)]
    while todo:
        depth, item = todo.pop()
        margin = "\n" + " " * min(2 * depth, _DEEPEST)
        if item is None:
            pieces.append(closing)
        elif isinstance(item, str):
            pieces.append(margin + word % _escaped(item))
        elif item.preterminal:
            pieces.append(margin + opening % _escaped(item.label))
            pieces.append(word % _escaped(str(item.children[0])) + closing)
        else:
            pieces.append(margin + opening % _escaped(item.label))
            todo.append((depth, None))
            todo.extend((depth + 1, child) for child in reversed(item.children))
    return "".join(pieces)[1:]


def _escaped(text: str) -> str:
    printable = (
        " " if character.isspace() else character if character.isprintable() else "?"
        for character in text
    )
    escaped = "".join(_SPECIAL.get(character, character) for character in printable)
    return _LIGATURE.sub(r"\g<0>{}", escaped) or _BLANK
