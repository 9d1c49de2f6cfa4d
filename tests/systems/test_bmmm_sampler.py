"""BMMM's sampler against brute force, with negative controls."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import norm

from dbpcfg.numerics.philox import Purpose, compiled_uniform_pair, stream
from dbpcfg.systems.bmmm import model, sampler
from dbpcfg.systems.bmmm.model import (
    MAXIMUM,
    MINIMUM,
    Features,
    context_features,
    count_classes,
    dependency_features,
    faithful_log_posterior,
    join_features,
    log_polya,
    log_posterior,
    number_types,
    step,
)
from dbpcfg.systems.bmmm.sampler import (
    ClassSampler,
    _tables,
    fill_tables,
    move,
    powers,
    score,
    sweep,
)
from tests.statistics import LEAST_P, goodness_of_fit
from tests.systems.bmmm_oracle import conditional, dense, log_joint, posterior

SENTENCES = ["a b c", "a c", "d b", "b d d"]
CLASSES, ALPHA, BETAS = 2, 0.7, np.array([0.4, 0.9])


def tiny(repeated: int = 1) -> Features:
    text = number_types([line.split() for line in SENTENCES] * repeated)
    heads = [[1, -1, 1], [-1, 0], [1, -1], [-1, 0, 1]] * repeated
    tags = [[0, 1, 0], [0, 0], [1, 1], [1, 1, 1]] * repeated
    return join_features(context_features(text, 2), dependency_features(text, heads, tags, CLASSES))


def frequent() -> Features:
    """Four types that differ little, so frequent that all probabilities are below e⁻¹⁰⁰."""
    counts = np.array([130, 110, 126, 114, 112, 128, 108, 132])
    return Features(np.array([[0, 2, 4, 6, 8]]), np.array([0, 1] * 4), counts, np.array([0, 2]))


def tables_for(features, counts, betas=BETAS):
    tables = _tables(features, counts)
    fill_tables(features.firsts, betas, tables)
    return tables


@st.composite
def mixtures(draw):
    """Any counts of up to four types in two sets, and classes."""
    types, classes = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sets = []
    for _ in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 3))
        rows = st.lists(st.integers(0, 6), min_size=size, max_size=size)
        matrix = np.array(draw(st.lists(rows, min_size=types, max_size=types)))
        owners, ids = np.nonzero(matrix)
        pointers = np.searchsorted(owners, np.arange(types + 1))[np.newaxis]
        sets.append(Features(pointers, ids, matrix[owners, ids], np.array([0, size])))
    z = draw(st.lists(st.integers(0, classes - 1), min_size=types, max_size=types))
    x = st.floats(0.01, 20)
    return join_features(*sets), np.array(z), classes, draw(x), np.array([draw(x) for _ in sets])


@given(mixtures())
def test_conditional_is_that_of_the_joint(mixture):
    features, z, classes, alpha, betas = mixture
    counts = count_classes(features, z, classes)
    tables = tables_for(features, counts, betas)
    p = np.empty(classes)
    for i in range(len(z)):
        move(features, counts, i, z[i], -1)
        score(features, counts, tables, alpha, i, p)
        move(features, counts, i, z[i], 1)
        expected = conditional(dense(features), z, i, classes, alpha, betas)
        assert np.exp(p - p.max()) / np.exp(p - p.max()).sum() == pytest.approx(expected, abs=1e-10)


@given(mixtures())
def test_posterior_is_the_joint(mixture):
    features, z, classes, alpha, betas = mixture
    counts, x = count_classes(features, z, classes), [alpha, *betas]
    exact = sum(log_posterior(features, counts, j, x[j]) for j in range(len(x)))
    assert exact == pytest.approx(log_joint(dense(features), z, classes, alpha, betas), abs=1e-10)
    other = sum(faithful_log_posterior(features, counts, z, j, x[j]) for j in range(len(x)))
    expected = log_joint(dense(features), z, classes, alpha, betas, own_first=True)
    assert other == pytest.approx(expected, abs=1e-10)


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=5), st.floats(1e-3, 100))
def test_running_logs_are_gamma_functions(counts, x):
    n, size = np.array(counts), len(counts)
    exact = (gammaln(n + x) - gammaln(x)).sum() + gammaln(size * x) - gammaln(n.sum() + size * x)
    assert log_polya(n[:, np.newaxis], x) == pytest.approx(exact, rel=1e-9, abs=1e-9)


def drawn(features, starts, sweeps, betas=BETAS, faithful=False) -> Counter:
    """States after some sweeps from each start; with one start, states of one chain."""
    found: Counter = Counter()
    number = 0
    for start in starts:
        z = np.array(start)
        counts = count_classes(features, z, CLASSES)
        tables = tables_for(features, counts, betas)
        for _ in range(sweeps):
            numbers = stream(0, 0, number, Purpose.BMMM)
            sweep(features, counts, tables, ALPHA, 1.0, z, numbers, faithful)
            number += 1
        found[tuple(map(int, z))] += 1
        assert all(map(np.array_equal, counts, count_classes(features, z, CLASSES)))
    return found


@pytest.mark.slow
def test_a_chain_reaches_the_posterior():
    features = tiny()
    expected = posterior(dense(features), CLASSES, ALPHA, BETAS)
    starts = [(0, 0, 0, 0)] * 3000
    assert goodness_of_fit(drawn(features, starts, 15), expected, len(starts)) > LEAST_P
    wrong = drawn(features, starts, 15, betas=np.array([1.2, 0.9]))
    assert goodness_of_fit(wrong, expected, len(starts)) < LEAST_P


@pytest.mark.slow
def test_the_posterior_stays_and_rescaled_logarithms_leave_it():
    features, betas = frequent(), BETAS[:1]
    expected = posterior(dense(features), CLASSES, ALPHA, betas)
    states, p = list(expected), np.array(list(expected.values()))
    chosen = np.random.default_rng(0).choice(len(states), size=3000, p=p)
    starts = [states[one] for one in chosen]
    exact = drawn(features, starts, 3, betas)
    assert goodness_of_fit(exact, expected, len(starts)) > LEAST_P
    rescaled = drawn(features, starts, 3, betas, faithful=True)
    assert goodness_of_fit(rescaled, expected, len(starts)) < LEAST_P


URNS = np.tile([[80, 2, 5], [1, 60, 3], [0, 4, 90], [3, 0, 1]], (1, 8))


def quantiles(tau: float, cells: int) -> np.ndarray:
    """Where the posterior of x under a flat prior, to the power τ, has equal parts."""
    x = np.geomspace(MINIMUM, MAXIMUM, 20_001)
    logs = tau * np.array([log_polya(URNS, one) for one in x])
    density = np.exp(logs - logs.max())
    mass = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    return np.interp(np.arange(1, cells) / cells, mass / mass[-1], x)


def steps(tau: float, faithful: bool, samples: int, thinned: int) -> np.ndarray:
    x = np.array([0.3])
    found = []
    for number in range(samples * thinned):
        numbers = stream(1, 0, number, Purpose.BMMM)
        step(x, lambda _, value: log_polya(URNS, value), tau, numbers, faithful)
        if number % thinned == thinned - 1:
            found.append(x[0])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tau", "of", "faithful", "fits"),
    [
        (1.0, 1.0, False, True),
        (0.5, 0.5, False, True),
        (0.5, 1.0, False, False),  # another power
        (1.0, 1.0, True, False),  # a posterior that is out of date
    ],
)
def test_hyperparameters_have_their_posterior(tau, of, faithful, fits):
    cells, samples = 8, 2000
    found = np.searchsorted(quantiles(of, cells), steps(tau, faithful, samples, 8))
    expected = dict.fromkeys(range(cells), 1 / cells)
    p = goodness_of_fit(Counter(map(int, found)), expected, samples)
    assert (p > LEAST_P) == fits, p


@pytest.mark.parametrize("faithful", [False, True])
def test_the_published_program_raises_proposals_to_the_power_too(faithful, monkeypatch):
    monkeypatch.setattr(model, "ROUNDS", 1)
    accepted = 0
    for number in range(300):
        numbers, x = stream(7, 0, number), np.array([2.0])
        proposed = 2 * (1 + model.WIDTH * model._normal(numbers, 0, 1))
        gain = proposed - 2
        back = norm.logpdf(2, proposed, proposed / 10) - norm.logpdf(proposed, 2, 0.2)
        log_r = 0.5 * (gain + back) if faithful else 0.5 * gain + back
        step(x, lambda _, value: value, 0.5, numbers, faithful)
        expected = math.log(compiled_uniform_pair(numbers, 0, 2)[0]) < log_r
        assert x[0] == (proposed if expected else 2.0)
        accepted += expected
    assert 200 < accepted < 300


def test_hyperparameters_stay_within_their_limits():
    x = np.array([999.0, 1.001e-6])
    for number in range(200):
        step(x, lambda j, value: 0.0, 1.0, stream(0, 0, number))
        assert ((x >= MINIMUM) & (x <= MAXIMUM)).all()


def test_schedule():
    tau = powers(500)
    assert tau[0] == pytest.approx(0.5)
    assert (np.diff(tau[:250]) > 0).all()
    assert tau[249] < 1 == tau[250] == tau[399]
    for first, power in [(400, 1.11), (425, 1.2321), (450, 1.367631), (475, 1.51807041)]:
        assert tau[first : first + 25] == pytest.approx(power)
    x = 50 / 250
    s = [1 / (1 + math.exp(10 * (one - 0.2))) for one in (x, 0, 1)]
    assert tau[50] == pytest.approx(1 / (1 + (s[0] - s[2]) / (s[1] - s[2])))


@given(st.integers(1, 300))
def test_schedules_of_any_length(iterations):
    tau = powers(iterations)
    assert len(tau) == iterations
    assert tau[-1] == pytest.approx(1.11**4 if iterations >= 20 else 1.0)
    assert iterations < 2 or tau[0] == pytest.approx(0.5)


@pytest.mark.parametrize("faithful", [False, True])
def test_the_chain_is_made_of_sweeps_comparisons_and_steps(faithful, monkeypatch):
    """The same with counts and tables made anew in each iteration."""
    chance, iterations, reports, swept = np.random.default_rng(0), 60, [], []
    text = number_types([chance.choice(list("abcdefghijklmnop"), 5).tolist() for _ in range(8)])
    features = join_features(context_features(text, 4), context_features(text, 2))
    chain = ClassSampler(CLASSES, iterations, 3, 1, faithful, alpha=0.7, beta=0.3)
    z, x, best = (
        chain._initial(len(text.vocabulary)),
        np.array([0.7, 0.3, 0.3]),
        (-math.inf, None, None),
    )
    expected = []
    for number, tau in enumerate(powers(iterations), start=1):
        numbers, counts = stream(3, 1, number, Purpose.BMMM), count_classes(features, z, CLASSES)
        tables = tables_for(features, counts, x[1:])
        sweep(features, counts, tables, x[0], tau, z, numbers, faithful)
        expected.append(z.tolist())

        def density(j, value, counts=counts, z=z):
            if faithful:
                return faithful_log_posterior(features, counts, z, j, value)
            return log_posterior(features, counts, j, value)

        posterior = sum(density(j, x[j]) for j in range(3))
        if posterior > best[0] and (number % 5 == 0 or not faithful):
            best = posterior, z.copy(), x.copy()
        if number % 5 == 0:
            step(x, density, tau, numbers, faithful)

    def watched(*given):
        sweep(*given)
        swept.append(given[5].tolist())

    monkeypatch.setattr(sampler, "sweep", watched)
    found = chain.sample(features, reports.append)
    assert swept == expected
    assert found.log_posterior == best[0]
    assert (found.z == best[1]).all()
    assert (found.hyperparameters == best[2]).all()
    assert reports == list(range(1, iterations + 1))
