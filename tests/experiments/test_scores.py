"""Groups of runs: their spread, their median run, and what went wrong."""

import math

import pytest

from dbpcfg.experiments.scores import RunGroup, ScoredRun, middle_runs, spread


def test_the_median_is_a_run():
    runs = [
        ScoredRun({"f1": f1, "precision": seed / 8}, seed)
        for seed, f1 in enumerate([0.4, 0.1, None, 0.3, 0.2])
    ]
    group = RunGroup("X", runs)
    assert group.median_runs() == [runs[4], runs[3]]
    assert group.median_run == runs[4]
    assert group.at_median("f1") == 0.25
    assert group.at_median("precision") == 3.5 / 8  # of the same two runs
    assert group.at_median("precision", "precision") == 0.25
    assert group.at_median("recall") is None
    assert group.values("f1") == [0.4, 0.1, 0.3, 0.2]
    assert group.values("recall") == []
    assert math.isnan(group.spread("f1").mean)
    assert group.spread("precision").median == 0.25


def test_what_went_wrong():
    group = RunGroup("X", [], {0: "no", 2: "no", 3: "never"}, 2)
    assert group.median_runs() == []
    assert group.note == "seeds 0, 2 failed: no; seed 3 failed: never; 2 not finished"
    assert RunGroup("X", [], {None: "no"}).note == "failed: no"
    assert RunGroup("X", []).note == ""


@pytest.mark.parametrize(
    ("values", "median", "middle"),
    [([3.0], 3.0, [3.0]), ([3.0, 1.0, 2.0], 2.0, [2.0]), ([4.0, 1.0, 3.0, 2.0], 2.5, [2.0, 3.0])],
)
def test_the_median_of_an_even_number_is_between_two_runs(values, median, middle):
    assert spread(values).median == median
    assert middle_runs(values, lambda value: value) == middle


def test_there_may_be_nothing_to_summarise():
    assert all(map(math.isnan, spread([])))
    assert all(map(math.isnan, spread([1.0, math.nan])))
    assert middle_runs([], float) == []
