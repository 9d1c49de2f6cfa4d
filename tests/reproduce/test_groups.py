"""Spread, medians, and where a published figure lies."""

from __future__ import annotations

import math

import pytest

from dbpcfg.reproduce.entries import Entry
from dbpcfg.reproduce.figure import StripRow, strip_plot
from dbpcfg.reproduce.groups import RunGroup, quantile
from dbpcfg.reproduce.recipe import RecipeRow


@pytest.mark.parametrize(
    ("values", "published", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], 25.0, 0.5),
        ([0.1, 0.2, 0.3, 0.4], 5.0, 0.0),
        ([0.1, 0.2, 0.3, 0.4], 40.0, 0.875),
        ([1.0, 0.9996], 100.0, 0.5),  # both are 100.0 as published
        ([0.70312], 70.31, 0.5),
        ([0.7032], 70.31, 0.0),
    ],
)
def test_quantiles(values, published, expected):
    assert quantile(values, published) == expected
    assert math.isnan(quantile([], published))


def test_the_median_is_a_run():
    entries = [
        Entry(seed, None, True, False, 1.0, {"all": {"f1": f1, "precision": 0.5}})
        for seed, f1 in enumerate([0.4, 0.1, None, 0.3, 0.2])
    ]
    group = RunGroup(RecipeRow("X", "ccl"), "runs", False, entries)
    assert group.median_entry("all", "f1") is entries[4]
    assert group.spread("all", "f1") == (4, 0.1, 0.2, 0.4)
    assert group.spread("all", "recall") is None
    empty = RunGroup(RecipeRow("X", "ccl"), "runs", True, [], ["no", "no"], 2)
    assert empty.median_entry("all", "f1") is None
    assert (empty.name, empty.remark) == ("X-F", "failed: no; 2 not finished")


def test_plots():
    drawn = strip_plot([StripRow("a <b>", [40.0, 50.0], 45.5), StripRow("c", [])], "F1")
    assert drawn.count("<circle") == 2
    assert drawn.count('class="published"') == 1
    assert "a &lt;b&gt;" in drawn
    assert strip_plot([StripRow("a", [])], "F1") == ""
    assert strip_plot([StripRow("a", [100.0])], "F1").count("<circle") == 1
