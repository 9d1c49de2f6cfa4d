"""Store sequences: the paper's Figure 1, and trees, stores and counts from each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.synthetic import PATTERNS
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.leftcorner.models import nodes_of
from dbpcfg.trees.brackets import read_tree
from tests.nodes import as_nodes
from tests.oracle import depth_needed, labelings, preorder, shapes
from tests.stores import count_steps, memory_depth, steps_of, store_states
from tests.strategies import encode, random_grammar

CART = read_tree(
    """(S (NP (NP (D the) (N cart))
              (RC (NP (NP (D the) (N horse))
                      (RC (NP (D the) (N man)) (VP bought)))
                  (VP pulled)))
          (VP broke))"""
)


@st.composite
def random_nodes(draw: st.DrawFn, longest: int = 7, K: int = 3) -> np.ndarray:
    n = draw(st.integers(1, longest))
    shape = draw(st.sampled_from(shapes(0, n)))
    labels = draw(st.lists(st.integers(0, K - 1), min_size=2 * n - 1, max_size=2 * n - 1))
    spans = [node[:2] for node in preorder(shape)]
    return np.array([(*span, c) for span, c in zip(spans, labels, strict=True)], dtype=np.int32)


def test_the_papers_first_figure():
    """Before *man*: two fragments from NP to RC and one from NP to N."""
    states = [" ".join(map(str, store)) for store in store_states(CART)]
    words = CART.words()
    assert states[words.index("man")] == "NP/RC NP/RC NP/N"
    assert states == [
        "",  # the
        "NP/N",  # cart
        "NP/RC",  # the
        "NP/RC NP/N",  # horse
        "NP/RC NP/RC",  # the
        "NP/RC NP/RC NP/N",  # man
        "NP/RC NP/VP",  # bought
        "NP/VP",  # pulled
        "S/VP",  # broke
        "",
    ]
    assert memory_depth(CART) == 3


def test_the_papers_account_of_the_decisions():
    """After *horse* comes *the*: fork, preterminal D, no join, and then NP and N."""
    labels = {"S": 0, "NP": 1, "D": 2, "N": 3, "RC": 4, "VP": 5}
    steps = steps_of(as_nodes(CART, labels))
    assert steps[4].tolist() == [1, 0, labels["D"], labels["NP"], labels["N"]]


@pytest.mark.parametrize(
    ("corpus", "depths"), [("left", [1, 1]), ("right", [1, 1]), ("center", [1, 2, 1, 2])]
)
def test_depths_of_the_papers_synthetic_trees(corpus, depths):
    assert [memory_depth(read_tree(tree)) for tree in PATTERNS[corpus]] == depths


@given(random_nodes())
def test_trees_to_stores_and_back(nodes):
    back = np.empty_like(nodes)
    nodes_of(steps_of(nodes), back)
    assert back.tolist() == nodes.tolist()


@given(random_nodes(), st.data())
def test_counts_from_stores_are_counts_from_trees(nodes, data):
    n = (len(nodes) + 1) // 2
    grammar = random_grammar(K=3, W=2, concentration=1.0, seed=0)
    words = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    corpus = encode(grammar, words)
    by_tree = Derivations(nodes, corpus).counts(3)
    by_store = count_steps(steps_of(nodes), corpus.tokens, 3, grammar.vocabulary)
    for name in ("root", "binary", "lexical"):
        assert (getattr(by_tree, name) == getattr(by_store, name)).all()


@pytest.mark.parametrize("n", range(1, 8))
def test_memory_depth_is_the_definition(n):
    """Fragments held at once, against sides and depths handed down from the root."""
    grammar = random_grammar(K=1, W=1, concentration=1.0, seed=0)
    corpus = encode(grammar, [0] * n)
    for shape in shapes(0, n):
        order = preorder(shape)
        nodes = np.array([(*node[:2], 0) for node in order], dtype=np.int32)
        assert memory_depth(Derivations(nodes, corpus).tree(0)) == depth_needed(shape)


def test_a_long_sentence_is_no_deeper_than_its_stack():
    tree = "(X0 (X0 w0) " * 3000 + "(X0 w0)" + ")" * 3000
    assert memory_depth(read_tree(tree)) == 1


def test_oracle_lists_all_trees():
    assert [len(shapes(0, n)) for n in range(1, 8)] == [1, 1, 2, 5, 14, 42, 132]
    assert len({tuple(row) for row in labelings(3, 4)}) == 81
