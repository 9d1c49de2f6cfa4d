"""Z of low-rank grammars against the dense one and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.bounding import containment, require_fitting
from dbpcfg.grammar.lowrank import Factors, multiplied
from dbpcfg.grammar.lowrank_normaliser import low_rank_normaliser
from tests.parsing.test_lowrank import drawn

WORDS = Vocabulary(("a", "b", "c"))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (3, 4, 5), (5, 2, 3)])
def test_z_is_the_dense_one(depth: int, sizes: tuple[int, int, int]) -> None:
    factors = drawn(*sizes, seed=depth)
    grammar = multiplied(factors, WORDS)
    mass, _ = low_rank_normaliser(factors, depth)
    assert mass == pytest.approx(require_fitting(grammar, containment(grammar, depth)), abs=1e-12)


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
