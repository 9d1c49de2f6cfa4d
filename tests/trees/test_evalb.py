"""Trees as EVALB reads them."""

from __future__ import annotations

import pytest
from hypothesis import given

from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.brackets import evalb_line, read_tree
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import SMALL, deep_tree, drawable_tokens, drawable_trees


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (SMALL, "(TOP (S (NP (D the) (N dog)) (VP barks)))"),
        (Tree("ROOT", [SMALL]), "(TOP (S (NP (D the) (N dog)) (VP barks)))"),
        (Tree("", [SMALL]), "(TOP (S (NP (D the) (N dog)) (VP barks)))"),
        (Tree("X", ["a", "(b)"]), "(TOP (X (XX a) (XX -LRB-b-RRB-)))"),
        (Tree("X", [Tree("", ["[a]"]), Tree("", ["b", "c"])]), None),
        (Tree("N", ["a"]), "(TOP (N a))"),
        (Tree("TOP", ["a"]), "(TOP (XX a))"),
        (Tree("", ["a", "b"]), "(TOP (XX a) (XX b))"),
    ],
)
def test_trees_for_evalb(tree, line):
    assert evalb_line(tree) == (line or "(TOP (X (XX [a]) (X (XX b) (XX c))))")


@given(drawable_trees(drawable_tokens))
def test_evalb_gets_one_line_with_a_preterminal_for_every_word(tree):
    line = evalb_line(tree)
    assert "\n" not in line
    read = read_tree(line)
    assert read.label == "TOP"
    assert all(read.tags())
    assert read.words() == [w.replace("(", "-LRB-").replace(")", "-RRB-") for w in tree.words()]
    assert {s[:2] for s in read.spans()} >= {s[:2] for s in tree.spans()}
    assert evalb_line(read) == line


def test_evalb_cannot_have_white_space_in_words():
    with pytest.raises(TreeSyntaxError, match="has white space"):
        evalb_line(Tree("X", ["a b"]))


def test_trees_deeper_than_the_stack():
    assert len(evalb_line(deep_tree())) < 2_000_000
