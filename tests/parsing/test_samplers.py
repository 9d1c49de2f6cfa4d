"""Both samplers draw trees from the enumerated posterior; wrong ones are caught by it."""

import itertools
from collections import Counter
from functools import partial

import numpy as np
import pytest

from dbpcfg.grammar.bounding import bounded_binary, containment, left_corner_expectations
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.models import (
    Models,
    bottom_left_model,
    depth_rules,
    fork_model,
    join_model,
    left_corner_models,
    preterminal_model,
    top_model,
)
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from tests.oracle import truth
from tests.statistics import LEAST_P, goodness_of_fit
from tests.strategies import encode, random_grammar

DRAWS = 40_000
CASES = [  # categories, words, depth, seed of the grammar
    (2, [0, 1, 1], 1, 0),
    (2, [0, 1, 0, 0], 1, 1),
    (2, [1, 0, 0, 1, 1], 2, 2),
    (3, [0, 1, 1, 0], 2, 3),
    (2, [0, 0, 1, 0, 1, 1], 3, 4),
]


def p_value(parser, words: list[int], true_depth: int | None, grammar: Grammar) -> float:
    """How well many trees of one sentence, drawn together, fit the enumerated posterior."""
    corpus = encode(grammar, *[words] * DRAWS)
    drawn, _ = parser.sample(corpus, stream(seed=11, chain=2, iteration=5))
    observed = Counter(drawn[s].tobytes() for s in range(DRAWS))
    return goodness_of_fit(observed, truth(grammar, words, true_depth).posterior(), DRAWS)


SINGLE = partial(ChartParser, precision="single")
DRAWN = [*itertools.product([ChartParser, LeftCornerParser], CASES), (SINGLE, CASES[3])]


@pytest.mark.parametrize(("parser", "case"), DRAWN)
def test_samples_follow_the_posterior(parser, case):
    K, words, depth, seed = case
    grammar = random_grammar(K, 2, 1.0, seed)
    assert p_value(parser(grammar, depth), words, depth, grammar) > LEAST_P


def test_samples_follow_the_posterior_without_a_bound():
    grammar = random_grammar(2, 2, 1.0, 2)
    assert p_value(ChartParser(grammar, None), [1, 0, 0, 1, 1], None, grammar) > LEAST_P


@pytest.mark.parametrize("parser", [ChartParser, LeftCornerParser])
def test_a_slightly_wrong_grammar_is_caught(parser):
    """Negative control: one rule off by a quarter."""
    K, words, depth, seed = CASES[2]
    grammar = random_grammar(K, 2, 1.0, seed)
    tilted = grammar.rows
    tilted[0, K * K - 1] *= 1.25
    tilted[0] /= tilted[0].sum()
    wrong = Grammar(
        grammar.root, tilted[:, : K * K].reshape(K, K, K), tilted[:, K * K :], grammar.vocabulary
    )
    assert p_value(parser(wrong, depth), words, depth, grammar) < 1e-8


def models_as_printed(grammar: Grammar, depth: int) -> Models:
    """The paper's formulas to the letter: G(L,d) below (R,d), and no lexical mass in P."""
    h = containment(grammar, depth)
    expected = left_corner_expectations(grammar, h)
    at = [depth_rules(grammar, h, expected, 0)]
    for d in range(1, depth + 1):
        left = bounded_binary(grammar, h, 2 * d - 2)
        descend = left.sum(axis=2)
        first = bounded_binary(grammar, h, 2 * d - 1).sum(axis=2)
        at.append(
            depth_rules(grammar, h, expected, d)._replace(
                left=left,
                left_lexical=grammar.lexical_mass / h[2 * d - 2],
                expected=first @ np.linalg.inv(np.eye(len(first)) - descend),
            )
        )
    ours = left_corner_models(grammar, depth)
    plain = [g._replace(left_lexical=np.ones(grammar.categories)) for g in at]
    fork = np.stack([fork_model(g) for g in at])
    return ours._replace(
        fork=fork / fork.sum(axis=2, keepdims=True).clip(1e-300),
        preterminal=np.stack([preterminal_model(g) for g in plain]),
        join=np.stack([join_model(g) for g in at]),
        top=np.stack([top_model(g) for g in at]),
        bottom_left=np.stack([bottom_left_model(g) for g in at]),
        emission=np.ascontiguousarray(grammar.lexical.T),
        log_scale=np.zeros(len(grammar.vocabulary)),
    )


@pytest.mark.parametrize("case", [1, 2])
def test_the_papers_formulas_as_printed_are_caught(case):
    """Negative control, and the reason for the two corrections."""
    K, words, depth, seed = CASES[case]
    grammar = random_grammar(K, 2, 1.0, seed)
    parser = LeftCornerParser(grammar, depth)
    parser.models = models_as_printed(grammar, depth)
    assert p_value(parser, words, depth, grammar) < 1e-8


def test_another_bound_is_caught():
    """Negative control: trees within depth 2, judged by the posterior for depth 1."""
    K, words, _, seed = CASES[1]
    grammar = random_grammar(K, 2, 1.0, seed)
    assert p_value(ChartParser(grammar, 2), words, 1, grammar) < 1e-8


def test_numbers_used_twice_are_caught():
    """Negative control: sentences that share random numbers share their trees."""
    K, words, depth, seed = CASES[0]
    grammar = random_grammar(K, 2, 1.0, seed)
    one, _ = ChartParser(grammar, depth).sample(encode(grammar, words), stream(3))
    observed = Counter({one[0].tobytes(): DRAWS})
    assert goodness_of_fit(observed, truth(grammar, words, depth).posterior(), DRAWS) < 1e-8


def test_sentences_draw_trees_of_their_own():
    grammar = random_grammar(2, 2, 1.0, 0)
    corpus = encode(grammar, *[[0, 1, 0, 1, 1, 0]] * 50)
    for parser in (ChartParser(grammar, 2), LeftCornerParser(grammar, 2)):
        drawn, _ = parser.sample(corpus, stream(0))
        assert len({drawn[s].tobytes() for s in range(50)}) > 10
        again, _ = parser.sample(corpus, stream(0))
        assert (again.nodes == drawn.nodes).all()
        other, _ = parser.sample(corpus, stream(0, iteration=1))
        assert (other.nodes != drawn.nodes).any()
