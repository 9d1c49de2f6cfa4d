"""How long chains run, which go on, what follows from the options; and whole races."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import search
from dbpcfg.induction.chains import Execution
from dbpcfg.induction.criteria import criteria
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.learners.gibbs import Gibbs
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.search import (
    FIRST,
    RECENT,
    SURVIVORS,
    Rung,
    Schedule,
    budget_of,
    iterations_in,
    levelled_off,
    rungs_of,
    running,
    side_by_side,
    total,
)
from dbpcfg.options import SearchOptions
from tests.induction.small import CORPUS, SENTENCES, TREES, chain_bits, run, settings

RNG = np.random.default_rng(5)
LIKELIHOOD = criteria["likelihood"]

# --- the length of a chain ------------------------------------------------------------------------


def rising(length: int, level: int) -> list[float]:
    """A trace that rises by 1 an iteration up to ``level`` iterations, and stays there."""
    trend = np.minimum(np.arange(length), level) - 500.0
    return (trend + RNG.standard_normal(length)).tolist()


@pytest.mark.parametrize(
    ("trace", "flat"),
    [
        (rising(40, 0), True),
        (rising(40, 40), False),
        (rising(80, 40), True),  # the last two windows lie on the plateau
        ([-1.0 - n for n in range(40)], True),  # what falls does not rise
        ([-3.0] * 40, True),
        ([-3.0] * 39, False),  # not two windows yet
        ([0.0, 0.0] * 10 + [1.0, 3.0] * 10, False),  # risen by 2, spread 1
        ([0.0, 0.0] * 10 + [-1.0, 3.0] * 10, True),  # risen by 1, spread 2
        ([], False),
    ],
)
def test_levelled_off(trace, flat):
    assert levelled_off(trace, 20) is flat


def burn_in(schedule: Schedule, logs: list[float]) -> int | None:
    return next((n for n in range(len(logs)) if schedule.converged(logs[:n])), None)


@pytest.mark.parametrize(("iterations", "expected"), [(1, 0), (2, 1), (9, 4), (10, 5)])
def test_a_given_number_of_iterations(iterations, expected):
    schedule = Schedule(iterations)
    assert burn_in(schedule, rising(20, 20)) == expected == schedule.latest_burn_in
    assert [n for n in range(20) if schedule.finished(n, None)] == list(range(iterations, 20))
    assert burn_in(replace(schedule, kept=1), rising(20, 20)) == iterations - 1


def test_the_papers_rule():
    schedule = Schedule(minimum=30, window=10, after=15, maximum=200)
    assert burn_in(schedule, rising(100, 0)) == 30  # flat from the start, but not before `minimum`
    assert 80 < burn_in(schedule, rising(150, 80)) < 110
    assert burn_in(schedule, rising(300, 300)) == 185  # gives up waiting: most − after
    assert not schedule.finished(1000, None)
    assert not schedule.finished(44, 30)
    assert schedule.finished(45, 30)
    assert (Schedule().minimum, Schedule().after) == (500, 250)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"iterations": 0}, "iterations must be a whole number from 1 up"),
        ({"iterations": 10**16}, "at most 1e"),
        ({"minimum": 0}, "minimum must be"),
        ({"window": 0}, "window must be"),
        ({"after": -1}, "after must be a whole number from 1 up, got -1"),
        ({"maximum": 749}, r"maximum must be at least minimum \+ after, 750, got 749"),
        ({"kept": 3}, "kept is a number of iterations that are given"),
    ],
)
def test_schedules_that_cannot_be(options, said):
    with pytest.raises(DbpcfgError, match=said):
        Schedule(**options)


# --- what follows from the options ----------------------------------------------------------------


def chains_of(model, given, schedule=None, sentences=0):
    """Chains, schedule, budget and criterion of a run with these settings."""
    plan = InductionPlan(model.learner, search=SearchOptions(**given), schedule=schedule)
    one = plan.configuration(model, budget_of(plan.search.budget), sentences)
    return one.chains, one.schedule, one.budget, one.select


@pytest.mark.parametrize(
    ("learner", "given", "expected"),
    [
        ("gibbs", {}, (16, Schedule(345), 1500, "likelihood")),
        ("gibbs", {"budget": "750"}, (8, Schedule(217), 750, "likelihood")),
        ("gibbs", {"budget": 280, "chains": 4}, (4, Schedule(95), 280, "likelihood")),
        ("gibbs", {"iterations": 9}, (4, Schedule(9), None, "likelihood")),
        ("gibbs", {"iterations": 9, "chains": 2}, (2, Schedule(9), None, "likelihood")),
        ("gibbs", {"inference": "paper"}, (4, Schedule(), None, "likelihood")),
        (
            "gibbs",
            {"iterations": 9, "select": "variance"},
            (4, Schedule(9), None, "variance"),
        ),
        ("em", {}, (4, Schedule(100, kept=1), None, "likelihood")),
        ("vb", {}, (4, Schedule(100, kept=1), None, "posterior")),
        ("neural", {}, (4, Schedule(30, kept=1), None, "likelihood")),
        ("vb", {"inference": "race"}, (16, Schedule(345, kept=1), 1500, "posterior")),
        ("em", {"budget": 280, "chains": 4}, (4, Schedule(95, kept=1), 280, "likelihood")),
    ],
)
def test_chains_follow_from_the_options(learner, given, expected):
    assert chains_of(settings(learner), given) == expected


@pytest.mark.parametrize(
    ("sentences", "iterations"),
    [(1, 30), (6400, 20), (16_689, 8), (20_000, 7), (30_000, 13), (10**5, 13), (10**6, 13)],
)
def test_iterations_of_the_neural_learner_follow_from_the_text(sentences, iterations):
    _, schedule, _, _ = chains_of(settings("neural"), {}, sentences=sentences)
    assert schedule == Schedule(iterations, kept=1)


def test_a_run_has_the_iterations_that_follow_from_its_text(monkeypatch):
    monkeypatch.setattr("dbpcfg.induction.learners.neural.STEPS", 1)
    found = dbpcfg.induce(SENTENCES * 10, K=2, learner="neural", chains=1)
    expected = settings("neural").learner.default_iterations(len(SENTENCES) * 10)
    assert found.configuration.schedule == Schedule(expected, kept=1)
    assert expected < 30


def test_what_follows_from_a_schedule_and_from_sentences_kept_aside():
    paper = Schedule(minimum=9)
    assert chains_of(settings(), {}, schedule=paper) == (4, paper, None, "likelihood")
    for learner in ("em", "vb", "neural"):
        assert chains_of(settings(learner, held_out=3), {})[-1] == "heldout"
        with pytest.raises(DbpcfgError, match="a schedule is for samples"):
            chains_of(settings(learner), {}, schedule=paper)
    assert chains_of(settings(held_out=3), {})[-1] == "likelihood"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 100, "iterations": 9}, "give one of the two"),
        ({"inference": "race", "iterations": 9}, "give one of the two"),
        ({"inference": "paper", "budget": 9}, "a budget is for a race"),
        ({"inference": "paper", "budget": "1min"}, "a budget is for a race"),
        ({"inference": "quick"}, "inference must be race or paper or none, got 'quick'"),
        ({"budget": 10, "chains": 20}, "not enough for 20 chains"),
        ({"select": "taste"}, "no criterion 'taste'; choose one of likelihood, posterior"),
        ({"select": "heldout"}, "held-out sentences"),
        ({"trees": "all"}, "trees must be mbr, consensus, best or last"),
        ({"chains": 0}, "chains must be a whole number from 1 up"),
        ({"budget": 0}, "budget must be a whole number from 1 up or a text or none, got 0"),
        ({"budget": 1.5}, "budget must be a whole number"),
        *(
            ({"budget": text}, "such as 6000, 30min or 2h")
            for text in ("0", "-5", "1.5", "2 days", "0min", "9" * 400, "1e3", "min")
        ),
    ],
    ids=str,
)
def test_contradictions(given, said):
    with pytest.raises(DbpcfgError, match=said):
        induce(SENTENCES, 2, 1, **given)


def test_a_time_is_turned_into_iterations(monkeypatch):
    assert budget_of("30min") == budget_of("0.5h") == budget_of("30 min") == 1800.0
    """By a clock that says that an iteration takes a tenth of a second."""
    now = iter(range(10**6))
    monkeypatch.setattr(search.time, "perf_counter", lambda: next(now) * 0.1)
    assert 300 <= iterations_in(60.0, CORPUS, settings(categories=3)) <= 600
    assert Execution(threads=1).budget(500, None) == 500
    assert Execution(threads=3).budget(500, None) == 1500


def test_a_time_is_recorded_as_iterations(monkeypatch):
    monkeypatch.setattr("dbpcfg.induction.induce.iterations_in", lambda *_: 90)
    made = induce(SENTENCES, 3, 1, budget="1min", threads=1)
    assert made.configuration.budget == 90
    assert sum(chain.iteration for chain in made.chains) == 90
    # More chains than the default budget has room for
    monkeypatch.setattr("dbpcfg.induction.induce.iterations_in", lambda *_: 1900)
    assert len(induce(SENTENCES[:5], 2, 1, budget="1min", chains=40, threads=1).chains) == 40


@given(st.integers(1, 10**6), st.integers(1, 300), st.sampled_from([None, 1, 2, 3, 40]))
def test_a_race_side_by_side_takes_no_longer(iterations, threads, chains):
    """Each thread has one chain at a time, and rungs wait for all of their chains."""

    def takes(budget):
        try:
            rungs = rungs_of(budget, chains)
        except DbpcfgError:  # not enough for so many chains, which is an error later
            return 0
        lengths = [0, *(rung.iterations for rung in rungs)]
        waves = [math.ceil(rung.chains / threads) for rung in rungs]
        return sum(n * (b - a) for n, (a, b) in zip(waves, itertools.pairwise(lengths)))

    budget = side_by_side(iterations, threads, chains)
    assert iterations <= budget <= iterations * threads
    assert takes(budget) <= iterations
    if budget < iterations * threads:
        assert takes(budget + 1) > iterations
    if threads == 1:
        assert budget == iterations


# --- the race: its plan, and who goes on ----------------------------------------------------------


@given(st.integers(1, 10**6))
def test_a_plan_keeps_to_its_budget(budget):
    rungs = rungs_of(budget)
    assert budget - SURVIVORS < total(rungs) <= budget
    for rung, after in itertools.pairwise(rungs):
        assert rung.chains > after.chains >= SURVIVORS
        assert rung.iterations < after.iterations
    assert rungs[-1].chains <= SURVIVORS
    if len(rungs) > 1:
        assert rungs[0].iterations == FIRST
        assert rungs[-1].iterations // 2 >= rungs[-2].iterations  # the race is over by then


def test_plans():
    assert rungs_of(1500) == ((16, 45), (6, 90), (2, 345))
    assert total(rungs_of(1500)) == 1500
    assert rungs_of(40) == ((1, 40),)
    assert rungs_of(30_000) == ((333, 45), (133, 90), (53, 180), (2, 2310))
    assert rungs_of(280, chains=4) == ((4, 45), (2, 95))
    with pytest.raises(DbpcfgError, match="120 iterations is not enough for 20 chains"):
        rungs_of(120, chains=20)
    with pytest.raises(DbpcfgError, match="not enough"):  # for survivors of twice the length
        rungs_of(260, chains=4)


def made_up(number: int, logs: list[float]):
    chain = run(2, chain=number)
    chain.state = replace(chain.state, iteration=len(logs))
    chain.logs, chain.measures["posterior"] = logs, [-log for log in logs]
    return chain


def test_the_best_go_on():
    rungs = (Rung(4, 30), Rung(2, 60))
    chains = [made_up(n, [level] * 30) for n, level in enumerate([-5.0, -3.0, -4.0, -6.0])]
    before, left = running(chains, rungs, LIKELIHOOD)
    assert before == chains
    assert [chain.settings.chain for chain in left] == [1, 2]
    left = running(chains, rungs, criteria["posterior"])[-1]
    assert [chain.settings.chain for chain in left] == [0, 3]
    # Before there are trees to compare, agreement goes by the posterior.
    assert running(chains, rungs, criteria["agreement"])[-1] == left


def test_only_what_was_known_at_the_rung_counts():
    """A race that is resumed has chains that are past it."""
    rungs = (Rung(3, 30), Rung(1, 60))
    before = [made_up(n, [level] * 30) for n, level in enumerate([-5.0, -3.0, -4.0])]
    after = [made_up(0, [-5.0] * 30 + [-1.0] * 20), made_up(1, [-3.0] * 30 + [-9.0] * 20)]
    found = running([*after, before[2]], rungs, LIKELIHOOD)[-1]
    assert [chain.settings.chain for chain in found] == [1]
    early = [made_up(0, [-1.0] * (30 - RECENT) + [-9.0] * RECENT), made_up(1, [-2.0] * 30)]
    assert running([*early, before[2]], rungs, LIKELIHOOD)[-1] == [early[1]]


def test_nobody_is_dropped_before_all_have_arrived_and_equals_keep_their_order():
    chains = [made_up(0, [-5.0] * 29), made_up(1, [-3.0] * 30), made_up(2, [-4.0] * 30)]
    assert running(chains, (Rung(3, 30), Rung(1, 60)), LIKELIHOOD) == [chains]
    chains = [made_up(n, [-1.0] * 30) for n in range(3)]
    assert running(chains, (Rung(3, 30), Rung(2, 60)), LIKELIHOOD)[-1] == chains[:2]


# --- whole races ----------------------------------------------------------------------------------

RACE = {"K": 3, "D": 2, "budget": 280, "chains": 4, "threads": 1}


@pytest.fixture(scope="module")
def race():
    return induce(SENTENCES, **RACE)


def test_a_race(race):
    lengths = [chain.iteration for chain in race.chains]
    assert sorted(lengths) == [45, 45, 95, 95]
    assert race.finished
    assert race.best in race.survivors
    standing = [sum(chain.logs[35:45]) for chain in race.chains]
    dropped = [standing[n] for n in range(4) if lengths[n] == 45]
    assert max(dropped) < min(standing[n] for n in range(4) if lengths[n] == 95)
    assert race.best.mean_log_likelihood == max(c.mean_log_likelihood for c in race.survivors)
    assert [one.survived for one in race.summaries()] == [length == 95 for length in lengths]
    assert [one.burn_in for one in race.summaries()].count(None) == 2
    assert len(race.trees()) == len(SENTENCES)
    assert "dropped" in str(race.table())
    # The survivors are what they would have been alone: the race only chooses.
    for chain in race.survivors:
        assert chain_bits(run(95, chain=chain.settings.chain)) == chain_bits(chain)


def test_no_iteration_is_run_twice(tmp_path, monkeypatch):
    iterations, step = [], Gibbs.step

    def counted(self, state, *arguments):
        iterations.append(state.iteration)
        return step(self, state, *arguments)

    monkeypatch.setattr(Gibbs, "step", counted)
    made = induce(SENTENCES, **RACE, out=tmp_path / "run")
    assert len(iterations) == sum(chain.iteration for chain in made.chains) == RACE["budget"]


@pytest.mark.parametrize(
    "options",
    [{"threads": 3}, {"workers": "processes", "threads": 2}, {"checkpoint": 0.0}, {"gold": TREES}],
    ids=["threads", "processes", "checkpoint", "gold"],
)
def test_the_same_bits_however_it_runs(race, options, tmp_path):
    again = induce(SENTENCES, **{**RACE, **options}, out=tmp_path / "run")
    for chain in again.chains:
        chain.scores.clear()
    assert [chain_bits(c) for c in again.chains] == [chain_bits(c) for c in race.chains]
    assert again.best.settings.chain == race.best.settings.chain


@pytest.mark.parametrize("blocks", [1, 5, 12])
def test_stopped_anywhere_and_resumed(race, blocks, tmp_path):
    left = blocks

    def should_stop() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    path = tmp_path / "run"
    # A checkpoint after every block, and blocks of one iteration
    stopped = induce(SENTENCES, **RACE, out=path, checkpoint=0.0, should_stop=should_stop)
    assert not stopped.finished
    assert sum(chain.iteration for chain in stopped.chains) <= blocks + len(stopped.chains)
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
    with pytest.raises(DbpcfgError, match="race with a budget of 280 iterations"):
        resume(path, iterations=200)


@pytest.mark.parametrize("select", ["posterior", "variance", "agreement", "heldout"])
def test_selection(select):
    made = induce(SENTENCES, **RACE, select=select, held_out=5 if select == "heldout" else 0)
    assert made.configuration.select == select
    goodness = [made.goodness(chain) for chain in made.survivors]
    assert made.goodness(made.best) == max(goodness)
    if select == "agreement":
        assert len(set(goodness)) == 1  # of two, both agree
    else:
        means = [np.mean(chain.trace(select)[-chain.retained :]) for chain in made.survivors]
        assert np.abs(goodness) == pytest.approx(np.abs(means))
    assert len(made.trees()) == len(SENTENCES)


def test_agreement_picks_the_chain_in_the_middle():
    made = induce(SENTENCES, K=3, D=2, chains=5, iterations=20, select="agreement", threads=1)
    numbers = [chain.settings.chain for chain in made.chains]
    means = {
        one: sum(made.shared.between(one, other) for other in numbers if other != one) / 4
        for one in numbers
    }
    assert made.best.settings.chain == max(numbers, key=means.__getitem__)


@pytest.mark.parametrize("chains", [4, None])
def test_a_race_made_longer(chains, tmp_path):
    options = {**RACE, "chains": chains}
    induce(SENTENCES, **options, out=tmp_path / "run")
    longer = resume(tmp_path / "run", budget=600)
    same = induce(SENTENCES, **{**options, "budget": 600})
    assert longer.configuration.schedule == same.configuration.schedule
    assert [c.settings.chain for c in longer.survivors] == [
        c.settings.chain for c in same.survivors
    ]
    assert [chain_bits(c) for c in longer.survivors] == [chain_bits(c) for c in same.survivors]
    assert longer.trees() == same.trees()
    for wrong, said in (
        ({"budget": 300}, "a race can be extended, not shortened"),
        ({"iterations": 300}, "longer with --budget"),
    ):
        with pytest.raises(DbpcfgError, match=said):
            resume(tmp_path / "run", **wrong)


def test_only_a_race_has_a_budget(tmp_path):
    induce(SENTENCES, K=2, iterations=2, chains=1, out=tmp_path / "run")
    with pytest.raises(DbpcfgError, match="is not a race"):
        resume(tmp_path / "run", budget=300)
