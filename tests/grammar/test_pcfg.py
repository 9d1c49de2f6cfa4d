"""Grammars: what they refuse, what they compute, how they are drawn and shown."""

import math
import pickle
import re
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_from_prior, draw_grammar
from dbpcfg.numerics.philox import Purpose, stream
from tests.grammar.tables import assert_same, named_grammars
from tests.statistics import LEAST_P, same_mean
from tests.strategies import random_grammar

ARRAYS = ("root", "binary", "lexical")
AB = Vocabulary(("a", "b"))


def parts(**changes):
    """X0 → X0 X1 (½) | a (½), X1 → X0 X0 (¼) | b (¾); with changes."""
    binary = np.zeros((2, 2, 2))
    binary[0, 0, 1], binary[1, 0, 0] = 0.5, 0.25
    arrays = {"root": np.array([0.9, 0.1]), "binary": binary}
    arrays["lexical"] = np.array([[0.5, 0.0], [0.0, 0.75]])
    return {**arrays, "vocabulary": AB, **changes}


def with_entry(name, index, value):
    array = parts()[name].copy()
    array[index] = value
    return {name: array}


def counts_of(root=(0, 0), lexical=((0, 0), (0, 0)), **binary):
    counts = RuleWeights.zeros(2, 2)
    counts.root[:] = root
    counts.lexical[:] = lexical
    for rule, times in binary.items():
        counts.binary[tuple(int(c) for c in rule.removeprefix("r"))] = times
    return counts


# --- what a grammar refuses -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"root": np.zeros(0)}, "categories and words, got 0 and 2"),
        ({"root": np.ones((2, 1))}, "categories and words, got 0 and 2"),
        ({"vocabulary": Vocabulary(())}, "categories and words, got 2 and 0"),
        ({"binary": np.zeros((2, 2))}, "got (2,) and (2, 2)"),
        ({"root": np.full(3, 1 / 3)}, "got (3,) and (2, 2, 2)"),
        ({"lexical": np.zeros((2, 3))}, "expected lexical of shape (2, 2)"),
        ({"vocabulary": Vocabulary(("a",))}, "expected lexical of shape (2, 1)"),
        (with_entry("root", 0, 0.9 + 1e-7), "root must sum to 1 (it sums to 1.0000001)"),
        (with_entry("binary", (1, 1, 1), 0.25), "row of category 1 must sum to 1"),
        (with_entry("lexical", (0, 1), 0.5), "row of category 0 must sum to 1"),
    ]
    + [
        (with_entry(name, (0,) * parts()[name].ndim, value), f"{name} has entries that are neg")
        for name in ARRAYS
        for value in (-1e-300, math.inf, -math.inf, math.nan)
    ],
)
def test_refused(changes, message):
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar(**parts(**changes))


# --- what a grammar is ----------------------------------------------------------------------------


def test_arrays_cannot_be_written_to_and_are_not_shared():
    given_arrays = parts()
    grammar = Grammar(**given_arrays)
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(grammar, name)[...] = 0.0
        with pytest.raises(FrozenInstanceError):
            setattr(grammar, name, given_arrays[name])
        given_arrays[name][...] = 7.0
        assert getattr(grammar, name).max() < 1


def test_properties_by_hand():
    grammar = Grammar(**parts())
    assert grammar.categories == 2
    assert grammar.rows.tolist() == [[0, 0.5, 0, 0, 0.5, 0], [0.25, 0, 0, 0, 0, 0.75]]
    assert grammar.lexical_mass.tolist() == [0.5, 0.75]


# --- counts ---------------------------------------------------------------------------------------


def test_counts_add_up():
    one = counts_of(root=(1, 2), lexical=((3, 4), (5, 6)), r010=7)
    two = counts_of(root=(10, 20), lexical=((30, 40), (50, 60)), r010=70, r111=80)
    both = one + two
    assert both.root.tolist() == [11, 22]
    assert both.lexical.tolist() == [[33, 44], [55, 66]]
    assert both.binary[0, 1, 0] == 77
    assert both.binary[1, 1, 1] == 80
    assert both.binary.sum() == 157
    assert one.root.tolist() == [1, 2]  # neither is changed


# --- draws ----------------------------------------------------------------------------------------


def test_draws_have_the_moments_of_the_posterior():
    counts = counts_of(root=(5, 1), lexical=((10, 0), (2, 3)), r010=4, r111=7)
    beta, draws = 0.3, 5000
    drawn = [draw_grammar(counts, beta, AB, stream(1, iteration=n)) for n in range(draws)]
    for parameters, samples in (
        (counts.root[np.newaxis] + beta, np.array([[g.root] for g in drawn])),
        (counts.rows + beta, np.array([g.rows for g in drawn])),
    ):
        total = parameters.sum(axis=1, keepdims=True)
        squares = parameters * (parameters + 1) / (total * (total + 1))
        assert same_mean(samples, parameters / total) > LEAST_P
        assert same_mean(samples**2, squares) > LEAST_P
        # β + 0.2 in place of β
        assert same_mean(samples, (parameters + 0.2) / (total + 0.2 * parameters.shape[1])) < 1e-12


