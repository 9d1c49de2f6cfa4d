"""Permutation tests against full enumeration and under the null, intervals by what they cover."""

import itertools
import math

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation import significance
from dbpcfg.evaluation.parseval import Convention, score
from dbpcfg.evaluation.significance import bootstrap, permutation_test
from tests.statistics import LEAST_P, goodness_of_fit

CORPUS, SENTENCE = Convention(), Convention(average="sentence")
BOTH = pytest.mark.parametrize("convention", [CORPUS, SENTENCE], ids=["corpus", "sentence"])


def random_statistics(rng: np.random.Generator, gold: np.ndarray, right: float = 0.5) -> np.ndarray:
    """A system that finds each gold bracket with a probability, and adds some wrong ones."""
    matched = rng.binomial(gold, right)
    return np.stack([matched, matched + rng.poisson(2, len(gold)), gold], axis=1)


def two_systems(seed: int, sentences: int, right: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 12, sentences)
    return random_statistics(rng, gold, right), random_statistics(rng, gold)


@BOTH
def test_identical_systems(convention):
    system, _ = two_systems(0, 50)
    it = permutation_test(system, system, convention, permutations=100)
    assert it.p == 1.0
    assert it.difference == 0.0


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_all_exchanges_of_eight_sentences(convention, seed, monkeypatch):
    monkeypatch.setattr(significance, "_CELLS", 8 * 400)  # 400 exchanges at a time
    first, second = two_systems(seed, 8, right=0.7)

    def difference(swapped):
        swap = np.array(swapped)[:, None]
        ours, theirs = np.where(swap, second, first), np.where(swap, first, second)
        return abs(score(ours, convention).f1 - score(theirs, convention).f1)

    observed = difference([False] * 8)
    every = [difference(swapped) for swapped in itertools.product([False, True], repeat=8)]
    exact = np.mean([value >= observed - 1e-12 for value in every])
    n = 40_000
    it = permutation_test(first, second, convention, permutations=n, seed=seed)
    assert abs(it.p - exact) < 4 * math.sqrt(exact * (1 - exact) / n) + 1 / n
    assert abs(it.difference) == pytest.approx(observed)


def test_a_sentence_with_nothing_to_count_for_one_system():
    """F1 is 1 and 1/4; if the second sentences are exchanged it is 1/2 for both."""
    first, second = np.array([[1, 1, 1], [0, 0, 0]]), np.array([[1, 3, 1], [0, 2, 0]])
    it = permutation_test(first, second, SENTENCE, permutations=999)
    assert (it.first, it.second) == (1.0, 0.25)
    assert it.p == pytest.approx(0.5, abs=0.1)


def p_values(right: float, convention: Convention) -> np.ndarray:
    """199 permutations make p one of 1/200 … 200/200, each as likely if the systems are alike."""
    return np.array(
        [
            permutation_test(*two_systems(seed, 60, right), convention, 199, seed).p
            for seed in range(600)
        ]
    )


def fit_of_uniform(p: np.ndarray) -> float:
    tenths = np.ceil(p * 10 - 1e-9).astype(int)
    observed = {tenth: int((tenths == tenth).sum()) for tenth in range(1, 11)}
    return goodness_of_fit(observed, dict.fromkeys(range(1, 11), 0.1), len(p))


@BOTH
def test_p_is_uniform_if_the_systems_are_alike(convention):
    assert fit_of_uniform(p_values(0.5, convention)) > LEAST_P


@BOTH
def test_p_is_not_uniform_if_one_is_better(convention):
    """Negative control."""
    p = p_values(0.58, convention)
    assert fit_of_uniform(p) < 1e-12
    assert np.mean(p < 0.05) > 0.3


def test_p_is_never_zero_and_the_order_does_not_matter():
    first, second = two_systems(0, 300, right=0.9)
    it = permutation_test(first, second, CORPUS, permutations=999)
    assert it.p == 1 / 1000
    assert permutation_test(second, first, CORPUS, permutations=999).p == it.p
    assert it.first > it.second
    assert str(it).startswith(f"F1 {100 * it.first:.1f} against {100 * it.second:.1f}: p = 0.001 ")


def test_the_seed_decides():
    systems = two_systems(3, 100)
    p = [permutation_test(*systems, CORPUS, 500, seed).p for seed in (0, 0, 1)]
    assert p[0] == p[1] != p[2]


def test_nothing_to_compare():
    nothing = np.zeros((5, 3), dtype=int)
    it = permutation_test(nothing, nothing, CORPUS, permutations=10)
    assert it.p == 1.0
    assert math.isnan(it.first)


@pytest.mark.parametrize(
    ("other", "message"),
    [([[1, 1, 1]], r"2 and 1 sentence"), ([[1, 2, 2], [1, 2, 3]], "same gold")],
)
def test_systems_on_other_sentences(other, message):
    with pytest.raises(DbpcfgError, match=message):
        permutation_test(np.array([[1, 2, 2], [1, 2, 2]]), np.array(other), CORPUS)


# --- intervals --------------------------------------------------------------------------------


@BOTH
def test_intervals_cover(convention):
    """95% intervals hold the true scores about 95 times in 100, and 50% intervals half as often.

    The truth is the score of a population of which the samples are drawn.
    """
    population, _ = two_systems(0, 400)
    it = score(population, convention)
    truth = np.array([it.precision, it.recall, it.f1])
    rng = np.random.default_rng(1)
    covered = {0.95: [], 0.5: []}
    for trial in range(300):
        sample = population[rng.integers(0, 400, 150)]
        for level, found in covered.items():
            intervals = bootstrap(sample, convention, level, resamples=300, seed=trial)
            low, high = np.array([intervals.precision, intervals.recall, intervals.f1]).T
            found.append((low <= truth) & (truth <= high))
    assert np.mean(covered[0.95], axis=0) == pytest.approx(0.95, abs=0.04)
    assert np.mean(covered[0.5], axis=0) == pytest.approx(0.5, abs=0.1)


def test_intervals_of_certainty_and_of_nothing():
    certain = bootstrap(np.array([[2, 2, 2]] * 10), CORPUS)
    assert certain.f1 == certain.precision == certain.recall == (1.0, 1.0)
    rarely_nothing = bootstrap(np.array([[0, 0, 0], [2, 2, 2]]), CORPUS)  # every fourth resample
    assert rarely_nothing.f1 == (1.0, 1.0)
    for nothing in (np.zeros((5, 3), dtype=int), np.zeros((0, 3), dtype=int)):
        assert all(map(math.isnan, bootstrap(nothing, CORPUS).f1))


def test_settings_that_are_none():
    system = np.array([[1, 1, 1]])
    with pytest.raises(DbpcfgError, match="level"):
        bootstrap(system, CORPUS, level=95)
    with pytest.raises(DbpcfgError, match="resamples"):
        bootstrap(system, CORPUS, resamples=0)
    with pytest.raises(DbpcfgError, match="permutations"):
        permutation_test(system, system, CORPUS, permutations=0)
