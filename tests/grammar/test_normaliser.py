"""Z, its derivatives, and the derivations that fail; Z of low-rank grammars."""

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import containment, fitting_mass, require_fitting
from dbpcfg.grammar.derivation import failed_derivations
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.normaliser import failures, low_rank_mass, low_rank_normaliser, normaliser
from dbpcfg.grammar.pcfg import Grammar, draw_from_prior
from dbpcfg.numerics.philox import stream
from tests.parsing.test_lowrank import drawn

WORDS = Vocabulary(tuple("abcdef"))
RULES = ("root", "binary", "lexical")


def mass_by_iteration(rules: dict[str, np.ndarray], depth: int | None) -> float:
    """Z as the limit of the paper's iteration, for rules that need not sum to one."""
    lex = rules["lexical"].sum(axis=1)
    levels = 1 if depth is None else 2 * depth + 1
    h = np.zeros((levels, len(lex)))
    for _ in range(2000):
        before = h.copy()
        h[-1] = lex
        for d in range(1, (depth or 0) + 1):
            L, R, below = 2 * d - 2, 2 * d - 1, 2 * d
            for level, left in ((L, L), (R, below)):
                h[level] = lex + np.einsum("cab,a,b->c", rules["binary"], before[left], before[R])
        if depth is None:
            h[0] = lex + np.einsum("cab,a,b->c", rules["binary"], before[0], before[0])
    return float(rules["root"] @ h[0])


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("seed", [0, 1])
def test_derivatives_are_finite_differences(depth: int | None, seed: int) -> None:
    grammar = draw_from_prior(3, WORDS, 1.0, seed)
    mass, slopes = normaliser(grammar, depth)
    assert mass == pytest.approx(fitting_mass(grammar, containment(grammar, depth)), abs=1e-12)
    for name, rule in (
        ("root", (1,)),
        ("binary", (0, 1, 2)),
        ("binary", (2, 0, 0)),
        ("lexical", (1, 3)),
    ):
        changed = []
        for sign in (1, -1, 2, -2):
            rules = {n: getattr(grammar, n).copy() for n in RULES}
            rules[name][rule] += sign * 1e-4
            changed.append(np.log(mass_by_iteration(rules, depth)))
        slope = (8 * (changed[0] - changed[1]) - (changed[2] - changed[3])) / 12e-4
        assert slope == pytest.approx(getattr(slopes, name)[rule] / mass, abs=1e-8)


def test_derivatives_of_another_bound_are_others() -> None:
    grammar = draw_from_prior(3, WORDS, 1.0, 0)
    one, two = normaliser(grammar, 1)[1], normaliser(grammar, 2)[1]
    assert np.abs(one.binary - two.binary).max() > 1e-3


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_failures_are_those_of_the_sampler(depth: int) -> None:
    grammar, sentences = draw_from_prior(3, WORDS, 1.0, 1), 100_000
    expected = failures(grammar, depth)
    drawn = failed_derivations(grammar, depth, sentences, stream(3))
    for name in RULES:
        means, found = getattr(expected, name), getattr(drawn, name) / sentences
        assert np.abs(found - means).max() < 0.02
    assert expected.root.sum() == pytest.approx(
        (1 - normaliser(grammar, depth)[0]) / normaliser(grammar, depth)[0]
    )


def test_failures_of_another_bound_are_others() -> None:
    grammar = draw_from_prior(3, WORDS, 1.0, 1)
    drawn = failed_derivations(grammar, 2, 100_000, stream(3))
    assert np.abs(drawn.binary / 100_000 - failures(grammar, 1).binary).max() > 0.1


@pytest.mark.parametrize("depth", [1, 2])
def test_failures_and_fitting_trees_are_all_derivations(depth: int) -> None:
    """Rows of expected counts, of failures and of the tree that fits, are in proportion to G.

    Without a sentence to condition on, the rules of everything that was tried are draws from G.
    """
    grammar = draw_from_prior(3, WORDS, 1.0, 2)
    mass, slopes = normaliser(grammar, depth)
    failed = failures(grammar, depth)
    binary = failed.binary + grammar.binary * slopes.binary / mass
    lexical = failed.lexical + grammar.lexical * slopes.lexical / mass
    rows = np.concatenate([binary.reshape(3, -1), lexical], axis=1)
    np.testing.assert_allclose(rows / rows.sum(axis=1, keepdims=True), grammar.rows, rtol=1e-9)


def test_a_grammar_that_never_fits() -> None:
    binary = np.zeros((1, 1, 1))
    binary[0, 0, 0] = 1.0
    grammar = Grammar(np.ones(1), binary, np.zeros((1, 6)), WORDS)
    for call in (lambda: normaliser(grammar, 1), lambda: failures(grammar, 1)):
        with pytest.raises(GrammarError, match="no tree of this grammar fits"):
            call()


THREE = Vocabulary(("a", "b", "c"))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (3, 4, 5), (5, 2, 3)])
def test_z_is_the_dense_one(depth: int, sizes: tuple[int, int, int]) -> None:
    factors = drawn(*sizes, seed=depth)
    grammar = LowRankGrammar(factors, THREE)
    dense = require_fitting(grammar, containment(grammar.multiplied_out(), depth))
    assert low_rank_normaliser(factors, depth)[0] == pytest.approx(dense, abs=1e-12)
    assert low_rank_mass(factors, depth) == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_derivatives_by_factors_are_finite_differences(depth: int) -> None:
    factors = drawn(2, 3, 4, 5)
    _, found = low_rank_normaliser(factors, depth)

    def mass(name: str, place: tuple[int, ...], change: float) -> float:
        changed = getattr(factors, name).copy()
        changed[place] *= np.exp(change)
        return low_rank_normaliser(factors._replace(**{name: changed}), depth)[0]

    for name in ("root", "parent", "left", "right"):
        for place in np.ndindex(getattr(factors, name).shape):
            slope = (mass(name, place, 1e-5) - mass(name, place, -1e-5)) / 2e-5
            assert getattr(found, name)[place] == pytest.approx(slope, abs=1e-8), (name, place)


def test_words_are_used_once_more_than_rules() -> None:
    """A binary tree has one word more than phrases, whatever its size."""
    mass, found = low_rank_normaliser(drawn(3, 4, 5, 1), 2)
    assert found.emission.sum() == pytest.approx(found.parent.sum() + mass)
    assert isinstance(found, Factors)


def test_phrases_that_recur_for_ever() -> None:
    """The system of the normaliser is singular then; the grammar fits with what is left."""
    recurring = np.array([[1.0, 1.0], [0.0, 0.0]])
    factors = Factors(
        np.array([0.25, 0.75]), np.array([[1.0, 0.0]]), recurring, recurring, np.ones((1, 3)) / 3
    )
    grammar = LowRankGrammar(factors, THREE)
    dense = require_fitting(grammar, containment(grammar.multiplied_out(), 2))
    assert low_rank_mass(factors, 2) == pytest.approx(dense) == pytest.approx(0.75)
    with pytest.raises(GrammarError, match="no tree of this grammar fits a depth bound of 2"):
        low_rank_mass(factors._replace(root=np.array([1.0, 0.0])), 2)
