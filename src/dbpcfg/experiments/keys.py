"""The keys of grid files and recipes, and what each of them may be: errors name the line.

Options of ``induce`` have the names that they have there.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import reading
from dbpcfg.options import LEARNERS, Chaining, Option, Preparing, Reading, Searching

MOST_CELLS = 100_000


class ValueKind(NamedTuple):
    """What a value may be."""

    fits: Callable[[Any], bool]
    wanted: str
    """The same in words."""


Keys = Mapping[str, ValueKind]


def whole(least: int, wanted: str = "") -> ValueKind:
    """A whole number."""
    return ValueKind(
        lambda value: type(value) is int and value >= least,
        f"{wanted or 'a whole number'} from {least} up",
    )


def choice(kind: Any) -> ValueKind:
    """One of the values of a ``Literal``."""
    names = get_args(kind)
    return ValueKind(
        lambda value: isinstance(value, str) and value in names,
        f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}",
    )


def number(fits: Callable[[float], bool], wanted: str) -> ValueKind:
    """A finite number."""
    return ValueKind(
        lambda value: type(value) in (int, float) and math.isfinite(value) and fits(value), wanted
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(fits, value))


FLAG = ValueKind(lambda value: type(value) is bool, "true or false")
TEXT = ValueKind(_is_text, "a text")
TEXTS = ValueKind(
    lambda value: _is_text(value) or _is_list(value, _is_text), "a text or a list of texts"
)
TABLE = ValueKind(lambda value: isinstance(value, dict), "a table")
TABLES = ValueKind(
    lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    "tables, each under its own heading in two pairs of brackets",
)
SEED = whole(0)
DEPTH = ValueKind(
    lambda value: value == "none" or whole(1).fits(value), "a whole number from 1 up, or 'none'"
)
ABOVE_0 = number(lambda value: value > 0, "a number above 0")
PERCENTAGE = number(lambda value: 0 <= value <= 100, "a percentage from 0 to 100")

AXES: Keys = {"K": whole(1), "D": DEPTH, "beta": ABOVE_0, "seeds": SEED, "systems": TEXT}
"""What a grid is over, besides corpora: each is a value or a list."""


def declared(one: Option) -> ValueKind:
    """What an option of ``induce`` may be."""

    def fits(value: Any) -> bool:
        try:
            one.checked(value)
        except DbpcfgError:
            return False
        return True

    return ValueKind(fits, one.expected())


PREPARATION: Keys = {
    one.key: declared(one) for group in (Preparing, Reading) for one in group.options().values()
}
"""How a corpus is read and prepared: of one corpus, or of all that do not say otherwise."""

INDUCTION: Keys = {
    **{one.key: declared(one) for one in Searching.options().values()},
    "budget": whole(1, "a number of iterations (a time is not the same in every cell)"),
    **{name: declared(Chaining.options()[name]) for name in ("precision", "aside")},
    "learner": TEXT,
    **{
        one.key: declared(one)
        for group in reversed(LEARNERS.values())
        for one in group.options().values()
        if one.name != "beta"
    },
}
"""Settings of dbpcfg that are the same in all cells; learners check their own once more."""

GRID_CORPUS: Keys = {"path": TEXTS, "name": TEXT, "gold": TEXTS, **PREPARATION}
GRID: Keys = {
    "corpus": ValueKind(lambda value: True, ""),
    **dict.fromkeys(AXES, ValueKind(lambda value: True, "")),
    "out": TEXT,
    **INDUCTION,
    **PREPARATION,
    "settings": ValueKind(
        lambda value: isinstance(value, dict) and all(isinstance(v, dict) for v in value.values()),
        "a table for each system, as in [settings.bmmm-dmv]",
    ),
}
"""At the top of a grid file; corpora and axes are checked one by one."""

Measure = Literal[
    "precision", "recall", "f1", "phrase-recall", "aggregate-f1", "homogeneity", "log-likelihood"
]
"""What a recipe measures: brackets, noun phrases, labels of constituents, log-likelihood."""
MEASURES: tuple[Measure, ...] = get_args(Measure)
SCORES = tuple(name for name in MEASURES if name != "log-likelihood")
"""The measures that are percentages."""
Analysis = Literal["scores", "depth"]

_MEASURE = choice(Measure)
RECIPE: Keys = {
    "title": TEXT,
    "reference": TEXT,
    "table": TEXT,
    "analysis": choice(Analysis),
    "seeds": ValueKind(lambda value: isinstance(value, int | str | list), "numbers or a range"),
    "measures": ValueKind(
        lambda value: _is_list(value, _MEASURE.fits), f"a list of {_MEASURE.wanted}"
    ),
    "flatten": FLAG,
    "notes": TEXTS,
    "corpus": TABLE,
    "paper": TABLE,
    "default": TABLE,
    "quick": TABLE,
    "score": TABLES,
    "row": TABLES,
    "published": TABLES,
}
"""At the top of a recipe."""
SELECTION: Keys = {"max-length": whole(1), "half": choice(Literal["first", "second"])}
"""Which sentences: of those of at most so many words, all, or the first or second half."""
RECIPE_CORPUS: Keys = {
    "name": TEXT,
    "path": TEXTS,
    "synthetic": choice(Literal["left", "right", "center"]),
    "sentences": whole(1),
    "vocabulary": whole(1),
    "seed": SEED,
    "needs": TEXT,
    "without": TABLE,
    **SELECTION,
    **PREPARATION,
}
QUICK: Keys = {
    "sentences": whole(1),
    "seeds": RECIPE["seeds"],
    "paper": TABLE,
    "default": TABLE,
    "settings": TABLE,
}
SCORE: Keys = {"name": TEXT, "max-length": whole(1)}
ROW: Keys = {
    "name": TEXT,
    "system": TEXT,
    "trees": TEXT,
    "K": whole(1),
    "D": DEPTH,
    "beta": ABOVE_0,
    "settings": TABLE,
    "baseline": FLAG,
}
PUBLISHED: Keys = {
    "name": TEXT,
    "source": TEXT,
    "score": TEXT,
    "row": TEXT,
    "flattened": FLAG,
    **dict.fromkeys(SCORES, PERCENTAGE),
    "depth": whole(1),
    "least-depth": whole(1),
    "share": PERCENTAGE,
    "sentences": whole(1),
}


class Place(NamedTuple):
    """A table of a file: its name, and its number among those of the name, from 0."""

    table: str = ""
    """Empty for the top of the file; a dot is between a table and one in it."""
    number: int = 0


TOP = Place()


class TomlFile:
    """A TOML file, read strictly: errors name the line of what is wrong."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        with reading(path):
            data = path.read_bytes()
        try:
            text = data.decode()
            self.content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise DbpcfgError(f"{path} is not TOML: {error}") from None
        self.lines = text.splitlines()

    def fail(self, key: str, problem: object, place: Place = TOP) -> NoReturn:
        """Raise an error about a key."""
        raise DbpcfgError(f"{self._line(key, place)}: {problem}")

    def check(self, table: Mapping[str, Any], known: Keys, place: Place = TOP) -> None:
        """Raise an error if a key is not known, or its value cannot be."""
        for key, value in table.items():
            if key not in known:
                where = f"[{place.table}]" if place.table else f"a {self.kind}"
                above = f"; {key} stands above the first [{place.table}]" if place.table else ""
                hint = above if self.kind == "grid" and key in GRID else ""
                problem = f"unknown key {key!r:.80}{hint}; {where} has {', '.join(known)}"
                self.fail(key, problem, place)
            if not known[key].fits(value):
                self.fail(key, f"{key} must be {known[key].wanted}, got {value!r:.80}", place)

    def need(self, table: Mapping[str, Any], key: str, place: Place = TOP) -> Any:
        """The value of a key that must be there."""
        if key not in table:
            where = f"[{place.table}]" if place.table else f"a {self.kind}"
            self.fail(key, f"{where} has no {key}", place)
        return table[key]

    def values(self, table: Mapping[str, Any], key: str, place: Place = TOP) -> list[Any]:
        """The values of an axis, a value or a list; none if it is not there."""
        if key not in table:
            return []
        try:
            return axis_values(key, table[key])
        except DbpcfgError as error:
            self.fail(key, error, place)

    def _line(self, key: str, place: Place) -> str:
        """The file, and the line of a key in a table, or of the table if it is not found there."""
        names = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
        begins = re.compile(rf"\s*{names}\s*[=.]|\s*\[+\s*{names}\s*[\].]")
        within = re.compile(rf"[{{,]\s*{names}\s*=")  # an inline table
        seen: dict[str, int] = {}
        table, header, somewhere = TOP, 0, 0
        for number, line in enumerate(self.lines, start=1):
            heading = re.match(r"\s*\[+\s*([\w.\-\"]+)\s*\]", line)
            if heading:
                name = heading[1]
                table = Place(name, seen.get(name, 0))
                seen[name] = table.number + 1
                header = number if table == place else header
            if begins.match(line) or within.search(line):
                if table == place or (place == TOP and heading is not None):
                    return f"{self.path}:{number}"
                somewhere = somewhere or number
        found = header or somewhere
        if not found and place != TOP:
            return self._line(place.table, TOP)
        return f"{self.path}:{found}" if found else str(self.path)


