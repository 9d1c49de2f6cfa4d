"""EM and variational Bayes: what they maximise never falls, and runs are like the sampler's."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from dbpcfg.induction.initial import initial_state

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.induction import expectation
from dbpcfg.induction.learners.expectation import minibatches, step
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser

SENTENCES = [
    line.split()
    for line in (
        "the dog barks",
        "the cat sees the dog",
        "dogs bark",
        "the dog sees cats",
        "a cat sees the small dog",
        "dogs bark",
        "the small cat sees a dog",
        "bark",
    )
]
CORPUS = Encoded.from_sentences(SENTENCES)
WAYS = [
    {"learner": "em"},
    {"learner": "em", "smoothing": 0.1},
    {"learner": "em", "exact": True},
    {"learner": "vb"},
    {"learner": "vb", "aside": 3},
]


def objectives(settings: ChainSettings, iterations: int = 25) -> list[float]:
    state, found = initial_state(CORPUS, settings), []
    for _ in range(iterations):
        state = step(state, CORPUS, settings)
        assert state.measures is not None
        found.append(state.measures.posterior)
    return found


def rises(values: list[float]) -> bool:
    return all(after >= before - 1e-8 for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_maximised_never_falls(way: dict, depth: int | None) -> None:
    values = objectives(ChainSettings(3, depth, seed=1, **way))
    assert rises(values)
    assert values[-1] > values[0] + 1


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]], ids=str)
def test_a_wrong_update_makes_it_fall(way: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of binary rules doubled, as if a child were counted for each of its parents."""

    def doubled(*arguments: object) -> tuple[RuleWeights, np.ndarray]:
        counts, logs = counted(*arguments)
        return RuleWeights(counts.root, 2 * counts.binary, counts.lexical), logs

    counted = ChartParser.expected_counts
    monkeypatch.setattr(ChartParser, "expected_counts", doubled)
    assert not rises(objectives(ChainSettings(3, 2, seed=1, **way)))


def test_the_likelihood_is_that_of_the_grammar() -> None:
    for learner in ("em", "vb"):
        settings = ChainSettings(3, 2, seed=2, learner=learner, aside=4)
        state = step(initial_state(CORPUS, settings), CORPUS, settings)
        after = step(state, CORPUS, settings)
        logs = ChartParser(state.grammar, 2).log_probabilities(CORPUS)
        assert after.measures is not None
        assert after.measures.heldout == pytest.approx(logs[[3, 7]].sum())
        assert after.measures.likelihood == pytest.approx(np.delete(logs, [3, 7]).sum())


def test_the_exact_step_is_the_model_s_own() -> None:
    """At its end the exact EM has a greater likelihood under the bound than the plain one."""
    ends = {}
    for exact in (False, True):
        settings = ChainSettings(2, 1, seed=3, learner="em", exact=exact)
        state = initial_state(CORPUS, settings)
        for _ in range(300):
            state = step(state, CORPUS, settings)
        assert state.measures is not None
        ends[exact] = state.measures.likelihood
    assert ends[True] > ends[False]


def test_the_bound_of_vb_is_below_the_evidence() -> None:
    """One category, one word, so one tree for each sentence: the bound is the evidence."""
    corpus = Encoded.from_sentences([["a"], ["a", "a"]])
    settings = ChainSettings(1, 2, beta=0.5, learner="vb")
    state = initial_state(corpus, settings)
    for _ in range(3):
        state = step(state, corpus, settings)
    # rules a → a a once and a → w three times: Γ(1)/Γ(5) · Γ(1.5)Γ(3.5) / Γ(0.5)²
    from math import gamma, log

    expected = log(gamma(1.5) * gamma(3.5) / gamma(5) / gamma(0.5) ** 2)
    assert state.measures is not None
    assert state.measures.posterior == pytest.approx(expected, abs=1e-9)


def test_minibatches_are_all_sentences_once() -> None:
    parts = minibatches(np.arange(10), 4, stream(1))
    assert [len(part) for part in parts] == [4, 3, 3]
    assert sorted(np.concatenate(parts).tolist()) == list(range(10))
    other = minibatches(np.arange(10), 4, stream(1, iteration=1))
    assert np.concatenate(other).tolist() != np.concatenate(parts).tolist()
    assert minibatches(np.arange(10), 0, stream(1))[0].tolist() == list(range(10))


@pytest.mark.parametrize("learner", ["em", "vb"])
def test_online_learning_improves(learner: str) -> None:
    settings = ChainSettings(3, 2, seed=1, learner=learner, batch=3)
    state, logs = initial_state(CORPUS, settings), []
    for _ in range(15):
        state = step(state, CORPUS, settings)
        assert state.measures is not None
        logs.append(state.measures.likelihood)
    assert logs[-1] > logs[0] + 1


