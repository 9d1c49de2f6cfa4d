"""What a chain keeps, and how restarts, annealing and curriculum go."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from dbpcfg.induction.initial import initial_state

from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.induction import decoding
from dbpcfg.induction.chain import Chain, Sample, advance, new_chain, trees_of
from dbpcfg.induction.corpus import gold_spans
from dbpcfg.induction.search import Schedule, levelled_off
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import flattened
from dbpcfg.parsing import mbr as spans
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import mbr_trees
from tests.induction.small import CORPUS, TREES, chain_bits, grammar_bits, run, states
from tests.oracle import log_probability
from tests.stores import memory_depth


def log_likelihood(sample: Sample, depth: int | None = 2) -> float:
    return float(ChartParser(sample.grammar, depth).log_probabilities(CORPUS).sum())


def test_the_trace_is_that_of_the_gibbs_sampler():
    chain = run(12, seed=3)
    plain = list(itertools.islice(states(CORPUS, chain.settings), 12))
    assert chain.logs == [state.measures.likelihood for state in plain]
    assert grammar_bits(chain.state.grammar) == grammar_bits(plain[-1].grammar)
    assert chain.betas == [0.2] * 12
    assert (chain.last.nodes == plain[-1].derivations.nodes).all()


@pytest.mark.parametrize(("iterations", "burn_in"), [(1, 0), (2, 1), (7, 3), (10, 5)])
def test_the_second_half_counts(iterations, burn_in):
    chain = run(iterations)
    assert (chain.iteration, chain.burn_in) == (iterations, burn_in)
    assert chain.retained == iterations - burn_in
    assert chain.spans.counts.sum() == chain.retained * len(chain.last.nodes)
    assert chain.mean_log_likelihood == pytest.approx(np.mean(chain.logs[burn_in:]), rel=1e-12)


def test_the_papers_rule():
    schedule = Schedule(least=12, window=4, after=9, most=60)
    chain = run(schedule)
    flat = [n for n in range(12, 60) if levelled_off(chain.logs[:n], 4)]
    assert chain.burn_in == flat[0]
    assert chain.iteration == flat[0] + 9
    assert chain.finished(schedule)
    longer = run(schedule, anneal=30)
    assert longer.burn_in >= 38
    assert run(Schedule(least=1, window=50, after=9, most=60)).iteration == 60


def test_before_anything_counts():
    chain = new_chain(CORPUS, ChainSettings(categories=3))
    assert (chain.iteration, chain.retained, chain.mean_log_likelihood) == (0, 0, -np.inf)
    advance(chain, CORPUS, Schedule(), seconds=0)
    assert (chain.iteration, chain.burn_in, chain.retained) == (1, None, 0)
    assert chain.mean_log_likelihood == chain.logs[0]
    assert not chain.spans.counts.any()


@pytest.mark.parametrize("options", [{}, {"anneal": 8}, {"depth": None}], ids=str)
def test_best_and_last(options):
    chain = run(20, **options)
    counted = chain.logs[chain.burn_in :]
    assert chain.best.log_likelihood == max(counted)
    assert chain.best.iteration == chain.burn_in + counted.index(max(counted)) + 1
    assert (chain.last.iteration, chain.last.log_likelihood) == (20, chain.logs[-1])
    for sample in (chain.best, chain.last):
        found = log_likelihood(sample, options.get("depth", 2))
        assert found == pytest.approx(sample.log_likelihood, rel=1e-12)
        used = Derivations(sample.nodes, CORPUS).counts(3)
        assert np.isfinite(log_probability(sample.grammar, used))
    # Negative control: the grammar drawn from the best sample's trees is another one.
    after = run(chain.best.iteration, **options).state
    assert log_likelihood(Sample(0, 0, after.grammar, chain.best.nodes)) != pytest.approx(
        chain.best.log_likelihood
    )


def test_the_best_of_burn_in_does_not_count():
    chain = run(60, seed=6)
    assert max(chain.logs[:30]) > max(chain.logs[30:]) == chain.best.log_likelihood


def test_blocks_make_no_difference():
    whole = run(12, sample_beta=True, restarts=2, restart_iterations=3)
    pieces = new_chain(CORPUS, whole.settings)
    blocks = 0
    while not pieces.finished(Schedule(12)):
        pieces = advance(pieces, CORPUS, Schedule(12), seconds=0, threads=2)
        blocks += 1
    assert blocks == 12
    assert chain_bits(pieces) == chain_bits(whole)


# --- ways to start --------------------------------------------------------------------------------


def test_restarts_go_on_from_the_best():
    chain = run(30, restarts=3, restart_iterations=4, seed=6)
    for first in (0, 4, 8):
        prior = draw_from_prior(3, CORPUS.vocabulary, 0.2, seed=6, iteration=first)
        expected = log_likelihood(Sample(0, 0, prior, chain.last.nodes))
        assert chain.logs[first] == pytest.approx(expected, rel=1e-12)
    best = int(np.argmax(chain.logs[:12]))
    assert chain.logs[12] == chain.logs[best]
    assert best != 11  # or going on from the last one would be the same
    assert chain.settings.preliminary_iterations == 12
    assert chain.best.log_likelihood == max(chain.logs[15:])


def test_no_restarts_is_one_chain():
    assert run(9, restart_iterations=2).logs == run(9).logs
    assert run(9, restarts=1, restart_iterations=2).logs != run(9).logs


@pytest.mark.parametrize("initial", ["left", "right"])
def test_starting_from_branching_trees(initial):
    chain = run(4, initial=initial, restarts=1, restart_iterations=2)
    first = initial_state(CORPUS, chain.settings).grammar
    expected = log_likelihood(Sample(0, 0, first, chain.last.nodes))
    assert chain.logs[0] == pytest.approx(expected, rel=1e-12)
    assert chain.logs[0] > run(1).logs[0]  # nearer to the text than a grammar from the prior


def test_schedules_of_depth_and_temperature():
    settings = ChainSettings(depth=3, curriculum=4, anneal=6, temperature=8.0)
    assert [settings.depth_at(n) for n in range(10)] == [1] * 4 + [2] * 4 + [3] * 2
    temperatures = [settings.temperature_at(n) for n in range(8)]
    assert temperatures[0] == 8
    assert temperatures[3] == pytest.approx(8**0.5)
    assert temperatures[6:] == [1, 1]
    assert settings.preliminary_iterations == 8
    assert ChainSettings(depth=None, curriculum=4).depth_at(0) is None
    assert ChainSettings(anneal=5, restarts=2, restart_iterations=3).preliminary_iterations == 6
    assert ChainSettings().preliminary_iterations == 0


def test_depth_grows():
    """In the first iterations all trees need depth 1; the corpus needs 2 for some."""
    chain = new_chain(CORPUS, ChainSettings(categories=4, depth=2, curriculum=5))
    deepest = []
    while not chain.finished(Schedule(25)):
        advance(chain, CORPUS, Schedule(25), seconds=0)
        trees = Derivations(chain.last.nodes, CORPUS).trees()
        deepest.append(max(memory_depth(tree) for tree in trees))
    assert set(deepest[:5]) == {1}
    assert max(deepest[5:]) == 2


def test_heat_flattens_what_trees_are_drawn_from_but_not_what_is_reported():
    hot, cold = run(1, anneal=5), run(1)
    assert hot.logs[0] == pytest.approx(cold.logs[0], rel=1e-12)
    assert (hot.last.nodes != cold.last.nodes).any()
    flat = flattened(cold.last.grammar, 5.0)
    ratio = cold.last.grammar.rows[0, :2] ** 0.2
    assert flat.rows[0, 0] / flat.rows[0, 1] == pytest.approx(ratio[0] / ratio[1])
    assert flattened(cold.last.grammar, 1.0) is cold.last.grammar


@pytest.mark.parametrize(
    "options",
    [{"exact": True}, {"parser": "leftcorner"}, {"depth": None, "exact": True}, {"depth": 1}],
    ids=str,
)
def test_options_run(options):
    chain = run(40, **options)
    assert np.mean(chain.logs[20:]) > chain.logs[0] + 50


def test_beta_is_sampled():
    chain = run(40, sample_beta=True, beta=0.5)
    assert chain.betas[0] == 0.5
    assert len(set(chain.betas)) == 40
    assert all(1e-3 < beta < 5 for beta in chain.betas)
    assert chain.state.beta not in chain.betas  # that of the grammar to come


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"restarts": -1}, "restarts must be 0 or more"),
        ({"restart_iterations": 0}, "at least 1 iteration each"),
        ({"anneal": -1}, "numbers of iterations, 0 or more"),
        ({"curriculum": -2}, "numbers of iterations, 0 or more"),
        ({"temperature": 0.5}, "temperature must be 1 or more, got 0.5"),
        ({"temperature": float("nan")}, "temperature must be 1 or more"),
        ({"initial": "middle"}, "initial must be prior, left or right, got 'middle'"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"depth": 0}, "depth bound must be at least 1"),
        ({"beta": float("nan")}, "beta must be a positive number"),
    ],
)
def test_settings_that_cannot_be(options, said):
    with pytest.raises(DbpcfgError, match=said):
        ChainSettings(**options)


def test_settings_hold_plain_numbers():
    given = ChainSettings(np.int64(3), np.int32(2), np.float32(1), np.uint64(7))
    assert [type(x) for x in (given.categories, given.depth, given.beta, given.seed)] == [
        *(int, int, float, int)
    ]
    assert given == ChainSettings(3, 2, 1.0, 7)


# --- what comes out -------------------------------------------------------------------------------


def test_trees_of():
    chain = run(20)
    assert (trees_of(chain, CORPUS, "mbr").nodes == chain.spans.decode().nodes).all()
    assert (trees_of(chain, CORPUS, "best").nodes == chain.best.nodes).all()
    assert (trees_of(chain, CORPUS, "last").nodes == chain.last.nodes).all()
    young = advance(new_chain(CORPUS, chain.settings), CORPUS, Schedule(), seconds=0)
    assert (trees_of(young, CORPUS, "mbr").nodes == young.last.nodes).all()


def test_scores_are_logged_and_change_nothing():
    gold = gold_spans(TREES, [(False,) * len(tree) for tree in TREES])
    settings = ChainSettings(categories=3)
    scored: Chain = advance(new_chain(CORPUS, settings), CORPUS, Schedule(25), 99, gold=gold)
    assert list(scored.scores) == [10, 20]
    at_20 = run(20)
    assert scored.scores[20] == gold.f1(CORPUS.starts, at_20.last.nodes)
    scored.scores.clear()
    assert chain_bits(scored) == chain_bits(run(25))


def test_a_corpus_whose_spans_are_too_many(monkeypatch):
    """Nothing is counted then, and trees follow from the posteriors of the chain's grammars."""
    counted = run(40)
    expected = trees_of(counted, CORPUS, "mbr")
    monkeypatch.setattr(spans, "MOST_BYTES", 1000)
    monkeypatch.setattr(decoding, "BATCH", 7)
    chain = run(40)
    assert chain.spans.counts.size == 0
    assert chain.logs == counted.logs
    found = trees_of(chain, CORPUS, "mbr")
    weights = sum(ChartParser(G, 2).posteriors(CORPUS)[0] for G in chain.grammars)
    assert found.nodes.tobytes() == mbr_trees(CORPUS, weights).nodes.tobytes()
    same = (found.nodes == expected.nodes).all(axis=1).mean()
    assert same > 0.5  # another estimate of the same thing


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
    with pytest.raises(DbpcfgError, match=r"; beta, 1e-12, is too small for the"):
        run(6, beta=1e-12, exact=True)


def test_zeros_are_replaced_only_where_a_sentence_has_probability_zero(monkeypatch):
    for beta in (0.2, 0.01):
        ours = chain_bits(run(8, beta=beta))
        with monkeypatch.context() as patched:
            patched.setattr("dbpcfg.induction.chain.without_zeros", None)
            assert chain_bits(run(8, beta=beta)) == ours


def test_the_grammars_kept_are_those_that_trees_were_drawn_under():
    chain = run(12, seed=3)
    plain = [initial_state(CORPUS, chain.settings)]
    plain += itertools.islice(states(CORPUS, chain.settings), 12)
    assert [grammar_bits(kept) for kept in chain.grammars] == [
        grammar_bits(state.grammar) for state in plain[6:12]
    ]