def test_root_and_rows_are_drawn_independently():
    """Were counters shared, equal parameters would give equal draws."""
    grammar = draw_from_prior(3, Vocabulary(tuple("abc")), 1.0, seed=0)
    assert len(np.unique(np.concatenate([grammar.rows.ravel(), grammar.root]))) == 3 * 12 + 3


def same_arrays(one, two):
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ARRAYS)


def test_draws_depend_on_the_stream_and_on_nothing_else():
    counts = counts_of(root=(1, 1), r000=3)
    one, two = (draw_grammar(counts, 0.2, AB, stream(3, 1, 4, Purpose.GRAMMAR)) for _ in range(2))
    other = draw_grammar(counts, 0.2, AB, stream(3, 1, 5, Purpose.GRAMMAR))
    assert same_arrays(one, two)
    assert one.vocabulary == AB
    assert not same_arrays(one, other)


def test_chains_and_seeds_start_from_different_grammars():
    first = draw_from_prior(2, AB, 0.2, seed=0)
    assert same_arrays(first, draw_from_prior(2, AB, 0.2, seed=0, chain=0))
    for seed, chain in ((0, 1), (1, 0)):
        other = draw_from_prior(2, AB, 0.2, seed, chain)
        assert not any(np.array_equal(getattr(first, a), getattr(other, a)) for a in ARRAYS)


def test_the_prior_is_the_posterior_of_no_counts():
    prior = draw_from_prior(2, AB, 0.7, seed=5, chain=3)
    numbers = stream(5, 3, 0, Purpose.PRIOR)
    assert same_arrays(prior, draw_grammar(RuleWeights.zeros(2, 2), 0.7, AB, numbers))


@pytest.mark.parametrize("beta", [0.0, -1.0, math.nan, math.inf])
def test_beta_must_be_positive(beta):
    with pytest.raises(GrammarError, match=f"^beta must be a positive number, .* got {beta}$"):
        draw_from_prior(2, AB, beta, seed=0)


@pytest.mark.parametrize("categories", [0, -1])
def test_categories_must_be_positive(categories):
    message = f"^a grammar needs at least one category, got {categories}$"
    with pytest.raises(GrammarError, match=message):
        draw_from_prior(categories, AB, 0.2, seed=0)


def test_counts_must_be_of_the_vocabulary():
    with pytest.raises(GrammarError, match="expected lexical of shape"):
        draw_grammar(RuleWeights.zeros(2, 3), 0.2, AB, stream(0))


def test_categories_are_numbered_unless_named():
    grammar = random_grammar(3, 2, 1.0, 0)
    assert grammar.names == ("X0", "X1", "X2")
    named = grammar.named(["S", "NP", "VP"])
    assert named.names == ("S", "NP", "VP")
    assert grammar.names == ("X0", "X1", "X2")
    assert named.binary is grammar.binary
    assert_same(pickle.loads(pickle.dumps(named)), named)


@pytest.mark.parametrize("names", [["S"], ["S", "S"], ["S", ""], ["A", "B", "C"], []])
def test_every_category_needs_a_name_of_its_own(names):
    with pytest.raises(GrammarError, match="expected 2 different names of categories, got"):
        random_grammar(2, 2, 1.0, 0).named(names)


class Cells(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@given(named_grammars())
def test_nothing_in_a_grammar_is_taken_for_html(grammar):
    page = Cells(grammar._repr_html_())
    assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "span"}
    for c, name in enumerate(grammar.names):
        assert name.replace("\0", "\ufffd") in page.text.replace("\0", "\ufffd")
        word = grammar.vocabulary.words[int(grammar.lexical[c].argmax())]
        if grammar.lexical[c].max() >= 0.0005:
            assert word in page.text


def test_the_most_probable_come_first():
    lexical = np.array([[0.1, 0.0, 0.6, 0.1, 0.1999, 0.0001]])
    words = Vocabulary(("a", "b", "<script>alert(1)</script>", "d", "e&", "f"))
    page = Grammar(np.ones(1), np.zeros((1, 1, 1)), lexical, words)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; <span" in page
    assert page.index("&lt;script&gt;") < page.index("e&amp;") < page.index("a <span")
    assert "f <span" not in page
    assert "Grammar of 1 category over 6 words" in page
