"""Grammars: what they refuse, what they compute, and how they are drawn."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_from_prior, draw_grammar
from dbpcfg.numerics.philox import Purpose, stream
from tests.oracle import log_probability
from tests.statistics import LEAST_P, same_mean
from tests.strategies import grammars

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
        ({"root": np.zeros(0)}, "a grammar needs categories and words, got 0 and 2"),
        ({"root": np.ones((2, 1))}, "a grammar needs categories and words, got 0 and 2"),
        ({"vocabulary": Vocabulary(())}, "a grammar needs categories and words, got 2 and 0"),
        (
            {"binary": np.zeros((2, 2))},
            "expected root of shape (2,) and binary of shape (2, 2, 2), got (2,) and (2, 2)",
        ),
        (
            {"root": np.full(3, 1 / 3)},
            "expected root of shape (3,) and binary of shape (3, 3, 3), got (3,) and (2, 2, 2)",
        ),
        (
            {"lexical": np.zeros((2, 3))},
            "expected lexical of shape (2, 2) for 2 categories and 2 words, got (2, 3)",
        ),
        (
            {"vocabulary": Vocabulary(("a",))},
            "expected lexical of shape (2, 1) for 2 categories and 1 words, got (2, 2)",
        ),
        (with_entry("root", 0, 0.8), "root must sum to 1 (it sums to 0.9)"),
        (with_entry("root", 0, 0.9 + 1e-7), "root must sum to 1 (it sums to 1.0000001)"),
        (
            with_entry("binary", (1, 1, 1), 0.25),
            "the row of category 1 must sum to 1 (it sums to 1.25)",
        ),
        (
            with_entry("lexical", (0, 1), 0.5),
            "the row of category 0 must sum to 1 (it sums to 1.5)",
        ),
    ]
    + [
        (
            with_entry(name, (0,) * parts()[name].ndim, value),
            f"{name} has entries that are negative, infinite or not numbers",
        )
        for name in ARRAYS
        for value in (-1e-300, math.inf, -math.inf, math.nan)
    ],
)
def test_refused(changes, message):
    with pytest.raises(GrammarError) as error:
        Grammar(**parts(**changes))
    assert str(error.value) == message


def test_rounding_is_not_refused():
    Grammar(**parts(**with_entry("root", 0, 0.9 + 1e-9)))


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


def test_arrays_become_c_ordered_floats():
    binary = np.asfortranarray(parts()["binary"])
    grammar = Grammar([1, 0], binary, parts()["lexical"].tolist(), AB)
    for name in ARRAYS:
        assert getattr(grammar, name).dtype == np.float64
        assert getattr(grammar, name).flags.c_contiguous
    assert (grammar.binary == binary).all()


def test_properties_by_hand():
    grammar = Grammar(**parts())
    assert grammar.categories == 2
    assert grammar.rows.tolist() == [[0, 0.5, 0, 0, 0.5, 0], [0.25, 0, 0, 0, 0, 0.75]]
    assert grammar.lexical_mass.tolist() == [0.5, 0.75]


@given(grammars())
def test_rows_hold_every_rule_once(grammar):
    K, rows = grammar.categories, grammar.rows
    assert rows.shape == (K, K * K + len(grammar.vocabulary))
    for c, a, b in np.ndindex(K, K, K):
        assert rows[c, a * K + b] == grammar.binary[c, a, b]
    assert (rows[:, K * K :] == grammar.lexical).all()


def test_log_probability_by_hand():
    grammar = Grammar(**parts())
    counts = counts_of(root=(2, 1), lexical=((4, 0), (0, 3)), r001=2, r100=1)
    by_hand = 0.9**2 * 0.1 * 0.5**4 * 0.75**3 * 0.5**2 * 0.25
    assert log_probability(grammar, counts) == pytest.approx(math.log(by_hand), rel=1e-14)
    assert log_probability(grammar, RuleWeights.zeros(2, 2)) == 0.0


@pytest.mark.filterwarnings("error")
def test_log_probability_of_an_impossible_rule():
    assert log_probability(Grammar(**parts()), counts_of(r111=1)) == -math.inf


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


def test_rows_of_counts_by_hand():
    counts = counts_of(lexical=((3, 4), (5, 6)), r010=7, r101=8)
    assert counts.rows.tolist() == [[0, 0, 7, 0, 3, 4], [0, 8, 0, 0, 5, 6]]


def test_no_counts():
    nothing = RuleWeights.zeros(3, 2)
    assert nothing.rows.shape == (3, 11)
    assert not nothing.rows.any()
    assert not nothing.root.any()


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
