"""``pairs`` as a user meets it."""

import json
from pathlib import Path

import pytest

import dbpcfg
from tests.cli.small import GOLD


@pytest.fixture
def pairs(tmp_path) -> Path:
    """Sentences of the small corpus, each after itself with its last words swapped."""
    lines = []
    for tree in GOLD[:12]:
        *words, end = tree.words()
        lines += [" ".join([*words[:-2], *words[:-3:-1], end]), " ".join([*words, end])]
    path = tmp_path / "order.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_one_model_and_two(call, center_run, center_model, pairs, tmp_path):
    out, _ = call("pairs", center_run, pairs, "--format", "json")
    (row,) = json.loads(out)[0]["rows"]
    expected = dbpcfg.minimal_pairs(center_model, pairs, quiet=True)
    assert (row["paradigm"], row["pairs"]) == ("order", 12)
    for score in ("log_probability", "per_word", "critical_word"):
        assert row[score] == expected.accuracy(score).accuracy
    center_model.save(tmp_path / "m.npz")
    out, _ = call("pairs", center_run, pairs, tmp_path / "m.npz", "-q", "--format", "json")
    tables = json.loads(out)
    assert len(tables) == 3
    assert tables[0]["rows"][0][str(tmp_path / "m.npz")] == row["log_probability"]
    assert "\\begin{table}" in call("pairs", center_run, pairs, "--format", "latex")[0]


def test_a_row_for_each_pair(call, center_run, center_model, pairs):
    out, _ = call("pairs", center_run, pairs, "--each")
    head, *lines = (line.split("\t") for line in out.splitlines())
    expected = list(dbpcfg.minimal_pairs(center_model, pairs, quiet=True).rows())
    assert len(lines) == 12
    for line, one in zip(lines, expected):
        row = dict(zip(head, line))
        assert (row["good"], row["bad"]) == (one["good"], one["bad"])
        assert float(row["log_probability_good"]) == pytest.approx(one["log_probability_good"])


def test_a_figure(call, refuse, center_run, pairs, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "pairs.svg"
    call("pairs", center_run, pairs, "--figure", figure)
    assert "critical word" in figure.read_text()
    assert "--overwrite" in refuse("pairs", center_run, pairs, "--figure", figure)


def test_columns_and_mistakes(call, refuse, center_run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("yes,no\na1 b1 c1,c1 b1 a1\n")
    call("pairs", center_run, table, "--good", "yes", "--bad", "no", "-q")
    assert "no column 'sentence_good'" in refuse("pairs", center_run, table)
    assert "give files of minimal pairs" in refuse("pairs", center_run)
    assert "a model is given twice" in refuse("pairs", center_run, center_run, table)
