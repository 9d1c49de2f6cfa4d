"""What is called while cells run, to show how far they are."""

from __future__ import annotations

from typing import Protocol

from dbpcfg.sweep.cells import GridCell
from dbpcfg.sweep.record import CellOutcome


class Watcher(Protocol):
    """Something that is called while cells run."""

    def begun(self, cell: GridCell) -> None:
        """A cell begins."""

    def share(self, cell: GridCell, share: float) -> None:
        """This share of a cell is done."""

    def look(self) -> None:
        """Some time has passed."""

    def ended(self, cell: GridCell, outcome: CellOutcome) -> None:
        """A cell is over, or was stopped."""


class NoWatcher:
    """Shows nothing."""

    def begun(self, cell: GridCell) -> None:
        """Do nothing."""

    def share(self, cell: GridCell, share: float) -> None:
        """Do nothing."""

    def look(self) -> None:
        """Do nothing."""

    def ended(self, cell: GridCell, outcome: CellOutcome) -> None:
        """Do nothing."""
