"""Data frames of pandas or polars, and lists of dicts, as tables of stimuli, and back.

Neither library is imported: a frame comes with its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbpcfg.corpus.stimuli import Stimuli
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import data_frame

_WANTED = "a data frame of pandas or polars, a list of dicts with the same keys, or a path"


class MeasuredTable(list[dict[str, Any]]):
    """Rows as dicts, a list that knows its columns."""

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        super().__init__(dict(zip(names, row, strict=True)) for row in rows)
        self.columns = tuple(names)

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return data_frame(self.columns, [tuple(row.values()) for row in self])


def is_frame(given: object) -> bool:
    """Whether something is a data frame of pandas or polars."""
    return hasattr(given, "columns") and (hasattr(given, "iloc") or hasattr(given, "hstack"))


def stimuli_of(given: Any) -> Stimuli:
    """The table in a data frame or a list of dicts."""
    if is_frame(given):
        names = tuple(map(str, given.columns))
        if len(set(names)) < len(names):
            raise DbpcfgError("two columns of the data frame have the same name; rename one")
        columns = [list(given[name]) for name in given.columns]
        return Stimuli(names, list(zip(*columns)), "the data frame")
    if not isinstance(given, Sequence) or not all(isinstance(row, Mapping) for row in given):
        raise DbpcfgError(f"a table must be {_WANTED}, not of type {type(given).__name__}")
    if not given:
        raise DbpcfgError("the list of rows is empty, so its columns are not known")
    keys = tuple(given[0])
    for number, row in enumerate(given, start=1):
        if set(row) != set(keys):
            odd = sorted(map(str, set(row) ^ set(keys)))
            raise DbpcfgError(
                f"the list, row {number}: the keys differ from those of row 1 in {', '.join(odd)}"
            )
    names = tuple(map(str, keys))
    return Stimuli(names, [tuple(row[key] for key in keys) for row in given], "the list")


def with_measures(
    given: Any,
    table: Stimuli,
    keep: Sequence[str],
    numbers: Sequence[int],
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> Any:
    """Measures beside the rows that they belong to, as a table of the kind that was given.

    ``numbers``: the row of the table that each row of measures belongs to.
    """
    if not is_frame(given):
        kept = [table.names.index(name) for name in keep]
        cells = [
            (*(table.rows[n][k] for k in kept), *row) for n, row in zip(numbers, rows, strict=True)
        ]
        return MeasuredTable([*keep, *names], cells)
    columns = dict(zip(names, map(list, zip(*rows)))) if rows else {name: [] for name in names}
    own = [name for name in given.columns if str(name) in keep]
    if hasattr(given, "iloc"):  # pandas
        same = list(numbers) == list(range(len(given)))
        found = given[own].iloc[list(numbers)]
        found = found.copy() if same else found.reset_index(drop=True)
        return found.assign(**columns)
    return given.select(own)[list(numbers)].hstack(type(given)(columns))
