"""Gamma and Dirichlet draws against their distributions."""

import numpy as np
import pytest
from scipy.stats import beta, gamma, kstest, loggamma

from dbpcfg.grammar import dirichlet
from dbpcfg.grammar.dirichlet import dirichlet_rows
from dbpcfg.numerics.kernels import kernel
from dbpcfg.numerics.philox import stream
from tests.statistics import LEAST_P, goodness_of_fit, same_mean

DRAWS = 20_000
log_gamma_variate = kernel(dirichlet.log_gamma_variate)
PARAMETERS = np.array([0.2, 1.0, 3.5, 0.05])


@pytest.mark.parametrize("shape", [0.01, 0.2, 0.999, 1.0, 2.5, 300.0])
def test_gamma_variates(shape):
    numbers = stream(1)
    logs = np.array([log_gamma_variate(shape, numbers, item) for item in range(DRAWS)])
    assert kstest(logs, loggamma(shape).cdf).pvalue > LEAST_P
    assert kstest(logs, loggamma(1.1 * shape).cdf).pvalue < 1e-12
    if shape >= 0.2:
        assert kstest(np.exp(logs), gamma(shape).cdf).pvalue > LEAST_P


@pytest.fixture(scope="module")
def rows():
    return dirichlet_rows(np.tile(PARAMETERS, (DRAWS, 1)), stream(2), 0)


def test_rows_are_probabilities(rows):
    assert (rows >= 0).all()
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-15 * len(PARAMETERS)


def test_entries_have_beta_distributions(rows):
    for column, a in zip(rows.T, PARAMETERS):
        rest = PARAMETERS.sum() - a
        assert kstest(column, beta(a, rest).cdf).pvalue > LEAST_P
        assert kstest(column, beta(1.1 * a, rest).cdf).pvalue < 1e-6


def test_means_variances_and_covariances(rows):
    total = PARAMETERS.sum()
    means = PARAMETERS / total
    assert same_mean(rows, means) > LEAST_P
    assert same_mean(rows, PARAMETERS[::-1] / total) < 1e-12
    # E[xᵢxⱼ] = αᵢ(αⱼ + [i = j]) / α(α + 1)
    products = (rows[:, :, np.newaxis] * rows[:, np.newaxis]).reshape(DRAWS, -1)
    expected = (np.outer(PARAMETERS, PARAMETERS) + np.diag(PARAMETERS)) / (total * (total + 1))
    assert same_mean(products, expected.ravel()) > LEAST_P
    assert same_mean(products, np.outer(means, means).ravel()) < 1e-12


@pytest.mark.parametrize("parameter", [1e-3, 1e-10, 1e-300])
def test_tiny_parameters(parameter):
    """Nearly all of a row's probability is then on one entry, each as often as the others."""
    rows = dirichlet_rows(np.full((2000, 5), parameter), stream(3), 0)
    assert np.isfinite(rows).all()
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-15 * 5
    assert (rows.max(axis=1) > 0.99).mean() > 0.95
    winners = dict(enumerate(np.bincount(rows.argmax(axis=1), minlength=5).tolist()))
    assert goodness_of_fit(winners, dict.fromkeys(range(5), 0.2), 2000) > LEAST_P
    assert goodness_of_fit(winners, {0: 0.3, 1: 0.1, 2: 0.2, 3: 0.2, 4: 0.2}, 2000) < 1e-12


def test_a_row_depends_on_its_own_items_only():
    parameters = np.random.default_rng(0).gamma(1.0, size=(5, 7)) + 0.1
    table = dirichlet_rows(parameters, stream(6), 100)
    for r in range(5):
        alone = dirichlet_rows(parameters[r : r + 1], stream(6), 100 + 7 * r)
        assert alone.tobytes() == table[r].tobytes()
    assert (dirichlet_rows(parameters, stream(6), 101) != table).all()
    assert (dirichlet_rows(parameters, stream(7), 100) != table).all()
