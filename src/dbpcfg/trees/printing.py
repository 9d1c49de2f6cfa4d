r"""Trees as text: drawn with box-drawing characters or plain ASCII, and as LaTeX.

::

          X3             X3
       ┌──┴──┐        .--+--.
       X1    X3       X1    X3
     ┌─┴─┐   │      .-+-.   |
     a   b   c      a   b   c

All words are on the last line. The line of a node is given by its distance from the root; it is
over the middle of its children, and the lines between have the branches. A picture is plain text
without white space at line ends: `draw` makes one, `beside` puts several side by side. Wide
characters, such as Chinese ones, take two columns. Nothing here recurses.

In LaTeX, for the packages ``forest`` and ``tikz-qtree``, words and labels are in braces and special
characters are escaped, so no word is taken for a command or a bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, zip_longest
from typing import Literal, TypeAlias

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import SPECIAL, display_width
from dbpcfg.trees.drawing import Item, layout
from dbpcfg.trees.tree import Tree

BOX_CHARACTERS = "─│┌┐┬┴┼·"
"""The characters of branches, and of nodes without a label, unless a picture is ASCII."""
_ASCII = dict(zip(BOX_CHARACTERS, "-|..+++*"))
_UNPRINTABLE = "?"


def draw(tree: Tree, *, ascii: bool = False, gap: int = 2) -> str:
    """Draw a tree with box-drawing characters or plain ASCII.

    A node without a label is a dot. Characters that cannot be printed become question marks.
    """
    if gap < 1:
        raise DbpcfgError(f"words need a gap of at least 1 between them, got {gap}")
    marks = {mark: _ASCII[mark] if ascii else mark for mark in BOX_CHARACTERS}
    items = layout(tree, _halves, gap, middle=lambda first, last: (first + last) // 2)
    lines: list[dict[int, str]] = [{} for _ in range(2 * max(item.depth for item in items) + 1)]
    for item in items:
        _paint(item, lines, marks)
    return "\n".join(map(_line, lines))


def beside(pictures: Iterable[str], width: int = 80, *, gap: int = 4) -> str:
    """Put pictures side by side, in as many rows as needed, with a blank line between rows."""
    rows: list[list[list[str]]] = []
    room = 0
    for picture in pictures:
        lines = picture.split("\n")
        needed = gap + max(map(display_width, lines))
        if needed > room:
            rows.append([])
            room = width + gap
        rows[-1].append(lines)
        room -= needed
    return "\n\n".join(_abreast(row, gap) for row in rows)


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else _UNPRINTABLE for letter in text) or "·"


def _halves(text: str, is_word: bool) -> tuple[int, int]:
    """The columns before the one in the middle, and the rest."""
    columns = max(1, display_width(_shown(text)))
    return (columns - 1) // 2, columns - (columns - 1) // 2


def _paint(item: Item, lines: list[dict[int, str]], marks: dict[str, str]) -> None:
    """Write a text, the branches below it, and the vertical line down to a word."""
    row, column = 2 * item.depth, int(item.x)
    if item.is_word:
        for line in lines[row:-1]:
            line[column] = marks["│"]
        row = len(lines) - 1
    text = _shown(item.text) if item.text else marks["·"]
    lines[row][column - _halves(text, item.is_word)[0]] = text
    if not item.children:
        return
    # There is a gap between children, so the column in the middle of two children is free.
    branches, below = lines[row + 1], [int(child.x) for child in item.children]
    if len(below) == 1:
        branches[column] = marks["│"]
        return
    branches.update(dict.fromkeys(range(below[0], below[-1]), marks["─"]))
    branches.update(dict.fromkeys(below, marks["┬"]))
    branches[below[0]], branches[below[-1]] = marks["┌"], marks["┐"]
    branches[column] = marks["┼"] if column in below else marks["┴"]


def _line(texts: dict[int, str]) -> str:
    """Join texts into a line, each at its column."""
    pieces, end = [], 0
    for column, text in sorted(texts.items()):
        pieces.append(" " * (column - end) + text)
        end = column + display_width(text)
    return "".join(pieces).rstrip()


def _abreast(pictures: list[list[str]], gap: int) -> str:
    ends = list(accumulate(max(map(display_width, lines)) + gap for lines in pictures))
    return "\n".join(
        _line(dict(zip([0, *ends], row))) for row in zip_longest(*pictures, fillvalue="")
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
