"""Pre-order nodes: there and back, and rules counted as one would by hand."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.parsing.derivations import Derivations, as_tree, category_name
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from tests.nodes import as_nodes
from tests.processes import output_of

K = 4
labels = st.integers(0, K - 1).map(category_name)
leaves = st.builds(lambda label, word: Tree(label, [word]), labels, st.sampled_from("abc"))
trees = st.recursive(
    leaves, lambda inner: st.builds(Tree, labels, st.tuples(inner, inner)), max_leaves=12
)


def derivations_of(some_trees):
    corpus = Encoded.from_sentences([tree.words() for tree in some_trees])
    nodes = [as_nodes(tree) for tree in some_trees]
    return Derivations(np.concatenate(nodes), corpus)


def naive_rules(tree):
    """(c, a, b) or (c, word) for every node."""
    c = int(tree.label[1:])
    if len(tree.children) == 1:
        return [(c, tree.children[0])]
    left, right = tree.children
    rule = c, int(left.label[1:]), int(right.label[1:])
    return [rule, *naive_rules(left), *naive_rules(right)]


def test_nodes_by_hand():
    tree = read_tree("(X2 (X0 (X1 a) (X3 b)) (X0 c))")
    expected = [(0, 3, 2), (0, 2, 0), (0, 1, 1), (1, 2, 3), (2, 3, 0)]
    assert as_nodes(tree).tolist() == [list(row) for row in expected]
    assert as_tree(np.array(expected, dtype=np.int32), ["a", "b", "c"]) == tree


@given(trees)
def test_there_and_back(tree):
    nodes = as_nodes(tree)
    assert nodes.shape == (2 * len(tree) - 1, 3)
    assert nodes.dtype == np.int32
    assert as_tree(nodes, tree.words()) == tree


def test_trees_deeper_than_pythons_stack():
    tree = Tree("X0", ["a"])
    for _ in range(5000):
        tree = Tree("X1", [Tree("X0", ["a"]), tree])
    assert as_tree(as_nodes(tree), ["a"] * 5001) == tree
    counts = derivations_of([tree]).counts(2)
    assert counts.binary[1, 0].tolist() == [1, 4999]


@given(st.lists(trees, min_size=1, max_size=5))
def test_a_corpus_of_trees(some_trees):
    derivations = derivations_of(some_trees)
    assert len(derivations) == len(some_trees)
    assert list(derivations.trees()) == some_trees
    for s, tree in enumerate(some_trees):
        assert derivations.tree(s) == tree
        assert derivations[s].tolist() == as_nodes(tree).tolist()
    assert Derivations.empty(derivations.corpus).nodes.shape == derivations.nodes.shape


@given(st.lists(trees, min_size=1, max_size=5))
def test_counts(some_trees):
    derivations = derivations_of(some_trees)
    counts = derivations.counts(K + 1)  # one category that no tree has
    roots = Counter(int(tree.label[1:]) for tree in some_trees)
    rules = Counter(rule for tree in some_trees for rule in naive_rules(tree))
    words = derivations.corpus.vocabulary.words
    assert counts.root.tolist() == [roots[c] for c in range(K + 1)]
    for c, a, b in np.ndindex(counts.binary.shape):
        assert counts.binary[c, a, b] == rules[c, a, b]
    for c, w in np.ndindex(counts.lexical.shape):
        assert counts.lexical[c, w] == rules[c, words[w]]
    assert counts.rows.sum() == rules.total()


BEYOND = """
import numpy as np
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.parsing.derivations import Derivations

corpus = Encoded.from_sentences([["a", "b"]])
tree = Derivations(np.array([[0, 2, 0], [0, 1, 1], [1, 2, 0]], dtype=np.int32), corpus)
for derivations, categories in ((tree, 0), (tree, 1), (Derivations.empty(corpus), 2)):
    try:
        derivations.counts(categories)
    except DbpcfgError:
        print("refused")
"""


def test_counts_beyond_the_end_of_an_array():
    """More categories than given, or no trees yet: an error, and not a write to anywhere."""
    assert output_of(BEYOND).split() == ["refused"] * 3