_RANGE = re.compile(r"(\d{1,18})-(\d{1,18})")


def axis_values(key: str, given: Any) -> list[Any]:
    """The values of an axis: a value, a list, or of seeds a range like ``"0-9"``."""
    if key == "seeds" and isinstance(given, str):
        found = _RANGE.fullmatch(given.strip())
        if not found or int(found[2]) < int(found[1]):
            raise DbpcfgError(f"seeds as a text is a range like '0-9', got {given!r:.80}")
        if int(found[2]) - int(found[1]) >= MOST_CELLS:
            raise DbpcfgError(f"seeds has more than {MOST_CELLS:,} numbers: {given!r}")
        return list(range(int(found[1]), int(found[2]) + 1))
    kind, values = AXES[key], given if isinstance(given, list) else [given]
    if not values:
        raise DbpcfgError(f"{key} is an empty list; give {kind.wanted}, or leave {key} out")
    for place, value in enumerate(values):
        if not kind.fits(value):
            also = " (or a range like '0-9')" if key == "seeds" else ""
            wanted = f"{kind.wanted}{also}, or a list of them"
            raise DbpcfgError(f"{key} must be {wanted}, got {value!r:.80}")
        if value in values[:place]:
            raise DbpcfgError(f"{key} has {value!r} twice")
    return values


def texts(value: str | list[str]) -> tuple[str, ...]:
    """A text, or several, of a key that may be either."""
    return (value,) if isinstance(value, str) else tuple(value)
