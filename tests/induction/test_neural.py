"""The neural grammar: its network, its gradient, its optimiser, and when it stops."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.induction.learners.network import Shape, factors_of, forward, initial_parameters, views
from dbpcfg.induction.learners.neural import LONGEST, Moments, ascend
from dbpcfg.induction.mapping import Mapper
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.lowrank.parser import FactorParser
from tests.induction.small import CORPUS as LARGER
from tests.induction.small import SENTENCES as TEXT
from tests.induction.small import first, settings, states, step, written

SENTENCES = [
    line.split()
    for line in (
        "the dog sees a cat",
        "a cat sees the new dog",
        "the cat sleeps",
        "a dog sleeps here",
        "the new dog sees a dog here",
        "go",
        "the cat sees the dog",
        "look here",
    )
]
CORPUS = Encoded.from_sentences(SENTENCES)
DOUBLE = {"precision": "double"}


@pytest.mark.parametrize(("depth", "exact"), [(1, True), (2, False), (2, True), (None, False)])
def test_the_gradient_is_that_of_the_log_likelihood(depth, exact):
    chosen = settings("neural", categories=5, depth=depth, exact=exact, rank=4, **DOUBLE)
    learner, part = chosen.learner, CORPUS.select(np.array([0, 2, 5]))
    shape = learner.shape(chosen, CORPUS.vocabulary)
    vector = initial_parameters(shape, stream(3, 0, 0, Purpose.NETWORK)) * 2
    vector += 0.01  # biases too

    def total(parameters: np.ndarray) -> float:
        parser = FactorParser(factors_of(forward(views(parameters, shape), 2)), depth)
        return float((parser.log_probabilities if exact else parser.log_inside)(part).mean())

    gradient = np.full(shape.size, np.nan)
    learner.gradient(vector, part, chosen, gradient, Mapper())
    rng = np.random.default_rng(0)
    for name, place in views(np.arange(shape.size), shape).items():
        for x in rng.choice(place.ravel(), min(3, place.size), replace=False).tolist():
            ends = []
            for sign in (1, -1):
                other = vector.copy()
                other[x] += sign * 1e-5
                ends.append(total(other))
            assert gradient[x] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7), name


def test_factors_are_probabilities():
    shape = Shape(2, 3, 4, 6, width=5)
    vector = initial_parameters(shape, stream(0, 1, 0, Purpose.NETWORK))
    factors = factors_of(forward(views(vector, shape), 2))
    for name, axis in (("root", 0), ("parent", 1), ("left", 0), ("right", 0), ("emission", 1)):
        np.testing.assert_allclose(getattr(factors, name).sum(axis=axis), 1)


def test_adam_by_hand():
    rng = np.random.default_rng(1)
    moments = Moments(np.zeros(5), np.zeros(5), np.zeros(5))
    theta, m, s = np.zeros(5), np.zeros(5), np.zeros(5)
    for t in range(1, 4):
        g = rng.normal(size=5) * 10 ** (t - 2)
        ascend(moments, g.copy(), 0.1, t)
        g *= min(1, LONGEST / np.linalg.norm(g))
        m, s = 0.75 * m + 0.25 * g, 0.999 * s + 0.001 * g**2
        theta = theta + 0.1 * (m / (1 - 0.75**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(moments.parameters, theta)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("depth", [1, 2, None])
def test_likelihood_rises(depth, precision):
    chosen = settings("neural", categories=6, depth=depth, precision=precision, batch=4)
    logs = [one.measures.posterior for one in itertools.islice(states(CORPUS, chosen), 12)]
    assert logs[-1] > logs[0] + 10


def test_exact_is_the_likelihood_of_the_bounded_model():
    chosen = settings("neural", categories=5, depth=1, **DOUBLE)  # exact, unless told otherwise
    learner, state = chosen.learner, first(CORPUS, chosen)
    vector = state.network.parameters
    gradient = np.zeros_like(vector)
    learner.gradient(vector, CORPUS, chosen, gradient, Mapper())

    def mean(parameters: np.ndarray) -> float:
        grammar = learner.grammar_of(parameters, chosen, CORPUS.vocabulary)
        return learner.measures(grammar, CORPUS, chosen, Mapper()).likelihood / len(CORPUS)

    way = np.random.default_rng(0).normal(size=len(vector)) * 1e-5
    slope = mean(vector + way) - mean(vector - way)
    assert 2 * float(gradient @ way) == pytest.approx(slope, rel=1e-4)
    likelihood, posterior = learner.measures(state.grammar, CORPUS, chosen, Mapper())[:2]
    assert likelihood == pytest.approx(posterior)
    held_out = learner.measures(state.grammar, CORPUS, replace(chosen, held_out=3), Mapper())
    assert likelihood < held_out.likelihood == pytest.approx(held_out.posterior)


def test_measures_are_those_of_the_dense_grammar():
    chosen = settings("neural", categories=6, depth=2, held_out=3, exact=False, **DOUBLE)
    before = first(CORPUS, chosen)
    after = step(before, CORPUS, chosen)
    logs = ChartParser(before.grammar.multiplied_out(), 2).log_probabilities(CORPUS)
    assert after.measures.heldout == pytest.approx(logs[2::3].sum())
    assert after.measures.likelihood == pytest.approx(np.delete(logs, [2, 5]).sum())


def test_passes_and_mini_batches_are_counted():
    chosen = settings("neural", categories=6, depth=2, held_out=3, patience=9, rate=0.02, batch=9)
    state, since = first(LARGER, chosen), [0]
    for number in range(1, 13):
        before, state = state, step(state, LARGER, chosen)
        since.append(since[-1] + 1 if state.grammar is before.grammar else 0)
        assert (state.network.steps, state.network.since) == (3 * number, since[-1])
    assert any(one and not other for one, other in itertools.pairwise(since))  # a better one again


def test_what_is_kept_aside_decides_when_to_stop():
    chosen = settings("neural", categories=6, held_out=3, patience=2, rate=0.05, batch=2)
    chain = list(itertools.islice(states(CORPUS, chosen), 25))
    assert (np.diff([one.measures.heldout for one in chain]) >= 0).all()
    network = chain[-1].network
    assert network.since == 2
    assert network.steps < 25 * 3
    assert chain[-1].grammar is chain[-2].grammar
    assert step(chain[-1], CORPUS, chosen).network == network


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(("rate", "number"), [(10, 1), (1e300, 1), (0.1, 2)])
def test_a_pass_that_diverges_is_not_kept(rate, number, precision, tmp_path):
    out, given = tmp_path / "run", {"learner": "neural", "rate": rate, "precision": precision}
    given["teacher"] = "none"
    run = dbpcfg.induce(SENTENCES, 6, chains=1, iterations=4, out=out, batch=2, **given)
    (chain,) = run.chains
    assert run.finished
    (note,) = (note for note in run.table().notes if "diverged" in note)
    assert note.startswith(f"chain 0: learning diverged in iteration {number}, and stopped with")
    assert note.endswith(f"lower the rate ({rate:g})")
    assert chain.logs[number - 1 :] == chain.logs[-1:] * (5 - number)
    good = first(CORPUS, chain.settings)
    for _ in range(number - 1):
        good = step(good, CORPUS, chain.settings)
    found, expected = chain.state.grammar.factors, good.grammar.factors
    np.testing.assert_allclose(found.emission, expected.emission, rtol=1e-4)
    (tree,) = dbpcfg.load(out).parse(["the dog sees a cat"])
    assert tree.words() == SENTENCES[0]
    assert note in dbpcfg.resume(out, iterations=8).table().notes


def test_its_grammar_stays_of_low_rank(tmp_path):
    run = dbpcfg.induce(
        *(SENTENCES, 6),
        learner="neural",
        word_categories=4,
        rank=5,
        iterations=5,
        chains=2,
        out=tmp_path / "run",
    )
    assert run.finished
    model = dbpcfg.load(tmp_path / "run")
    assert isinstance(model.grammar, LowRankGrammar)
    assert isinstance(model.grammar_with_unknown, LowRankGrammar)
    assert not model.unknown[:2].any()
    assert (model.unknown[2:] > 0).all()
    (sample,) = dbpcfg.load(tmp_path / "run", samples=True).samples
    assert isinstance(sample, LowRankGrammar)
    assert not model.grammar.multiplied_out().binary[2:].any()
    assert not model.grammar.lexical[:2].any()


@pytest.fixture
def large(monkeypatch):
    """A text of more than 10 sentences is large."""
    for name, value in (("LARGE", 10), ("PART", 16), ("SAMPLE", 7)):
        monkeypatch.setattr(f"dbpcfg.induction.learners.neural.{name}", value)


def lines(corpus: Encoded, numbers: np.ndarray | range) -> list[list[str]]:
    return sorted(corpus[int(number)] for number in numbers)


@pytest.mark.parametrize(("batch", "parts"), [(5, 3), (20, 2), (99, 1)])
def test_a_pass_over_a_large_text_is_several_iterations(batch, parts, large, monkeypatch):
    chosen, seen = settings("neural", categories=4, batch=batch), []
    plain = type(chosen.learner).gradient

    def gradient(learner, parameters, sentences, *given):
        seen[-1] += lines(sentences, range(len(sentences)))
        return plain(learner, parameters, sentences, *given)

    monkeypatch.setattr(type(chosen.learner), "gradient", gradient)
    state = first(LARGER, chosen)
    assert chosen.learner.parts(len(LARGER)) == parts
    for _ in range(2 * parts):
        seen.append([])
        state = step(state, LARGER, chosen)
    assert all(0 < len(own) <= max(16, batch) + batch for own in seen)
    for some in (seen[:parts], seen[parts:]):
        assert sorted(itertools.chain(*some)) == lines(LARGER, range(len(LARGER)))
    assert parts == 1 or seen[:parts] != seen[parts:]  # in another order


@pytest.mark.parametrize("every", [0, 3])
def test_a_large_text_is_measured_on_a_sample(every, large):
    chosen = settings("neural", categories=4, held_out=every, **DOUBLE)
    learner, grammar = chosen.learner, first(LARGER, chosen).grammar
    found = learner.measures(grammar, LARGER, chosen, Mapper())
    logs = FactorParser(grammar.factors, chosen.depth).log_probabilities(LARGER)
    held_out = np.arange(every - 1, len(LARGER), every) if every else np.arange(0)
    learned = np.setdiff1d(np.arange(len(LARGER)), held_out)

    def scaled(of: np.ndarray) -> tuple[float, np.ndarray]:
        some = of[np.arange(7) * len(of) // 7]
        tokens = [LARGER.lengths[x].sum() for x in (of, some)]
        return logs[some].sum() * tokens[0] / tokens[1], some

    expected, some = scaled(learned)
    assert found.likelihood == pytest.approx(expected)
    assert found.posterior == pytest.approx(expected)
    if every:
        expected, more = scaled(held_out)
        assert found.heldout == pytest.approx(expected)
        some = np.concatenate([some, more])
    assert found.variance == pytest.approx(np.var(logs[some] / LARGER.lengths[some]))
    assert abs(found.likelihood / logs[learned].sum() - 1) < 0.3


def test_a_large_text_gives_the_same_bytes_however_it_is_computed(large, tmp_path):
    given = {"learner": "neural", "batch": 6, "chains": 2, "iterations": 5, "teacher": "none"}
    for name, how in (("one", {"threads": 1}), ("more", {"threads": 3})):
        dbpcfg.induce(TEXT, 4, out=tmp_path / name, **given, **how)
    stopped = dbpcfg.induce(
        *(TEXT, 4), out=tmp_path / "stopped", should_stop=lambda: True, checkpoint=0, **given
    )
    assert not stopped.finished
    dbpcfg.resume(tmp_path / "stopped")
    assert written(tmp_path / "one") == written(tmp_path / "more") == written(tmp_path / "stopped")
