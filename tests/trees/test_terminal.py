"""Pictures of trees: some by hand, and any picture can be read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.printing import BOX_CHARACTERS, beside, draw
from dbpcfg.trees.tree import Tree

TOKENS = st.text("abcXYZ019-", min_size=1, max_size=9)
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


def read_back(drawn: str) -> Tree:
    """The tree of a picture, found by following its lines from the root."""
    lines = drawn.split("\n")
    width = max(map(len, lines))
    grid = [f" {line:<{width}} " for line in lines]
    last = len(grid) - 1

    def text_at(row: int, column: int) -> str:
        start = grid[row].rindex(" ", 0, column) + 1
        return grid[row][start : grid[row].index(" ", column)]

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


def test_words_stand_in_the_last_line_however_deep_they_are():
    tree = read_tree("(X1 (X2 (X2 (X0 a39) (X3 b20)) (X3 b47)) (X4 c32))")
    assert draw(tree) == picture(
        """
                   X1
               ┌───┴────┐
               X2       X4
           ┌───┴───┐    │
           X2      X3   │
         ┌─┴──┐    │    │
         X0   X3   │    │
         │    │    │    │
        a39  b20  b47  c32
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


def test_a_label_wider_than_what_it_is_over():
    assert draw(read_tree("(ROOT (SENTENCE a b))")) == picture(
        """
          ROOT
           │
        SENTENCE
          ┌┴─┐
          a  b
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


def test_a_node_without_label_is_a_dot():
    assert draw(read_tree("( (V go))")) == "·\n│\nV\n│\ngo"
    assert draw(read_tree("( (V go))"), ascii=True) == "*\n|\nV\n|\ngo"


def test_what_cannot_be_printed_breaks_no_picture():
    assert draw(Tree("X\n", ["a\tb"])) == " X?\n │\na?b"


@given(TREES)
def test_a_picture_shows_the_whole_tree(tree):
    drawn = draw(tree)
    assert drawn.split("\n")[-1].split() == tree.words()
    assert read_back(drawn) == tree
    assert read_back(draw(tree, gap=1)) == tree


@given(TREES)
def test_ascii_is_the_same_picture_in_other_characters(tree):
    plain, boxes = draw(tree, ascii=True), draw(tree)
    assert plain.isascii()
    assert len(plain) == len(boxes)
    letters = [(a, b) for a, b in zip(plain, boxes) if b not in BOX_CHARACTERS]
    assert all(a == b for a, b in letters)


@given(TREES)
def test_a_picture_has_no_needless_white_space(tree):
    lines = draw(tree).split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert any(not line.startswith(" ") for line in lines)


def test_a_tree_deeper_than_the_stack():
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
    widest = max(len(line) for one in pictures for line in one.split("\n"))
    rows = beside(pictures, width)
    assert max(map(len, rows.split("\n"))) <= max(width, widest)
    for tree in trees:
        assert all(word in rows for word in tree.words())


def test_words_need_a_gap():
    with pytest.raises(DbpcfgError, match="at least 1"):
        draw(read_tree("(X a b)"), gap=0)
