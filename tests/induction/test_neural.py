"""The neural grammar: its gradient, and runs like those of other learners."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dbpcfg.induction.initial import initial_state

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.grid import read_grid
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.induction import neural
from dbpcfg.induction.chain import advance, new_chain
from dbpcfg.induction.checkpoint import load_chain, save_chain
from dbpcfg.induction.learners.network import (
    Shape,
    backward,
    factors_of,
    forward,
    initial_parameters,
    slopes_of,
    views,
)
from dbpcfg.induction.learners.neural import LONGEST, Moments, ascend
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings, settings_for
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.lowrank.parser import FactorParser

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
GIVEN = {"K": 6, "D": 2, "learner": "neural", "chains": 2, "seed": 4}


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


@pytest.mark.parametrize("depth", [1, 2, None])
def test_the_gradient_is_that_of_the_log_likelihood(depth: int | None) -> None:
    shape = Shape(2, 3, 4, len(CORPUS.vocabulary), width=5)
    vector = initial_parameters(shape, stream(3, 0, 0, Purpose.NETWORK)) * 2
    vector += 0.01  # biases too

    def total(parameters: np.ndarray) -> float:
        factors = factors_of(forward(views(parameters, shape), shape.phrases))
        return float(FactorParser(factors, depth).log_inside(CORPUS).sum())

    done = forward(views(vector, shape), shape.phrases)
    factors = factors_of(done)
    counts, _ = FactorParser(factors, depth).expected_counts(CORPUS, negligible=0.0)
    gradient = np.full(shape.size, np.nan)
    slopes = slopes_of(factors, counts, 1.0)
    backward(views(vector, shape), done, slopes, shape.phrases, views(gradient, shape))
    rng = np.random.default_rng(0)
    for name, place in views(np.arange(shape.size), shape).items():
        for x in rng.choice(place.ravel(), min(3, place.size), replace=False).tolist():
            ends = []
            for sign in (1, -1):
                other = vector.copy()
                other[x] += sign * 1e-5
                ends.append(total(other))
            assert gradient[x] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7), name


def test_factors_are_probabilities() -> None:
    shape = Shape(2, 3, 4, 6, width=5)
    vector = initial_parameters(shape, stream(0, 1, 0, Purpose.NETWORK))
    factors = factors_of(forward(views(vector, shape), 2))
    assert factors.root.sum() == pytest.approx(1)
    for sums in (
        factors.parent.sum(axis=1),
        factors.left.sum(axis=0),
        factors.right.sum(axis=0),
        factors.emission.sum(axis=1),
    ):
        np.testing.assert_allclose(sums, 1)


def test_adam_by_hand() -> None:
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
def test_likelihood_rises(depth: int | None, precision: str) -> None:
    settings = ChainSettings(6, depth, learner="neural", precision=precision, batch=4)
    state, logs = initial_state(CORPUS, settings), []
    for _ in range(12):
        state = neural.step(state, CORPUS, settings)
        assert state.measures is not None
        logs.append(state.measures.posterior)
    assert logs[-1] > logs[0] + 10


def test_exact_is_the_likelihood_of_the_bounded_model() -> None:
    settings = ChainSettings(5, 1, learner="neural", exact=True)
    state = initial_state(CORPUS, settings)
    assert state.network is not None
    gradient, vector = np.zeros_like(state.network.parameters), state.network.parameters
    neural.find_gradient(vector, CORPUS, settings, gradient)

    def mean(parameters: np.ndarray) -> float:
        grammar = neural.grammar_of(parameters, settings, CORPUS.vocabulary)
        return neural.evaluate(grammar, CORPUS, settings).likelihood / len(CORPUS)

    way = np.random.default_rng(0).normal(size=len(vector)) * 1e-5
    slope = mean(vector + way) - mean(vector - way)
    assert 2 * float(gradient @ way) == pytest.approx(slope, rel=1e-4)
    likelihood, posterior = neural.evaluate(state.grammar, CORPUS, settings)[:2]
    assert likelihood == pytest.approx(posterior)


def test_measures_are_those_of_the_dense_grammar() -> None:
    settings = ChainSettings(6, 2, learner="neural", aside=3)
    before = initial_state(CORPUS, settings)
    state = neural.step(before, CORPUS, settings)
    assert state.measures is not None
    logs = ChartParser(before.grammar, 2).log_probabilities(CORPUS)
    assert state.measures.heldout == pytest.approx(logs[2::3].sum())
    assert state.measures.likelihood == pytest.approx(np.delete(logs, [2, 5]).sum())


def test_what_is_kept_aside_decides_when_to_stop() -> None:
    settings = ChainSettings(6, 2, learner="neural", aside=3, patience=2, rate=0.05, batch=2)
    state, heldout = initial_state(CORPUS, settings), []
    grammars = []
    for _ in range(25):
        grammars.append(state.grammar)
        state = neural.step(state, CORPUS, settings)
        assert state.measures is not None
        heldout.append(state.measures.heldout)
    assert (np.diff(heldout) >= 0).all()
    network = state.network
    assert network is not None
    assert network.since == 2
    assert network.steps < 25 * 3
    assert grammars[-1] is grammars[-2]
    again = neural.step(state, CORPUS, settings)
    assert again.network == network


@pytest.mark.parametrize("way", [{}, {"aside": 3, "precision": "single", "batch": 3}], ids=str)
def test_resuming_and_threads_change_no_byte(tmp_path: Path, way: dict) -> None:
    dbpcfg.induce(SENTENCES, iterations=6, out=tmp_path / "whole", threads=2, **GIVEN, **way)
    stops = iter([False, True])
    dbpcfg.induce(
        SENTENCES,
        iterations=6,
        out=tmp_path / "parts",
        threads=1,
        checkpoint=0.0,
        stopping=lambda: next(stops, True),
        **GIVEN,
        **way,
    )
    dbpcfg.resume(tmp_path / "parts")
    assert files_of(tmp_path / "parts") == files_of(tmp_path / "whole")
    dbpcfg.induce(SENTENCES, iterations=3, out=tmp_path / "short", **GIVEN, **way)
    dbpcfg.resume(tmp_path / "short", iterations=6)
    assert files_of(tmp_path / "short") == files_of(tmp_path / "whole")


def test_a_run_is_like_the_others(tmp_path: Path) -> None:
    run = dbpcfg.induce(
        SENTENCES, word_categories=4, rank=5, iterations=5, out=tmp_path / "run", **GIVEN
    )
    assert run.finished
    assert [tree.words() for tree in run.trees()] == SENTENCES
    model = dbpcfg.load(tmp_path / "run")
    assert len(model.parse(["the dog sees a new cat"])) == 1
    assert isinstance(model.grammar, LowRankGrammar)
    assert isinstance(model.grammar_with_unknown, LowRankGrammar)
    assert not model.unknown[:2].any()
    assert (model.unknown[2:] > 0).all()
    (sample,) = dbpcfg.load(tmp_path / "run", samples=True).samples
    assert isinstance(sample, LowRankGrammar)
    assert not model.grammar.binary[2:].any()
    assert not model.grammar.lexical[:2].any()
    text = (tmp_path / "run" / "config.toml").read_text()
    for line in ('learner = "neural"', "word_categories = 4", "rank = 5", "rate = 0.002"):
        assert line in text


def test_other_learners_do_not_record_its_settings(tmp_path: Path) -> None:
    for learner in ("gibbs", "em", "vb"):
        assert not {"word_categories", "rank", "rate", "patience"} & set(
            ChainSettings(learner=learner).recorded()
        )


def test_defaults_that_suit_the_learner(tmp_path: Path) -> None:
    usual = settings_for("neural", depth=1, categories=None, exact=None)
    assert (usual.categories, usual.exact, usual.depth) == (120, True, 1)
    asked = settings_for("neural", categories=6, exact=False)
    assert (asked.categories, asked.exact) == (6, False)
    for learner in ("gibbs", "em", "vb"):
        assert settings_for(learner, exact=None) == ChainSettings(learner=learner)
    text = "learner = 'neural'\ncorpus = 'a.trees'\n"
    (tmp_path / "grid.toml").write_text(text)
    (cell,) = read_grid(tmp_path / "grid.toml").cells()
    assert (cell.K, cell.options["exact"]) == (120, True)
    (tmp_path / "grid.toml").write_text(f"{text}K = 6\nexact = false\n")
    (cell,) = read_grid(tmp_path / "grid.toml").cells()
    assert (cell.K, cell.options["exact"]) == (6, False)


def test_a_checkpoint_is_read_back(tmp_path: Path) -> None:
    settings = ChainSettings(5, 1, learner="neural")
    chain = advance(new_chain(CORPUS, settings), CORPUS, Schedule(3, kept=1), 100.0)
    save_chain(chain, CORPUS, tmp_path / "chain.npz")
    again = load_chain(tmp_path / "chain.npz", CORPUS, settings)
    assert isinstance(again.state.grammar, LowRankGrammar)
    np.testing.assert_array_equal(again.state.grammar.binary, chain.state.grammar.binary)
    other = ChainSettings(5, 1, learner="neural", rank=3)
    with pytest.raises(DbpcfgError, match="other settings"):
        load_chain(tmp_path / "chain.npz", CORPUS, other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"categories": 1}, "category of phrases and one of words"),
        ({"word_categories": 15}, "of which 15"),
        ({"rank": -1}, "0 or more"),
        ({"patience": 0}, "patience"),
        ({"rate": 0.0}, "positive number"),
        ({"smoothing": 0.1}, "smoothing is not for"),
        ({"anneal": 5}, "anneal is not for"),
        ({"initial": "left"}, "initial is not for"),
        ({"learner": "em", "rank": 5}, "neural only"),
    ],
)
def test_what_cannot_be_is_said(given: dict, message: str) -> None:
    with pytest.raises(DbpcfgError, match=message):
        ChainSettings(**{"learner": "neural", **given})


@pytest.mark.parametrize(
    "sentences", [[["a"]], [["a"], ["b"]], [["a", "a", "a"]], [["a", "b"] * 60]], ids=len
)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_odd_corpora(sentences: list[list[str]], precision: str) -> None:
    run = dbpcfg.induce(
        sentences, K=3, D=1, learner="neural", iterations=3, chains=1, precision=precision
    )
    assert [tree.words() for tree in run.trees()] == sentences
