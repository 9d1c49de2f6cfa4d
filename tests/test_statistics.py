"""The tests' own test statistics."""

import numpy as np
import pytest

from tests.statistics import goodness_of_fit, same_mean, same_means

ABC = {"a": 0.5, "b": 0.3, "c": 0.2}


def test_chi_square_by_hand():
    """(60 − 50)² / 50 + (30 − 30)² / 30 + (10 − 20)² / 20 = 7, and exp(−7/2) with 2 degrees."""
    observed = {"a": 60, "b": 30, "c": 10}
    assert goodness_of_fit(observed, ABC, 100) == pytest.approx(np.exp(-3.5))


def test_probability_left_over_is_one_more_cell():
    assert goodness_of_fit({"a": 60, "b": 30, "x": 4, "y": 6}, {"a": 0.5, "b": 0.3}, 100) == (
        pytest.approx(np.exp(-3.5))
    )


def test_rare_cells_are_pooled():
    rare = {"a": 0.5, "b": 0.3, "c": 0.15, "d": 0.03, "e": 0.02}  # d and e make 5 of 100
    assert goodness_of_fit({"a": 50, "b": 30, "c": 15, "e": 5}, rare, 100) == 1.0


def test_impossible_outcomes():
    assert goodness_of_fit({"a": 99, "x": 1}, {"a": 1.0}, 100) == 0.0
    assert goodness_of_fit({"a": 99, "x": 1}, {"a": 1.0, "x": 0.0}, 100) == 0.0


def test_p_values_are_uniform_if_the_hypothesis_holds():
    rng = np.random.default_rng(0)
    p = [
        goodness_of_fit(dict(zip("abc", rng.multinomial(300, list(ABC.values())))), ABC, 300)
        for _ in range(1000)
    ]
    assert np.mean(p) == pytest.approx(0.5, abs=0.05)
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.025)


def test_means():
    samples = np.random.default_rng(0).normal(loc=[1.0, 2.0], size=(1000, 2))
    assert same_mean(samples, np.array([1.0, 2.0])) > 0.01
    assert same_mean(samples, np.array([1.0, 2.3])) < 1e-12
    assert same_means(samples[:500], samples[500:]) > 0.01
    assert same_means(samples[:500], samples[500:] + 0.5) < 1e-12
