"""What only the left-corner parser has: its models, store sequences, prefix probabilities."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.synthetic import PATTERNS
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import (
    bounded_lexical,
    containment,
    fitting_mass,
    left_corner_expectations,
)
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.parsing.chart.batches import batches, inside_batches
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.leftcorner.models import nodes_of
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from dbpcfg.trees.brackets import read_tree
from tests.nodes import as_nodes
from tests.oracle import depth_needed, preorder, shapes
from tests.stores import count_steps, memory_depth, prefix_log_probabilities, steps_of, store_states
from tests.strategies import encode, grammars, grammars_and_sentences, random_grammar


@settings(max_examples=100)
@given(grammars(), st.integers(1, 3))
def test_models_are_distributions_by_themselves(grammar, depth):
    h = containment(grammar, depth)
    assume(fitting_mass(grammar, h) > 0)
    M = LeftCornerParser(grammar, depth).models
    for d in range(depth + 1):
        usable = h[2 * d - 1] > 0 if d else np.arange(grammar.categories) == 0
        # Fork and no-fork are not normalised anywhere: they sum to one because E⁺ is right.
        assert M.fork[d][usable].sum(axis=1) == pytest.approx(np.ones(usable.sum()), abs=1e-10)
        for table in (M.preterminal, M.join, M.top, M.bottom_right, M.bottom_left):
            sums = table[d].sum(axis=-1)
            assert ((np.abs(sums - 1) < 1e-12) | (sums == 0)).all()


def test_no_fragment_is_begun_at_the_bound():
    M = LeftCornerParser(random_grammar(3, 2, 1.0, 0), 2).models
    assert (M.join[2, :, :, 1][M.preterminal[2] > 0] == 1).all()
    assert (M.join[1, :, :, 1] < 1).all()


def test_the_preterminal_model_needs_the_lexical_mass():
    """As printed in the paper, P_d(p|b) ∝ E⁺_d[b,p], sentences do not sum to one."""
    grammar = random_grammar(K=2, W=1, concentration=1.0, seed=3)
    lengths = encode(grammar, *([0] * n for n in range(1, 80)))
    ours = LeftCornerParser(grammar, 2)
    assert np.exp(ours.log_probabilities(lengths)).sum() == pytest.approx(1.0, abs=1e-9)
    expected = left_corner_expectations(grammar, containment(grammar, 2))
    total = expected.sum(axis=2, keepdims=True)
    printed = np.divide(expected, total, out=np.zeros_like(expected), where=total > 0)
    words = bounded_lexical(grammar, np.ones((5, 2)), 0)  # the paper's L: G[p → w], unnormalised
    ours.models = ours.models._replace(
        preterminal=printed, emission=np.ascontiguousarray(words.T), log_scale=np.zeros(1)
    )
    assert abs(np.exp(ours.log_probabilities(lengths)).sum() - 1.0) > 0.05


@settings(max_examples=100)
@given(grammars_and_sentences(), st.integers(1, 3))
def test_prefix_probabilities_are_sums_over_continuations(grammar_and_words, depth):
    """prefix(x) = P(x) + Σ_w prefix(x w), and the prefix of no words has probability one."""
    grammar, words = grammar_and_words
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    parser = LeftCornerParser(grammar, depth)
    longer = encode(grammar, words, *([*words, w] for w in range(len(grammar.vocabulary))))
    prefix = np.exp(prefix_log_probabilities(parser, longer, 0))
    assert prefix[0] == 1.0
    assert (np.diff(prefix) <= 1e-12).all()
    sentence = math.exp(parser.log_probabilities(longer)[0])
    going_on = sum(
        math.exp(prefix_log_probabilities(parser, longer, s)[-1]) for s in range(1, len(longer))
    )
    assert prefix[-1] == pytest.approx(sentence + going_on, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("depth", [1, 2])
def test_prefix_probabilities_from_the_chart(depth):
    """The chart, with words of any kind after the prefix, summed over all lengths."""
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=5)
    chart, leftcorner = ChartParser(grammar, depth), LeftCornerParser(grammar, depth)
    wild = np.concatenate([grammar.lexical, grammar.lexical_mass[:, np.newaxis]], axis=1)
    # A wildcard word, which makes rows sum to more than one
    G = tables(RuleWeights(grammar.root, grammar.binary, wild), depth)
    words = Vocabulary(("0", "1", "any"))
    for prefix in itertools.product(range(2), repeat=3):
        corpus = words.encode([[*map(str, prefix), *(["any"] * more)] for more in range(120)])
        logs = np.empty(len(corpus))
        B = batches(corpus, G)
        inside_batches(0, len(B.bounds) - 1, B, G, logs)
        total = np.exp(logs - chart.log_fitting_mass).sum()
        found = prefix_log_probabilities(leftcorner, encode(grammar, list(prefix)), 0)[-1]
        assert math.exp(found) == pytest.approx(total, rel=1e-8)


def test_refuses_more_stores_than_memory():
    words = Vocabulary(("a",))
    K = 30
    grammar = Grammar(
        np.full(K, 1 / K), np.full((K, K, K), 0.5 / K**2), np.full((K, 1), 0.5), words
    )
    with pytest.raises(DbpcfgError, match="use the chart parser"):
        LeftCornerParser(grammar, 3).log_probabilities(words.encode([["a"] * 10]))


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
