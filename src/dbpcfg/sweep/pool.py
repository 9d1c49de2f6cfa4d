"""Cells one after the other, or side by side, each worker a process of its own.

A worker runs one cell after another. If it crashes, or the system ends it because memory has run
out, its cell has failed, another worker takes its place, and the other cells go on.
"""

from __future__ import annotations

import contextlib
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chains import never
from dbpcfg.io.machine import cores, leave_signals_to_parent
from dbpcfg.sweep.cells import GridCell
from dbpcfg.sweep.corpora import digest_if_readable
from dbpcfg.sweep.record import CellOutcome, CellRecord
from dbpcfg.sweep.running import run_cell
from dbpcfg.sweep.watching import NoWatcher, Watcher

_LOOK_SECONDS = 0.2
"""Seconds between two looks at whether to stop."""
_END_SECONDS = 5.0
"""Seconds that an idle worker gets to end."""


@dataclass
class _CellWorker:
    """A process that runs cells."""

    process: SpawnProcess
    connection: Connection
    cell: GridCell | None = None


def run_cells(
    cells: Iterable[GridCell],
    *,
    jobs: int = 1,
    threads: int | None = None,
    watcher: Watcher | None = None,
    stopping: Callable[[], bool] = never,
) -> dict[int, CellOutcome]:
    """Run cells in worker processes. A script that calls this needs ``if __name__ == "__main__":``.

    ``cells``: the cells; those that are finished are kept as they are.
    ``threads``: processors for all of them together; None for all there are.
    ``stopping``: called several times a second. If it returns True, no further cell begins, and
    those that run are stopped: dbpcfg after its current iterations, which are saved, other systems
    at once.
    """
    waiting = deque(cells)
    if jobs < 1:
        raise DbpcfgError(f"there must be at least 1 job, got {jobs}")
    jobs = min(jobs, len(waiting))
    outcomes: dict[int, CellOutcome] = {}
    if not waiting:
        return outcomes
    each = max(1, (threads or cores()) // jobs)
    context, shown = get_context("spawn"), watcher or NoWatcher()
    stop, workers = context.Event(), list[_CellWorker]()
    try:
        while waiting or any(worker.cell for worker in workers):
            if stopping() and not stop.is_set():
                stop.set()
                waiting.clear()
                for worker in workers:
                    if worker.cell is not None and not worker.cell.own:
                        worker.process.kill()
            while waiting and (idle := _idle(workers, jobs, each, stop)) is not None:
                idle.cell = waiting.popleft()
                shown.begun(idle.cell)
                idle.connection.send(idle.cell)
            for worker, said in _heard(workers):
                assert worker.cell is not None
                if isinstance(said, float):
                    shown.share(worker.cell, said)
                    continue
                if said is None:
                    workers.remove(worker)
                    said = _after_death(worker, stopping())
                outcomes[worker.cell.number] = said
                shown.ended(worker.cell, said)
                worker.cell = None
            shown.look()
    finally:
        for worker in workers:
            _end(worker)
    return outcomes


def _idle(workers: list[_CellWorker], jobs: int, threads: int, stop: Event) -> _CellWorker | None:
    """A worker without a cell, a new one if there may be more; None if all are busy."""
    for worker in workers:
        if worker.cell is None:
            return worker
    if len(workers) == jobs:
        return None
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, threads, stop))
    process.start()
    theirs.close()  # so that the worker's end is the only one, and its death is noticed
    workers.append(_CellWorker(process, ours))
    return workers[-1]


def _heard(workers: list[_CellWorker]) -> Iterator[tuple[_CellWorker, CellOutcome | float | None]]:
    """What workers say: a share, an outcome, or None from one that is gone."""
    by_connection = {worker.connection: worker for worker in workers if worker.cell}
    for connection in wait(list(by_connection), _LOOK_SECONDS):
        assert isinstance(connection, Connection)
        try:
            said = connection.recv()
        except (EOFError, OSError):
            said = None
        yield by_connection[connection], said


def _after_death(worker: _CellWorker, stopped: bool) -> CellOutcome:
    """The outcome of a cell whose worker is gone: stopped, or failed, which is recorded."""
    worker.process.join()
    worker.connection.close()
    if stopped:
        return CellOutcome("unfinished")
    code = worker.process.exitcode
    reason = f"its process ended with exit code {code}"
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        memory = "; memory may have run out" if name == "SIGKILL" else ""
        reason = f"its process was ended by {name}{memory}"
    outcome = CellOutcome("failed", reason)
    assert worker.cell is not None
    try:
        CellRecord(worker.cell).write(outcome, digest_if_readable(worker.cell.corpus))
    except DbpcfgError as error:
        return CellOutcome("failed", f"{reason}; {error}")
    return outcome


def _end(worker: _CellWorker) -> None:
    if worker.cell is None:
        with contextlib.suppress(OSError):
            worker.connection.send(None)
        worker.process.join(_END_SECONDS)
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _serve(connection: Connection, threads: int, stop: Event) -> None:
    """Run cells as they come: this is the worker."""
    leave_signals_to_parent()
    # A batch system ends all processes of a job: this one saves its cell when the parent says so.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while (cell := connection.recv()) is not None:
        outcome = run_cell(cell, threads=threads, report=connection.send, stopping=stop.is_set)
        connection.send(outcome)
