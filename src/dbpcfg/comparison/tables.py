"""A comparison as tables: systems, the spread of their runs, tests against the best."""

from __future__ import annotations

from dbpcfg.comparison.summary import MEASURES, Comparison, SystemSummary
from dbpcfg.evaluation.tables import comparison_table
from dbpcfg.files.table import Cell, Column, Table
from dbpcfg.version import __version__

MEGABYTE = 1_000_000


def comparison_tables(compared: Comparison) -> list[Table]:
    """Every table of a comparison that has something to say."""
    tables = [systems_table(compared)]
    if any(len(it.runs) > 1 for it in compared.summaries):
        tables.append(spread_table(compared))
    if compared.tests:
        tables.append(differences_table(compared))
    return tables


def systems_table(compared: Comparison) -> Table:
    """One row a system: means over its runs, and how it failed if it did."""
    columns = [
        Column("System"),
        Column("Runs", "count"),
        Column("P", "percent", "precision"),
        Column("R", "percent", "recall"),
        Column("F1", "percent", "f1"),
        Column(compared.category, "percent", "phrase_recall"),
        Column("Seconds", "number", decimals=2),
        Column("MB", "count", "megabytes"),
    ]
    failed = any(it.failures for it in compared.summaries)
    if failed:
        columns.append(Column("Remark"))
    rows = []
    for it in compared.summaries:
        means = [it.spread(measure).mean for measure in MEASURES]
        peak = None if it.peak_bytes is None else it.peak_bytes / MEGABYTE
        remark: list[Cell] = [it.remark or ""] if failed else []
        rows.append([it.name, len(it.runs), *means, peak, *remark])
    corpus = compared.corpus
    notes = [
        f"{corpus['sentences']:,} sentences, {corpus['words']:,} words without punctuation",
        f"{compared.category}: recall of gold {compared.category}s of two words or more",
        "P, R, F1, recall and seconds are means over runs; MB is the greatest of them",
        *(_settings(it) for it in compared.summaries if it.kind.learns and it.settings),
        *(
            f"{it.name} ran under dbpcfg {version}, not {__version__}"
            for it in compared.summaries
            for version in dict.fromkeys(run.version for run in it.runs)
            if version != __version__
        ),
        compared.signature,
    ]
    return Table("Systems", columns, rows, notes)


def _settings(it: SystemSummary) -> str:
    return f"{it.name}: " + ", ".join(f"{name} = {value}" for name, value in it.settings.items())


def spread_table(compared: Comparison) -> Table:
    """How the measures of systems with several runs vary."""
    columns = [
        Column("System"),
        Column("Runs", "count"),
        Column("Measure"),
        *(Column(name, "number") for name in ("mean", "sd", "min", "max")),
    ]
    rows = [
        _spread_row(it, measure, compared.category)
        for it in compared.summaries
        if len(it.runs) > 1
        for measure in MEASURES
    ]
    note = "sd: standard deviation over runs with different seeds, n − 1; scores in percent"
    return Table("Spread over runs", columns, rows, [note, compared.signature])


def _spread_row(it: SystemSummary, measure: str, category: str) -> list[Cell]:
    names = {"f1": "F1", "phrase_recall": f"{category} recall"}
    scale = 1 if measure == "seconds" else 100
    figures = [scale * figure for figure in it.spread(measure)]
    return [it.name, len(it.runs), names.get(measure, measure), *figures]


def differences_table(compared: Comparison) -> Table:
    """Paired permutation tests of the best system against the others."""
    table = comparison_table(compared.tests)
    notes = [*table.notes, "the best by mean F1 against each other system"]
    if any(it.kind.stochastic and it.runs for it in compared.summaries):
        notes.append("of several runs the one of median F1 is compared (of two the lower)")
    return Table(table.title, table.columns, table.rows, notes)
