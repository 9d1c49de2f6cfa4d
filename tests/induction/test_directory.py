"""Reading a finished run: errors, and that the lock is not needed."""

from __future__ import annotations

import os

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.directory import RunDirectory, finished_run
from dbpcfg.induction.results import run_times
from tests.report.small import make_run


def test_all_chains_are_there_and_the_lock_is_not_needed(run_path):
    with RunDirectory.open(run_path):  # another process at work
        run = finished_run(run_path)
    assert run.finished
    assert [chain.settings.chain for chain in run.chains] == [0, 1, 2]


def test_what_is_no_finished_run_is_an_error(tmp_path, run_path):
    file = tmp_path / "file"
    file.write_text("")
    for path, said in [
        (tmp_path / "nothing", "does not exist"),
        (file, "is a file"),
        (tmp_path, "is no run: there is no config.toml in it; give one that"),
    ]:
        with pytest.raises(DbpcfgError, match=said):
            finished_run(path)


def test_an_unfinished_run_says_how_to_resume(tmp_path):
    path = make_run(tmp_path / "run", checkpoint=0, stopping=lambda: True)
    with pytest.raises(DbpcfgError, match=r"chain \d of 3 has done .* `dbpcfg resume"):
        finished_run(path)


def test_times_are_those_of_the_files(tmp_path):
    for name, date in (("config.toml", 1_000_000_000), ("chains.tsv", 1_000_000_090)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (date, date))
    assert run_times(tmp_path) == ("2001-09-09 01:46 UTC", "2001-09-09 01:48 UTC", 90)
    os.utime(tmp_path / "chains.tsv", (5, 5))
    assert run_times(tmp_path) is None
    assert run_times(tmp_path / "nothing") is None
