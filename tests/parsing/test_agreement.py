"""Brute force, the chart and the left-corner parser compute one distribution, to 1e-10."""

import math

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from dbpcfg.errors import GrammarError, UnparsableError
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from tests.oracle import Truth, containment_by_iteration, log_probability, truth
from tests.parsing.marginals import marginals
from tests.stores import log_derivation
from tests.strategies import encode, grammars_and_sentences, random_grammar

TOLERANCE = 1e-10


def check(parser, corpus, true: Truth, mass: float) -> None:
    """One parser against brute force, on everything it computes for one sentence."""
    P = true.total / mass
    log_probability = parser.log_probabilities(corpus)[0]
    if true.total == 0.0:
        event("sentence of probability zero")
        assert log_probability == -math.inf
        asks = [parser.viterbi, lambda c: parser.sample(c, stream(0))]
        if isinstance(parser, ChartParser):
            assert not marginals(parser, corpus, 0).any()
            asks += [lambda c: parser.n_best(c, 2), lambda c: parser.samples(c, 2, 0, [0])]
        for ask in asks:
            with pytest.raises(UnparsableError, match=r"sentence 1 .* has probability zero"):
                ask(corpus)
        return
    assert math.exp(log_probability) == pytest.approx(P, rel=TOLERANCE)

    best, log_best = parser.viterbi(corpus)
    assert math.exp(log_best[0]) == pytest.approx(true.best / mass, rel=TOLERANCE)
    if true.best_is_unique:
        assert best[0].tolist() == true.best_nodes.tolist()

    if isinstance(parser, ChartParser):
        assert np.abs(marginals(parser, corpus, 0) - true.marginals).max() < TOLERANCE

    drawn, logs = parser.sample(corpus, stream(7))
    assert logs[0] == pytest.approx(log_probability, abs=1e-12)
    check_tree_posterior(parser, corpus, true, drawn, log_probability)


def check_tree_posterior(parser, corpus, true: Truth, drawn: Derivations, log_p: float) -> None:
    """The posterior of trees: one sampled, and some of every shape."""
    nodes = [drawn[0]]
    for bracketing in true.bracketings:
        rows = np.flatnonzero(bracketing.weights)
        nodes += [bracketing.nodes(row) for row in rows[:: max(1, len(rows) // 3)]]
    for tree in nodes:
        counts = Derivations(tree, corpus).counts(parser.grammar.categories)
        by_rules = math.exp(log_probability(parser.grammar, counts)) / true.total
        assert by_rules > 0
        if isinstance(parser, LeftCornerParser):
            by_decisions = math.exp(log_derivation(parser, tree, corpus.tokens) - log_p)
            assert by_decisions == pytest.approx(by_rules, rel=TOLERANCE)
        else:
            by_chart = log_probability(parser.grammar, counts) - parser.log_fitting_mass - log_p
            assert math.exp(by_chart) == pytest.approx(by_rules, rel=TOLERANCE)


@settings(max_examples=120)
@given(grammars_and_sentences(), st.integers(1, 3))
def test_three_ways_to_compute_the_bounded_model(grammar_and_words, depth):
    grammar, words = grammar_and_words
    corpus = encode(grammar, words)
    true = truth(grammar, words, depth)
    mass = fitting_mass(grammar, containment_by_iteration(grammar, depth, iterations=5000))
    if mass == 0.0:
        for parser in (ChartParser, LeftCornerParser):
            with pytest.raises(GrammarError, match=f"no tree .* fits a depth bound of {depth}"):
                parser(grammar, depth)
        return
    check(ChartParser(grammar, depth), corpus, true, mass)
    check(LeftCornerParser(grammar, depth), corpus, true, mass)


@settings(max_examples=100)
@given(grammars_and_sentences(longest=5))
def test_chart_without_a_bound(grammar_and_words):
    grammar, words = grammar_and_words
    check(ChartParser(grammar, None), encode(grammar, words), truth(grammar, words, None), mass=1.0)


@settings(max_examples=100)
@given(grammars_and_sentences(longest=6))
def test_a_bound_that_no_tree_reaches_changes_nothing(grammar_and_words):
    """A tree of n words needs depth n/2 at most; what a deeper bound changes is only Z."""
    grammar, words = grammar_and_words
    corpus = encode(grammar, words)
    deep = max(1, len(words) // 2)
    assume(fitting_mass(grammar, containment(grammar, 1)) > 0)
    unbounded = ChartParser(grammar, None).log_probabilities(corpus)[0]
    for depth in (deep, deep + 1, 12):
        chart = ChartParser(grammar, depth)
        joint = chart.log_probabilities(corpus)[0] + chart.log_fitting_mass
        assert joint == pytest.approx(unbounded, abs=1e-10)
    leftcorner = LeftCornerParser(grammar, deep).log_probabilities(corpus)[0]
    mass = ChartParser(grammar, deep).log_fitting_mass
    assert leftcorner + mass == pytest.approx(unbounded, abs=1e-10)


@pytest.mark.parametrize("n", [4, 6])
def test_the_bound_does_bind(n):
    """The test above would pass with a bound that is ignored: it is not."""
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=1)
    corpus = encode(grammar, [0, 1, 0, 1, 1, 0][:n])
    joint = []
    for depth in range(1, n // 2 + 1):
        chart = ChartParser(grammar, depth)
        joint.append(chart.log_probabilities(corpus)[0] + chart.log_fitting_mass)
    assert np.all(np.diff(joint) > 1e-3)
