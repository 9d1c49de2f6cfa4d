"""Results: the record of each cell on disk, and tables of all cells.

A record has the settings, the state and the scores of a cell. It is ``.cells/NAME/cell.json`` in
the directory of the results, outside the run directory. It is written atomically, before a cell
starts and when it ends. A cell is finished if its record says so and its result files exist.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.corpora import digest_if_readable
from dbpcfg.experiments.grid import Cell, depth_name, short
from dbpcfg.experiments.scores import RunGroup, ScoredRun, grouped, spread
from dbpcfg.induction.directory import RESULTS, locked
from dbpcfg.io.files import atomic_write, read_errors, read_json, write_errors, write_json
from dbpcfg.io.tables import Cell as Entry
from dbpcfg.io.tables import Column, Table, plural
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree
from dbpcfg.version import __version__

FORMAT = "dbpcfg cell"
CELLS = ".cells"
"""The folder of the records."""
TREES = "trees.txt"
"""The trees of a system other than dbpcfg, one a line, in the words as written."""

State = Literal["finished", "failed", "unfinished", "waiting"]


@dataclass(frozen=True)
class CellResult:
    """The result of a finished cell; None for what does not apply."""

    sentences: int
    per_token: float | None = None
    """Log-likelihood per token of the selected chain, for run directories."""
    precision: float | None = None
    """This and the next three need gold trees."""
    recall: float | None = None
    f1: float | None = None
    phrase_recall: float | None = None
    """Recall of gold noun phrases."""
    seconds: float | None = field(default=None, compare=False)
    """This and the next three are for other systems. Starting Python, imports and compilation are
    not counted."""
    cpu_seconds: float | None = field(default=None, compare=False)
    """CPU time of all threads, starting Python included."""
    peak_bytes: int | None = field(default=None, compare=False)
    """Peak memory of the process, Python included."""
    trees: str = ""
    """The digest of the file of trees."""
    signature: str = ""
    """The convention of the scores."""
    version: str = __version__
    """The version of this package that ran it."""


@dataclass(frozen=True)
class CellOutcome:
    """The state of a cell."""

    state: State
    """``"waiting"`` if it has not started, ``"unfinished"`` if it was stopped or killed."""
    reason: str = ""
    """The reason of a failure."""
    result: CellResult | None = None


WAITING = CellOutcome("waiting")


class CellRecord:
    """The record of a cell on disk."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.folder = Path(cell.out) / CELLS / cell.name
        self.file = self.folder / "cell.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from running the same cell at the same time."""
        with write_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            yield

    def write(self, outcome: CellOutcome, digest: str | None) -> None:
        """Write the record.

        ``digest``: the digest of the corpus; None if it cannot be read.
        """
        content = {
            "cell": self.cell.name,
            "state": outcome.state,
            "reason": outcome.reason,
            "settings": self.cell.settings(),
            "corpus": digest,
            "result": None if outcome.result is None else asdict(outcome.result),
        }
        with write_errors(self.file):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.file, FORMAT, content)

    def outcome(self, digest: str | None) -> CellOutcome:
        """The state of the cell, by its record and its directory.

        ``digest``: the current digest of the corpus; None to leave it unchecked.
        """
        directory = self.cell.directory
        with read_errors(directory):
            begun = directory.exists() and (not directory.is_dir() or any(directory.glob("[!.]*")))
            recorded = self.file.exists()
        if not recorded:
            if begun:
                raise DbpcfgError(
                    f"{directory} exists, and is not a cell; choose another out, or remove it"
                )
            return WAITING
        record = read_json(self.file, FORMAT)
        outcome = _outcome(record, self.file)
        differing = _differences(record, self.cell.settings(), digest)
        if begun and differing:
            raise DbpcfgError(
                f"{directory} was run with {differing}; give the same, choose another out, or "
                "remove it"
            )
        if outcome.state == "finished" and has_results(self.cell):
            return outcome
        if outcome.state == "failed" and not differing:
            return outcome
        return CellOutcome("unfinished" if begun else "waiting")


def read_outcomes(cells: Sequence[Cell]) -> dict[int, CellOutcome]:
    """The states of cells by number; read before anything runs, so that errors come early."""
    return {
        cell.number: CellRecord(cell).outcome(digest_if_readable(cell.corpus)) for cell in cells
    }


