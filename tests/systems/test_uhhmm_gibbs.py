"""A Gibbs step of the UHHMM leaves the posterior as it is, at depth 1 where it is exact.

The posterior of all states of a tiny corpus is enumerated, distributions integrated out: each row
is Dirichlet-multinomial. β has two entries and the prior Beta(1/2, 1/2), so β = sin²θ with θ
uniform, and is integrated out on a grid of θ.
"""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta, kstest

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.systems.uhhmm.model import (
    Prior,
    Size,
    count_tables,
    draw_beta,
    draw_models,
    uniform,
    zeros,
)
from dbpcfg.systems.uhhmm.system import StateSample, StateSampler
from tests.statistics import LEAST_P, goodness_of_fit
from tests.systems.uhhmm_oracle import counted, sequences

CORPUS = Encoded.from_sentences([["x", "y"], ["x", "y", "y"]])
SIZE = Size(2, 2, 2, 1, 2)
PRIOR = Prior(a=0.6, b=0.4, g=0.8, f=0.7, word=0.3)
CELLS = 150
CHOICES = {"fork": "f", "cont": "b", "root": "a", "exp": "b", "act": "a", "start": "b"}
"""The concentration of each sub-model that is used at depth 1 and has a choice."""


def log_marginal(counts, parameters, axes=None):
    """Log-probability of outcomes in one order, the probabilities of rows integrated out."""
    each = gammaln(parameters + counts) - gammaln(parameters)
    total = parameters.sum(axis=-1, keepdims=True) + 0 * counts[..., :1]
    rows = gammaln(total) - gammaln(total + counts.sum(axis=-1, keepdims=True))
    return each.sum(axis=axes) + rows.sum(axis=axes)


def log_joint(events):
    """[cell of θ]: log-probability of states and words, and the density of θ."""
    counts = counted(events, SIZE)
    fixed = log_marginal(counts.lex, np.full(counts.lex.shape, PRIOR.word))
    for name, kind in CHOICES.items():
        of_model = getattr(counts, name)
        alpha = getattr(PRIOR, kind) / of_model.shape[-1]
        fixed += log_marginal(of_model, np.full(of_model.shape, alpha))
    theta = (np.arange(CELLS) + 0.5) / CELLS * np.pi / 2
    base = PRIOR.g * np.array([np.sin(theta) ** 2, np.cos(theta) ** 2]).T
    return fixed + log_marginal(counts.pos, base[:, None], (1, 2))


def canonical(states):
    """States up to the names of categories and tags, in order of first appearance."""
    columns = np.array(states).T.copy()
    for column in columns[2:]:
        names = {-1: -1}
        for value in column:
            names.setdefault(int(value), len(names) - 1)
        column[:] = [names[int(value)] for value in column]
    return tuple(map(tuple, columns.T.tolist()))


@pytest.fixture(scope="module")
def posterior():
    """All states of the corpus, and the probability of each with each cell of θ."""
    each = [
        sequences(tuple(CORPUS.numbers(s).tolist()), SIZE, uniform(SIZE))
        for s in range(len(CORPUS))
    ]
    pairs = list(product(*each))
    logs = np.array(
        [log_joint(Counter(event for one in pair for event in one.events)) for pair in pairs]
    )
    joint = np.exp(logs - logs.max())
    states = [pair[0].states + pair[1].states for pair in pairs]
    return states, joint / joint.sum()


