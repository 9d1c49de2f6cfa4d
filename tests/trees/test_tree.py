"""The tree type against naive definitions, deep trees, and NLTK's trees."""

import copy
import importlib.util
import pickle
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import DEPTH, DOG, any_tokens, any_trees, flatten

# --- definitions to compare with ------------------------------------------------------------------


def naive_words(item):
    return [item] if isinstance(item, str) else flatten(map(naive_words, item.children))


def naive_tags(tree):
    if len(tree.children) == 1 and isinstance(tree.children[0], str):
        return [tree.label]
    return flatten([""] if isinstance(c, str) else naive_tags(c) for c in tree.children)


def naive_spans(item, start, preterminals):
    if isinstance(item, str):
        return []
    is_preterminal = len(item.children) == 1 and isinstance(item.children[0], str)
    spans = []
    if preterminals or not is_preterminal:
        spans.append((start, start + len(naive_words(item)), item.label))
    for child in item.children:
        spans += naive_spans(child, start, preterminals)
        start += len(naive_words(child))
    return spans


def naive_nodes(item):
    return [] if isinstance(item, str) else [item, *flatten(map(naive_nodes, item.children))]


def nested(item):
    return item if isinstance(item, str) else (item.label, tuple(map(nested, item.children)))


def map_tree(item, label, word):
    if isinstance(item, str):
        return word(item)
    return Tree(label(item.label), [map_tree(child, label, word) for child in item.children])


# --- the type -------------------------------------------------------------------------------------


@given(any_trees)
def test_parts_agree_with_naive_definitions(tree):
    for preterminals in (False, True):
        spans = tree.spans(preterminals=preterminals)
        assert spans == naive_spans(tree, 0, preterminals)
    assert tree.words() == naive_words(tree)
    branching = [
        node
        for node in tree.nodes()
        if not isinstance(node.children[0], str) or len(node.children) > 1
    ]
    assert tree.preterminal is (not branching)
    assert tree.is_binary is all(
        [isinstance(c, Tree) for c in node.children] == [True] * 2 for node in branching
    )
    assert len(tree) == len(naive_words(tree))
    assert tree.tags() == naive_tags(tree)
    assert tree.leaves() == list(zip(naive_words(tree), naive_tags(tree), strict=True))
    assert [*map(id, tree.nodes())] == [*map(id, naive_nodes(tree))]
    assert bool(tree)


@given(any_trees, any_trees)
def test_equal_exactly_if_of_one_structure(tree, other):
    twin = map_tree(tree, str, str)
    assert twin is not tree
    assert tree == twin
    assert hash(tree) == hash(twin)
    assert (tree == other) == (nested(tree) == nested(other))


def test_children_may_come_from_any_iterable_and_are_kept_apart_from_it():
    children = ["a", "b"]
    tree = Tree("X", children)
    children.append("c")
    assert tree == Tree("X", iter(["a", "b"])) == Tree("X", ("a", "b"))


def test_wrong_children():
    with pytest.raises(DbpcfgError, match=r"at least one child.*'NP'"):
        Tree("NP", [])
    with pytest.raises(TypeError, match=re.escape("like ('dog',)")):
        Tree("N", "dog")
    with pytest.raises(TypeError, match="not int"):
        Tree("N", ["dog", 3])


@given(any_trees)
def test_fold_meets_words_and_nodes_from_left_to_right_children_first(tree):
    met = []

    def word(text):
        met.append(text)
        return text

    def node(one, values):
        met.append(one)
        return one.label, tuple(values)

    def post_order(item):
        below = [] if isinstance(item, str) else flatten(map(post_order, item.children))
        return [*below, item]

    assert tree.fold(word, node) == nested(tree)
    assert [*map(id, met)] == [*map(id, post_order(tree))]


@given(any_trees)
def test_relabel(tree):
    assert tree.relabel(lambda label: label + "!") == map_tree(tree, lambda x: x + "!", str)
    assert tree.relabel(str) == tree


@given(any_trees, st.data())
def test_replace_words(tree, data):
    new = data.draw(st.lists(any_tokens, min_size=len(tree), max_size=len(tree)))
    replaced = tree.replace_words(iter(new))
    left = iter(new)
    assert replaced == map_tree(tree, str, lambda _: next(left))
    assert replaced.replace_words(tree.words()) == tree
    for number in (0, len(tree) - 1, len(tree) + 1):
        if number != len(tree):
            with pytest.raises(DbpcfgError, match=rf"expected {len(tree)} words?,.*got {number}"):
                tree.replace_words(["w"] * number)