def has_results(cell: Cell) -> bool:
    """Whether the files of a finished cell exist."""
    names = RESULTS if cell.is_run else (TREES,)
    return all((cell.directory / name).is_file() for name in names)


def save_trees(cell: Cell, trees: Sequence[Tree]) -> str:
    """Write the trees of another system, and return their digest for the record."""
    content = "".join(f"{tree}\n" for tree in trees).encode("utf-8", "surrogatepass")
    with write_errors(cell.directory):
        cell.directory.mkdir(parents=True, exist_ok=True)
        with atomic_write(cell.directory / TREES) as file:
            file.write(content)
    return _digest(content)


def saved_trees(cell: Cell, digest: str | None = None) -> list[Tree]:
    """Read the trees of another system.

    ``digest``: the digest in the record; None to leave it unchecked.
    """
    path = cell.directory / TREES
    with read_errors(path):
        content = path.read_bytes()
    if digest is not None and digest != _digest(content):
        raise DbpcfgError(
            f"{path} is not what its record says; delete {path.parent} to run it again"
        )
    return list(read_trees(content.decode("utf-8", "surrogatepass"), str(path)))


def is_results(folder: Path) -> bool:
    """Whether a directory contains cells."""
    return (folder / CELLS).is_dir()


def runs_in(folder: Path) -> list[Path] | None:
    """The run directories in a directory of cells, by name, finished or not.

    None if this is not a directory of cells.
    """
    with read_errors(folder):
        if not is_results(folder):
            return None
        return sorted(path.parent for path in folder.glob("[!.]*/config.toml"))


def is_other_system(folder: Path) -> bool:
    """Whether a directory is a cell of another system than dbpcfg, not a run."""
    with read_errors(folder):
        return (folder / TREES).is_file() and not (folder / "config.toml").exists()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _outcome(record: dict[str, Any], file: Path) -> CellOutcome:
    state: Any = record.get("state")
    result = _result(record.get("result"))
    if state not in get_args(State) or (state == "finished" and result is None):
        raise DbpcfgError(f"{file} is damaged; delete it, and the directory of the cell")
    return CellOutcome(state, str(record.get("reason", "")), result)


def _result(content: Any) -> CellResult | None:
    """The result in a record; None if there is none, or it is malformed."""
    try:
        result = CellResult(**content)
    except TypeError:
        return None
    texts = (result.trees, result.signature, result.version)
    numbers = {**asdict(result), **dict.fromkeys(("trees", "signature", "version"))}.values()
    finite = all(x is None or (type(x) in (int, float) and math.isfinite(x)) for x in numbers)
    valid = finite and type(result.sentences) is int and all(isinstance(x, str) for x in texts)
    return result if valid else None


def _differences(record: dict[str, Any], current: dict[str, Any], digest: str | None) -> str:
    """Describe how the settings of a record and of a cell differ; empty if they do not."""
    settings = record.get("settings")
    recorded = settings if isinstance(settings, dict) else {}
    differing = [key for key in {**recorded, **current} if recorded.get(key) != current.get(key)]
    if differing:
        was = ", ".join(f"{key} = {_shown(recorded.get(key))}" for key in differing)
        requested = ", ".join(f"{key} = {_shown(current.get(key))}" for key in differing)
        return f"{was}, not {requested}"
    if None not in (digest, record.get("corpus")) and record["corpus"] != digest:
        return "another text: its corpus has changed since"
    return ""


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


_MEASURES = (
    ("f1", "F1", 100),
    ("phrase_recall", "NP recall", 100),
    ("per_token", "log-likelihood per token", 1),
)
"""Key, name in tables and scale of each measure."""


def sweep_tables(cells: Sequence[Cell], outcomes: Mapping[int, CellOutcome]) -> list[Table]:
    """A table of all cells, and one of the spread over seeds if there are several.

    ``outcomes``: the states of the cells by number; others are waiting.
    """
    tables = [_cells(cells, outcomes)]
    over_seeds = _spread(cells, outcomes)
    return [*tables, over_seeds] if over_seeds.rows else tables


