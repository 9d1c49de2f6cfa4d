"""Binary trees and the memory they need: by hand, by definition, and by the left-corner parser."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.synthetic import PATTERNS
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.depths import depth_table, tree_depth
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from dbpcfg.version import __version__
from tests.evaluation.binarise import binarise
from tests.evaluation.helpers import gold_and_predicted, marks, punctuated
from tests.stores import memory_depth

DIRECTIONS = st.sampled_from(["right", "left"])


@pytest.mark.parametrize(
    ("tree", "right", "left"),
    [
        ("(N dog)", "(N dog)", "(N dog)"),
        ("(NP (N dog))", "(NP dog)", "(NP dog)"),
        ("(S (A a) (B b))", "(S (A a) (B b))", "(S (A a) (B b))"),
        ("(S (A a) (B b) (C c))", "(S (A a) (S' (B b) (C c)))", "(S (S' (A a) (B b)) (C c))"),
        (
            "(S (A a) (B b) (C c) (D d))",
            "(S (A a) (S' (B b) (S' (C c) (D d))))",
            "(S (S' (S' (A a) (B b)) (C c)) (D d))",
        ),
        ("(ROOT (S (NP (A a) (B b))))", "(ROOT (A a) (B b))", "(ROOT (A a) (B b))"),
        ("(X a (X b))", "(X ( a) (X b))", "(X ( a) (X b))"),
        ("(S (NP (A a) (, ,)) (B b) (. .))", "(S (NP a) (B b))", "(S (NP a) (B b))"),
    ],
)
def test_binarise_by_hand(tree, right, left):
    tree = read_tree(tree)
    assert str(binarise(tree, "right", marks(tree))) == right
    assert str(binarise(tree, "left", marks(tree))) == left


@given(gold_and_predicted(), st.data(), DIRECTIONS)
def test_binary_trees_keep_words_and_spans(trees, data, direction):
    tree = data.draw(punctuated(trees[0]))
    binary = binarise(tree, direction, marks(tree))
    assert binary.is_binary
    assert binary.words() == trees[0].words()
    kept = {span[:2] for span in trees[0].spans() if span.end - span.start > 1}
    assert kept <= {span[:2] for span in binary.spans()}


@pytest.mark.parametrize("pattern", [*PATTERNS["center"], *PATTERNS["left"], *PATTERNS["right"]])
def test_depths_of_the_papers_synthetic_trees(pattern):
    tree = read_tree(pattern)
    assert tree_depth(tree, "right") == tree_depth(tree, "left") == memory_depth(tree)


@pytest.mark.parametrize(
    ("tree", "right", "left"),
    [
        ("(S a)", 1, 1),
        ("(S a b c d)", 1, 1),
        ("(S a (VP b c d))", 1, 2),  # to the left, b c is a phrase before d
        ("(S a (NP b c) d)", 2, 1),  # to the right, b c is a phrase before d
        ("(S (NP a (PP b c)) d)", 1, 1),
        ("(S a (VP (NP b c) d))", 2, 2),
        ("(S a (VP (NP b (PP (NP c d) e)) f))", 3, 3),
        ("(S a (VP b (NP c d)))", 1, 1),
    ],
)
def test_depth_by_hand(tree, right, left):
    assert tree_depth(read_tree(tree), "right") == right
    assert tree_depth(read_tree(tree), "left") == left


def naive_depth(tree: Tree, side: str = "L", depth: int = 1) -> int:
    here = depth if side == "R" else 1
    if tree.preterminal:
        return here
    left, right = tree.children
    below = naive_depth(left, "L", depth + (side == "R")), naive_depth(right, "R", depth)
    return max(here, *below)


@given(gold_and_predicted(longest=12), st.data(), DIRECTIONS)
def test_depth_is_that_of_the_binary_tree(trees, data, direction):
    tree = data.draw(punctuated(trees[0]))
    binary = binarise(tree, direction, marks(tree))
    assert tree_depth(tree, direction, marks(tree)) == naive_depth(binary) == memory_depth(binary)


def test_deep_and_wide_trees():
    deep = read_tree("(X a (X " * 5000 + "b" + ") c)" * 5000)
    wide = Tree("X", ["a"] * 20_000)
    for direction in ("right", "left"):
        assert binarise(wide, direction).is_binary
        assert binarise(deep, direction).is_binary
        assert tree_depth(wide, direction) == 1
        assert tree_depth(deep, direction) == 5000


def test_nothing_but_punctuation():
    tree = read_tree("(S (. .) (. .))")
    assert tree_depth(tree, punctuation=marks(tree)) == 0


def test_other_directions():
    with pytest.raises(DbpcfgError, match="must be 'right' or 'left', not 'up'"):
        tree_depth(read_tree("(S a b)"), "up")


def test_table():
    table = depth_table([1, 2, 1, 0, 4], "right", "punct:removed-by-tags")
    assert table.counts == (2, 1, 0, 1)
    assert (table.sentences, table.only_punctuation) == (4, 1)
    assert [table.share(depth) for depth in range(1, 6)] == [0.5, 0.25, 0.0, 0.25, 0.0]
    assert table.signature == (
        f"depth:memory|binary:right|punct:removed-by-tags|dbpcfg:{__version__}"
    )
    assert str(table).startswith("memory depth 1: 2 (50.0%), 2: 1 (25.0%), 3: 0 (0.0%), 4: 1")
    assert math.isnan(depth_table([], "left").share(1))
