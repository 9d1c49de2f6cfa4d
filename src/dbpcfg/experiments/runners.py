"""Many cells: in processes of this machine, on a Dask cluster, or as a SLURM array.

On this machine there are worker processes, each of which runs one cell after another. If a worker
crashes, or the system ends it because memory has run out, its cell has failed, another worker takes
its place, and the other cells go on.

Workers of a cluster must see the same files. One runs a cell as a task of a SLURM array does: by
``dbpcfg sweep GRID --cell N``, a process of its own. What became of it is in its record, which
every machine can read, so nothing else has to travel. A cell whose worker is lost is run again on
another one, from its last checkpoint.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import subprocess
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dbpcfg.cluster.calls import ClusterLostError, check_connection
from dbpcfg.errors import DbpcfgError, LockedError
from dbpcfg.experiments.corpora import digest_if_readable
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.results import CellOutcome, CellRecord
from dbpcfg.experiments.running import can_run_elsewhere, exit_reason, run_cell, start_process
from dbpcfg.io.machine import cores, worker_context
from dbpcfg.io.tables import plural

if TYPE_CHECKING:
    from distributed import Client, Future

_POLL_SECONDS = 0.2
"""Seconds between two looks at what is done, and at whether to stop."""
_CLUSTER_POLL_SECONDS = 0.5
"""The same on a cluster."""
_END_SECONDS = 5.0
"""Seconds that an idle worker gets to end."""
_LAST_LINES = 3
"""Lines of a process's messages that are the reason of a failure."""


class Watcher(Protocol):
    """Something that is called while cells run, to show how far they are."""

    def begun(self, cell: Cell) -> None:
        """A cell begins."""

    def share(self, cell: Cell, share: float) -> None:
        """This share of a cell is done."""

    def look(self) -> None:
        """Some time has passed."""

    def ended(self, cell: Cell, outcome: CellOutcome) -> None:
        """A cell is over, or was stopped."""


@dataclass
class _CellWorker:
    """A process that runs cells."""

    process: SpawnProcess
    connection: Connection
    cell: Cell | None = None


