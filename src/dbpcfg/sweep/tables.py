"""The cells of a sweep as tables: one row for each, and the spread over seeds.

The spread is over cells that differ in nothing but their seed: mean, standard deviation (n − 1),
least and greatest of F1, recall of noun phrases and log-likelihood.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from decimal import Decimal

from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.sweep.cells import GridCell, depth_name, short
from dbpcfg.sweep.record import CellOutcome, CellResult

_MEASURES = (
    ("f1", "F1", 100),
    ("phrase_recall", "NP recall", 100),
    ("per_token", "log-likelihood per token", 1),
)
"""The name of each measure, and the factor by which tables show it."""
WAITING = CellOutcome("waiting")


def sweep_tables(cells: Sequence[GridCell], outcomes: Mapping[int, CellOutcome]) -> list[Table]:
    """All cells, with the reasons of those that failed; and the spread, if there are seeds.

    ``outcomes``: how far they are, by their numbers; a cell that has none has not begun.
    """
    tables = [_cells(cells, outcomes)]
    spread = _spread(cells, outcomes)
    return [*tables, spread] if spread.rows else tables


def state_table(cells: Sequence[GridCell], outcomes: Mapping[int, CellOutcome]) -> Table:
    """The number, name and state of each cell, for a look before anything runs."""
    rows = [(cell.number, cell.name, _state(outcomes.get(cell.number, WAITING))) for cell in cells]
    done = sum(outcomes.get(cell.number, WAITING).state == "finished" for cell in cells)
    note = f"{done:,} of {len(cells):,} cells are finished"
    return Table("Cells", [Column("Cell", "count"), Column("Name"), Column("State")], rows, [note])


def _state(outcome: CellOutcome) -> str:
    return f"failed: {outcome.reason}" if outcome.state == "failed" else outcome.state


def _axis_columns(cells: Sequence[GridCell]) -> list[Column]:
    digits = [-int(Decimal(short(c.beta)).as_tuple().exponent) for c in cells if c.beta is not None]
    return [
        Column("Corpus"),
        Column("System"),
        Column("K", "count"),
        Column("D", "count"),
        Column("beta", "number", decimals=max([0, *digits])),
    ]


def _axes(cell: GridCell) -> tuple[Cell, ...]:
    """The cell without its seed; what its system does not have is None."""
    depth = depth_name(cell.D) if cell.own else None
    return cell.corpus.name, cell.system, cell.K, depth, cell.beta


def _cells(cells: Sequence[GridCell], outcomes: Mapping[int, CellOutcome]) -> Table:
    found = [outcomes.get(cell.number, WAITING) for cell in cells]
    results = [outcome.result for outcome in found if outcome.result]
    scored = any(result.f1 is not None for result in results)
    likely = any(result.per_token is not None for result in results)
    incomplete = any(outcome.state != "finished" for outcome in found)
    columns = [Column("Cell", "count"), *_axis_columns(cells), Column("Seed", "count")]
    if likely:
        columns.append(Column("log-likelihood per token", "number", "per_token", 3))
    if scored:
        names = ("P", "precision"), ("R", "recall"), ("F1", "f1"), ("NP", "phrase_recall")
        columns += [Column(name, "percent", key) for name, key in names]
    if incomplete:
        columns.append(Column("State"))
    rows: list[list[Cell]] = []
    for cell, outcome in zip(cells, found):
        result = outcome.result or CellResult(0)
        row: list[Cell] = [cell.number, *_axes(cell), cell.seed]
        row += [result.per_token] if likely else []
        if scored:
            row += [result.precision, result.recall, result.f1, result.phrase_recall]
        rows.append([*row, *([_state(outcome)] if incomplete else [])])
    return Table("Cells", columns, rows, _notes(cells, results, scored))


def _notes(cells: Sequence[GridCell], results: Sequence[CellResult], scored: bool) -> list[str]:
    notes = []
    if scored:
        notes.append("NP: recall of gold NPs of two words or more")
        notes += dict.fromkeys(result.signature for result in results if result.signature)
    if len({cell.corpus.name for cell in cells if cell.own}) > 1:
        notes.append("log-likelihoods of different corpora are not comparable")
    return notes


def _spread(cells: Sequence[GridCell], outcomes: Mapping[int, CellOutcome]) -> Table:
    groups: dict[tuple[Cell, ...], list[CellResult]] = {}
    for cell in cells:
        result = outcomes.get(cell.number, WAITING).result
        if result is not None:
            groups.setdefault(_axes(cell), []).append(result)
    columns = [
        *_axis_columns(cells),
        Column("Seeds", "count"),
        Column("Measure"),
        *(Column(name, "number", decimals=3) for name in ("mean", "sd", "min", "max")),
    ]
    rows: list[list[Cell]] = []
    for axes, results in groups.items():
        for key, name, factor in _MEASURES:
            values = [getattr(result, key) for result in results]
            if len(values) > 1 and None not in values:
                figures = [factor * value for value in values]
                mean = statistics.fmean(figures)
                sd = statistics.stdev(figures) if math.isfinite(mean) else math.nan
                rows.append([*axes, len(values), name, mean, sd, min(figures), max(figures)])
    note = "sd: standard deviation over seeds, n − 1; scores in percent"
    return Table("Spread over seeds", columns, rows, [note])
