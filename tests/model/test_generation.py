"""Generated sentences follow the grammar's distribution, short ones too."""

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dbpcfg
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


MEMBERS = {"w1": {"fern": 1, "corn": 3, "barn": 2}}


@pytest.mark.parametrize("options", [{}, {"max_length": 5}], ids=str)
def test_words_of_a_class_are_as_frequent_as_in_the_text(options):
    model = Model(random_grammar(2, 2, 1.0, 3), 2)
    known = replace(model, classes=MEMBERS)
    plain, drawn = ([*generate(one, DRAWS, seed=1, **options)] for one in (model, known))
    words = [(a, b) for x, y in zip(plain, drawn) for a, b in zip(x.words(), y.words())]
    assert all(a == b for a, b in words if a == "w0")
    found = Counter(b for a, b in words if a == "w1")
    shares = {"fern": 1 / 6, "corn": 1 / 2, "barn": 1 / 3}
    assert goodness_of_fit(found, shares, found.total()) > LEAST_P
    assert goodness_of_fit(found, dict.fromkeys(shares, 1 / 3), found.total()) < 1e-8  # control
    back = dict.fromkeys(shares, "w1")
    assert [t.replace_words([back.get(w, w) for w in t.words()]) for t in drawn] == plain
    assert list(generate(known, 10, seed=1, **options)) == drawn[:10]
    assert list(generate(known, 10, seed=2, **options)) != drawn[:10]


def test_words_of_different_places_are_drawn_by_themselves(monkeypatch):
    monkeypatch.setattr(generation, "BATCH", 10)
    model = Model(random_grammar(1, 1, 1.0, 3), 2, classes={"w0": {"a": 1, "b": 1}})
    sentences = [tuple(tree.words()) for tree in generate(model, 400, max_length=2)]
    pairs = Counter(words for words in sentences if len(words) == 2)
    expected = dict.fromkeys([(x, y) for x in "ab" for y in "ab"], 1 / 4)
    assert goodness_of_fit(pairs, expected, pairs.total()) > LEAST_P
    assert sentences[:10] != sentences[10:20]


def test_classes_of_a_run_become_words_of_its_text(tmp_path):
    text = ["the dog barked", "the cat slept", "the dog slept", "the Cat purred 12 times"] * 2
    text += ["the fern barked at 1987 Ferns", "the Barn slept"]
    for scheme in ("suffix", "both"):
        options = {"rare": 1, "numbers": True, "scheme": scheme, "out": tmp_path / scheme}
        run = dbpcfg.induce(text, K=3, learner="gibbs", chains=1, iterations=8, **options)
        barn = {"<*rn>": {"fern": 1, "barn": 1}} if scheme == "suffix" else {}
        barn = barn or {"<*rn>": {"fern": 1}, "<Cap*rn>": {"Barn": 1}}
        ferns = {"<*ns>": {"ferns": 1}} if scheme == "suffix" else {"<Cap*ns>": {"Ferns": 1}}
        expected = {"<number>": {"12": 2, "1987": 1}, "<*at>": {"at": 1}, **barn, **ferns}
        for model in (run.model, dbpcfg.load(tmp_path / scheme)):
            assert model.classes == expected
            words = {w for tree in model.generate(300, max_length=8) for w in tree.words()}
            assert not any(word.startswith("<") for word in words)
            assert {"fern", "1987", "12", "the"} <= words
            for name, members in expected.items():
                assert {model.look_up(word).form for word in members} == {name}
    plain = dbpcfg.induce(text, K=2, learner="gibbs", chains=1, iterations=2)
    assert plain.model.classes == {}


def test_classes_whose_words_are_not_known():
    words = Vocabulary(("a", "<*rn>", "<number>", "<<number>>", "<unknown>", "<a"))
    grammar = random_grammar(2, 6, 1.0, 3)
    model = Model(Grammar(grammar.root, grammar.binary, grammar.lexical, words), 2)
    assert generation.classes_without_words(model) == ["<*rn>", "<number>"]
    known = replace(model, classes={"<*rn>": {"fern": 1}})
    assert generation.classes_without_words(known) == ["<number>"]
    made = {word for tree in generate(known, 300) for word in tree.words()}
    assert made == {"a", "fern", "<number>", "<<number>>", "<unknown>", "<a"}


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
    with pytest.raises(GrammarError, match="no sentence of at most 3 words; try a greater length"):
        list(generate(Model(never, None), 1, max_length=3))
    with pytest.raises(GrammarError, match=r"fits a depth bound of 2$"):
        list(generate(Model(never, 2), 1))
    for n, options in ((0, {}), (1, {"max_length": 0}), (1, {"seed": -1})):
        with pytest.raises(DbpcfgError, match=r"at least|seed must be"):
            generate(endless, n, **options)


def test_a_grammar_that_hardly_ends_is_given_a_remedy(monkeypatch):
    monkeypatch.setattr("dbpcfg.grammar.derivation.MAX_RULES", 20)
    model = Model(random_grammar(2, 2, 1.0, 3), 2)
    with pytest.raises(GrammarError, match="hardly ever end; set a greatest length"):
        list(generate(model, 1000))
