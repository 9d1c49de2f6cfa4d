"""Cells in worker processes, on a Dask cluster, and as a SLURM array: order, crashes, stopping."""

import subprocess
import time
from dataclasses import replace
from multiprocessing import active_children

import pytest

from dbpcfg.cluster import connect
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.results import CellRecord
from dbpcfg.experiments.runners import GridPlace, array_script, run_cells, run_cells_on
from tests.command import dbpcfg
from tests.experiments.small import Watched, cells_of, files_in, write_corpora

LONG = 'corpus = "adam.trees"\nchains = 1\niterations = 9999999\nK = 2\n'


def test_cells_run_one_after_the_other(place):
    cells = cells_of(place, 'corpus = ["adam.trees", "none.txt", "eve.trees"]\nK = 2')
    watched = Watched()
    outcomes = run_cells(cells, watched)
    assert [outcomes[n].state for n in (1, 2, 3)] == ["finished", "failed", "finished"]
    assert watched.events == [
        *(("begun", 1), ("finished", 1), ("begun", 2), ("failed", 2)),
        *(("begun", 3), ("finished", 3)),
    ]
    assert run_cells([], watched) == {}


def test_a_worker_that_is_killed_takes_one_cell_down(place):
    (long,) = cells_of(place, LONG, short="")
    (short,) = cells_of(place, 'corpus = "eve.trees"\nK = 2')
    short = replace(short, number=2)
    outcomes = run_cells([long, short], Watched(lambda: active_children()[0].kill()))
    assert outcomes[1].reason == "its process was ended by SIGKILL; memory may have run out"
    assert outcomes[2].state == "finished"
    record = CellRecord(long)
    assert record.found(None) == outcomes[1]
    assert active_children() == []


def test_stopping_saves_what_runs_and_begins_no_more(place):
    cells = cells_of(place, LONG + "seeds = [0, 1, 2]", short="")
    watched, stop = Watched(lambda: stop.append(True)), []
    outcomes = run_cells(cells, watched, jobs=2, threads=2, stopping=lambda: bool(stop))
    assert {n: outcome.state for n, outcome in outcomes.items()} == {
        1: "unfinished",
        2: "unfinished",
    }
    assert any((cell.directory / "chains/0/chain.npz").exists() for cell in cells[:2])
    assert not cells[2].directory.exists()
    assert [CellRecord(cell).found(None).state for cell in cells[1:]] == ["unfinished", "waiting"]


def test_the_number_of_jobs_is_checked(place):
    with pytest.raises(DbpcfgError, match="at least 1 job, got 0"):
        run_cells([], Watched(), jobs=0)


@pytest.mark.parametrize(
    ("numbers", "array"),
    [([1], "1"), ([1, 2, 3], "1-3"), ([2, 4, 5, 9], "2,4-5,9"), ([7, 8], "7-8")],
)
def test_the_array_has_the_cells_that_are_left(place, numbers, array):
    assert f"#SBATCH --array={array}\n" in array_script(place / "grid.toml", numbers)


def test_the_script_is_bash_whatever_the_grid_is_called(place):
    path = place / "it's\n$(a) grid;.toml"
    script = array_script(path, [1, 2])
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    head = [line for line in script.splitlines() if line.startswith("#SBATCH")]
    assert "#SBATCH --job-name=dbpcfg-it-s-a-grid-" in head
    shown = script.replace("exec dbpcfg", "printf '%s|'")
    done = subprocess.run(
        ["bash", "-c", shown], capture_output=True, text=True, env={"SLURM_ARRAY_TASK_ID": "2"}
    )
    assert done.stdout.split("|")[1:4] == [str(path.resolve()), "--cell", "2"]


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


def on(cluster, folder, cells, file="grid.toml", **options):
    places = [(cell, GridPlace(folder / "there" / file, cell.number)) for cell in cells]
    return run_cells_on(cluster.client, places, Watched(), **options)


@pytest.mark.slow
def test_the_same_bytes_as_here(cluster, folder):
    here, there = (cells_of(folder / place, GRID) for place in ("here", "there"))
    expected = run_cells(here, Watched())
    found = on(cluster, folder, there)
    assert found == expected
    assert [outcome.state for outcome in found.values()] == ["finished"] * 3
    files = [files_in(folder / place / "runs") for place in ("here", "there")]
    same = ["trees.txt", "model.npz", "chains.tsv"]
    for name in files[0]:
        if name.rsplit("/", 1)[-1] in same:
            assert files[0][name] == files[1][name], name


@pytest.mark.slow
def test_a_cell_that_fails_harms_no_other(cluster, folder):
    grid = 'corpus = ["adam.trees", "missing.trees"]\nK = 2\nout = "runs"\n'
    cells = cells_of(folder / "there", grid)
    found = on(cluster, folder, cells)
    assert [found[cell.number].state for cell in cells] == ["finished", "failed"]
    assert "missing.trees" in found[2].reason


def test_workers_that_do_not_see_the_grid(cluster, folder):
    cells = cells_of(folder / "there", GRID)[:1]
    found = on(cluster, folder, cells, "elsewhere.toml")
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

    found = on(cluster, folder, cells, stopping=stopping)
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
