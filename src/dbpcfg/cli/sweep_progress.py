"""Progress of a sweep: a bar on a terminal; elsewhere a line for each cell, and every minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from dbpcfg.io.progress import Progress, clock

if TYPE_CHECKING:
    from dbpcfg.experiments.grid import Cell
    from dbpcfg.experiments.results import CellOutcome

MOST_NAMES = 3
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

    def begun(self, cell: Cell) -> None:
        """A cell begins."""
        self.running[self.name(cell)] = 0.0, time.monotonic()

    def share(self, cell: Cell, share: float) -> None:
        """This share of a cell is done."""
        name = self.name(cell)
        self.running[name] = share, self.running[name][1]

    def look(self) -> None:
        """Draw the bar anew, or write a line, if it is time."""
        self.bar.what = f"cells{self._failed()}{self._running()}"
        self.bar.update(self.done)
        if self.lines and time.monotonic() - self.last > LINE_SECONDS:
            self._line(self._running())

    def ended(self, cell: Cell, outcome: CellOutcome) -> None:
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
        done = f"{self.done:,} of {self.total:,} cells{self._failed()}{self._left()}"
        typer.echo(f"{done}{event}", err=True)

    def _failed(self) -> str:
        return f", {self.failed:,} failed" if self.failed else ""

    def _running(self) -> str:
        names = [
            f"{name} {share:.0%}" if share else name for name, (share, _) in self.running.items()
        ]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return f"; running {', '.join(names[:MOST_NAMES])}{more}" if names else ""

    def _left(self) -> str:
        done = self.done - self.kept
        if not done or self.done == self.total:
            return ""
        seconds = (time.monotonic() - self.began) / done * (self.total - self.done)
        return f", {clock(seconds)} left"
