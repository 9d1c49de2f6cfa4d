r"""A tree as LaTeX, for the packages ``forest`` and ``tikz-qtree``.

Every word and label stands in braces, and characters that are special to LaTeX are escaped: a word
is never a command, and a bracket in a word is never one of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.latex import SPECIAL
from dbpcfg.trees.tree import Tree

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
