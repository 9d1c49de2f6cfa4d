"""Tables of stimuli: items, conditions and regions beside sentences or words, from CSV or TSV.

The cells of a file stay the texts that they are, so that they come back as they were. What is
wrong with a table is an error with file and line: a row with more or fewer cells than the header,
a name that occurs twice, a quote that never ends, an empty cell where a value is needed.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dbpcfg.corpus.loading import load_text, name_of
from dbpcfg.errors import DbpcfgError

__all__ = ["Stimuli", "TableKind", "is_missing", "kind_of_table", "read_stimuli"]

TableKind: TypeAlias = Literal["csv", "tsv"]

_DELIMITERS: dict[TableKind, str] = {"csv": ",", "tsv": "\t"}
_ENDINGS: dict[str, TableKind] = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_SHOWN = 20
"""Names of columns that a message lists."""
_WHICH = "; is it CSV (--table csv) or TSV (--table tsv)?"


@dataclass(frozen=True, repr=False)
class Stimuli:
    """A table of stimuli."""

    names: tuple[str, ...]
    """The names of the columns."""
    rows: list[tuple[Any, ...]]
    """The cells of each row."""
    source: str
    """The file, as messages name it."""
    lines: tuple[int, ...] | None = None
    """The line on which each row begins; None if it is not from a file."""

    def place(self, row: int) -> str:
        """Where a row is, as error messages name it."""
        if self.lines is None:
            return f"{self.source}, row {row + 1}"
        return f"{self.source}:{self.lines[row]}"

    def number(self, name: str, option: str) -> int:
        """The number of a column."""
        if name in self.names:
            return self.names.index(name)
        shown = ", ".join(repr(known) for known in self.names[:_SHOWN])
        more = f" and {len(self.names) - _SHOWN:,} more" * (len(self.names) > _SHOWN)
        raise DbpcfgError(
            f"{self.source} has no column {name!r}, which {option} names; its columns are "
            f"{shown}{more}{_WHICH if len(self.names) == 1 else ''}"
        )

    def column(self, name: str, option: str) -> list[Any]:
        """The cells of a column; see `number`."""
        number = self.number(name, option)
        return [row[number] for row in self.rows]


def is_missing(value: object, na: bool = False) -> bool:
    """Whether a cell has no value.

    ``na``: whether the text ``NA``, which can be a word, is no value either.
    """
    if isinstance(value, str):
        return not value.strip() or (na and value.strip() == "NA")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def kind_of_table(path: str, kind: TableKind | None = None) -> TableKind:
    """Whether a file is CSV or TSV.

    ``kind``: what the user says; by the ending of the file's name if not given.
    """
    ending = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    found = kind or _ENDINGS.get(ending)
    if found is None:
        raise DbpcfgError(
            f"{name_of(path)}: the name ends in neither .csv nor .tsv, so give --table csv or "
            "--table tsv"
        )
    return found


def read_stimuli(
    path: str, kind: TableKind | None = None, encoding: str | None = None, quotes: bool = True
) -> Stimuli:
    """Read a table.

    ``path``: A file, plain or packed with gzip, or ``-`` for standard input.
    ``kind``: ``"csv"`` or ``"tsv"``; by the ending of the file's name if not given.
    ``encoding``: its encoding; UTF-8, with or without a byte-order mark, if not given.
    ``quotes``: whether a cell can be quoted with ``"``; if not, quotes are characters like others.
    """
    delimiter, source = _DELIMITERS[kind_of_table(path, kind)], name_of(path)
    text = load_text(path, encoding).rstrip("\n")
    reader = csv.reader(
        io.StringIO(text, newline="\n"),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    found: list[tuple[str, ...]] = []
    lines: list[int] = []
    try:
        while True:
            line = reader.line_num + 1
            found.append(tuple(next(reader)))
            lines.append(line)
    except StopIteration:
        pass
    except csv.Error as error:
        raise DbpcfgError(
            f"{source}:{line}: {error}: a quote that begins here is not a pair; if quotes are "
            "characters of words, give --no-quotes"
        ) from None
    names = found[0]
    _check(names, found[1:], lines[1:], source)
    return Stimuli(names, list(found[1:]), source, tuple(lines[1:]))


def _check(
    names: tuple[str, ...], rows: Sequence[tuple[str, ...]], lines: Sequence[int], source: str
) -> None:
    twice = [name for n, name in enumerate(names) if name in names[:n]]
    if twice:
        raise DbpcfgError(f"{source}:1: two columns have the name {twice[0]!r}; rename one")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            count = "a blank line" if not row else f"{len(row)} cells"
            raise DbpcfgError(
                f"{source}:{line}: found {count}, expected {len(names)}, as the header has"
                f"{_WHICH if len(names) == 1 else ''}"
            )
