"""Tables of cells, and of their spread over seeds."""

import json
import statistics

import pytest

from dbpcfg.experiments.results import CellOutcome, CellResult, state_table, sweep_tables
from dbpcfg.io.tables import render
from tests.experiments.small import cells_of

F1 = [0.5, 0.7, 0.6]
GRID = 'corpus = "adam.trees"\nK = [2, 3]\nD = "none"\nbeta = [0.2, 1]\nseeds = "0-2"\n'


def finished(f1: float, **changed) -> CellOutcome:
    scores = {"precision": 0.4, "recall": 0.5, "f1": f1, "phrase_recall": f1 / 2}
    result = CellResult(12, -2.5 - f1, **scores, signature="labels:no")
    return CellOutcome("finished", result=result)


def test_spread_over_seeds(place):
    cells = cells_of(place, GRID + 'systems = ["dbpcfg", "right"]')
    outcomes = {cell.number: finished(F1[cell.number % 3]) for cell in cells}
    found, spread = (table.json() for table in sweep_tables(cells, outcomes))
    assert len(found["rows"]) == 13
    assert found["rows"][0]["k"] == 2
    assert (found["rows"][0]["d"], found["rows"][0]["beta"]) == ("none", 0.2)
    assert (found["rows"][-1]["system"], found["rows"][-1]["k"]) == ("right", None)
    assert "labels:no" in found["notes"]
    assert len(spread["rows"]) == 4 * 3  # groups and measures; right has no seeds
    first, recall, likelihood = spread["rows"][:3]
    assert (first["measure"], first["seeds"]) == ("F1", 3)
    assert first["mean"] == pytest.approx(60)
    assert first["sd"] == pytest.approx(100 * statistics.stdev(F1))
    assert (first["min"], first["max"]) == (50, 70)
    assert recall["measure"] == "NP recall"
    assert recall["mean"] == pytest.approx(30)
    assert likelihood["min"] == -3.2


def test_an_impossible_sentence_leaves_no_spread(place):
    cells = cells_of(place, GRID)
    result = CellResult(12, float("-inf"))
    outcomes = {cell.number: CellOutcome("finished", result=result) for cell in cells}
    _, spread = (table.json() for table in sweep_tables(cells, outcomes))
    assert (spread["rows"][0]["mean"], spread["rows"][0]["sd"]) == (None, None)


def test_what_is_not_finished_has_its_reason(place):
    cells = cells_of(place, GRID)[:3]
    outcomes = {1: finished(0.5), 2: CellOutcome("failed", "the chart is on fire")}
    (table,) = sweep_tables(cells, outcomes)
    assert [row[-1] for row in table.rows] == [
        *("finished", "failed: the chart is on fire", "waiting")
    ]
    for format in ("text", "latex"):
        assert "failed: the chart is on fire" in render([table], format)
    assert json.loads(render([table], "json"))[0]["rows"][1]["f1"] is None
    states = state_table(cells, outcomes)
    assert [row[2] for row in states.rows] == [row[-1] for row in table.rows]
    assert states.notes == ["1 of 3 cells finished"]