def test_repr_shows_short_trees_whole_and_cuts_long_ones():
    assert repr(read_tree(DOG)) == f"<Tree {DOG}>"
    brackets = str(Tree("X", ["a"] * 500))
    assert repr(read_tree(brackets)) == f"<Tree {brackets[:200]}…>"
    exact = Tree("X", ["a" * 196])
    assert repr(exact) == f"<Tree {exact}>"
    dense = Tree("", [Tree("", ["a"])] * 100)
    assert repr(dense) == f"<Tree {str(dense)[:200]}…>"


# --- deep trees -----------------------------------------------------------------------------------


def right_leaning(depth):
    tree = Tree("Y", ["b"])
    for _ in range(depth):
        tree = Tree("X", [Tree("Y", ["a"]), tree])
    return tree


def left_leaning(depth):
    tree = Tree("Y", ["b"])
    for _ in range(depth):
        tree = Tree("X", [tree, Tree("Y", ["a"])])
    return tree


def unary(depth):
    tree = Tree("Y", ["b"])
    for _ in range(depth):
        tree = Tree("X", [tree])
    return tree


DEEP = {
    right_leaning: lambda n: "(X (Y a) " * n + "(Y b)" + ")" * n,
    left_leaning: lambda n: "(X " * n + "(Y b)" + " (Y a))" * n,
    unary: lambda n: "(X " * n + "(Y b)" + ")" * n,
}


@pytest.mark.parametrize("build", DEEP)
def test_deep_trees(build):
    tree, brackets = build(DEPTH), DEEP[build](DEPTH)
    assert str(tree) == brackets
    twin = read_tree(brackets)
    assert twin == tree
    assert hash(twin) == hash(tree)
    assert tree != build(DEPTH - 1)
    assert tree != tree.replace_words(["c"] * len(tree))
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.copy(tree) == copy.deepcopy(tree) == tree
    assert len(repr(tree)) < 220
    assert len(tree) == (1 if build is unary else DEPTH + 1)
    assert len(tree.tags()) == len(tree)
    assert tree.fold(len, lambda _, values: sum(values)) == len(tree)
    assert tree.is_binary is (build is not unary)
    assert tree.relabel(str.lower).label == "x"
    if importlib.util.find_spec("nltk"):
        assert Tree.from_nltk(tree.to_nltk()) == tree
    spans = tree.spans()
    assert len(spans) == DEPTH
    assert spans[0] == (0, len(tree), "X")
    last = {right_leaning: (DEPTH - 1, DEPTH + 1), left_leaning: (0, 2), unary: (0, 1)}[build]
    assert spans[-1][:2] == last


# --- NLTK -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nltk():
    return pytest.importorskip("nltk")


@given(any_trees)
def test_nltk_there_and_back(nltk, tree):

    def naive(item):
        return (
            item if isinstance(item, str) else nltk.Tree(item.label, [*map(naive, item.children)])
        )

    converted = tree.to_nltk()
    assert type(converted) is nltk.Tree
    assert converted == naive(tree)
    assert Tree.from_nltk(converted) == tree
    assert Tree.from_nltk(nltk.ParentedTree.convert(converted)) == tree
    assert Tree.from_nltk(nltk.ImmutableTree.convert(converted)) == tree


@pytest.mark.parametrize(
    "text",
    [
        DOG,
        "( (S (NP (D the) (N dog)) (V barks)) )",
        "((S (V go)))",
        "(X the (X dog barks))",
        "(S\n  (NP (-LRB- -LRB-) (N 犬))\r\n\t(V barks))",
        "(TOP (S (NP-SBJ-1 (-NONE- *T*-1)) (VP (VBD said) (, ,) ('' '')) (. .)))",
    ],
)
def test_reads_as_nltk_does(nltk, text):
    theirs, ours = nltk.Tree.fromstring(text), read_tree(text)
    assert ours.to_nltk() == theirs
    assert Tree.from_nltk(theirs) == ours
    assert ours.words() == theirs.leaves()
    assert str(ours) == " ".join(str(theirs).split())


def test_nltk_leaves_and_labels_that_are_not_strings(nltk):
    tree = nltk.Tree(nltk.Nonterminal("S"), [3, ("dog", "N"), nltk.Tree("V", ["go"])])
    assert Tree.from_nltk(tree) == Tree("S", ["3", "('dog', 'N')", Tree("V", ["go"])])
    with pytest.raises(DbpcfgError, match=r"expected an nltk\.Tree, got str"):
        Tree.from_nltk("(N dog)")
    with pytest.raises(DbpcfgError, match=r"at least one child.*'NP'"):
        Tree.from_nltk(nltk.Tree("S", [nltk.Tree("NP", []), "go"]))


def test_without_nltk(monkeypatch):
    for module in ("nltk", "nltk.tree"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DbpcfgError, match=re.escape("pip install 'dbpcfg[nltk]'")):
        read_tree(DOG).to_nltk()
