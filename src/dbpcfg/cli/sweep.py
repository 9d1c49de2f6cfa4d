"""``dbpcfg sweep``: a grid of runs.

Progress is a bar on a terminal; elsewhere a line for each cell, and every minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dbpcfg.cli.options import Quiet, takes_groups
from dbpcfg.cli.output import harmless, print_tables, write
from dbpcfg.cli.running import RunningCells, on_cluster
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import Progress, clock
from dbpcfg.io.tables import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from dbpcfg.experiments.grid import Cell
    from dbpcfg.experiments.results import CellOutcome
    from dbpcfg.experiments.scheduling import CellInFile
    from dbpcfg.io.tables import Table

MAX_NAMES = 3
"""Running cells that a line names."""
LINE_SECONDS = 60.0
"""Seconds between two lines while no cell ends."""


class SweepProgress:
    """Shows how many cells are over, how many failed, which are running, and the time left.

    ``name``: what a cell is called; by default its own name.
    """

    def __init__(
        self,
        total: int,
        kept: int,
        quiet: bool,
        name: Callable[[Cell], str] = lambda cell: cell.name,
    ) -> None:
        self.name = name
        self.total, self.kept, self.done, self.failed = total, kept, kept, 0
        self.began = self.last = time.monotonic()
        self.running: dict[str, tuple[float, float]] = {}
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self.bar = Progress("cells", total, quiet or not terminal)
        self.lines = not quiet and not terminal

    def __enter__(self) -> SweepProgress:
        self.bar.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.__exit__()

    def on_begin(self, cell: Cell) -> None:
        """A cell begins."""
        self.running[self.name(cell)] = 0.0, time.monotonic()

    def on_progress(self, cell: Cell, share: float) -> None:
        """This share of a cell is done."""
        name = self.name(cell)
        self.running[name] = share, self.running[name][1]

    def on_poll(self) -> None:
        """Draw the bar anew, or write a line, if it is time."""
        self.bar.name = f"cells{self._failed()}{self._running()}"
        self.bar.update(self.done)
        if self.lines and time.monotonic() - self.last > LINE_SECONDS:
            self._line(self._running())

    def on_end(self, cell: Cell, outcome: CellOutcome) -> None:
        """A cell is over, or was stopped."""
        name = self.name(cell)
        _, began = self.running.pop(name)
        if outcome.state == "unfinished":
            return
        self.done += 1
        self.failed += outcome.state == "failed"
        if self.lines:
            what = f"failed: {outcome.reason}" if outcome.state == "failed" else "finished"
            self._line(f"; {name} {what} ({clock(time.monotonic() - began)})")

    def _line(self, event: str) -> None:
        self.last = time.monotonic()
        done = f"{self.done:,} of {plural(self.total, 'cell')}{self._failed()}{self._left()}"
        typer.echo(f"{done}{event}", err=True)

    def _failed(self) -> str:
        return f", {self.failed:,} failed" if self.failed else ""

    def _running(self) -> str:
        names = [
            f"{name} {share:.0%}" if share else name for name, (share, _) in self.running.items()
        ]
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        return f"; running {', '.join(names[:MAX_NAMES])}{more}" if names else ""

    def _left(self) -> str:
        done = self.done - self.kept
        if not done or self.done == self.total:
            return ""
        seconds = (time.monotonic() - self.began) / done * (self.total - self.done)
        return f", {clock(seconds)} left"


EXIT_FAILED = 1
"""If cells have failed."""


@takes_groups
def sweep(
    grid: Annotated[
        str,
        typer.Argument(metavar="GRID", help="TOML file: corpus, K, D, beta, seeds, systems, out."),
    ],
    cell: Annotated[
        int | None, typer.Option(help="Run only this cell, by its number.", min=1)
    ] = None,
    slurm_array: Annotated[
        bool,
        typer.Option(
            "--slurm-array",
            help="Print a SLURM array script for the unfinished cells.",
        ),
    ] = False,
    *,
    running: RunningCells,
    format: Annotated[
        Literal["text", "tsv", "json", "latex"],
        typer.Option(help="Format of tables; tsv has the cells only."),
    ] = "text",
    quiet: Quiet = False,
) -> None:
    """Run a grid of cells: systems on corpora, with all K, D, beta and seeds.

    Finished cells are kept; after Ctrl-C or a crash the same command runs the
    rest. If a cell fails, the reason is listed, the others continue, and the
    exit code is 1.
    """
    from dbpcfg.experiments.grid import read_grid
    from dbpcfg.experiments.results import read_outcomes, state_table, sweep_tables
    from dbpcfg.experiments.scheduling import CellInFile, array_script

    if (cell is not None) + running.dry_run + slurm_array > 1:
        raise DbpcfgError("give one of --cell, --dry-run and --slurm-array")
    running.check()
    path = Path(grid)
    found = read_grid(path)
    if found.out.exists() and not found.out.is_dir():
        raise DbpcfgError(f"{found.out} is a file; out needs a directory: choose another name")
    cells = found.cells()
    if cell is not None:
        if cell > len(cells):
            raise DbpcfgError(
                f"{grid} has {plural(len(cells), 'cell')}, so there is no cell {cell}; "
                "`dbpcfg sweep --dry-run` lists them"
            )
        cells = [cells[cell - 1]]
    outcomes = read_outcomes(cells)
    if running.dry_run:
        print_cells([state_table(cells, outcomes)], format)
        return
    if slurm_array:
        left = [one.number for one in cells if outcomes[one.number].state != "finished"]
        if not left:
            raise DbpcfgError(f"there is nothing left to run: all of {grid} is finished")
        write("-", array_script(path, left))
        return
    again = f"dbpcfg sweep {grid}" + ("" if cell is None else f" --cell {cell}")
    if running.cluster is not None:
        again += f" --cluster {running.cluster}"
    places = [(one, CellInFile(path, one.number)) for one in cells]
    code = run_left(places, outcomes, running, quiet, again)
    failed = [one for one in cells if outcomes[one.number].state == "failed"]
    if not quiet:
        for one in failed:
            typer.echo(f"failed: {one.name}: {outcomes[one.number].reason}", err=True)
    print_cells(sweep_tables(cells, outcomes), format)
    if code or failed:
        raise typer.Exit(code or EXIT_FAILED)


def run_left(
    cells: list[tuple[Cell, CellInFile]],
    outcomes: dict[int, CellOutcome],
    running: RunningCells,
    quiet: bool,
    again: str,
    **named: Callable[[Cell], str],
) -> int:
    """Run what is not finished; the exit code of the signal that stopped it, or 0.

    ``cells``: the cells, and the place of each in a grid file.
    ``outcomes``: how far they are, by number; changed to what they are afterwards.
    ``again``: the command that runs the rest.
    ``**named``: ``name``: what progress calls a cell, if it is not its own name.
    """
    from dbpcfg.cli.running import StopRequest
    from dbpcfg.experiments.scheduling import run_cells, run_cells_on

    left = [one for one in cells if outcomes[one[0].number].state != "finished"]
    kept = len(cells) - len(left)
    if kept and not quiet:
        typer.echo(f"{kept:,} of {plural(len(cells), 'cell')} already finished", err=True)
    hint = f"stopped; the same command runs the rest: {harmless(again)}"
    shown = SweepProgress(len(cells), kept, quiet, **named)
    where = on_cluster(running.cluster, None, quiet, hint)
    with StopRequest(hint) as stop, shown, where as there:
        how: dict[str, Any] = {"threads": running.threads, "should_stop": stop}
        if there is None:
            outcomes |= run_cells([cell for cell, _ in left], shown, jobs=running.jobs, **how)
        else:
            outcomes |= run_cells_on(there.client, left, shown, **how)
    if not stop():
        return 0
    typer.echo(hint, err=True)
    return stop.exit_code


def print_cells(tables: list[Table], format: Literal["text", "tsv", "json", "latex"]) -> None:
    """Print tables of cells."""
    from dbpcfg.io import tables as tsv

    if format != "tsv":
        print_tables(tables, format)
        return
    table = tables[0]
    head = tsv.line(column.json_key for column in table.columns)
    rows = [tsv.line("" if cell is None else cell for cell in row) for row in table.rows]
    write("-", head + "".join(rows))
