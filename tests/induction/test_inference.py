"""What follows from --inference, --budget, --chains, --iterations and --select."""

from __future__ import annotations

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import inference
from dbpcfg.induction.induce import induce
from dbpcfg.induction.search import SELECT, Inference, Schedule, budget_of, chosen, iterations_in
from dbpcfg.induction.settings import ChainSettings
from tests.induction.small import CORPUS, SENTENCES

MODEL = ChainSettings()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Inference(16, Schedule(345), 1500, SELECT)),
        ({"budget": 750}, Inference(8, Schedule(217), 750, SELECT)),
        ({"budget": 280, "chains": 4}, Inference(4, Schedule(95), 280, SELECT)),
        ({"iterations": 9}, Inference(4, Schedule(9), None, "likelihood")),
        ({"iterations": 9, "chains": 2}, Inference(2, Schedule(9), None, "likelihood")),
        ({"inference": "paper"}, Inference(4, Schedule(), None, "likelihood")),
        ({"schedule": Schedule(least=9)}, Inference(4, Schedule(least=9), None, "likelihood")),
        ({"iterations": 9, "select": "variance"}, Inference(4, Schedule(9), None, "variance")),
    ],
)
def test_what_follows(given, expected):
    assert chosen(MODEL, **given) == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 100, "iterations": 9}, "give one of the two"),
        ({"inference": "race", "iterations": 9}, "give one of the two"),
        ({"inference": "paper", "budget": 9}, "a budget is for a race"),
        ({"inference": "quick"}, "inference must be race or paper, got 'quick'"),
        ({"budget": 10, "chains": 20}, "not enough for 20 chains"),
    ],
)
def test_contradictions(given, said):
    with pytest.raises(DbpcfgError, match=said):
        chosen(MODEL, **given)


def test_budgets_as_they_are_written():
    assert budget_of("6000") == 6000
    assert budget_of("30min") == budget_of("0.5h") == budget_of("30 min") == 1800.0
    assert isinstance(budget_of("2h"), float)


@pytest.mark.parametrize("text", ["", "0", "-5", "1.5", "2 days", "0min", "9" * 400, "1e3", "min"])
def test_budgets_that_are_none(text):
    with pytest.raises(DbpcfgError, match="like 6000, 30min or 2h"):
        budget_of(text)


def test_a_time_is_turned_into_iterations(monkeypatch):
    """By a clock that says that an iteration takes a tenth of a second."""
    now = iter(range(10**6))
    monkeypatch.setattr(inference.time, "perf_counter", lambda: next(now) * 0.1)
    found = iterations_in(60.0, CORPUS, ChainSettings(categories=3), threads=2)
    assert 300 <= found <= 1200


def test_a_time_with_more_chains_than_the_default_budget_has_room_for(monkeypatch):
    import dbpcfg.induction.induce as module

    monkeypatch.setattr(module, "iterations_in", lambda *_: 4000)
    run = induce(SENTENCES[:5], 2, 1, budget="1min", chains=40, threads=1)
    assert len(run.chains) == 40
    with pytest.raises(DbpcfgError, match="a budget is for a race"):
        induce(SENTENCES, inference="paper", budget="1min")


def test_a_time_is_recorded_as_iterations(monkeypatch):
    import dbpcfg.induction.induce as module

    monkeypatch.setattr(module, "iterations_in", lambda *_: 90)
    run = induce(SENTENCES, 3, 1, budget="1min", threads=1)
    assert run.configuration.budget == 90
    assert sum(chain.iteration for chain in run.chains) == 90
