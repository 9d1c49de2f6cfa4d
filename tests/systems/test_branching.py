"""Branching baselines: their shapes, and the random one's distribution."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.philox import stream
from dbpcfg.systems.branching import branching_tree
from tests.oracle import shapes
from tests.statistics import LEAST_P, goodness_of_fit

NUMBERS = stream(3)


@pytest.mark.parametrize(
    ("system", "tree"),
    [
        ("right", "(X (X a) (X (X b) (X (X c) (X (X d) (X e)))))"),
        ("left", "(X (X (X (X (X a) (X b)) (X c)) (X d)) (X e))"),
        ("balanced", "(X (X (X (X a) (X b)) (X c)) (X (X d) (X e)))"),
    ],
)
def test_shapes(system, tree):
    assert str(branching_tree(system, "abcde", NUMBERS)) == tree
    assert str(branching_tree(system, ["word"], NUMBERS)) == "(X word)"


@given(st.integers(1, 40), st.integers(0, 5))
def test_random_trees_are_binary_trees_of_the_words(n, sentence):
    words = [f"w{i}" for i in range(n)]
    tree = branching_tree("random", words, NUMBERS, sentence)
    assert tree.words() == words
    assert tree.is_binary
    assert tree == branching_tree("random", words, NUMBERS, sentence)


def drawn(n: int, draws: int, split_evenly: bool = False) -> Counter[str]:
    words = [str(i) for i in range(n)]
    systems = ["balanced" if split_evenly and s % 5 == 0 else "random" for s in range(draws)]
    return Counter(
        str(branching_tree(system, words, NUMBERS, s)) for s, system in enumerate(systems)
    )


def test_random_trees_are_equally_probable():
    n, draws = 5, 6000
    found = drawn(n, draws)
    expected = dict.fromkeys(found, 1 / len(shapes(0, n)))
    assert len(found) == len(shapes(0, n))
    assert goodness_of_fit(found, expected, draws) > LEAST_P
    # Negative control: a fifth of them always the same tree.
    assert goodness_of_fit(drawn(n, draws, split_evenly=True), expected, draws) < 1e-8


def test_long_sentences_do_not_overflow():
    words = ["w"] * 1000
    for system in ("right", "left", "balanced", "random"):
        assert len(branching_tree(system, words, NUMBERS)) == 1000


def test_errors():
    with pytest.raises(DbpcfgError, match="no baseline 'up'; choose one of right, left"):
        branching_tree("up", ["a"], NUMBERS)
    with pytest.raises(DbpcfgError, match="without words"):
        branching_tree("right", [], NUMBERS)
