"""Z of low-rank grammars against the dense one and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import containment, require_fitting
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.normaliser import low_rank_mass, low_rank_normaliser
from tests.parsing.test_lowrank import drawn

WORDS = Vocabulary(("a", "b", "c"))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (3, 4, 5), (5, 2, 3)])
def test_z_is_the_dense_one(depth: int, sizes: tuple[int, int, int]) -> None:
    factors = drawn(*sizes, seed=depth)
    grammar = LowRankGrammar(factors, WORDS)
    dense = require_fitting(grammar, containment(grammar, depth))
    assert low_rank_normaliser(factors, depth)[0] == pytest.approx(dense, abs=1e-12)
    assert low_rank_mass(factors, depth) == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_derivatives_are_finite_differences(depth: int) -> None:
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
    grammar = LowRankGrammar(factors, WORDS)
    dense = require_fitting(grammar, containment(grammar, 2))
    assert low_rank_mass(factors, 2) == pytest.approx(dense) == pytest.approx(0.75)
    with pytest.raises(GrammarError, match="no tree of this grammar fits a depth bound of 2"):
        low_rank_mass(factors._replace(root=np.array([1.0, 0.0])), 2)
