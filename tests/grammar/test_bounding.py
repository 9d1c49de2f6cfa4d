"""Levels; h, G(s,d) and E⁺ against the paper's iterations and against their definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import (
    absorption,
    bounded_binary,
    bounded_lexical,
    bounded_root,
    children,
    containment,
    fitting_mass,
    is_right,
    left_child,
    left_corner_expectations,
    left_level,
    level_name,
    right_child,
    right_level,
    termination,
)
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import kernel
from dbpcfg.parsing.chart.parser import ChartParser
from tests.oracle import containment_by_iteration
from tests.strategies import encode, grammars, random_grammar


def level(side: str, d: int) -> int:
    return 2 * (d - 1) + (side == "R")


@kernel
def children_in_a_kernel(of: int, levels: int) -> tuple[int, int, bool]:
    left, right = children(of, levels)
    return left, right, is_right(of)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_levels_follow_the_definition_of_depth(d):
    """(L,d) → (L,d) (R,d) and (R,d) → (L,d+1) (R,d), in words."""
    assert left_child(level("L", d)) == level("L", d)
    assert right_child(level("L", d)) == level("R", d)
    assert left_child(level("R", d)) == level("L", d + 1)
    assert right_child(level("R", d)) == level("R", d)
    assert (left_level(d), right_level(d)) == (level("L", d), level("R", d))
    assert [is_right(level(side, d)) for side in "LR"] == [False, True]
    assert [level_name(level(side, d)) for side in "LR"] == [f"L{d}", f"R{d}"]


@pytest.mark.parametrize(("depth", "message"), [(0, "at least 1, got 0"), (10_001, "at most")])
def test_depths_that_make_no_sense(depth, message):
    with pytest.raises(GrammarError, match=message):
        containment(random_grammar(2, 2, 1.0, 0), depth)


def test_kernels_have_the_same_levels():
    for m in range(6):
        assert children(m, 7) == (left_child(m), right_child(m))
        assert children_in_a_kernel(m, 7) == (*children(m, 7), is_right(m))
    assert children(0, 1) == children_in_a_kernel(0, 1)[:2] == (0, 0)


depths = st.integers(1, 4)


@settings(max_examples=200)
@given(grammars(), depths)
def test_containment_is_the_limit_of_the_papers_iteration(grammar, depth):
    h = containment(grammar, depth)
    assert np.abs(h - containment_by_iteration(grammar, depth, 5000)).max() < 1e-12
    assert (h >= 0).all()
    assert (h <= 1 + 1e-12).all()


def test_containment_by_hand_with_two_depths():
    grammar = Grammar(np.ones(1), np.full((1, 1, 1), 0.5), np.array([[0.5]]), Vocabulary(("a",)))
    L3 = 0.5
    R2 = 0.5 / (1 - 0.5 * L3)
    L2 = 0.5 / (1 - 0.5 * R2)
    R1 = 0.5 / (1 - 0.5 * L2)
    L1 = 0.5 / (1 - 0.5 * R1)
    assert containment(grammar, 2)[:, 0] == pytest.approx([L1, R1, L2, R2, L3], abs=1e-15)


@settings(max_examples=200)
@given(grammars(), depths)
def test_rows_of_bounded_grammars_sum_to_one(grammar, depth):
    h = containment(grammar, depth)
    for level in range(2 * depth + 1):
        sums = bounded_binary(grammar, h, level).sum(axis=(1, 2))
        sums += bounded_lexical(grammar, h, level).sum(axis=1)
        fits = h[level] > 0
        assert sums[fits] == pytest.approx(np.ones(fits.sum()), abs=1e-12)
        assert (sums[~fits] == 0).all()
    if fitting_mass(grammar, h) > 0:
        assert bounded_root(grammar, h).sum() == pytest.approx(1.0)


@settings(max_examples=100)
@given(grammars(), depths)
def test_left_corner_expectations_are_the_sum_of_their_terms(grammar, depth):
    h = containment(grammar, depth)
    if fitting_mass(grammar, h) == 0:
        return
    closed = left_corner_expectations(grammar, h)
    for d in range(depth + 1):
        if d == 0:
            term = np.zeros_like(closed[0])
            term[0] = bounded_root(grammar, h)
        else:
            term = bounded_binary(grammar, h, 2 * d - 1).sum(axis=2)
        descend = bounded_binary(grammar, h, 2 * d).sum(axis=2)
        total = np.zeros_like(term)
        for _ in range(20000):
            total += term
            term = term @ descend
            if term.max() < 1e-18:
                break
        else:
            continue  # too slow to sum term by term; the closed form is the point
        assert closed[d] == pytest.approx(total, rel=1e-9, abs=1e-13)


def test_small_probabilities_keep_their_digits():
    """A chain that almost never ends: x = (1 − ε) x + r, with ε far below 1e-16 of one."""
    leaving = np.array([1e-30])
    assert absorption(np.array([[1.0 - 1e-30]]), leaving, leaving[:, np.newaxis])[
        0, 0
    ] == pytest.approx(1.0, rel=1e-12)


def test_a_category_that_never_ends_has_no_containment():
    binary, lexical = np.zeros((2, 2, 2)), np.zeros((2, 1))
    binary[0, 0, 0] = 1.0  # 0 → 0 0 for ever
    lexical[1, 0] = 1.0
    grammar = Grammar(np.array([0.5, 0.5]), binary, lexical, Vocabulary(("a",)))
    h = containment(grammar, 2)
    assert (h[:, 0] == 0).all()
    assert (h[:, 1] == 1).all()
    assert fitting_mass(grammar, h) == 0.5
    assert termination(grammar) == pytest.approx([0.0, 1.0])


@settings(max_examples=100)
@given(grammars())
def test_deep_bounds_tend_to_termination(grammar):
    h = termination(grammar)
    assert (
        np.abs(grammar.lexical_mass + np.einsum("cab,a,b->c", grammar.binary, h, h) - h).max()
        < 1e-9
    )
    deep = containment(grammar, 200)[0]
    assert (deep <= h + 1e-9).all()
    assert np.abs(deep - h).max() < 0.02  # slow only where growth is exactly critical
    ordered = [containment(grammar, depth)[0] for depth in (1, 2, 3, 4)]
    assert all(
        (deeper >= shallower - 1e-12).all() for shallower, deeper in itertools.pairwise(ordered)
    )


def length_distribution(grammar: Grammar, depth: int | None, longest: int) -> np.ndarray:
    """P(length = n): words forgotten, so that one sentence of each length stands for all."""
    forgotten = Grammar(
        grammar.root, grammar.binary, grammar.lexical_mass[:, np.newaxis], Vocabulary(("·",))
    )
    corpus = encode(forgotten, *([0] * n for n in range(1, longest + 1)))
    return np.exp(ChartParser(forgotten, depth).log_probabilities(corpus))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_sentences_up_to_a_length_tend_to_probability_one(depth):
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=5)
    parser = ChartParser(grammar, depth)
    by_length = length_distribution(grammar, depth, 120)
    for n in range(1, 7):
        everything = encode(grammar, *map(list, itertools.product(range(2), repeat=n)))
        total = np.exp(parser.log_probabilities(everything)).sum()
        assert total == pytest.approx(by_length[n - 1], rel=1e-12)
    cumulative = np.cumsum(by_length)
    assert cumulative[5] < 1
    assert np.all(np.diff(cumulative) >= 0)
    assert cumulative[-1] == pytest.approx(1.0, abs=1e-8)
    assert cumulative[-1] <= 1 + 1e-12


def test_without_a_bound_sentences_tend_to_the_termination_probability():
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=5)
    mass = float(grammar.root @ termination(grammar))
    assert math.isclose(length_distribution(grammar, None, 150).sum(), mass, rel_tol=1e-6)


def test_a_left_child_that_recurs_for_ever_never_fits():
    """Category 0 is always 0 1, so it never ends; category 2 is a word, or 0 1, equally often."""
    binary, lexical = np.zeros((3, 3, 3)), np.array([[0.0], [1.0], [0.5]])
    binary[0, 0, 1], binary[2, 0, 1] = 1.0, 0.5
    grammar = Grammar(np.array([0.0, 0.0, 1.0]), binary, lexical, Vocabulary(("a",)))
    h = containment(grammar, 3)
    assert h[:-1].tolist() == [[0.0, 1.0, 0.5]] * 6