def after_one_step(posterior, prior, draws, seed=3):
    """States, up to names, after one step from a state drawn from the posterior."""
    states, joint = posterior
    rng = np.random.default_rng(seed)
    starts = rng.choice(joint.size, draws, p=joint.ravel())
    theta = (starts % CELLS + rng.random(draws)) / CELLS * np.pi / 2
    sampler = StateSampler(CORPUS, SIZE, prior, seed)
    seen = Counter()
    with one_blas_thread():
        for n, (start, angle) in enumerate(zip(starts, theta)):
            shares = np.array([np.sin(angle) ** 2, np.cos(angle) ** 2])
            before = np.array(states[start // CELLS], dtype=np.int32)
            last = StateSample(n, zeros(SIZE), shares, before, 0.0)
            seen[canonical(sampler.step(last).states)] += 1
    return seen


@pytest.mark.slow
def test_a_step_leaves_the_posterior_as_it_is(posterior):
    states, joint = posterior
    expected = Counter()
    for one, p in zip(states, joint.sum(axis=1)):
        expected[canonical(one)] += p
    seen = after_one_step(posterior, PRIOR, 3000)
    assert goodness_of_fit(seen, expected, 3000) > LEAST_P
    for wrong in (replace(PRIOR, word=5.0), replace(PRIOR, b=4.0)):
        assert goodness_of_fit(after_one_step(posterior, wrong, 1500), expected, 1500) < 1e-6


def test_tables_of_a_restaurant():
    """The mean number of tables is Σ_i α/(α + i); of one customer, 1."""
    concentrations = np.array([0.3, 2.0])
    counts = np.array([[12.0, 12.0], [1.0, 0.0]])
    drawn = [count_tables(counts, concentrations, stream(1, 0, n)) for n in range(4000)]
    expected = (concentrations[:, None] / (concentrations[:, None] + np.arange(12))).sum(axis=1)
    np.testing.assert_allclose(np.mean(drawn, axis=0)[0], expected, rtol=0.05)
    assert (np.array(drawn)[:, 1] == [1.0, 0.0]).all()


def test_beta_without_tags_has_its_prior():
    """γ/G for each of G = 2 tags: Beta(1/2, 1/2)."""
    nothing, before = zeros(SIZE).pos, np.full(2, 0.5)
    drawn = [draw_beta(nothing, before, Prior(), stream(1, 0, n))[0] for n in range(3000)]
    assert kstest(drawn, beta(0.5, 0.5).cdf).pvalue > LEAST_P
    assert kstest(drawn, beta(1, 1).cdf).pvalue < 1e-8


def test_rows_follow_the_depth_above():
    """Counts at depth 1 are half as many in the prior of depth 2; nothing comes back."""
    size = Size(3, 2, 2, 2, 4)
    counts = zeros(size)
    counts.exp[0, 0, 0, 1] = counts.exp[0, 1, 0, 1] = counts.exp[1, 1, 0, 0] = 1e8
    counts.start[1, 0, 0, 1] = 1e8
    models = draw_models(counts, np.full(2, 0.5), Prior(), stream(2, purpose=Purpose.UHHMM_MODELS))
    assert (models.exp[:, 0, 0, 1] > 0.999).all()
    assert models.exp[1, 1, 0] == pytest.approx([2 / 3, 1 / 3], abs=1e-3)
    assert models.start[1, 0, 0, 1] > 0.999
    assert not models.start[0, 0, 0, 1] > 0.9999
    for it in models:
        np.testing.assert_allclose(it.sum(axis=-1), 1.0)
    assert (models.trans[1] == [0, 1]).all()
    assert (models.reduce[0] == [1, 0]).all()
    assert (models.fork[0] != models.trans[0]).all()  # each has its own random numbers


def test_faithful_rows_lose_the_mass_of_a_new_category():
    size, prior = Size(3, 2, 2, 2, 4), Prior(faithful=True)
    numbers = stream(2, purpose=Purpose.UHHMM_MODELS)
    drawn = draw_beta(zeros(size).pos, np.full(3, 1 / 3), prior, numbers)
    assert len(drawn) == 3
    assert drawn.sum() == pytest.approx(1.0)
    models = draw_models(zeros(size), drawn, prior, numbers)
    for name, it in models._asdict().items():
        whole = name in ("fork", "trans", "reduce", "lex")
        assert np.allclose(it.sum(axis=-1), 1.0) == whole
        assert (it.sum(axis=-1) < 1 + 1e-12).all()
    assert (models.trans[1, ..., 0] > 0).all()
