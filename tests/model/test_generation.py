"""Generated sentences follow the grammar's distribution, short ones too."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.bounding import containment
from dbpcfg.grammar.derivation import length_distribution, length_table
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model import generation
from dbpcfg.model.generation import generate
from dbpcfg.model.model import UNKNOWN, Model
from dbpcfg.parsing.chart.parser import ChartParser
from tests.nodes import as_nodes
from tests.oracle import all_sentences, truth
from tests.statistics import LEAST_P, goodness_of_fit
from tests.stores import memory_depth
from tests.strategies import encode, grammars, random_grammar

DRAWS = 3000


def trees_up_to(grammar: Grammar, depth: int | None, longest: int) -> dict[tuple, float]:
    """P(tree and words | at most N words), by the bytes of the tree's nodes and the words."""
    joint = {}
    for n in range(1, longest + 1):
        for words in all_sentences(len(grammar.vocabulary), n):
            true = truth(grammar, list(words), depth)
            for tree, p in true.posterior().items():
                joint[tree, words] = p * true.total
    total = sum(joint.values())
    return {outcome: p / total for outcome, p in joint.items()}


def fit(trees, grammar: Grammar, depth: int | None, longest: int) -> float:
    index = grammar.vocabulary.index
    observed = Counter(
        (as_nodes(tree).tobytes(), tuple(index[word] for word in tree.words())) for tree in trees
    )
    return goodness_of_fit(observed, trees_up_to(grammar, depth, longest), sum(observed.values()))


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_short_sentences_follow_the_grammar(depth):
    model = Model(random_grammar(2, 2, 1.0, 3), depth)
    trees = list(generate(model, DRAWS, seed=1, max_length=4))
    assert fit(trees, model.grammar, depth, 4) > LEAST_P
    assert fit(trees, random_grammar(2, 2, 1.0, 4), depth, 4) < 1e-8  # the control


def test_a_bound_is_kept_in_short_sentences_too():
    model = Model(random_grammar(2, 2, 1.0, 3), 1)
    trees = list(generate(model, DRAWS, max_length=5))
    assert max(map(memory_depth, trees)) == 1
    unbounded = list(generate(Model(model.grammar, None), DRAWS, max_length=5))
    assert max(map(memory_depth, unbounded)) == 2


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_sentences_of_any_length_follow_the_grammar(depth):
    """Those that are short among them."""
    model = Model(random_grammar(2, 2, 1.0, 3), depth)
    trees = [tree for tree in generate(model, 2 * DRAWS, seed=2) if len(tree) <= 4]
    assert fit(trees, model.grammar, depth, 4) > LEAST_P
    assert fit(trees, random_grammar(2, 2, 1.0, 4), depth, 4) < 1e-8


@settings(max_examples=50)
@given(grammars(), st.sampled_from([None, 1, 2]))
def test_lengths_are_sums_over_sentences(grammar, depth):
    longest = 4
    assume(depth is None or grammar.root @ containment(grammar, depth)[0] > 0)
    chart = ChartParser(grammar, depth)
    mass = np.exp(chart.log_fitting_mass)
    true = np.zeros(longest + 1)
    for n in range(1, longest + 1):
        corpus = encode(grammar, *map(list, all_sentences(len(grammar.vocabulary), n)))
        true[n] = mass * np.exp(chart.log_probabilities(corpus)).sum()
    p = length_table(grammar, depth, longest)
    np.testing.assert_allclose(p[0] @ grammar.root, true, rtol=1e-9, atol=1e-300)
    if true.sum() > 0:
        np.testing.assert_allclose(length_distribution(grammar, p), true / true.sum(), rtol=1e-9)


def test_rare_lengths_take_no_longer():
    """Sentences of one word have probability 1e-12, and yet here they are."""
    binary, lexical = np.zeros((2, 2, 2)), np.array([[1e-12], [1.0]])
    binary[0, 1, 1] = 1 - 1e-12
    model = Model(Grammar([1.0, 0.0], binary, lexical, Vocabulary(("a",))), 2)
    assert [str(tree) for tree in generate(model, 3, max_length=1)] == ["(X0 a)"] * 3
    assert {len(tree) for tree in generate(model, 3)} == {2}


def test_the_first_ones_do_not_depend_on_how_many(monkeypatch):
    model = Model(random_grammar(3, 3, 1.0, 3), 2)
    for options in ({}, {"max_length": 6}):
        trees = list(generate(model, 25, seed=4, **options))
        assert list(generate(model, 10, seed=4, **options)) == trees[:10]
        assert list(islice(generate(model, 10**9, seed=4, **options), 10)) == trees[:10]
        assert list(generate(model, 25, seed=5, **options)) != trees
        assert len(set(trees)) > 5
    monkeypatch.setattr(generation, "BATCH", 10)  # each batch has numbers of its own
    assert len(set(generate(model, 30, seed=4))) > 10
    first, second = (list(generate(model, 20, seed=4))[n : n + 10] for n in (0, 10))
    assert first != second


def test_unknown_words_only_if_asked_for():
    model = Model(random_grammar(2, 2, 1.0, 3), 2, unknown=[0.4, 0.4])
    for options in ({}, {"max_length": 5}):
        words = {w for tree in generate(model, 300, **options) for w in tree.words()}
        assert words == {"w0", "w1"}
        words = {
            w for tree in generate(model, 300, with_unknown=True, **options) for w in tree.words()
        }
        assert words == {"w0", "w1", UNKNOWN}


def test_categories_keep_their_names():
    grammar = random_grammar(2, 2, 1.0, 3).named(["NP", "VP"])
    for options in ({}, {"max_length": 5}):
        labels = {n.label for t in generate(Model(grammar, 2), 50, **options) for n in t.nodes()}
        assert labels == {"NP", "VP"}


def test_what_cannot_be_made():
    endless = Model(Grammar([1.0], [[[1 - 1e-9]]], [[1e-9]], Vocabulary(("a",))), None)
    (tree,) = generate(endless, 1, max_length=1)
    assert tree.words() == ["a"]
    never = Grammar([1.0], [[[1.0]]], [[0.0]], Vocabulary(("a",)))
    with pytest.raises(GrammarError, match="no sentence of 3 words or fewer; try a greater length"):
        list(generate(Model(never, None), 1, max_length=3))
    with pytest.raises(GrammarError, match=r"fits a depth bound of 2$"):
        list(generate(Model(never, 2), 1))
    for n, options in ((0, {}), (1, {"max_length": 0}), (1, {"seed": -1})):
        with pytest.raises(DbpcfgError, match=r"at least|seed must be"):
            generate(endless, n, **options)


def test_a_grammar_that_hardly_ends_is_given_a_remedy(monkeypatch):
    monkeypatch.setattr("dbpcfg.grammar.derivation.MOST_RULES", 20)
    model = Model(random_grammar(2, 2, 1.0, 3), 2)
    with pytest.raises(GrammarError, match="hardly ever end; set a greatest length"):
        list(generate(model, 1000))
