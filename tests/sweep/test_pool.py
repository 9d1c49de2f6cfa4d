"""Cells in worker processes: their order, their crashes, stopping."""

from __future__ import annotations

from multiprocessing import active_children

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.sweep.pool import run_cells
from dbpcfg.sweep.record import CellRecord
from dbpcfg.sweep.watching import NoWatcher
from tests.sweep.small import cells_of

LONG = 'corpus = "adam.trees"\nchains = 1\niterations = 9999999\nK = 2\n'


class Watched(NoWatcher):
    """Notes what happens, and does something when the first cell has begun to run."""

    def __init__(self, action=lambda: None) -> None:
        self.events: list[tuple[str, int]] = []
        self.action, self.acted = action, False

    def begun(self, cell):
        self.events.append(("begun", cell.number))

    def share(self, cell, share):
        assert 0 <= share <= 1
        if not self.acted:
            self.acted = True
            self.action()

    def ended(self, cell, outcome):
        self.events.append((outcome.state, cell.number))


def test_cells_run_one_after_the_other(place):
    cells = cells_of(place, 'corpus = ["adam.trees", "none.txt", "eve.trees"]\nK = 2')
    watched = Watched()
    outcomes = run_cells(cells, watcher=watched)
    assert [outcomes[n].state for n in (1, 2, 3)] == ["finished", "failed", "finished"]
    assert watched.events == [
        *(("begun", 1), ("finished", 1), ("begun", 2), ("failed", 2)),
        *(("begun", 3), ("finished", 3)),
    ]
    assert run_cells([]) == {}


def test_a_worker_that_is_killed_takes_one_cell_down(place):
    (long,) = cells_of(place, LONG, short="")
    (short,) = cells_of(place, 'corpus = "eve.trees"\nK = 2')
    short = type(short)(**{**vars(short), "number": 2})
    outcomes = run_cells([long, short], watcher=Watched(lambda: active_children()[0].kill()))
    assert outcomes[1].reason == "its process was ended by SIGKILL; memory may have run out"
    assert outcomes[2].state == "finished"
    record = CellRecord(long)
    assert record.found(None) == outcomes[1]
    assert active_children() == []


def test_stopping_saves_what_runs_and_begins_no_more(place):
    cells = cells_of(place, LONG + "seeds = [0, 1, 2]", short="")
    watched, stop = Watched(lambda: stop.append(True)), []
    outcomes = run_cells(cells, jobs=2, threads=2, watcher=watched, stopping=lambda: bool(stop))
    assert {n: outcome.state for n, outcome in outcomes.items()} == {
        1: "unfinished",
        2: "unfinished",
    }
    assert any((cell.directory / "chains/0/chain.npz").exists() for cell in cells[:2])
    assert not cells[2].directory.exists()
    assert [CellRecord(cell).found(None).state for cell in cells[1:]] == ["unfinished", "waiting"]


def test_the_number_of_jobs_is_checked(place):
    with pytest.raises(DbpcfgError, match="at least 1 job, got 0"):
        run_cells([], jobs=0)
