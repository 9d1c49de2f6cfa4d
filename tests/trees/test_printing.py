"""Pictures of trees, which can be read back; and LaTeX, in which no word is a command."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.printing import BOX_CHARACTERS, beside, draw, forest, latex_document, qtree
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import SMALL, deep_tree, drawable_tokens, drawable_trees

TOKENS = st.text("abcXYZ019-犬あ", min_size=1, max_size=9)
SECOND = "\0"
"""Stands for the second column of a wide character."""
TREES = st.recursive(
    st.builds(Tree, TOKENS, st.lists(TOKENS, min_size=1, max_size=3)),
    lambda below: st.builds(Tree, TOKENS, st.lists(below | TOKENS, min_size=1, max_size=4)),
    max_leaves=12,
)


def picture(text: str) -> str:
    """A picture as tests write it: between line breaks, indented as far as its indented end."""
    first, *lines, end = text.split("\n")
    assert first == end.strip() == ""
    assert all(not line[: len(end)].strip() for line in lines)
    return "\n".join(line[len(end) :] for line in lines)


def columns(text: str) -> str:
    """A text with one character for each column of a terminal."""
    return "".join(c + SECOND * (unicodedata.east_asian_width(c) in "WF") for c in text)


def read_back(drawn: str) -> Tree:
    """The tree of a picture, found by following its lines from the root."""
    lines = columns(drawn).split("\n")
    width = max(map(len, lines))
    grid = [f" {line:<{width}} " for line in lines]
    last = len(grid) - 1

    def text_at(row: int, column: int) -> str:
        start = grid[row].rindex(" ", 0, column) + 1
        return grid[row][start : grid[row].index(" ", column)].replace(SECOND, "")

    def node(row: int, column: int) -> Tree:
        branches = grid[row + 1]
        columns = [column]
        if branches[column] != "│":
            left, right = branches.rindex("┌", 0, column), branches.index("┐", column)
            assert set(branches[left + 1 : right]) <= set("─┬┴┼")
            assert branches[column] in "┴┼"
            columns = [c for c in range(left, right + 1) if branches[c] in "┌┬┼┐"]
        return Tree(text_at(row, column), [child(row + 2, at) for at in columns])

    def child(row: int, column: int) -> Tree | str:
        if row < last and grid[row][column] != "│":
            return node(row, column)
        assert {line[column] for line in grid[row:last]} <= {"│"}
        return text_at(last, column)

    (root,) = [column for column, mark in enumerate(grid[1]) if mark in "│┴┼"]
    return node(0, root)


def test_a_binary_tree():
    assert draw(read_tree("(X3 (X1 a b) (X3 c))"), gap=3) == picture(
        """
             X3
          ┌──┴──┐
          X1    X3
        ┌─┴─┐   │
        a   b   c
        """
    )


def test_nodes_of_any_number_of_children():
    tree = read_tree("(S (NP the old dog) barks (ADVERBIAL loudly))")
    assert draw(tree) == picture(
        """
                        S
              ┌─────────┴┬────────┐
              NP         │    ADVERBIAL
         ┌────┼────┐     │        │
        the  old  dog  barks    loudly
        """
    )


def test_ascii():
    assert draw(read_tree("(S (NP a b c) d (V e))"), ascii=True) == picture(
        """
               S
           .---+-+--.
           NP    |  V
        .--+--.  |  |
        a  b  c  d  e
        """
    )


def test_wide_characters_take_two_columns():
    tree = read_tree("(S (NP 小 狗) (V 叫))")
    assert draw(tree) == picture(
        """
             S
          ┌──┴──┐
          NP    V
        ┌─┴─┐   │
        小  狗  叫
        """
    )
    assert beside([draw(read_tree("(V 叫)")), "b"], gap=1) == "V  b\n│\n叫"


def test_a_node_without_label_is_a_dot():
    assert draw(read_tree("( (V go))")) == "·\n│\nV\n│\ngo"
    assert draw(read_tree("( (V go))"), ascii=True) == "*\n|\nV\n|\ngo"


def test_what_cannot_be_printed_breaks_no_picture():
    assert draw(Tree("X\n", ["a\tb"])) == " X?\n │\na?b"


@given(TREES)
def test_a_picture_shows_the_whole_tree(tree):
    drawn = draw(tree)
    lines = drawn.split("\n")
    assert lines[-1].split() == tree.words()
    assert all(line == line.rstrip() for line in lines)
    assert any(not line.startswith(" ") for line in lines)
    assert read_back(drawn) == tree
    assert read_back(draw(tree, gap=1)) == tree


@given(TREES)
def test_ascii_is_the_same_picture_in_other_characters(tree):
    plain, boxes = draw(tree, ascii=True), draw(tree)
    assert not set(plain) & set(BOX_CHARACTERS)
    assert len(plain) == len(boxes)
    letters = [(a, b) for a, b in zip(plain, boxes) if b not in BOX_CHARACTERS]
    assert all(a == b for a, b in letters)


def test_a_picture_deeper_than_the_stack():
    tree = Tree("X", ["a"])
    for _ in range(5000):
        tree = Tree("X", [tree])
    assert draw(tree) == "\n".join("X│" * 5001 + "a")


def test_pictures_beside_each_other():
    small, tall = draw(read_tree("(X a)")), draw(read_tree("(S (X a) (Y b))"))
    assert beside([small, tall, small], gap=2) == picture(
        """
        X   S    X
        │  ┌┴─┐  │
        a  X  Y  a
           │  │
           a  b
        """
    )


def test_pictures_go_on_in_a_new_row_when_the_width_is_used_up():
    assert beside(["aa", "bb", "cc"], width=6, gap=2) == "aa  bb\n\ncc"
    assert beside(["aa", "bb", "cc"], width=5, gap=2) == "aa\n\nbb\n\ncc"
    assert beside(["wide picture", "b"], width=3) == "wide picture\n\nb"
    assert beside([]) == ""


@given(st.lists(TREES, min_size=1, max_size=6), st.integers(10, 120))
def test_no_row_is_wider_than_it_may_be(trees, width):
    pictures = [draw(tree) for tree in trees]
    widest = max(len(columns(line)) for one in pictures for line in one.split("\n"))
    rows = beside(pictures, width)
    assert max(len(columns(line)) for line in rows.split("\n")) <= max(width, widest)
    for tree in trees:
        assert all(word in rows for word in tree.words())


# --- LaTeX ----------------------------------------------------------------------------------------

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


def read_latex(lines: list[str]) -> Tree:
    """The tree of what forest or qtree reads: forest has words in brackets of their own."""
    stack: list[list] = [[]]
    for token in groups("\n".join(lines)):
        if token == ("[", None):
            stack.append([])
        elif token == ("]", None):
            label, *below = stack.pop()
            stack[-1].append(Tree(label, below) if below else label)
        elif token != (".", None):
            stack[-1].append(token)
    return stack[0][0]


@settings(max_examples=200)
@given(drawable_trees(drawable_tokens))
def test_latex_says_the_tree_and_nothing_else(tree):
    begin, _, *lines, end = forest(tree).split("\n")
    assert (begin, end) == (r"\begin{forest}", r"\end{forest}")
    assert read_latex(lines) == tree
    begin, command, *lines, end = qtree(tree).split("\n")
    assert (begin, command, end) == (r"\begin{tikzpicture}", r"\Tree", r"\end{tikzpicture}")
    assert read_latex(lines) == tree


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
