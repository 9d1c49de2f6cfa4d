"""Runs side by side."""

import json

import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.induction.directory import finished_run
from dbpcfg.report.sweep import RunSummary, is_grid, run_tables, summarise_run
from tests.inprocess import InProcess
from tests.report.small import TREES, make_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    return {
        (K, D): make_run(folder / f"k{K}d{D}", K=K, D=D, chains=2, iterations=10)
        for K in (2, 3)
        for D in (1, None)
    }


def row(**changed) -> RunSummary:
    usual = {"name": "a", "categories": 2, "depth": 1, "chains": 1, "survivors": 1}
    further = {
        "per_token": -3.0,
        "rhat": None,
        "f1": None,
        "spread": None,
        "signature": "",
        "digest": "d",
    }
    return RunSummary(**{**usual, **further, **changed})


def test_a_sweep_is_a_table_and_grids(runs, treebank, tmp_path, monkeypatch, capsys):
    cli = InProcess(monkeypatch, capsys)
    plot = tmp_path / "plot.svg"
    paths = list(reversed(runs.values()))
    said, _ = cli.call(
        "compare-runs", *paths, "--gold", treebank, "--format", "json", "--figure", plot, "-q"
    )
    table, likelihood, f1 = json.loads(said)
    assert [(one["k"], one["d"]) for one in table["rows"]] == [
        *((2, "1"), (3, "1"), (2, "none"), (3, "none"))
    ]
    for one in table["rows"]:
        run = finished_run(runs[one["k"], None if one["d"] == "none" else 1])
        tokens = len(run.corpus.forms.tokens)
        assert one["per_token"] == pytest.approx(run.best.mean_log_likelihood / tokens)
        gold = run.match_gold([*_sentences()], "text")
        it = evaluate(gold.sentences, run.trees(), gold.punctuation, gold.convention).score
        assert one["f1"] == pytest.approx(it.f1)
        assert one["from"] <= one["f1"] <= one["to"]
        assert it.signature in table["notes"]
    column = {"1": "d_1", "none": "d_none"}
    for grid, key in ((likelihood, "per_token"), (f1, "f1")):
        cells = {one["k"]: one for one in grid["rows"]}
        for one in table["rows"]:
            assert cells[one["k"]][column[one["d"]]] == one[key]
    assert plot.read_text().startswith("<?xml")
    assert "exists" in cli.refuse("compare-runs", *paths, "--figure", plot)
    plain, _ = cli.call("compare-runs", *paths, "-q")
    assert "F1" not in plain


def test_of_a_race_it_is_said_how_many_chains_began_and_how_many_ran_on(race, runs, treebank):
    sentences = list(_sentences())
    raced = summarise_run("race", race, sentences, str(treebank))
    assert (raced.chains, raced.survivors) == (5, 2)
    plain = summarise_run("plain", finished_run(runs[2, 1]), sentences, str(treebank))
    assert (plain.chains, plain.survivors) == (2, 2)
    both = run_tables([raced, plain])[0]
    names = [column.name for column in both.columns]
    place = names.index("survivors")
    assert names[place - 1] == "chains"
    assert sorted(line[place - 1 : place + 1] for line in both.rows) == [(2, 2), (5, 2)]
    assert "over chains of the run that ran to the end" in both.notes[0]
    alone = run_tables([plain])[0]
    assert "survivors" not in [column.name for column in alone.columns]
    assert "over all chains of the run" in alone.notes[0]


def test_runs_of_different_text_are_not_compared_silently():
    assert not run_tables([row(), row(name="b")])[0].notes
    (table,) = run_tables([row(), row(categories=3, digest="e")])  # and no grid of likelihoods
    assert "not comparable" in table.notes[0]
    assert len(run_tables([row(), row(categories=3)])) == 2


def test_a_grid_needs_different_settings():
    assert not is_grid([row()])
    assert not is_grid([row(), row(name="b")])
    assert is_grid([row(), row(depth=2)])


def _sentences():
    return (Sentence(tuple(t.words()), tuple(t.tags()), t) for t in TREES)
