"""The race: its plan, who goes on, and that stopping and threads make no difference."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.learners import step
from dbpcfg.induction.search import FIRST, RECENT, SURVIVORS, Rung, plan, running, total
from tests.induction.small import SENTENCES, TREES, chain_bits, run

RACE = {"K": 3, "D": 2, "budget": 280, "chains": 4, "threads": 1}


@given(st.integers(1, 10**6), st.integers(0, 50))
def test_a_plan_keeps_to_its_budget(budget, preliminary):
    try:
        rungs = plan(budget, preliminary)
    except DbpcfgError:
        assert budget <= SURVIVORS * (2 * preliminary + 1)
        return
    assert budget - SURVIVORS < total(rungs) <= budget
    for rung, after in itertools.pairwise(rungs):
        assert rung.chains > after.chains >= SURVIVORS
        assert rung.iterations < after.iterations
    assert rungs[-1].chains <= SURVIVORS
    if len(rungs) > 1:
        assert rungs[0].iterations == FIRST + preliminary
        assert rungs[-1].iterations // 2 >= rungs[-2].iterations  # the race is over by then


def test_the_plan_of_the_default_budget():
    assert plan(1500) == ((16, 45), (6, 90), (2, 345))
    assert total(plan(1500)) == 1500
    assert plan(40) == ((1, 40),)
    assert plan(30_000) == ((333, 45), (133, 90), (53, 180), (2, 2310))
    assert plan(280, chains=4) == ((4, 45), (2, 95))


def test_a_budget_that_is_too_small():
    with pytest.raises(DbpcfgError, match="120 iterations is not enough for 20 chains"):
        plan(120, chains=20)


def made_up(number: int, logs: list[float]):
    chain = run(2, chain=number)
    chain.state = replace(chain.state, iteration=len(logs))
    chain.logs, chain.measures["posterior"] = logs, [-log for log in logs]
    return chain


def test_the_best_go_on():
    rungs = (Rung(4, 30), Rung(2, 60))
    chains = [made_up(n, [level] * 30) for n, level in enumerate([-5.0, -3.0, -4.0, -6.0])]
    first, left = running(chains, rungs, "likelihood")
    assert first == chains
    assert [chain.settings.chain for chain in left] == [1, 2]
    left = running(chains, rungs, "posterior")[-1]
    assert [chain.settings.chain for chain in left] == [0, 3]
    # Before there are trees to compare, agreement goes by the posterior.
    assert running(chains, rungs, "agreement")[-1] == left


def test_only_what_was_known_at_the_rung_counts():
    """A race that is resumed has chains that are past it."""
    rungs = (Rung(3, 30), Rung(1, 60))
    before = [made_up(n, [level] * 30) for n, level in enumerate([-5.0, -3.0, -4.0])]
    after = [made_up(0, [-5.0] * 30 + [-1.0] * 20), made_up(1, [-3.0] * 30 + [-9.0] * 20)]
    found = running([*after, before[2]], rungs, "likelihood")[-1]
    assert [chain.settings.chain for chain in found] == [1]
    early = [made_up(0, [-1.0] * (30 - RECENT) + [-9.0] * RECENT), made_up(1, [-2.0] * 30)]
    assert running([*early, before[2]], rungs, "likelihood")[-1] == [early[1]]


def test_nobody_is_dropped_before_all_have_arrived():
    chains = [made_up(0, [-5.0] * 29), made_up(1, [-3.0] * 30), made_up(2, [-4.0] * 30)]
    assert running(chains, (Rung(3, 30), Rung(1, 60)), "likelihood") == [chains]


def test_equals_go_on_in_their_order():
    chains = [made_up(n, [-1.0] * 30) for n in range(3)]
    assert running(chains, (Rung(3, 30), Rung(2, 60)), "likelihood")[-1] == chains[:2]


@pytest.fixture(scope="module")
def race():
    return induce(SENTENCES, **RACE)


def test_a_race(race):
    lengths = [chain.iteration for chain in race.chains]
    assert sorted(lengths) == [45, 45, 95, 95]
    assert sum(lengths) == 280
    assert race.finished
    assert [chain.iteration for chain in race.survivors] == [95, 95]
    assert race.best in race.survivors
    standing = [sum(chain.logs[35:45]) for chain in race.chains]
    dropped = [standing[n] for n in range(4) if lengths[n] == 45]
    assert max(dropped) < min(standing[n] for n in range(4) if lengths[n] == 95)
    assert race.best.mean_log_likelihood == max(c.mean_log_likelihood for c in race.survivors)
    assert [one.survived for one in race.summaries()] == [length == 95 for length in lengths]
    assert [one.burn_in for one in race.summaries()].count(None) == 2
    assert len(race.trees()) == len(SENTENCES)
    assert "dropped" in str(race.table())


@pytest.mark.parametrize("out", [None, "run"])
def test_no_iteration_is_run_twice(out, tmp_path, monkeypatch):
    iterations = []

    def counted(state, *arguments):
        iterations.append(state.iteration)
        return step(state, *arguments)

    monkeypatch.setattr("dbpcfg.induction.learners.step", counted)
    made = induce(SENTENCES, **RACE, out=out and tmp_path / out)
    assert len(iterations) == sum(chain.iteration for chain in made.chains) <= RACE["budget"]


def test_chains_of_a_race_are_plain_chains(race):
    """The survivors are what they would have been alone: the race only chooses."""
    for chain in race.survivors:
        alone = run(95, seed=0, chain=chain.settings.chain)
        assert chain_bits(alone) == chain_bits(chain)


@pytest.mark.parametrize(
    "options",
    [{"threads": 3}, {"workers": "processes", "threads": 2}, {"checkpoint": 0.0}],
    ids=str,
)
def test_the_same_bits_however_it_runs(race, options, tmp_path):
    again = induce(SENTENCES, **{**RACE, **options}, out=tmp_path / "run")
    assert [chain_bits(c) for c in again.chains] == [chain_bits(c) for c in race.chains]
    assert again.best.settings.chain == race.best.settings.chain


@pytest.mark.parametrize("blocks", [1, 3, 5, 7, 9, 12])
def test_stopped_anywhere_and_resumed(race, blocks, tmp_path):
    left = blocks

    def stopping() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    path = tmp_path / "run"
    # A checkpoint after every block, and blocks of one iteration
    stopped = induce(SENTENCES, **RACE, out=path, checkpoint=0.0, stopping=stopping)
    assert not stopped.finished
    with pytest.raises(DbpcfgError, match="not finished"):
        finished_run(path)
    again = resume(path)
    assert [chain_bits(c) for c in again.chains] == [chain_bits(c) for c in race.chains]
    found = finished_run(path)
    assert found.best.settings.chain == race.best.settings.chain
    assert found.trees() == race.trees()
    before = (path / "chains.tsv").read_bytes()
    resume(path)
    assert (path / "chains.tsv").read_bytes() == before


def test_a_race_is_not_made_longer(tmp_path):
    induce(SENTENCES, **RACE, out=tmp_path / "run")
    with pytest.raises(DbpcfgError, match="race with a budget of 280 iterations"):
        resume(tmp_path / "run", iterations=200)


@pytest.mark.parametrize("select", ["posterior", "variance", "agreement"])
def test_selection(select):
    made = induce(SENTENCES, **RACE, select=select)
    if select != "agreement":
        assert made.best.goodness(select) == max(c.goodness(select) for c in made.survivors)
    else:
        assert len({made.goodness(chain) for chain in made.survivors}) == 1  # of two, both agree
    assert made.configuration.select == select


def test_agreement_picks_the_chain_in_the_middle():
    made = induce(SENTENCES, K=3, D=2, chains=5, iterations=20, select="agreement", threads=1)
    numbers = [chain.settings.chain for chain in made.chains]
    means = {
        one: sum(made.shared.between(one, other) for other in numbers if other != one) / 4
        for one in numbers
    }
    assert made.best.settings.chain == max(numbers, key=means.__getitem__)


def test_held_out_likelihood_selects():
    made = induce(SENTENCES, **RACE, select="heldout", aside=5)
    assert made.best.goodness("heldout") == max(c.goodness("heldout") for c in made.survivors)
    assert len(made.trees()) == len(SENTENCES)
    with pytest.raises(DbpcfgError, match="needs sentences that are kept aside"):
        induce(SENTENCES, **RACE, select="heldout")


@pytest.mark.slow
def test_a_race_finds_the_grammar_more_often_than_its_chains_do():
    """The centre-embedding corpus, whose right mode some chains in ten find."""
    from dbpcfg.corpus.synthetic import synthetic_trees

    gold = synthetic_trees("center", 200, 50, seed=3)
    words = [tree.words() for tree in gold]
    made = induce(words, K=5, D=2, budget=3000, seed=1)
    assert dbpcfg.evaluate(gold, made.trees()).score.f1 > 0.99


def test_gold_trees_decide_nothing(race):
    scored = induce(SENTENCES, **RACE, gold=TREES)
    assert scored.best.settings.chain == race.best.settings.chain
