"""β: its marginal likelihood, and the slice sampler that draws it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import gamma, kstest, norm

from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.induction.criteria import draw_beta, log_marginal, slice_move
from dbpcfg.numerics.philox import Purpose, stream
from tests.statistics import LEAST_P

DRAWS = 3000


def direct(table: np.ndarray, beta: float) -> float:
    """Γ(nβ) / Γ(Σc + nβ) · Π Γ(c + β) / Γ(β), row by row, rule by rule."""
    total = 0.0
    for row in table.tolist():
        total += math.lgamma(len(row) * beta) - math.lgamma(sum(row) + len(row) * beta)
        total += sum(math.lgamma(count + beta) - math.lgamma(beta) for count in row)
    return total


tables = arrays(
    np.int64, st.tuples(st.integers(1, 3), st.integers(1, 6)), elements=st.integers(0, 40)
)


@given(tables, st.floats(1e-3, 50))
def test_log_marginal(table, beta):
    assert log_marginal(table, beta) == pytest.approx(direct(table, beta), rel=1e-9, abs=1e-9)


def test_log_marginal_by_hand():
    """Under Dirichlet(1, 1), two heads and a tail have probability 1/12, in their order."""
    assert log_marginal(np.array([[2, 1]]), 1.0) == pytest.approx(-math.log(12))


# --- slice sampling: draws from the target, moved, are still draws from it ------------------------


def log_gamma_density(shape: float):
    """Of the logarithm of a Gamma variate."""
    return lambda x: shape * x - math.exp(x)


def humps(x: float) -> float:
    return math.log(0.7 * math.exp(-((x + 2) ** 2) / 2) + 0.6 * math.exp(-2 * (x - 2) ** 2))


def from_humps(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(DRAWS) < 0.7, rng.normal(-2, 1, DRAWS), rng.normal(2, 0.5, DRAWS))


def humps_cdf(x):
    return 0.7 * norm.cdf(x, -2) + 0.3 * norm.cdf(x, 2, 0.5)


def moved(start: np.ndarray, move, times: int = 3) -> np.ndarray:
    for step in range(times):
        numbers = [stream(7, step, n, Purpose.BETA) for n in range(len(start))]
        start = np.array([move(x, own) for x, own in zip(start.tolist(), numbers, strict=True)])
    return start


@pytest.mark.parametrize("target", ["log-gamma", "two humps"])
def test_a_move_leaves_the_density_as_it_is(target):
    rng = np.random.default_rng(11)
    if target == "log-gamma":
        start, density = np.log(rng.gamma(2.0, size=DRAWS)), log_gamma_density(2.0)

        def cdf(x):
            return gamma.cdf(np.exp(x), 2.0)
    else:
        start, density, cdf = from_humps(rng), humps, humps_cdf
    end = moved(start, lambda x, numbers: slice_move(density, x, numbers))
    assert kstest(end, cdf).pvalue > LEAST_P
    assert abs(np.corrcoef(start, end)[0, 1]) < 0.9  # it does move

    # Negative control: the same moves for a density with a little more weight to the right.
    end = moved(start, lambda x, numbers: slice_move(lambda y: density(y) + y / 2, x, numbers))
    assert kstest(end, cdf).pvalue < 1e-8


def grid_posterior(counts: RuleWeights, prior_rate: float = 1.0):
    """β's posterior by brute force: a function to draw from it, and its distribution function."""
    log_betas = np.linspace(-12, 4, 8001)
    logs = [
        direct(counts.root[None], b) + direct(counts.rows, b) - prior_rate * b + math.log(b)
        for b in np.exp(log_betas)
    ]
    weights = np.exp(np.array(logs) - max(logs))
    cdf = np.cumsum(weights) / weights.sum()
    return (
        lambda rng: np.exp(np.interp(rng.random(DRAWS), cdf, log_betas)),
        lambda b: np.interp(np.log(b), log_betas, cdf),
    )


def test_draw_beta_has_the_exact_posterior():
    counts = RuleWeights(
        root=np.array([5, 0]),
        binary=np.array([[[3, 0], [0, 0]], [[0, 2], [1, 0]]]),
        lexical=np.array([[4, 0, 1], [0, 0, 6]]),
    )
    draw, cdf = grid_posterior(counts)
    start = draw(np.random.default_rng(3))
    assert 0.1 < np.median(start) < 1
    end = moved(start, lambda beta, numbers: draw_beta(counts, beta, numbers))
    assert kstest(end, cdf).pvalue > LEAST_P
    # Negative controls: another prior, and one more use of a rule.
    assert kstest(end, grid_posterior(counts, prior_rate=2.0)[1]).pvalue < 1e-8
    counts.lexical[1, 0] += 3
    assert kstest(end, grid_posterior(counts)[1]).pvalue < 1e-8
