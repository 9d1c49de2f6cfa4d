"""The command that a page gives must make the same run again."""

from __future__ import annotations

import shlex

import pytest

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.induction.directory import finished_run
from dbpcfg.report.overview import command, overview
from tests.inprocess import InProcess
from tests.report.small import make_run, write_treebank

USUAL: dict = {}
UNUSUAL = {
    **{"D": None, "trees": "best", "beta": 0.5, "sample_beta": True, "initial": "right"},
    **{"anneal": 4, "temperature": 3.0, "restarts": 2, "restart_iterations": 3},
    "preparation": Preparation(lowercase=False, max_length=6, rare=2, scheme="shape", numbers=True),
}


@pytest.mark.parametrize("options", [USUAL, UNUSUAL])
def test_the_command_repeats_the_run(options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_treebank(tmp_path / "text.mrg")
    path = make_run(tmp_path / "first run", **options)
    said = shlex.split(command(finished_run(path).configuration, path))
    assert said[:2] == ["dbpcfg", "induce"]
    assert said[-2:] == ["--out", "first run"]
    InProcess(monkeypatch, capsys).call(*said[1:-1], "again", "--quiet")
    for name in ("trees.txt", "chains.tsv"):
        assert (tmp_path / "again" / name).read_bytes() == (path / name).read_bytes()


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
