"""What is known of a cell: the settings it began with, its state, its scores.

The record is ``.cells/NAME/cell.json`` in the directory of the sweep, so the directory of the cell
has nothing but the run. It is written before a cell begins and when it ends. A cell is finished if
its record says so and its results are there.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.directory import locked
from dbpcfg.induction.results import RESULTS
from dbpcfg.io.files import read_json, reading, write_json, writing
from dbpcfg.sweep.cells import GridCell

FORMAT = "dbpcfg cell of a sweep"
CELLS = ".cells"
"""The folder of the records."""

State = Literal["finished", "failed", "unfinished", "waiting"]


@dataclass(frozen=True)
class CellResult:
    """The scores of a finished cell; None where there are none."""

    sentences: int
    per_token: float | None = None
    """Log-likelihood per token of the selected chain; of dbpcfg only."""
    precision: float | None = None
    """As the next three, only if there are gold trees."""
    recall: float | None = None
    f1: float | None = None
    phrase_recall: float | None = None
    """Recall of gold noun phrases."""
    signature: str = ""
    """The convention of the scores."""


@dataclass(frozen=True)
class CellOutcome:
    """How far a cell is."""

    state: State
    """``"waiting"`` if it has not begun, ``"unfinished"`` if it was stopped or killed."""
    reason: str = ""
    """Why it failed."""
    result: CellResult | None = None


class CellRecord:
    """The record of a cell on disk."""

    def __init__(self, cell: GridCell) -> None:
        self.cell = cell
        self.folder = Path(cell.out) / CELLS / cell.name
        self.file = self.folder / "cell.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from running the same cell at the same time."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            yield

    def write(self, outcome: CellOutcome, digest: str | None) -> None:
        """Write the record.

        ``digest``: the digest of its files, if they can be read.
        """
        content = {
            "cell": self.cell.name,
            "state": outcome.state,
            "reason": outcome.reason,
            "settings": self.cell.settings(),
            "files": digest,
            "result": None if outcome.result is None else asdict(outcome.result),
        }
        with writing(self.file):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.file, FORMAT, content)

    def found(self, digest: str | None) -> CellOutcome:
        """How far the cell is, by its record and its directory.

        ``digest``: the digest of its files now; None if they cannot be read, which is not compared.
        """
        place = self.cell.directory
        with reading(place):
            begun = place.exists() and (not place.is_dir() or any(place.glob("[!.]*")))
            recorded = self.file.exists()
        if not recorded:
            if begun:
                raise DbpcfgError(
                    f"{place} exists, and no sweep has made it; choose another out, or remove it"
                )
            return CellOutcome("waiting")
        record = read_json(self.file, FORMAT)
        outcome = _outcome(record, self.file)
        differing = _differences(record, self.cell.settings(), digest)
        if begun and differing:
            raise DbpcfgError(
                f"{place} was run with {differing}; give the same, choose another out, or remove it"
            )
        if outcome.state == "finished" and has_results(self.cell):
            return outcome
        if outcome.state == "failed" and not differing:
            return outcome
        return CellOutcome("unfinished" if begun else "waiting")


def has_results(cell: GridCell) -> bool:
    """Whether the files of a finished cell are there."""
    names = RESULTS if cell.own else ("comparison.json",)
    return all((cell.directory / name).is_file() for name in names)


def runs_in(folder: Path) -> list[Path] | None:
    """The runs of dbpcfg in the directory of a sweep, in the order of their names.

    Returns their directories, finished or not; None if this is not a sweep's directory.
    """
    with reading(folder):
        if not (folder / CELLS).is_dir():
            return None
        return sorted(path.parent for path in folder.glob("[!.]*/config.toml"))


def is_comparison(folder: Path) -> bool:
    """Whether a directory is a cell of another system than dbpcfg, not a run."""
    with reading(folder):
        return (folder / "task.json").is_file() and not (folder / "config.toml").exists()


def _outcome(record: dict[str, Any], file: Path) -> CellOutcome:
    state: Any = record.get("state")
    result = _result(record.get("result"))
    if state not in get_args(State) or (state == "finished" and result is None):
        raise DbpcfgError(f"{file} is damaged; delete it, and the directory of the cell")
    return CellOutcome(state, str(record.get("reason", "")), result)


def _result(content: Any) -> CellResult | None:
    """A result as it is recorded; None if there is none, or it cannot be one."""
    try:
        result = CellResult(**content)
    except TypeError:
        return None
    scores = {**asdict(result), "sentences": None, "signature": None}.values()
    numbers = all(x is None or (type(x) in (int, float) and math.isfinite(x)) for x in scores)
    plain = type(result.sentences) is int and isinstance(result.signature, str)
    return result if numbers and plain else None


def _differences(record: dict[str, Any], now: dict[str, Any], digest: str | None) -> str:
    """What differs between a record and a cell, in words; empty if nothing does."""
    settings = record.get("settings")
    before = settings if isinstance(settings, dict) else {}
    differing = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if differing:
        was = ", ".join(f"{key} = {_shown(before.get(key))}" for key in differing)
        wanted = ", ".join(f"{key} = {_shown(now.get(key))}" for key in differing)
        return f"{was}, not {wanted}"
    if None not in (digest, record.get("files")) and record["files"] != digest:
        return "another text: the files of its corpus have changed since"
    return ""


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
