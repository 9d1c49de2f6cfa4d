"""The command that a page gives must make the same run again."""

import shlex
from pathlib import Path

import pytest

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.search import search_for
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.options import Searching
from dbpcfg.report.overview import command, overview
from tests.command import printed
from tests.report.small import make_run, write_treebank

USUAL: dict = {}
UNUSUAL = {
    **{"D": None, "trees": "best", "beta": 0.5, "sample_beta": True, "select": "variance"},
    **{"lowercase": False, "max_length": 6, "rare": 2, "scheme": "shape", "numbers": True},
}
RACE = {"chains": None, "iterations": None, "budget": 400}
OTHER_RACE = {**RACE, "chains": 4, "select": "heldout", "aside": 7}


@pytest.mark.parametrize("options", [USUAL, UNUSUAL, OTHER_RACE])
def test_the_command_repeats_the_run(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_treebank(tmp_path / "text.mrg")
    path = make_run(tmp_path / "first run", **options)
    said = shlex.split(command(finished_run(path).configuration, path))
    assert said[:2] == ["dbpcfg", "induce"]
    assert said[-2:] == ["--out", str(path)]
    printed(*said[1:-1], "again", "--quiet")
    for name in ("trees.txt", "chains.tsv", "agreement.tsv"):
        assert (tmp_path / "again" / name).read_bytes() == (path / name).read_bytes()
    once, again = (
        [
            line
            for line in (run / "config.toml").read_text("utf-8").splitlines()
            if line[:3] != "why"
        ]
        for run in (path, tmp_path / "again")
    )  # why: the learner was chosen the first time, and is named now
    assert once == again


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (USUAL, "--chains 3 --iterations 30"),
        (RACE, "--budget 400"),
        ({**RACE, "chains": 2}, "--budget 400 --chains 2"),
        ({**RACE, "select": "variance"}, "--budget 400 --select variance"),
        ({**RACE, "select": "likelihood"}, "--budget 400"),
        ({"select": "agreement"}, "--chains 3 --iterations 30 --select agreement"),
        ({"iterations": None, "inference": "paper"}, "--inference paper --chains 3"),
    ],
)
def test_chains_and_their_length_are_said_as_they_were_asked_for(options, said):
    usual = {"chains": 3, "iterations": 30, **options}
    model = ChainSettings()
    search = search_for(model, Searching(**usual), budget=usual.get("budget"))
    configuration = Configuration(
        model, search.schedule, Preparation(), search.chains, "mbr", search.budget, search.select
    )
    expected = f"dbpcfg induce TEXT -K 15 -D 2 {said} --seed 0 --learner gibbs --out run"
    assert command(configuration, Path("run")) == expected


def test_a_race_in_the_overview(race, race_path):
    found = overview(race, race_path)
    assert (found["chains"], found["survivors"]) == (5, 2)
    assert found["agreement"] == race.shared.agreement(race.best.settings.chain)
    settings = dict(found["settings"])
    assert settings["iterations"].startswith("500 for all chains together")
    assert settings["chain selected by"] == "mean log-posterior after burn-in"


def test_many_files_are_named_by_their_folder(run, run_path):
    corpus = run.configuration.corpus
    before = corpus["sources"]
    try:
        corpus["sources"] = [f"wsj/{n:02}/a.mrg" for n in range(9)]
        found = overview(run, run_path)
        assert found["sources"] == ["wsj"]
        corpus["sources"], corpus["speakers"] = ["a.cha", "b.cha"], ["MOT", "FAT"]
        assert "--speaker MOT --speaker FAT" in overview(run, run_path)["command"]
        del corpus["speakers"]
        corpus["sources"] = []
        assert "TEXT" in overview(run, run_path)["command"]
    finally:
        corpus["sources"] = before