def files_of(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and file.name not in (".lock",)
    }


@pytest.mark.parametrize("way", [{"learner": "em"}, {"learner": "vb", "batch": 3}], ids=str)
def test_a_run_resumes_to_the_byte(way: dict, tmp_path: Path) -> None:
    given = {"K": 3, "D": 2, "chains": 2, "seed": 4, **way}
    dbpcfg.induce(SENTENCES, iterations=12, out=tmp_path / "whole", threads=2, **given)
    stops = iter([False, False, True])
    dbpcfg.induce(
        SENTENCES,
        iterations=12,
        out=tmp_path / "parts",
        threads=1,
        checkpoint=0.0,
        stopping=lambda: next(stops, True),
        **given,
    )
    dbpcfg.resume(tmp_path / "parts")
    assert files_of(tmp_path / "parts") == files_of(tmp_path / "whole")
    dbpcfg.induce(SENTENCES, iterations=5, out=tmp_path / "short", **given)
    dbpcfg.resume(tmp_path / "short", iterations=12)
    assert files_of(tmp_path / "short") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("learner", ["em", "vb"])
def test_a_run_is_like_the_sampler_s(learner: str, tmp_path: Path) -> None:
    run = dbpcfg.induce(
        SENTENCES, K=3, D=2, learner=learner, iterations=8, chains=3, out=tmp_path / "run"
    )
    assert run.finished
    assert [chain.retained for chain in run.chains] == [1, 1, 1]
    best = max(run.chains, key=lambda chain: chain.goodness(run.configuration.select))
    assert run.best is best
    assert run.configuration.select == ("posterior" if learner == "vb" else "likelihood")
    trees = run.trees()
    assert [tree.words() for tree in trees] == SENTENCES
    model = dbpcfg.load(tmp_path / "run")
    assert len(model.parse(["the dog sees a new cat"])) == 1
    assert 'learner = "' + learner in (tmp_path / "run" / "config.toml").read_text()


def test_a_race_of_em() -> None:
    run = dbpcfg.induce(SENTENCES, K=2, D=1, learner="em", budget=300, chains=3)
    assert run.finished
    assert len(run.survivors) < len(run.chains)
    dropped = next(chain for chain in run.chains if chain not in run.survivors)
    assert len(run.trees(dropped)) == len(SENTENCES)


def test_the_sampler_s_files_do_not_name_learners(tmp_path: Path) -> None:
    dbpcfg.induce(SENTENCES, K=2, D=1, iterations=2, chains=1, out=tmp_path / "run")
    assert "learner" not in (tmp_path / "run" / "config.toml").read_text()
    assert "learner" not in ChainSettings().recorded()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learner": "adam"}, "learner"),
        ({"batch": 5}, "not gibbs"),
        ({"learner": "em", "batch": -1}, "number of sentences"),
        ({"learner": "em", "step": 0.5}, "above 0.5"),
        ({"learner": "em", "smoothing": -0.1}, "0 or more"),
        ({"learner": "em", "parser": "leftcorner"}, "needs the chart"),
        ({"learner": "em", "sample_beta": True}, "gibbs only"),
        ({"learner": "vb", "exact": True}, "not for the learner vb"),
    ],
)
def test_what_cannot_be_is_said(given: dict, message: str) -> None:
    with pytest.raises(DbpcfgError, match=message):
        ChainSettings(**given)


@pytest.mark.parametrize("learner", ["em", "vb"])
@pytest.mark.parametrize(
    "sentences", [[["a"]], [["a"], ["b"]], [["a", "a", "a"]], [["a", "b"] * 60]], ids=len
)
def test_odd_corpora(learner: str, sentences: list[list[str]]) -> None:
    run = dbpcfg.induce(sentences, K=2, D=1, learner=learner, iterations=3, chains=1)
    assert [tree.words() for tree in run.trees()] == sentences


def test_least_probabilities_keep_every_tree() -> None:
    settings = ChainSettings(3, 2, seed=1, learner="em")
    state = initial_state(CORPUS, settings)
    for _ in range(50):
        state = step(state, CORPUS, settings)
    assert state.grammar.rows.min() >= expectation.LEAST


def test_nothing_is_said_of_samples_where_there_are_none() -> None:
    run = dbpcfg.induce(SENTENCES, K=3, D=1, learner="vb", chains=2, iterations=3)
    notes = "\n".join(run.table().notes)
    assert "selected by what the learner maximises; trees: mbr" in notes
    assert "each chain is a start of its own" in notes
    assert "R-hat" not in notes
    assert "burn-in" not in notes
