"""The result of a comparison: what each system reached, tests against the best, and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbpcfg.comparison.summary import MEASURES, TAG_MEASURES, SystemSummary
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.evaluation.tables import comparison_table, has_tags
from dbpcfg.io.tables import Cell, Column, Table, render, shortened
from dbpcfg.version import __version__

MEGABYTE = 1_000_000


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several systems on one corpus; ``print`` shows its tables."""

    corpus: Mapping[str, Any]
    """Digest, size and preparation of the corpus."""
    signature: str
    """The convention of the scores."""
    category: str
    """The gold category of ``phrase_recall``."""
    summaries: Sequence[SystemSummary]
    """One for each system, in the order in which they were named."""
    tests: Mapping[tuple[str, str], PairedTest]
    """The best system against every other."""

    def tables(self) -> list[Table]:
        """Scores, time and memory of all systems; spread; tests against the best; tag scores."""
        tables = [self._systems()]
        if any(len(system.runs) > 1 for system in self.summaries):
            tables.append(self._spread())
        if self.tests:
            tables.append(self._differences())
        with_tags = [
            it for it in self.summaries if any(has_tags(run.evaluation) for run in it.runs)
        ]
        return [*tables, _tags(with_tags)] if with_tags else tables

    def __str__(self) -> str:
        return render(self.tables())

    def __repr__(self) -> str:
        names = ", ".join(system.name for system in self.summaries)
        return shortened(f"<Comparison of {names} on {self.corpus['sentences']:,} sentences>")

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables())

    def to_frame(self) -> Any:
        """The table of the systems as a pandas data frame, scores as fractions.

        Raises
        ------
        DbpcfgError
            If pandas is not installed.
        """
        return self._systems().to_frame()

    def _systems(self) -> Table:
        """One row for each system: means over its runs, and failures."""
        columns = [
            Column("System"),
            Column("Runs", "count"),
            Column("P", "percent", "precision"),
            Column("R", "percent", "recall"),
            Column("F1", "percent", "f1"),
            Column(self.category, "percent", "phrase_recall"),
            Column(f"{self.category} agg F1", "percent", "aggregate_f1"),
            Column("Seconds", "number", decimals=2),
            Column("MB", "count", "megabytes"),
        ]
        failed = any(system.failures for system in self.summaries)
        if failed:
            columns.append(Column("Remark"))
        rows = []
        for system in self.summaries:
            means = [system.spread(measure).mean for measure in MEASURES]
            peak = None if system.peak_bytes is None else system.peak_bytes / MEGABYTE
            remark: list[Cell] = [system.remark or ""] if failed else []
            rows.append([system.name, len(system.runs), *means, peak, *remark])
        notes = [
            f"{self.corpus['sentences']:,} sentences, "
            f"{self.corpus['words']:,} words without punctuation",
            f"{self.category}: recall of gold {self.category}s of two words or more",
            f"{self.category} agg F1: of the labels that together are closest to {self.category}, "
            "chosen on the first sentences and scored on the others",
            "P, R, F1, recall and seconds are means over runs; MB is the greatest of them",
            *(
                _settings(it)
                for it in self.summaries
                if it.spec.learns and it.settings and not it.flattened
            ),
            *(
                f"{it.name}: trees of {it.spec.name} flattened by estimated heads, our reading "
                "of a step that was not published; not tested"
                for it in self.summaries
                if it.flattened
            ),
            *(
                f"{system.name} ran under dbpcfg {version}, not {__version__}"
                for system in self.summaries
                for version in dict.fromkeys(run.version for run in system.runs)
                if version != __version__
            ),
            self.signature,
        ]
        return Table("Systems", columns, rows, notes)

    def _spread(self) -> Table:
        """How the measures of systems with several runs vary."""
        columns = [
            Column("System"),
            Column("Runs", "count"),
            Column("Measure"),
            *(Column(name, "number") for name in ("mean", "sd", "min", "max")),
        ]
        rows = [
            _spread_row(system, measure, self.category)
            for system in self.summaries
            if len(system.runs) > 1
            for measure in MEASURES
        ]
        note = "sd: standard deviation over runs with different seeds, n − 1; scores in percent"
        return Table("Spread over runs", columns, rows, [note, self.signature])

    def _differences(self) -> Table:
        """Paired permutation tests of the best system against the others."""
        table = comparison_table(self.tests)
        notes = [*table.notes, "the best by mean F1 against each other system"]
        if any(system.spec.stochastic and system.runs for system in self.summaries):
            notes.append("of several runs the one of median F1 is compared (of two the lower)")
        return Table(table.title, table.columns, table.rows, notes)


def _tags(systems: Sequence[SystemSummary]) -> Table:
    """How well tags of words agree with gold tags: one row for each system that gives tags."""
    columns = [
        Column("System"),
        Column("Runs", "count"),
        *(Column(name, "percent") for name in ("Many-to-one", "Homogeneity", "Completeness")),
        Column("V", "percent", "v_measure"),
        Column("sd of V", "percent", "v_measure_sd"),
    ]
    rows: list[list[Cell]] = []
    for system in systems:
        means = [system.spread(measure).mean for measure in TAG_MEASURES]
        rows.append([system.name, len(system.runs), *means, system.spread("v_measure").sd])
    signatures = dict.fromkeys(run.evaluation.tags.signature for it in systems for run in it.runs)
    return Table("Word categories", columns, rows, ["means over runs", *signatures])


def _settings(system: SystemSummary) -> str:
    settings = ", ".join(
        f"{name} = {value}"
        for name, value in system.settings.items()
        if value is not None or name == "D"  # no bound
    )
    return f"{system.name}: {settings}"


def _spread_row(system: SystemSummary, measure: str, category: str) -> list[Cell]:
    names = {"f1": "F1", "phrase_recall": f"{category} recall"}
    names["aggregate_f1"] = f"{category} agg F1"
    scale = 1 if measure == "seconds" else 100
    figures = [scale * figure for figure in system.spread(measure)]
    return [system.name, len(system.runs), names.get(measure, measure), *figures]
