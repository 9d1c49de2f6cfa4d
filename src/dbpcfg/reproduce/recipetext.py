"""The text of a recipe: checks of its keys and values, and the line of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from dbpcfg.errors import DbpcfgError
from dbpcfg.sweep.keys import ValueKind


class Place(NamedTuple):
    """A table of a recipe: its name, and its number among those of the name, from 0."""

    table: str = ""
    """Empty for the top of the file; a dot is between a table and one in it."""
    number: int = 0

    def __str__(self) -> str:
        if not self.table:
            return "a recipe"
        return f"[[{self.table}]]" if self.table in ("row", "published", "score") else self.table


TOP = Place()


class RecipeText:
    """The text of a recipe, for messages that name the line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()

    def line(self, key: str, place: Place = TOP) -> str:
        """The file, and the line of a key in a table, or of the table if it is not found there."""
        names = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
        begins = re.compile(rf"\s*{names}\s*[=.]|\s*\[+\s*{names}\s*[\].]")
        within = re.compile(rf"[{{,]\s*{names}\s*=")
        seen: dict[str, int] = {}
        table, header = TOP, 0
        for number, line in enumerate(self.lines, start=1):
            heading = re.match(r"\s*\[+\s*([\w.\-\"]+)\s*\]", line)
            if heading:
                name = heading[1]
                table = Place(name, seen.get(name, 0))
                seen[name] = table.number + 1
                header = number if table == place else header
            inside = table == place or (place == TOP and heading is not None)
            if inside and (begins.match(line) or within.search(line)):
                return f"{self.path}:{number}"
        for number, line in enumerate(self.lines, start=1):
            if not header and (begins.match(line) or within.search(line)):
                return f"{self.path}:{number}"
        return f"{self.path}:{header}" if header else str(self.path)

    def fail(self, key: str, problem: str, place: Place = TOP) -> NoReturn:
        """Raise an error about a key."""
        raise DbpcfgError(f"{self.line(key, place)}: {problem}")

    def check(
        self, table: Mapping[str, Any], known: Mapping[str, ValueKind], place: Place = TOP
    ) -> None:
        """Raise an error if a key is not known, or its value cannot be."""
        for key, value in table.items():
            if key not in known:
                listed = ", ".join(known)
                self.fail(key, f"unknown key {key!r:.80}; {place} has {listed}", place)
            if not known[key].fits(value):
                problem = f"{key} must be {known[key].wanted}, got {value!r:.80}"
                self.fail(key, problem, place)

    def need(self, table: Mapping[str, Any], key: str, place: Place) -> Any:
        """The value of a key that must be there."""
        if key not in table:
            self.fail(key, f"{place} has no {key}", place)
        return table[key]
