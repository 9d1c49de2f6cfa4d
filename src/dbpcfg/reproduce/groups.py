"""Entries by row: their spread, and where a published figure lies in it.

A row of dbpcfg has several groups: every chain of every seed (each is a run as the paper's), of
each seed the chain of greatest likelihood, with the trees of its best sample, as in the paper, and
with MBR trees; and the default answer. P, R and the other figures of a
group are those of its entry of median F1 (of an even number the lower), so that they are of one
tree for each sentence.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dbpcfg.reproduce.entries import Entry
from dbpcfg.reproduce.grids import RowGrid
from dbpcfg.reproduce.recipe import Published, RecipeRow
from dbpcfg.sweep.record import CellOutcome

GroupKind = Literal["chains", "selected", "mbr", "default", "runs", "trees"]

NAMES: dict[GroupKind, str] = {
    "chains": "every chain",
    "selected": "greatest likelihood",
    "mbr": "greatest likelihood, MBR",
    "default": "default answer",
    "runs": "every run",
    "trees": "trees of a file",
}
"""What tables call the groups."""


class GroupSpread(NamedTuple):
    """Least, median (of an even number the lower) and greatest of some values."""

    number: int
    least: float
    median: float
    greatest: float


@dataclass(frozen=True)
class RunGroup:
    """Runs of one row that are comparable: they differ in their seed or chain."""

    row: RecipeRow
    kind: GroupKind
    flattened: bool
    entries: Sequence[Entry]
    failures: Sequence[str] = ()
    """Why cells failed."""
    missing: int = 0
    """Cells that have not finished, without those that failed."""
    grid: RowGrid | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The name of the row, with ``-F`` for flattened trees."""
        return f"{self.row.name}-F" if self.flattened else self.row.name

    def values(self, score: str, measure: str) -> list[float]:
        """The values of all entries that have one."""
        found = [entry.value(score, measure) for entry in self.entries]
        return [value for value in found if value is not None]

    def spread(self, score: str, measure: str) -> GroupSpread | None:
        """Least, median and greatest value; None if there is none."""
        values = self.values(score, measure)
        if not values:
            return None
        return GroupSpread(len(values), min(values), statistics.median_low(values), max(values))

    def median_entry(self, score: str, measure: str) -> Entry | None:
        """The entry of median value, of an even number the lower; None if none has a value."""
        ranked = [entry for entry in self.entries if entry.value(score, measure) is not None]
        ranked.sort(key=lambda entry: entry.value(score, measure) or 0.0)
        return ranked[(len(ranked) - 1) // 2] if ranked else None

    @property
    def remark(self) -> str:
        """What went wrong, in words."""
        parts = [f"failed: {why}" for why in dict.fromkeys(self.failures)]
        if self.missing:
            parts.append(f"{self.missing} not finished")
        return "; ".join(parts)


def groups_of(
    grid: RowGrid, entries: Iterable[Entry], outcomes: Mapping[int, CellOutcome]
) -> list[RunGroup]:
    """The groups of a row's cells; one without entries if none has finished."""
    found = list(entries)
    states = [outcomes[cell.number] for cell in grid.cells if cell.number in outcomes]
    failures = [outcome.reason for outcome in states if outcome.state == "failed"]
    finished = sum(outcome.state == "finished" for outcome in states)
    left = len(grid.cells) - finished - len(failures)
    mbr = [entry for entry in found if entry.mbr]
    plain = [entry for entry in found if not entry.flattened and not entry.mbr]
    flat = [entry for entry in found if entry.flattened]
    if grid.search == "paper":
        selected = [entry for entry in plain if entry.selected]
        groups = [RunGroup(grid.row, "chains", False, plain, failures, left, grid)]
        groups += [RunGroup(grid.row, "selected", False, selected, grid=grid)] if selected else []
        groups += [RunGroup(grid.row, "mbr", False, mbr, grid=grid)] if mbr else []
        kind: GroupKind = "selected"
    else:
        kind = grid.search
        groups = [RunGroup(grid.row, kind, False, plain, failures, left, grid)]
    return [*groups, *([RunGroup(grid.row, kind, True, flat, grid=grid)] if flat else [])]


def quantile(values: Sequence[float], published: float) -> float:
    """Where a published percentage lies among ours: the share below it, and half of those equal.

    ``values``: our values, as fractions. They are rounded to the digits of the published one.
    Returns from 0, all of ours are greater, to 1, all are less; nan without values.
    """
    if not values:
        return math.nan
    digits = len(f"{published!r}".partition(".")[2])
    ours = [round(100 * value, digits) for value in values]
    less, equal = sum(x < published for x in ours), ours.count(published)
    return (less + equal / 2) / len(ours)


def published_for(group: RunGroup, published: Iterable[Published]) -> Published | None:
    """The published figures that a group is compared with."""
    for one in published:
        if one.row == group.row.name and one.flattened == group.flattened:
            return one
    return None