def run_cells(
    cells: Iterable[Cell],
    watcher: Watcher,
    *,
    jobs: int = 1,
    threads: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[int, CellOutcome]:
    """Run cells in worker processes; first those that only this process can run.

    ``cells``: the cells; those that are finished are kept as they are.
    ``threads``: processors for all of them together; None for all there are.
    ``should_stop``: called several times a second. If it returns True, no further cell begins, and
    those that run are stopped: dbpcfg after its current iterations, which are saved, other systems
    at once.
    """
    waiting = deque(cells)
    if jobs < 1:
        raise DbpcfgError(f"there must be at least 1 job, got {jobs}")
    jobs = min(jobs, len(waiting))
    outcomes: dict[int, CellOutcome] = {}
    for cell in [one for one in waiting if not can_run_elsewhere(one)]:
        waiting.remove(cell)
        if not should_stop():
            watcher.begun(cell)
            on_progress = partial(watcher.share, cell)
            outcomes[cell.number] = run_cell(
                cell, threads=threads, on_progress=on_progress, should_stop=should_stop
            )
            watcher.ended(cell, outcomes[cell.number])
    if not waiting:
        return outcomes
    each = max(1, (threads or cores()) // jobs)
    stop, workers = worker_context.Event(), list[_CellWorker]()
    try:
        while waiting or any(worker.cell for worker in workers):
            if should_stop() and not stop.is_set():
                stop.set()
                waiting.clear()
                for worker in workers:
                    if worker.cell is not None and not worker.cell.is_run:
                        worker.process.kill()
            while waiting and (idle := _idle_worker(workers, jobs, each, stop)) is not None:
                idle.cell = waiting.popleft()
                watcher.begun(idle.cell)
                idle.connection.send(idle.cell)
            for worker, message in _messages(workers):
                assert worker.cell is not None
                if isinstance(message, float):
                    watcher.share(worker.cell, message)
                    continue
                if message is None:
                    workers.remove(worker)
                    message = _outcome_of_ended(worker, should_stop())
                outcomes[worker.cell.number] = message
                watcher.ended(worker.cell, message)
                worker.cell = None
            watcher.look()
    finally:
        for worker in workers:
            _stop_worker(worker)
    return outcomes


def _idle_worker(
    workers: list[_CellWorker], jobs: int, threads: int, stop: Event
) -> _CellWorker | None:
    """A worker without a cell, a new one if there may be more; None if all are busy."""
    for worker in workers:
        if worker.cell is None:
            return worker
    if len(workers) == jobs:
        return None
    workers.append(_CellWorker(*start_process(_worker_main, threads, stop)))
    return workers[-1]


def _messages(
    workers: list[_CellWorker],
) -> Iterator[tuple[_CellWorker, CellOutcome | float | None]]:
    """What workers say: a share, an outcome, or None from one that is gone."""
    by_connection = {worker.connection: worker for worker in workers if worker.cell}
    for connection in wait(list(by_connection), _POLL_SECONDS):
        assert isinstance(connection, Connection)
        try:
            message = connection.recv()
        except (EOFError, OSError):
            message = None
        yield by_connection[connection], message


def _outcome_of_ended(worker: _CellWorker, stopped: bool) -> CellOutcome:
    """The outcome of a cell whose worker is gone: stopped, or failed, which is recorded."""
    worker.process.join()
    worker.connection.close()
    if stopped:
        return CellOutcome("unfinished")
    outcome = CellOutcome("failed", exit_reason(worker.process))
    assert worker.cell is not None
    try:
        CellRecord(worker.cell).write(outcome, digest_if_readable(worker.cell.corpus))
    except DbpcfgError as error:
        return replace(outcome, reason=f"{outcome.reason}; {error}")
    return outcome


def _stop_worker(worker: _CellWorker) -> None:
    if worker.cell is None:
        with contextlib.suppress(OSError):
            worker.connection.send(None)
        worker.process.join(_END_SECONDS)
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _worker_main(connection: Connection, threads: int, stop: Event) -> None:
    """Run cells as they come: this is the worker."""
    # A batch system ends all processes of a job: this one saves its cell when the parent says so.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while (cell := connection.recv()) is not None:
        outcome = run_cell(
            cell, threads=threads, on_progress=connection.send, should_stop=stop.is_set
        )
        connection.send(outcome)


class CellInFile(NamedTuple):
    """A grid file, at a place that workers see too, and the number of a cell there."""

    file: Path
    number: int


def run_cells_on(
    client: Client,
    cells: Iterable[tuple[Cell, CellInFile]],
    watcher: Watcher,
    *,
    threads: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[int, CellOutcome]:
    """Run cells on the workers of a cluster.

    ``cells``: the cells, and the place of each in a grid file; those that are finished are kept as
    they are.
    ``threads``: processors for each cell; one if not given.
    ``should_stop``: called about twice a second. If it returns True, no further cell begins, and
    running cells are stopped, as by Ctrl-C.
    """
    from distributed import Event

    outcomes = dict[int, CellOutcome]()
    stop = Event(f"dbpcfg-sweep-{uuid.uuid4().hex}", client=client)
    how = threads or 1, stop.name
    running: dict[Future, Cell] = {}
    for cell, (file, number) in cells:
        place = str(file.resolve())
        future = client.submit(run_in_subprocess, cell, place, number, *how, pure=False)
        running[future] = cell
        watcher.begun(cell)
    while running:
        check_connection(client)
        if should_stop() and not stop.is_set():
            stop.set()
        for future in [one for one in running if one.done()]:
            cell = running.pop(future)
            outcomes[cell.number] = _outcome_on_cluster(future, cell)
            watcher.ended(cell, outcomes[cell.number])
        watcher.look()
        time.sleep(_CLUSTER_POLL_SECONDS)
    return outcomes


def _outcome_on_cluster(future: Future, cell: Cell) -> CellOutcome:
    """What became of a cell: what its record says, or why there is none."""
    try:
        message = future.result()
    except ClusterLostError:
        raise
    except Exception as error:  # of Dask: its workers died of the cell
        message = f"its worker was lost again and again ({type(error).__name__})"
    try:
        found = CellRecord(cell).outcome(digest_if_readable(cell.corpus))
    except DbpcfgError as error:
        return CellOutcome("failed", str(error))
    if message and found.state not in ("finished", "failed"):
        return CellOutcome("failed", message)
    return found


def run_in_subprocess(cell: Cell, grid: str, number: int, threads: int, stop: str) -> str:
    """Run a cell in a process of its own: this is what a worker does.

    Returns why it has no record; empty if it has one, or was stopped.
    """
    from distributed import Event

    should_stop = Event(stop)
    if not Path(grid).is_file():
        return f"a worker has no file {grid}: workers must see the same files as this process"
    try:
        _wait_for_lock(cell, should_stop.is_set)
    except DbpcfgError as error:
        return str(error)
    if should_stop.is_set():
        return ""
    command = [sys.executable, "-m", "dbpcfg", "sweep", grid, "--cell", str(number)]
    command += ["--threads", str(threads), "--quiet", "--format", "json"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None:
            if should_stop.is_set():
                process.send_signal(signal.SIGINT)
                break
            time.sleep(_CLUSTER_POLL_SECONDS)
        _, messages = process.communicate()
    if process.returncode == 0 or should_stop.is_set():
        return ""
    last = " ".join(messages.split("\n")[-_LAST_LINES:]).strip()
    return last or f"its process ended with exit code {process.returncode}"


def _wait_for_lock(cell: Cell, should_stop: Callable[[], bool]) -> None:
    """Wait while the process of a worker that was lost is still at the cell."""
    while not should_stop():
        try:
            with CellRecord(cell).locked():
                return
        except LockedError:
            time.sleep(_CLUSTER_POLL_SECONDS)


_SCRIPT = """\
#!/bin/bash
# {cells} of {name}, one for each task. Adapt these lines, then submit the file with sbatch.
# A task that is submitted again resumes its cell; a finished one ends at once.
#SBATCH --job-name={job}
#SBATCH --array={array}
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=24:00:00
#SBATCH --output=slurm-%x-%A_%a.log
# Two minutes before the time is over, dbpcfg is asked to save and stop:
#SBATCH --signal=B:TERM@120

# What makes dbpcfg available here, such as: source ~/venv/bin/activate

set -euo pipefail
exec dbpcfg sweep {grid} --cell "$SLURM_ARRAY_TASK_ID" --threads "${{SLURM_CPUS_PER_TASK:-1}}"
"""


def array_script(grid: Path, numbers: Sequence[int]) -> str:
    """Write the script. Nothing is submitted."""
    count = plural(len(numbers), "cell")
    return _SCRIPT.format(
        cells=count,
        name=ascii(grid.name),
        job="dbpcfg-" + re.sub(r"[^A-Za-z0-9._]+", "-", grid.stem),
        array=_ranges(numbers),
        grid=shlex.quote(str(grid.resolve())),
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as SLURM writes them: 1,3-5."""
    gaps = [n for n, (one, following) in enumerate(pairwise(numbers), 1) if following != one + 1]
    parts = [numbers[first:last] for first, last in pairwise([0, *gaps, len(numbers)])]
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)
