"""Headedness against all choices of heads, and flat trees."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.evaluation import flattening
from dbpcfg.evaluation.flattening import SideModel, em_step, flatten, flattenable, head_sides
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

leaf = st.builds(Tree, st.sampled_from("DNV"), st.sampled_from([["a"], ["b"], ["c"]]))
some_trees = st.recursive(
    leaf,
    lambda below: st.builds(Tree, st.sampled_from("PQ"), st.lists(below, min_size=2, max_size=3)),
    max_leaves=6,
)
corpora = st.lists(some_trees, min_size=1, max_size=4)


def random_model(labels, units, seed):
    rng = np.random.default_rng(seed)
    shapes = ((labels, 2), (units,), (2, units, units))
    tables = [rng.random(shape) + 0.01 for shape in shapes]
    return SideModel(*(table / table.sum(axis=-1, keepdims=True) for table in tables))


def brute_likelihood(nodes, model):
    """The sum over all choices of the head of every node."""
    children = {row[0]: row[1:] for rows in nodes.groups.values() for row in rows}
    total = 0.0
    for choice in product((0, 1), repeat=len(children)):
        chosen = dict(zip(children, choice))
        probability = 1.0
        unit = dict(enumerate(nodes.unit))
        for node in sorted(children):
            side, below = chosen[node], children[node]
            head = below[-side]
            unit[node] = unit[head]
            probability *= model.sides[nodes.label[node], side]
            for other in below:
                if other != head:
                    probability *= model.child[1 - side, unit[head], unit[other]]
        for root in nodes.roots:
            probability *= model.root[unit[root]]
        total += probability
    return total


@given(corpora, st.integers(0, 1000))
def test_likelihood_is_that_of_all_choices(trees, seed):
    nodes, labels, units = flattening._collect(trees[:2])
    model = random_model(max(len(labels), 1), units, seed)
    log_likelihood, _ = em_step(nodes, model)
    assert log_likelihood == pytest.approx(np.log(brute_likelihood(nodes, model)), abs=1e-9)


def log_prior(model):
    """Up to a constant."""
    unit_prior = flattening.UNIT_PRIOR / len(model.root)
    units = np.log(model.root).sum() + np.log(model.child).sum()
    return flattening.SIDE_PRIOR * np.log(model.sides).sum() + unit_prior * units


@given(corpora, st.integers(0, 1000))
def test_em_never_lowers_the_posterior(trees, seed):
    nodes, labels, units = flattening._collect(trees)
    model = random_model(max(len(labels), 1), units, seed)
    reached = []
    for _ in range(8):
        log_likelihood, following = em_step(nodes, model)
        reached.append(log_likelihood + log_prior(model))
        model = following
    assert (np.diff(reached) >= -1e-8).all()


def test_heads_that_predict_each_other_are_found():
    """N follows V whatever comes between; the tags before N are random, so N heads its phrase."""
    rng = np.random.default_rng(0)
    trees = []
    for _ in range(200):
        verb = rng.choice(["V", "W"])
        noun = {"V": "N", "W": "M"}[verb]
        phrase = f"(NP ({rng.choice(['D', 'A', 'Q'])} x) ({noun} y))"
        trees.append(read_tree(f"(VP ({verb} z) {phrase})"))
    assert head_sides(trees)["NP"] == -1
    mirrored = [
        read_tree(f"(VP (NP {' '.join(map(str, t.children[1].children[::-1]))}) {t.children[0]})")
        for t in trees
    ]
    assert head_sides(mirrored)["NP"] == 0


def test_of_equal_sides_the_first_is_the_head():
    assert head_sides([read_tree("(X (T a) (T b))")]) == {"X": 0}


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("(X (N a) (X (D b) (X (N c) (X (V d) (V e)))))", [0, 2, 0, 1, 1]),  # D is rarer
        ("(X (N a) (X (V b) (N c)))", [0, 1, 0]),
        ("(X (N b) (X (N b) (N a)))", [0, 0, 1]),  # one tag, so words
    ],
)
def test_units_are_the_most_frequent_tags_or_words(text, units, monkeypatch):
    monkeypatch.setattr(flattening, "UNITS", 2)
    nodes, _, number = flattening._collect([read_tree(text)])
    assert [unit for unit in nodes.unit if unit >= 0] == units
    assert number == len(set(units))


@given(corpora)
def test_constituents_are_some_of_the_original(trees):
    for before, after in zip(trees, flatten(trees), strict=True):
        assert after.leaves() == before.leaves()
        spans = {(s.start, s.end) for s in before.spans()}
        found = [(s.start, s.end) for s in after.spans()]
        assert set(found) <= spans
        assert len(set(found)) == len(found)
        assert len(found) == 0 or found[0] == (0, len(before))


def test_the_head_child_is_spliced(monkeypatch):
    monkeypatch.setattr("dbpcfg.evaluation.flattening.head_sides", lambda _: {"S": -1, "NP": -1})
    tree = read_tree("(S (NP (D the) (NP (A red) (N dog))) (S (V barks) (NP (D a) (N lot))))")
    (flat,) = flatten([tree])
    assert str(flat) == "(S (NP (D the) (A red) (N dog)) (V barks) (D a) (N lot))"


def test_binary_trees_of_several_labels_can_be_flattened():
    texts = ["(S (NP (D a) (N b)) (V c))", "(S (S (D a) (N b)) (V c))", "(S (NP a b c) (V d))"]
    assert [flattenable([read_tree(text)]) for text in texts] == [True, False, False]


def test_punctuation_and_unary_nodes_go():
    trees = [read_tree("(S (NP (NP (D the) (N dog))) (. .))"), read_tree("(S (. .) (. !))")]
    first, second = flatten(trees)
    assert str(first) == "(NP (D the) (N dog))"
    assert second.words() == [".", "!"]


@pytest.mark.parametrize(
    "text", ["(X a)", "(X a b c)", "(X (X a) (X (X b) (X c)))", "(X (X (X (X a))))"]
)
def test_odd_trees(text):
    tree = read_tree(text)
    assert flatten([tree])[0].words() == tree.words()
    assert flatten([]) == []


def test_wide_and_deep_trees_do_not_underflow():
    wide = Tree("X", [Tree("T", [str(n)]) for n in range(1200)])
    deep = read_tree("(P (T a) (U b))")
    for _ in range(1200):
        deep = Tree("P", [Tree("U", ["c"]), deep])
    for tree in (wide, deep):
        assert flatten([tree])[0].words() == tree.words()
