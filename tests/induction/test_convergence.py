"""When a chain is done, and whether chains agree, on made-up traces."""

from __future__ import annotations

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.search import Agreement, Schedule, agreement, levelled_off

RNG = np.random.default_rng(5)


def rising(length: int, level: int, noise: float = 1.0) -> list[float]:
    """A trace that rises by 1 an iteration up to ``level`` iterations, and stays there."""
    trend = np.minimum(np.arange(length), level) - 500.0
    return (trend + noise * RNG.standard_normal(length)).tolist()


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


def burn_in(schedule: Schedule, logs: list[float], preliminary: int = 0) -> int | None:
    return next(
        (n for n in range(len(logs)) if schedule.converged(logs[:n], logs[preliminary:n])),
        None,
    )


@pytest.mark.parametrize(("iterations", "expected"), [(1, 0), (2, 1), (9, 4), (10, 5)])
def test_exactly_so_many_iterations(iterations, expected):
    schedule = Schedule(iterations)
    assert burn_in(schedule, rising(20, 20)) == expected == schedule.latest_burn_in
    assert [n for n in range(20) if schedule.finished(n, None)] == list(range(iterations, 20))


def test_the_papers_rule():
    schedule = Schedule(least=30, window=10, after=15, most=200)
    assert burn_in(schedule, rising(100, 0)) == 30  # flat from the start, but not before `least`
    late = burn_in(schedule, rising(150, 80))
    assert 80 < late < 110
    assert burn_in(schedule, rising(300, 300)) == 185  # gives up waiting: most − after
    # What was before restarts, annealing and curriculum were over does not count as a plateau.
    assert burn_in(schedule, rising(100, 0), preliminary=40) == 60
    assert not schedule.finished(1000, None)
    assert not schedule.finished(44, 30)
    assert schedule.finished(45, 30)
    assert (Schedule().least, Schedule().after) == (500, 250)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"iterations": 0}, "iterations must be at least 1, got 0"),
        ({"least": 0}, "least must be at least 1"),
        ({"window": 0}, "window must be at least 1"),
        ({"after": -1}, "after must be at least 1, got -1"),
        ({"most": 0}, "most must be at least 1"),
        ({"most": 749}, r"most must be at least least \+ after, 750, got 749"),
    ],
)
def test_schedules_that_cannot_be(options, said):
    with pytest.raises(DbpcfgError, match=said):
        Schedule(**options)


def chains(number: int, length: int, shift: float = 0.0) -> list[list[float]]:
    draws = RNG.standard_normal((number, length)) + shift * np.arange(number)[:, None]
    return (draws - 1000).tolist()


def test_chains_that_agree():
    found = agreement(chains(4, 500))
    assert found.rhat == pytest.approx(1, abs=0.01)
    assert found.effective_samples == pytest.approx(2000, rel=0.2)
    assert found.verdict() == "the chains agree"


def test_chains_that_do_not():
    found = agreement(chains(4, 500, shift=1.0))
    assert found.rhat > 1.1
    assert found.effective_samples < 100
    assert found.verdict().startswith("the chains disagree")


def test_slow_chains_count_for_few():
    walk = np.cumsum(RNG.standard_normal((2, 500)), axis=1).tolist()
    assert agreement(walk).effective_samples < 50


def test_traces_of_different_lengths_end_together():
    long, short = chains(1, 300)[0], chains(1, 100)[0]
    assert agreement([[-9999.0] * 50 + long, short]) == agreement([long[-100:], short])


@pytest.mark.parametrize("traces", [[], [[]], [[-1.0, -2.0, -3.0]] * 2, [[-1.0] * 9, [-1.0] * 3]])
def test_too_short_to_tell(traces):
    found = agreement(traces)
    assert np.isnan(found.rhat)
    assert np.isnan(found.effective_samples)
    assert found.chains == len(traces)


def test_verdicts():
    alone = agreement(chains(1, 400))
    assert np.isnan(alone.rhat)
    assert alone.effective_samples > 200
    assert alone.verdict() == "one chain cannot be checked against others: run several"
    assert Agreement(np.nan, 9, 2).verdict() == "too few iterations to compare the chains"
    assert "nearly agree" in Agreement(1.05, 9, 2).verdict()
