"""One Gibbs step: a pure function, the same on any number of threads; and the draw of β."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import gamma, kstest, norm

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.pcfg import RuleWeights, draw_grammar
from dbpcfg.induction.criteria import log_marginal
from dbpcfg.induction.learners import State, gibbs
from dbpcfg.induction.learners.gibbs import Gibbs, draw_beta, slice_move
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.options import LARGEST_BETA
from tests.induction.small import first, run, settings, state_after, states, step
from tests.oracle import truth
from tests.statistics import LEAST_P
from tests.stores import memory_depth

CORPUS = Encoded.from_sentences(tree.words() for tree in synthetic_trees("center", sentences=60))
DRAWS = 3000


def bits(state: State) -> tuple[bytes, ...]:
    return (
        state.grammar.root.tobytes(),
        state.grammar.rows.tobytes(),
        state.derivations.nodes.tobytes(),
        np.float64(state.measures.likelihood).tobytes(),
    )


@pytest.mark.parametrize(
    "options",
    [
        {"categories": 4},
        {"categories": 4, "exact": True},
        {"categories": 4, "depth": None},
        {"categories": 4, "parser": "leftcorner"},
        {"categories": 15, "depth": 1},
    ],
    ids=str,
)
def test_the_same_bits_on_one_two_and_three_threads(options):
    alone, together, crowd = (
        [bits(s) for s in itertools.islice(states(CORPUS, settings(**options), threads), 4)]
        for threads in (1, 2, 3)
    )
    assert alone == together == crowd


def test_resuming_from_a_state_is_not_having_stopped():
    chosen = settings(categories=3, seed=9, chain=1)
    whole = list(itertools.islice(states(CORPUS, chosen), 6))
    saved = State(iteration=3, grammar=whole[2].grammar, beta=0.2)
    for expected in whole[3:]:
        saved = step(saved, CORPUS, chosen)
        assert bits(saved) == bits(expected)
    assert saved.iteration == 6


def test_seeds_and_chains_have_their_own_numbers():
    def end(**changed):
        return bits(next(states(CORPUS, settings(categories=3, **changed))))

    assert len({end(), end(seed=1), end(chain=1), end(beta=0.3)}) == 4
    assert end() == end()


def test_the_step_is_its_three_parts():
    chosen = settings(categories=3, depth=1, seed=4)
    before = first(CORPUS, chosen)
    after = step(before, CORPUS, chosen)
    parser = chosen.learner.parser_for(before.grammar, chosen)
    assert after.measures.likelihood == pytest.approx(parser.log_probabilities(CORPUS).sum())
    counts = after.derivations.counts(3)
    assert counts.root.sum() == len(CORPUS)
    assert counts.lexical.sum() == len(CORPUS.tokens)
    assert counts.binary.sum() == len(CORPUS.tokens) - len(CORPUS)
    again = draw_grammar(counts, 0.2, CORPUS.vocabulary, stream(4, 0, 0, Purpose.GRAMMAR))
    assert (again.rows == after.grammar.rows).all()
    assert all(memory_depth(tree) == 1 for tree in after.derivations.trees())


@pytest.mark.parametrize(
    "options",
    [{}, {"exact": True}, {"parser": "leftcorner"}, {"depth": None, "exact": True}, {"depth": 1}],
    ids=str,
)
def test_it_rises_with_every_option(options):
    chain = run(40, **options)
    assert np.mean(chain.logs[20:]) > chain.logs[0] + 50


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_what_is_measured_is_the_likelihood_of_the_bounded_model(depth, exact):
    """Π P/Z, by brute force: Z is divided out once."""
    short = Encoded.from_sentences([["a", "b", "b"], ["b", "a"], ["a", "a", "b", "a"]])
    chosen = settings(categories=3, depth=depth, exact=exact)
    state = state_after(5, short, chosen)
    probabilities = [
        truth(state.grammar, short.numbers(i).tolist(), depth).total for i in range(len(short))
    ]
    kept = fitting_mass(state.grammar, containment(state.grammar, depth))
    assert kept < 0.999
    expected = sum(math.log(one / kept) for one in probabilities)
    assert step(state, short, chosen).measures.likelihood == pytest.approx(expected, rel=1e-10)


# --- a beta so small that most rules have probability zero ----------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [{}, {"precision": "single"}, {"depth": None}, {"beta": 1e-12}, {"parser": "leftcorner"}],
    ids=str,
)
def test_a_beta_so_small_that_most_rules_underflow(seed, options):
    chain = run(6, **{"beta": 0.001, "seed": seed, **options})
    assert np.isfinite(chain.logs).all()


def test_the_exact_step_says_that_beta_is_too_small():
    with pytest.raises(DbpcfgError, match=r"beta, 1e-12, is too small"):
        run(6, beta=1e-12, exact=True)


def test_zeros_are_replaced_only_where_a_sentence_has_probability_zero(monkeypatch):
    monkeypatch.setattr("dbpcfg.induction.learners.without_zeros", None)
    for beta in (0.2, 0.01):
        assert len(run(8, beta=beta).logs) == 8
    with pytest.raises(TypeError):  # negative control: there it is needed
        run(6, beta=1e-12)


# --- beta, sampled along --------------------------------------------------------------------------


def test_beta_is_sampled():
    chain = run(40, sample_beta=True, beta=0.5)
    assert chain.betas[0] == 0.5
    assert len(set(chain.betas)) == 40
    assert all(1e-3 < beta < 5 for beta in chain.betas)
    assert chain.state.beta not in chain.betas  # that of the grammar to come


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


def humps(x: float) -> float:
    return math.log(0.7 * math.exp(-((x + 2) ** 2) / 2) + 0.6 * math.exp(-2 * (x - 2) ** 2))


def from_humps(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(DRAWS) < 0.7, rng.normal(-2, 1, DRAWS), rng.normal(2, 0.5, DRAWS))


TARGETS = {
    "log-gamma": (
        lambda rng: np.log(rng.gamma(2.0, size=DRAWS)),
        lambda x: 2.0 * x - math.exp(x),
        lambda x: gamma.cdf(np.exp(x), 2.0),
    ),
    "two humps": (from_humps, humps, lambda x: 0.7 * norm.cdf(x, -2) + 0.3 * norm.cdf(x, 2, 0.5)),
}
"""Draws, their log-density and their distribution function."""


def moved(start: np.ndarray, move, times: int = 3) -> np.ndarray:
    for number in range(times):
        numbers = [stream(7, number, n, Purpose.BETA) for n in range(len(start))]
        start = np.array([move(x, own) for x, own in zip(start.tolist(), numbers, strict=True)])
    return start


@pytest.mark.parametrize("target", TARGETS)
def test_a_slice_move_leaves_the_density_as_it_is(target):
    """Draws from the target, moved, are still draws from it."""
    draw, density, cdf = TARGETS[target]
    start = draw(np.random.default_rng(11))
    end = moved(start, lambda x, numbers: slice_move(density, x, numbers))
    assert kstest(end, cdf).pvalue > LEAST_P
    assert abs(np.corrcoef(start, end)[0, 1]) < 0.9  # it does move
    # Negative control: the same moves for a density with a little more weight to the right.
    end = moved(start, lambda x, numbers: slice_move(lambda y: density(y) + y / 2, x, numbers))
    assert kstest(end, cdf).pvalue < 1e-8


class Asked:
    """A log-density that may be asked a number of times, so that a test cannot hang."""

    def __init__(self, density, times: int = 2000) -> None:
        self.density, self.left = density, times

    def __call__(self, x: float) -> float:
        self.left -= 1
        assert self.left, "asked again and again"
        return self.density(x)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_slice_move_from_where_there_is_no_density_is_an_error(value):
    with pytest.raises(FloatingPointError, match=r"log-density at 1.5 is not finite"):
        slice_move(Asked(lambda x: value), 1.5, stream(1, 0, 0, Purpose.BETA))


@pytest.mark.parametrize("value", [math.nan, -math.inf])
@pytest.mark.parametrize("around", [0.0, 1e-3, 0.7])
def test_a_slice_move_ends_where_there_is_density(value, around):
    for number in range(20):
        density = Asked(lambda x: -1e6 if abs(x - 1.5) <= around else value)
        numbers = stream(1, 0, number, Purpose.BETA)
        assert abs(slice_move(density, 1.5, numbers) - 1.5) <= around


def test_a_slice_move_ends_at_the_mode_if_nothing_is_above_the_height(monkeypatch):
    """The height is that of the mode if the first number is so near 1 that its log is lost."""
    draws = itertools.chain([1 - 2**-53], np.random.default_rng(0).random(1000).tolist())
    monkeypatch.setattr(gibbs, "uniform_pair", lambda *_: (next(draws), 0.5))
    assert slice_move(Asked(lambda x: -1e6 - abs(x - 1.5)), 1.5, stream(1, 0, 0, 0)) == 1.5


@pytest.mark.parametrize("beta", [1e304, 1e306, 1e308])
def test_a_beta_without_a_density_is_refused(beta):
    with pytest.raises(DbpcfgError, match=r"beta .*1e\+100"):
        Gibbs(beta=beta, sample_beta=True)


def test_the_largest_beta_can_be_sampled():
    counts = RuleWeights(np.array([5, 0]), np.ones((2, 2, 2)), np.ones((2, 3)))
    assert 0 < draw_beta(counts, LARGEST_BETA, stream(1, 0, 0, Purpose.BETA)) < LARGEST_BETA


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
