"""Runs that are made longer: the same bytes as if they had been that long from the start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.search import Schedule
from tests.induction.small import SENTENCES, TREES
from tests.induction.test_run import written

OPTIONS = {"K": 3, "chains": 2, "seed": 5, "sample_beta": True, "restarts": 2}
OPTIONS |= {"restart_iterations": 3, "gold": TREES, "threads": 1}


def start(path: Path, **changed):
    return induce(SENTENCES, out=path, **{**OPTIONS, **changed})


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("long") / "run"
    start(path, iterations=40)
    return written(path)


@pytest.mark.parametrize(("first", "again"), [(12, []), (20, []), (21, [0, 1]), (39, [0, 1])])
def test_a_finished_run_is_made_longer(first, again, long, tmp_path):
    path, remarks = tmp_path / "run", []
    start(path, iterations=first)
    before = written(path)
    run = resume(path, iterations=40, remark=remarks.append)
    assert run.finished
    assert written(path) == long
    assert before.keys() == long.keys()
    assert len(remarks) == bool(again)
    if again:
        assert remarks[0].startswith("chains begin again (0, 1): of 40 iterations the second half")


def test_the_paper_s_rule_is_made_longer_too(long, tmp_path):
    path = tmp_path / "run"
    short = Schedule(least=7, window=3, after=4, most=15)
    start(path, schedule=short)
    wanted = tmp_path / "wanted"
    start(wanted, schedule=Schedule(40, 7, 3, 4, 15))
    resume(path, iterations=40)
    assert written(path) == written(wanted)


def test_a_longer_run_that_is_interrupted_is_resumed(long, tmp_path):
    path = tmp_path / "run"
    start(path, iterations=12)
    asked = iter([False, False, True])
    part = resume(path, iterations=40, checkpoint=0, stopping=lambda: next(asked, True))
    assert not part.finished
    assert resume(path).finished
    assert written(path) == long


def stamps(path: Path) -> dict[str, int]:
    return {str(file): os.stat(file).st_mtime_ns for file in [path, *path.rglob("*")]}


def test_resuming_a_finished_run_changes_nothing(long, tmp_path):
    path = tmp_path / "run"
    start(path, iterations=40)
    for file in path.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    before = stamps(path)
    for options in ({}, {"iterations": 40}):
        assert resume(path, **options).finished
        assert stamps(path) == before
    assert written(path) == long


def test_results_that_are_missing_or_damaged_are_written_again(long, tmp_path):
    path = tmp_path / "run"
    start(path, iterations=40)
    (path / "trees.txt").unlink()
    (path / "model.npz").write_bytes(b"damaged")
    resume(path)
    assert written(path) == long


def test_a_run_is_not_made_shorter(tmp_path):
    path = tmp_path / "run"
    start(path, iterations=20)
    before = written(path)
    with pytest.raises(DbpcfgError, match="has done 20 iterations: 19 would be fewer"):
        resume(path, iterations=19)
    assert written(path) == before
