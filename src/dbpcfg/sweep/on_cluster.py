"""Cells on the workers of a Dask cluster, which see the same files.

A worker runs a cell as a task of a SLURM array does: by ``dbpcfg sweep GRID --cell N``, a process
of its own. What became of it is in its record, which every machine can read, so nothing else has to
travel. A cell whose worker is lost is run again on another one, from its
last checkpoint.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbpcfg.cluster.calls import ClusterLostError, check_connection
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chains import never
from dbpcfg.sweep.cells import GridCell
from dbpcfg.sweep.corpora import digest_if_readable
from dbpcfg.sweep.record import CellOutcome, CellRecord
from dbpcfg.sweep.watching import NoWatcher, Watcher

if TYPE_CHECKING:
    from distributed import Client, Future

_LOOK_SECONDS = 0.5
"""Seconds between two looks at what is done, and at whether to stop."""
_LAST_LINES = 3
"""Lines of a process's messages that are the reason of a failure."""


def run_cells_on(
    client: Client,
    grid: Path | Mapping[int, tuple[Path, int]],
    cells: Iterable[GridCell],
    *,
    threads: int | None = None,
    watcher: Watcher | None = None,
    stopping: Callable[[], bool] = never,
) -> dict[int, CellOutcome]:
    """Run cells on the workers of a cluster.

    ``grid``: the grid file, at a place that workers see too; for cells of several grids, the file
    of each and its number there, by the number it has here.
    ``cells``: the cells; those that are finished are kept as they are.
    ``threads``: processors for each cell; one if not given.
    ``stopping``: called about twice a second. If it returns True, no further cell begins, and those
    that run are stopped, as by Ctrl-C.
    """
    from distributed import Event

    shown, outcomes = watcher or NoWatcher(), dict[int, CellOutcome]()
    stop = Event(f"dbpcfg-sweep-{uuid.uuid4().hex}", client=client)
    how = threads or 1, stop.name
    running: dict[Future, GridCell] = {}
    for cell in cells:
        file, number = (grid, cell.number) if isinstance(grid, Path) else grid[cell.number]
        place = str(file.resolve())
        future = client.submit(run_elsewhere, cell, place, number, *how, pure=False)
        running[future] = cell
        shown.begun(cell)
    while running:
        check_connection(client)
        if stopping() and not stop.is_set():
            stop.set()
        for future in [one for one in running if one.done()]:
            cell = running.pop(future)
            outcomes[cell.number] = _outcome(future, cell)
            shown.ended(cell, outcomes[cell.number])
        shown.look()
        time.sleep(_LOOK_SECONDS)
    return outcomes


def _outcome(future: Future, cell: GridCell) -> CellOutcome:
    """What became of a cell: what its record says, or why there is none."""
    try:
        said = future.result()
    except ClusterLostError:
        raise
    except Exception as error:  # of Dask: its workers died of the cell
        said = f"its worker was lost again and again ({type(error).__name__})"
    try:
        found = CellRecord(cell).found(digest_if_readable(cell.corpus))
    except DbpcfgError as error:
        return CellOutcome("failed", str(error))
    if said and found.state not in ("finished", "failed"):
        return CellOutcome("failed", said)
    return found


def run_elsewhere(cell: GridCell, grid: str, number: int, threads: int, stop: str) -> str:
    """Run a cell in a process of its own: this is what a worker does.

    Returns why it has no record; empty if it has one, or was stopped.
    """
    from distributed import Event

    stopping = Event(stop)
    if not Path(grid).is_file():
        return f"a worker has no file {grid}: workers must see the same files as this process"
    _wait_for_lock(cell, stopping.is_set)
    if stopping.is_set():
        return ""
    command = [sys.executable, "-m", "dbpcfg", "sweep", grid, "--cell", str(number)]
    command += ["--threads", str(threads), "--quiet", "--format", "json"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None:
            if stopping.is_set():
                process.send_signal(signal.SIGINT)
                break
            time.sleep(_LOOK_SECONDS)
        _, messages = process.communicate()
    if process.returncode == 0 or stopping.is_set():
        return ""
    last = " ".join(messages.split("\n")[-_LAST_LINES:]).strip()
    return last or f"its process ended with exit code {process.returncode}"


def _wait_for_lock(cell: GridCell, stopping: Callable[[], bool]) -> None:
    """Wait while the process of a worker that was lost is still at the cell."""
    while not stopping():
        try:
            with CellRecord(cell).locked():
                return
        except DbpcfgError:
            time.sleep(_LOOK_SECONDS)
