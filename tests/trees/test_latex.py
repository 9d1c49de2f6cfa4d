"""Trees as LaTeX: what its packages read is the tree, and no word is a command."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.printing import forest, latex_document, qtree
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import SMALL, deep_tree, drawable_tokens, drawable_trees

CHARACTERS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\char34{}": '"',
    r"\textperiodcentered{}": "",
    **{"\\" + character: character for character in "&%$#_{}"},
    "{}": "",
}
TOKEN = re.compile("|".join([*map(re.escape, CHARACTERS), r"[^\\{}%&#_$~^\"<>|]"]))


def unescaped(text: str) -> str:
    """What LaTeX prints, if there is nothing but plain characters and known commands."""
    pieces = TOKEN.findall(text)
    assert "".join(pieces) == text
    return "".join(CHARACTERS.get(piece, piece) for piece in pieces)


def groups(text: str):
    """Brackets, and what stands in braces: the tree as LaTeX's packages see it."""
    at = 0
    while at < len(text):
        if text[at] == "{":
            end, depth = at, 0
            while True:
                if text[end] == "\\" and text[end + 1] in "{}":
                    end += 2
                    continue
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
                if not depth:
                    break
            yield unescaped(text[at + 1 : end - 1])
            at = end
        else:
            if text[at] in "[].":
                yield text[at], None
            else:
                assert text[at] in " \n"
            at += 1


def read_forest(text: str) -> Tree:
    stack: list[list] = [[]]
    for token in groups(text):
        if token == ("[", None):
            stack.append([])
        elif token == ("]", None):
            label, *below = stack.pop()
            stack[-1].append(Tree(label, below) if below else label)
        else:
            stack[-1].append(token)
    return stack[0][0]


def read_qtree(text: str) -> Tree:
    stack: list[list] = [[]]
    for token in groups(text):
        if token == ("[", None):
            stack.append([])
        elif token == ("]", None):
            label, *below = stack.pop()
            stack[-1].append(Tree(label, below))
        elif token != (".", None):
            stack[-1].append(token)
    return stack[0][0]


@settings(max_examples=200)
@given(drawable_trees(drawable_tokens))
def test_latex_says_the_tree_and_nothing_else(tree):
    begin, _, *lines, end = forest(tree).split("\n")
    assert (begin, end) == (r"\begin{forest}", r"\end{forest}")
    assert read_forest("\n".join(lines)) == tree
    begin, command, *lines, end = qtree(tree).split("\n")
    assert (begin, command, end) == (r"\begin{tikzpicture}", r"\Tree", r"\end{tikzpicture}")
    assert read_qtree("\n".join(lines)) == tree


@pytest.mark.parametrize(
    ("word", "written"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("100%", r"100\%"),
        ("a_b^c", r"a\_b\textasciicircum{}c"),
        ("---", "-{}-{}-"),
        ("?`", "?{}`"),
        ('"', r"\char34{}"),
        ("a\n\nb\0c", "a  b?c"),
    ],
)
def test_words_in_latex(word, written):
    assert f"[{{{written}}}]" in forest(Tree("X", [word]))
    assert f" {{{written}}} ]" in qtree(Tree("X", [word]))


def test_a_document_has_its_packages():
    document = latex_document([forest(SMALL), forest(SMALL)], "forest")
    assert document.startswith(r"\documentclass")
    assert r"\usepackage{forest}" in document
    assert document.count(r"\begin{forest}") == 2
    assert r"\usepackage{tikz-qtree}" in latex_document([], "qtree")
    with pytest.raises(DbpcfgError, match="must be forest or qtree, not 'tree'"):
        latex_document([], "tree")


@pytest.mark.parametrize("write", [forest, qtree])
def test_trees_deeper_than_the_stack(write):
    assert len(write(deep_tree())) < 2_000_000
