"""Cells in worker processes, on a Dask cluster, and as a SLURM array: order, crashes, stopping."""

import subprocess
from dataclasses import replace
from multiprocessing import active_children

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.results import CellRecord
from dbpcfg.experiments.runners import GridPlace, array_script, run_cells, run_cells_on
from tests.cluster.small import threads
from tests.command import dbpcfg
from tests.experiments.small import Watched, cells_of, files_in, write_corpora, write_grid

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


def test_a_worker_that_is_killed_takes_one_cell_down(processes, place):
    (long,) = cells_of(place, LONG, short="")
    (short,) = cells_of(place, 'corpus = "eve.trees"\nK = 2')
    short = replace(short, number=2)
    outcomes = run_cells([long, short], Watched(lambda: active_children()[0].kill()))
    assert outcomes[1].reason == "its process was ended by SIGKILL; memory may have run out"
    assert outcomes[2].state == "finished"
    record = CellRecord(long)
    assert record.found(None) == outcomes[1]
    assert active_children() == []


def test_stopping_saves_what_runs_and_begins_no_more(processes, place):
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


GRID = 'corpus = ["adam.trees", "missing.trees"]\nK = 2\nout = "runs"\n'


@pytest.fixture(scope="module")
def client():
    """Of a cluster whose workers start a process for each cell."""
    with threads(2) as there:
        yield there


def on(client, place, cells, file="grid.toml", **options):
    places = [(cell, GridPlace(place / file, cell.number)) for cell in cells]
    return run_cells_on(client, places, Watched(), **options)


def test_the_same_bytes_as_here_and_a_cell_that_fails(client, tmp_path):
    """By the command; a cell that fails harms no other, and one that is finished is kept."""
    here, there = tmp_path / "here", tmp_path / "there"
    for place in (here, there):
        place.mkdir()
        write_corpora(place)
        write_grid(place, GRID)
    local = dbpcfg("sweep", here / "grid.toml", "--format", "tsv")
    command = ("sweep", there / "grid.toml", "--cluster", client.scheduler.address)
    spread = dbpcfg(*command, "--format", "tsv")
    assert local.returncode == spread.returncode == 1
    assert spread.stdout == local.stdout.replace(str(here), str(there))
    assert "adam-K2-D2-b0.2-s0 finished" in spread.stderr
    assert "missing.trees cannot be read: No such file" in spread.stderr
    files = [files_in(place / "runs" / "adam-K2-D2-b0.2-s0") for place in (here, there)]
    differ = [name for name in files[0] if files[0][name] != files[1][name]]
    assert files[0].keys() == files[1].keys()
    assert differ == ["config.toml"]  # it has the place of the corpus
    assert "1 of 2 cells were already finished" in dbpcfg(*command).stderr


def test_workers_that_do_not_see_the_grid(client, place):
    found = on(client, place, cells_of(place, GRID)[:1], "elsewhere.toml")
    assert found[1].state == "failed"
    assert "workers must see the same files" in found[1].reason


def test_stopped_on_a_cluster(client, place):
    cells = cells_of(place, LONG, short="")
    begun = cells[0].directory / "config.toml"
    found = on(client, place, cells, stopping=begun.exists)
    assert found[1].state == "unfinished"
    with CellRecord(cells[0]).locked():  # nobody is at it any more
        pass
