"""Many cells: in processes of this machine, on a Dask cluster, or as a SLURM array.

On this machine, worker processes run one cell after another. If a worker crashes, or is killed
because memory has run out, its cell fails, a new worker takes its place, and the other cells
continue.

Workers of a cluster must see the same files. Like a task of a SLURM array, a worker runs a cell by
``dbpcfg sweep GRID --cell N`` in a new process. The outcome is in the cell's record, which every
machine can read. If a worker is lost, another one resumes its cell from the last checkpoint.
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
"""Seconds between two polls of the workers."""
_CLUSTER_POLL_SECONDS = 0.5
"""The same on a cluster."""
_END_SECONDS = 5.0
"""Seconds that an idle worker gets to end."""
_LAST_LINES = 3
"""The last lines of standard error, which give the reason of a failure."""


class CellCallbacks(Protocol):
    """Callbacks while cells run, for showing progress."""

    def on_begin(self, cell: Cell) -> None:
        """A cell starts."""

    def on_progress(self, cell: Cell, share: float) -> None:
        """Part of a cell is done: a share from 0 to 1."""

    def on_poll(self) -> None:
        """Called several times a second."""

    def on_end(self, cell: Cell, outcome: CellOutcome) -> None:
        """A cell has ended, or was stopped."""


@dataclass
class _CellWorker:
    """A process that runs cells."""

    process: SpawnProcess
    connection: Connection
    cell: Cell | None = None


def run_cells(
    cells: Iterable[Cell],
    callbacks: CellCallbacks,
    *,
    jobs: int = 1,
    threads: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[int, CellOutcome]:
    """Run cells in worker processes; first those that only this process can run.

    Finished cells are not run again.

    ``threads``: processors for all jobs together; None for all.
    ``should_stop``: called several times a second. If it returns True, no more cells start, and
    running ones are stopped: dbpcfg after the current iterations, which are saved, other systems
    at once.
    """
    waiting = deque(cells)
    if jobs < 1:
        raise DbpcfgError(f"there must be at least 1 job, got {jobs}")
    jobs = min(jobs, len(waiting))
    outcomes: dict[int, CellOutcome] = {}
    for cell in [c for c in waiting if not can_run_elsewhere(c)]:
        waiting.remove(cell)
        if not should_stop():
            callbacks.on_begin(cell)
            on_progress = partial(callbacks.on_progress, cell)
            outcomes[cell.number] = run_cell(
                cell, threads=threads, on_progress=on_progress, should_stop=should_stop
            )
            callbacks.on_end(cell, outcomes[cell.number])
    if not waiting:
        return outcomes
    threads_per_job = max(1, (threads or cores()) // jobs)
    stop, workers = worker_context.Event(), list[_CellWorker]()
    try:
        while waiting or any(worker.cell for worker in workers):
            if should_stop() and not stop.is_set():
                stop.set()
                waiting.clear()
                for worker in workers:
                    if worker.cell is not None and not worker.cell.is_run:
                        worker.process.kill()
            while (
                waiting and (idle := _idle_worker(workers, jobs, threads_per_job, stop)) is not None
            ):
                idle.cell = waiting.popleft()
                callbacks.on_begin(idle.cell)
                idle.connection.send(idle.cell)
            for worker, message in _messages(workers):
                assert worker.cell is not None
                if isinstance(message, float):
                    callbacks.on_progress(worker.cell, message)
                    continue
                if message is None:
                    workers.remove(worker)
                    message = _outcome_of_ended(worker, should_stop())
                outcomes[worker.cell.number] = message
                callbacks.on_end(worker.cell, message)
                worker.cell = None
            callbacks.on_poll()
    finally:
        for worker in workers:
            _stop_worker(worker)
    return outcomes


def _idle_worker(
    workers: list[_CellWorker], jobs: int, threads: int, stop: Event
) -> _CellWorker | None:
    """An idle worker, or a new one if there are fewer than ``jobs``; None if all are busy."""
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
    """Messages of workers: a share, an outcome, or None if the worker has died."""
    by_connection = {worker.connection: worker for worker in workers if worker.cell}
    for connection in wait(list(by_connection), _POLL_SECONDS):
        assert isinstance(connection, Connection)
        try:
            message = connection.recv()
        except (EOFError, OSError):
            message = None
        yield by_connection[connection], message


def _outcome_of_ended(worker: _CellWorker, stopped: bool) -> CellOutcome:
    """The outcome of a cell whose worker has died; a failure is recorded."""
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
    """The main function of a worker: run cells as they come."""
    # A batch system sends SIGTERM to all processes of a job, but only the parent stops the worker.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while (cell := connection.recv()) is not None:
        outcome = run_cell(
            cell, threads=threads, on_progress=connection.send, should_stop=stop.is_set
        )
        connection.send(outcome)


class CellInFile(NamedTuple):
    """A grid file that workers can read too, and the number of a cell in it."""

    file: Path
    number: int


def run_cells_on(
    client: Client,
    cells: Iterable[tuple[Cell, CellInFile]],
    callbacks: CellCallbacks,
    *,
    threads: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[int, CellOutcome]:
    """Run cells on the workers of a cluster; finished cells are not run again.

    ``threads``: processors for each cell; one if not given.
    ``should_stop``: called about twice a second. If it returns True, no more cells start, and
    running ones are stopped, as by Ctrl-C.
    """
    from distributed import Event

    outcomes = dict[int, CellOutcome]()
    stop = Event(f"dbpcfg-sweep-{uuid.uuid4().hex}", client=client)
    threads_and_stop = threads or 1, stop.name
    running: dict[Future, Cell] = {}
    for cell, (file, number) in cells:
        path = str(file.resolve())
        future = client.submit(run_in_subprocess, cell, path, number, *threads_and_stop, pure=False)
        running[future] = cell
        callbacks.on_begin(cell)
    while running:
        check_connection(client)
        if should_stop() and not stop.is_set():
            stop.set()
        for future in [f for f in running if f.done()]:
            cell = running.pop(future)
            outcomes[cell.number] = _outcome_on_cluster(future, cell)
            callbacks.on_end(cell, outcomes[cell.number])
        callbacks.on_poll()
        time.sleep(_CLUSTER_POLL_SECONDS)
    return outcomes


def _outcome_on_cluster(future: Future, cell: Cell) -> CellOutcome:
    """The outcome in a cell's record, or a failure if there is no record."""
    try:
        message = future.result()
    except ClusterLostError:
        raise
    except Exception as error:  # from Dask, if the cell kills its workers
        message = f"its worker was lost again and again ({type(error).__name__})"
    try:
        outcome = CellRecord(cell).outcome(digest_if_readable(cell.corpus))
    except DbpcfgError as error:
        return CellOutcome("failed", str(error))
    if message and outcome.state not in ("finished", "failed"):
        return CellOutcome("failed", message)
    return outcome


def run_in_subprocess(cell: Cell, grid: str, number: int, threads: int, stop: str) -> str:
    """Run a cell in a new process, on a worker of a cluster.

    Return the reason if the cell has no record; empty if it has one, or was stopped.
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
    """Wait while the process of a lost worker still runs the cell."""
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
    """The text of a SLURM array script; nothing is submitted."""
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
    breaks = [
        n for n, (number, following) in enumerate(pairwise(numbers), 1) if following != number + 1
    ]
    parts = [numbers[first:last] for first, last in pairwise([0, *breaks, len(numbers)])]
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)
