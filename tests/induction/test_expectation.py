"""EM and variational Bayes: what they maximise never falls."""

import itertools
from math import gamma, log

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.normaliser import failures
from dbpcfg.grammar.pcfg import RuleWeights, normalised
from dbpcfg.induction.learners import LEAST
from dbpcfg.induction.learners.expectation import minibatches
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.chart.parser import ChartParser
from tests.induction.small import first, settings, state_after, states, step

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
    {"learner": "vb", "held_out": 3},
]


def objectives(chosen: ChainSettings, iterations: int = 25) -> list[float]:
    return [one.measures.posterior for one in itertools.islice(states(CORPUS, chosen), iterations)]


def rises(values: list[float]) -> bool:
    return all(after >= before - 1e-8 for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_maximised_never_falls(way, depth):
    values = objectives(settings(categories=3, depth=depth, seed=1, **way))
    assert rises(values)
    assert values[-1] > values[0] + 1


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]], ids=str)
def test_a_wrong_update_makes_it_fall(way, monkeypatch):
    """Counts of binary rules doubled, as if a child were counted for each of its parents."""

    def doubled(*arguments):
        counts = summed(*arguments)
        return RuleWeights(counts.root, 2 * counts.binary, counts.lexical)

    summed = ChartParser.sum_of_blocks
    monkeypatch.setattr(ChartParser, "sum_of_blocks", doubled)
    assert not rises(objectives(settings(categories=3, seed=1, **way)))


@pytest.mark.parametrize("learner", ["em", "vb"])
def test_the_likelihood_is_that_of_the_grammar(learner):
    chosen = settings(learner, categories=3, seed=2, held_out=4)
    before = state_after(1, CORPUS, chosen)
    after = step(before, CORPUS, chosen)
    logs = ChartParser(before.grammar, 2).log_probabilities(CORPUS)
    assert after.measures.heldout == pytest.approx(logs[[3, 7]].sum())
    assert after.measures.likelihood == pytest.approx(np.delete(logs, [3, 7]).sum())
    if learner == "em":
        mass = ChartParser(before.grammar, 2).log_fitting_mass
        assert after.measures.posterior == pytest.approx(after.measures.likelihood + 6 * mass)


def test_the_exact_step_is_the_model_s_own():
    """At its end the exact EM has a greater likelihood under the bound than the plain one."""
    plain, exact = (
        state_after(300, CORPUS, settings("em", categories=2, depth=1, seed=3, exact=exact))
        for exact in (False, True)
    )
    assert exact.measures.likelihood > plain.measures.likelihood


def test_the_bound_of_vb_is_below_the_evidence():
    """One category, one word, so one tree for each sentence: the bound is the evidence."""
    corpus = Encoded.from_sentences([["a"], ["a", "a"]])
    state = state_after(3, corpus, settings("vb", categories=1, beta=0.5))
    # rules a → a a once and a → w three times: Γ(1)/Γ(5) · Γ(1.5)Γ(3.5) / Γ(0.5)²
    expected = log(gamma(1.5) * gamma(3.5) / gamma(5) / gamma(0.5) ** 2)
    assert state.measures.posterior == pytest.approx(expected, abs=1e-9)


def test_minibatches_are_all_sentences_once():
    parts = minibatches(np.arange(10), 4, stream(1))
    assert [len(part) for part in parts] == [4, 3, 3]
    assert sorted(np.concatenate(parts).tolist()) == list(range(10))
    other = minibatches(np.arange(10), 4, stream(1, iteration=1))
    assert np.concatenate(other).tolist() != np.concatenate(parts).tolist()
    assert minibatches(np.arange(10), 0, stream(1))[0].tolist() == list(range(10))
    some = np.concatenate(minibatches(np.delete(np.arange(10), 3), 4, stream(1)))
    assert some.tolist() == [n for n in np.concatenate(parts).tolist() if n != 3]


def test_online_em_by_hand():
    chosen = settings(
        "em", categories=2, depth=1, seed=1, held_out=4, batch=2, exact=True, smoothing=0.1
    )
    learned, grammar, t = np.array([0, 1, 2, 4, 5, 6]), first(CORPUS, chosen).grammar, 0
    statistics = RuleWeights.zeros(2, len(CORPUS.vocabulary))
    for iteration in range(2):
        for part in minibatches(learned, 2, stream(1, 0, iteration, Purpose.MINIBATCHES)):
            counts, _ = ChartParser(grammar, 1).expected_counts(CORPUS.select(part))
            found = (counts + failures(grammar, 1) * 2) * 3
            rate = (t + 2) ** -0.7 if t else 1.0
            statistics = statistics * (1 - rate) + found * rate
            grammar, t = normalised(statistics, 0.1, grammar), t + 1
    np.testing.assert_allclose(state_after(2, CORPUS, chosen).grammar.rows, grammar.rows, atol=1e-9)


@pytest.mark.parametrize("learner", ["em", "vb"])
def test_online_learning_improves(learner):
    chosen = settings(learner, categories=3, seed=1, batch=3)
    logs = [one.measures.likelihood for one in itertools.islice(states(CORPUS, chosen), 15)]
    assert logs[-1] > logs[0] + 1
    other = settings(learner, categories=3, seed=1, batch=3, decay=1.0)
    assert state_after(15, CORPUS, other).measures.likelihood != logs[-1]


def test_least_probabilities_keep_every_tree():
    state = state_after(50, CORPUS, settings("em", categories=3, seed=1))
    assert state.grammar.rows.min() >= LEAST


def test_a_race_of_em():
    run = dbpcfg.induce(SENTENCES, K=2, D=1, learner="em", budget=300, chains=3)
    assert run.finished
    assert len(run.survivors) < len(run.chains)
    dropped = next(chain for chain in run.chains if chain not in run.survivors)
    assert len(run.trees(dropped)) == len(SENTENCES)
