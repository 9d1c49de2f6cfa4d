"""The text of a grid file: checks of its keys and values, and the line of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from dbpcfg.errors import DbpcfgError
from dbpcfg.sweep.keys import GRID, ValueKind

MOST_CELLS = 100_000

_RANGE = re.compile(r"(\d{1,18})-(\d{1,18})")


class GridText:
    """The text of a grid file, for messages that name the line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()

    def place(self, key: str, corpus: int | None = None) -> str:
        """The file, and the line where a key stands, if that is found.

        ``corpus``: the number of its ``[[corpus]]``, from 0; None at the top of the file.
        """
        name = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')\s*"
        begins = re.compile(rf"\s*(?:{name}[=.]|\[+\s*{name}[\].])")
        within = re.compile(rf"[{{,]\s*{name}=")  # an inline table
        header, somewhere = -1, 0
        for number, line in enumerate(self.lines, start=1):
            header += bool(re.match(r"\s*\[\[\s*corpus\s*\]\]", line))
            if begins.match(line) and header == (-1 if corpus is None else corpus):
                return f"{self.path}:{number}"
            if within.search(line) or begins.match(line):
                somewhere = somewhere or number
        if not somewhere and corpus is not None:
            return self.place("corpus")
        return f"{self.path}:{somewhere}" if somewhere else str(self.path)

    def fail(self, key: str, problem: str, corpus: int | None = None) -> NoReturn:
        """Raise an error about a key."""
        raise DbpcfgError(f"{self.place(key, corpus)}: {problem}")

    def check_known(
        self, table: Mapping[str, Any], known: Sequence[str], corpus: int | None = None
    ) -> None:
        """Raise an error if a table has a key that is not known."""
        for key in table:
            if key not in known:
                where = "a grid has" if corpus is None else "a corpus has"
                hint = ""
                if corpus is not None and key in GRID:
                    hint = f"; {key} stands above the first [[corpus]]"
                listed = ", ".join(known)
                self.fail(key, f"unknown key {key!r:.80}{hint}; {where} {listed}", corpus)

    def check(
        self, table: Mapping[str, Any], key: str, kind: ValueKind, corpus: int | None = None
    ) -> None:
        """Raise an error if the value of a key cannot be."""
        if key in table and not kind.fits(table[key]):
            self.fail(key, f"{key} must be {kind.wanted}, got {table[key]!r:.80}", corpus)

    def values(self, table: Mapping[str, Any], key: str, kind: ValueKind) -> list[Any]:
        """The values of a key that is a value or a list; none if it is not there."""
        if key not in table:
            return []
        found = table[key]
        if key == "seeds" and isinstance(found, str):
            return self._seeds(found)
        values = found if isinstance(found, list) else [found]
        if not values:
            self.fail(key, f"{key} is an empty list; give {kind.wanted}, or leave {key} out")
        for value in values:
            if not kind.fits(value):
                also = " (or a range like '0-9')" if key == "seeds" else ""
                self.fail(
                    key, f"{key} must be {kind.wanted}{also}, or a list of them, got {value!r:.80}"
                )
        return values

    def _seeds(self, text: str) -> list[int]:
        found = _RANGE.fullmatch(text.strip())
        if not found or int(found[2]) < int(found[1]):
            self.fail("seeds", f"seeds as a text is a range like '0-9', got {text!r:.80}")
        if int(found[2]) - int(found[1]) >= MOST_CELLS:
            self.fail("seeds", f"seeds has more than {MOST_CELLS:,} numbers: {text!r}")
        return list(range(int(found[1]), int(found[2]) + 1))