def state_table(
    cells: Sequence[Cell],
    outcomes: Mapping[int, CellOutcome],
    name: Callable[[Cell], str] = lambda cell: cell.name,
) -> Table:
    """The number, name and state of each cell."""
    rows = [(cell.number, name(cell), _state(outcomes.get(cell.number, WAITING))) for cell in cells]
    finished = sum(outcomes.get(cell.number, WAITING).state == "finished" for cell in cells)
    note = f"{finished:,} of {plural(len(cells), 'cell')} finished"
    return Table("Cells", [Column("Cell", "count"), Column("Name"), Column("State")], rows, [note])


def _state(outcome: CellOutcome) -> str:
    return f"failed: {outcome.reason}" if outcome.state == "failed" else outcome.state


def _axis_columns(cells: Sequence[Cell]) -> list[Column]:
    digits = [-int(Decimal(short(c.beta)).as_tuple().exponent) for c in cells if c.beta is not None]
    return [
        Column("Corpus"),
        Column("System"),
        Column("K", "count"),
        Column("D", "count"),
        Column("beta", "number", decimals=max([0, *digits])),
    ]


def _axes(cell: Cell) -> tuple[Entry, ...]:
    """All that identifies a cell but its seed; None for what its system does not have."""
    depth = depth_name(cell.D) if cell.is_run else None
    return cell.corpus.name, cell.system.name, cell.K, depth, cell.beta


def _cells(cells: Sequence[Cell], outcomes: Mapping[int, CellOutcome]) -> Table:
    cell_outcomes = [outcomes.get(cell.number, WAITING) for cell in cells]
    results = [outcome.result for outcome in cell_outcomes if outcome.result]
    scored = any(result.f1 is not None for result in results)
    likely = any(result.per_token is not None for result in results)
    incomplete = any(outcome.state != "finished" for outcome in cell_outcomes)
    columns = [Column("Cell", "count"), *_axis_columns(cells), Column("Seed", "count")]
    if likely:
        columns.append(Column("log-likelihood per token", "number", "per_token", 3))
    if scored:
        names = ("P", "precision"), ("R", "recall"), ("F1", "f1"), ("NP", "phrase_recall")
        columns += [Column(name, "percent", key) for name, key in names]
    if incomplete:
        columns.append(Column("State"))
    rows: list[list[Entry]] = []
    for cell, outcome in zip(cells, cell_outcomes):
        result = outcome.result or CellResult(0)
        row: list[Entry] = [cell.number, *_axes(cell), cell.seed]
        row += [result.per_token] if likely else []
        if scored:
            row += [result.precision, result.recall, result.f1, result.phrase_recall]
        rows.append([*row, *([_state(outcome)] if incomplete else [])])
    return Table("Cells", columns, rows, _notes(cells, results, scored))


def _notes(cells: Sequence[Cell], results: Sequence[CellResult], scored: bool) -> list[str]:
    notes = []
    if scored:
        notes.append("NP: recall of gold NPs of two words or more")
        notes += dict.fromkeys(result.signature for result in results if result.signature)
    if len({cell.corpus.name for cell in cells if cell.is_run}) > 1:
        notes.append("log-likelihoods of different corpora are not comparable")
    return notes


def _spread(cells: Sequence[Cell], outcomes: Mapping[int, CellOutcome]) -> Table:
    """The spread over cells that differ only in their seed."""
    groups = grouped(
        (_axes(cell), ScoredRun({key: getattr(result, key) for key, *_ in _MEASURES}))
        for cell in cells
        if (result := outcomes.get(cell.number, WAITING).result) is not None
    )
    columns = [
        *_axis_columns(cells),
        Column("Seeds", "count"),
        Column("Measure"),
        *(Column(name, "number", decimals=3) for name in ("mean", "sd", "min", "max")),
    ]
    rows: list[list[Entry]] = []
    for axes, runs in groups.items():
        for key, name, factor in _MEASURES:
            values = RunGroup("", runs).values(key)
            if len(values) == len(runs) > 1:
                figures = spread(factor * value for value in values)
                rows.append([*axes, len(values), name, *figures[:4]])
    note = "sd: standard deviation over seeds, n − 1; scores in percent"
    return Table("Spread over seeds", columns, rows, [note])
