"""Cells on a Dask cluster: the bytes of cells here, failures apart, and stopping."""

from __future__ import annotations

import time

import pytest

from dbpcfg.cluster import connect
from dbpcfg.sweep.on_cluster import run_cells_on
from dbpcfg.sweep.pool import run_cells
from dbpcfg.sweep.record import CellRecord
from tests.command import dbpcfg
from tests.sweep.small import cells_of, files_in, write_corpora

GRID = 'corpus = "adam.trees"\nK = [2, 3]\nsystems = ["dbpcfg", "right"]\nout = "runs"\n'


@pytest.fixture(scope="module")
def cluster():
    with connect("local:2", announce=lambda line: None) as there:
        yield there


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    for place in ("here", "there"):
        write_corpora(tmp_path / place)
    return tmp_path


@pytest.mark.slow
def test_the_same_bytes_as_here(cluster, folder):
    here, there = (cells_of(folder / place, GRID) for place in ("here", "there"))
    expected = run_cells(here)
    found = run_cells_on(cluster.client, folder / "there" / "grid.toml", there)
    assert {number: outcome.state for number, outcome in found.items()} == {
        1: "finished",
        2: "finished",
        3: "finished",
    }
    assert {n: one.result for n, one in found.items()} == {
        n: one.result for n, one in expected.items()
    }
    files = [files_in(folder / place / "runs") for place in ("here", "there")]
    same = ["trees.txt", "model.npz", "chains.tsv"]
    for name in files[0]:
        if name.rsplit("/", 1)[-1] in same:
            assert files[0][name] == files[1][name], name


@pytest.mark.slow
def test_a_cell_that_fails_harms_no_other(cluster, folder):
    grid = 'corpus = ["adam.trees", "missing.trees"]\nK = 2\nout = "runs"\n'
    cells = cells_of(folder / "there", grid)
    found = run_cells_on(cluster.client, folder / "there" / "grid.toml", cells)
    assert [found[cell.number].state for cell in cells] == ["finished", "failed"]
    assert "missing.trees" in found[2].reason


def test_workers_that_do_not_see_the_grid(cluster, folder):
    cells = cells_of(folder / "there", GRID)[:1]
    found = run_cells_on(cluster.client, folder / "elsewhere.toml", cells)
    assert found[1].state == "failed"
    assert "workers must see the same files" in found[1].reason


@pytest.mark.slow
def test_stopped_and_begun_again(cluster, folder):
    long = "chains = 1\niterations = 100000\n"
    cells = cells_of(folder / "there", 'corpus = "adam.trees"\nK = 2\nout = "runs"\n', short=long)
    place = cells[0].directory / "config.toml"
    began = time.monotonic()

    def stopping() -> bool:
        return place.exists() or time.monotonic() - began > 60

    found = run_cells_on(cluster.client, folder / "there" / "grid.toml", cells, stopping=stopping)
    assert found[1].state == "unfinished"
    with CellRecord(cells[0]).locked():  # nobody is at it any more
        pass


@pytest.mark.slow
def test_the_command(folder):
    cells_of(folder / "there", GRID)
    done = dbpcfg("sweep", folder / "there" / "grid.toml", "--cluster", "local:2")
    assert done.returncode == 0, done.stderr
    assert "adam-K3-D2-b0.2-s0 finished" in done.stderr
    again = dbpcfg("sweep", folder / "there" / "grid.toml", "--cluster", "local:2")
    assert "3 of 3 cells were finished before" in again.stderr


def test_options_that_contradict_each_other(folder):
    cells_of(folder / "there", GRID)
    both = dbpcfg("sweep", folder / "there" / "grid.toml", "--cluster", "local:2", "--jobs", "2")
    assert both.returncode == 2
    assert "--jobs is for this machine" in both.stderr
