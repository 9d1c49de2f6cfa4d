"""Cells in worker processes, on a Dask cluster, and as a SLURM array: order, crashes, stopping."""

import os
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import ClassVar

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments import scheduling
from dbpcfg.experiments.results import CellRecord
from dbpcfg.experiments.scheduling import CellInFile, array_script, run_cells, run_cells_on
from dbpcfg.systems.branching import Right
from dbpcfg.systems.registry import systems
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
    assert record.outcome(None) == outcomes[1]
    assert active_children() == []


def test_what_only_this_process_knows_runs_in_it(processes, place, monkeypatch):
    class Here(Right):
        processes: ClassVar[set[int]] = set()

        def fit(self, sentences, progress=None):
            self.processes.add(os.getpid())
            return super().fit(sentences, progress)

    monkeypatch.setattr(systems, "_added", {"here": Here})
    cells = cells_of(place, 'corpus = "adam.trees"\nsystems = ["right", "here"]')
    watched = Watched()
    outcomes = run_cells(cells, watched, jobs=2, threads=2)
    assert [outcome.state for outcome in outcomes.values()] == ["finished"] * 2
    assert Here.processes == {os.getpid()}
    assert watched.events[:2] == [("begun", 2), ("finished", 2)]
    right, here = (cell.directory / "trees.txt" for cell in cells)
    assert here.read_bytes() == right.read_bytes()


def test_stopping_saves_what_runs_and_begins_no_more(processes, place):
    cells = cells_of(place, LONG + "seeds = [0, 1, 2]", short="")
    watched, stop = Watched(lambda: stop.append(True)), []
    outcomes = run_cells(cells, watched, jobs=2, threads=2, should_stop=lambda: bool(stop))
    assert {n: outcome.state for n, outcome in outcomes.items()} == {
        1: "unfinished",
        2: "unfinished",
    }
    assert any((cell.directory / "chains/0/chain.npz").exists() for cell in cells[:2])
    assert not cells[2].directory.exists()
    assert [CellRecord(cell).outcome(None).state for cell in cells[1:]] == ["unfinished", "waiting"]


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
    places = [(cell, CellInFile(place / file, cell.number)) for cell in cells]
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
    assert differ == [".results", "config.toml"]  # which has the place of the corpus
    assert "1 of 2 cells already finished" in dbpcfg(*command).stderr


def test_workers_that_do_not_see_the_grid(client, place):
    found = on(client, place, cells_of(place, GRID)[:1], "elsewhere.toml")
    assert found[1].state == "failed"
    assert "workers must see the same files" in found[1].reason


def test_stopped_on_a_cluster(client, place):
    cells = cells_of(place, LONG, short="")
    begun = cells[0].directory / "config.toml"
    found = on(client, place, cells, should_stop=begun.exists)
    assert found[1].state == "unfinished"
    with CellRecord(cells[0]).locked():  # nobody is at it any more
        pass


def test_a_cell_that_cannot_be_locked_fails_at_once(client, place):
    """A file in the place of a folder stands for a disk that cannot be written."""
    (cell,) = cells_of(place, GRID)[:1]
    Path(cell.out).mkdir()
    (Path(cell.out) / ".cells").touch()
    looks = iter(range(100))
    found = on(client, place, [cell], should_stop=lambda: next(looks, None) is None)
    assert found[1].state == "failed"
    assert "cannot be written: Not a directory" in found[1].reason


def test_only_a_cell_that_is_being_run_is_waited_for(place, monkeypatch):
    monkeypatch.setattr(scheduling, "_CLUSTER_POLL_SECONDS", 0)
    (cell,) = cells_of(place, GRID)[:1]
    looks = []

    def wait(free_after: int, stop_after: int) -> None:
        looks.clear()
        with ExitStack() as held:
            held.enter_context(CellRecord(cell).locked())

            def should_stop() -> bool:
                looks.append(len(looks))
                if len(looks) > free_after:
                    held.close()
                return len(looks) > stop_after

            scheduling._wait_for_lock(cell, should_stop)

    wait(free_after=3, stop_after=9)
    assert looks == [0, 1, 2, 3]
    wait(free_after=9, stop_after=5)
    assert looks == [0, 1, 2, 3, 4, 5]
    shutil.rmtree(cell.out)
    Path(cell.out).touch()
    few = iter([False, False])  # a third look would be an error
    with pytest.raises(DbpcfgError, match="cannot be written: Not a directory"):
        scheduling._wait_for_lock(cell, lambda: next(few))
