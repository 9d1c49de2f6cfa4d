"""Several systems on one corpus: their scores, the best system, tests against it, and tables.

A system that draws random numbers is ranked by the mean of its runs. `Comparison.save` writes
``comparison.json``, which `comparison_data` reads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.evaluation.tables import comparison_table, has_tags
from dbpcfg.experiments.corpora import Task
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.results import CellResult
from dbpcfg.experiments.scores import RunGroup, ScoredRun, measured, paired_tests, spread
from dbpcfg.io.files import finite, read_json, write_errors, write_json
from dbpcfg.io.tables import Cell as Entry
from dbpcfg.io.tables import Column, Table, plural, render, shortened
from dbpcfg.systems.registry import SystemSpec
from dbpcfg.version import __version__

SCORES = ("precision", "recall", "f1", "phrase_recall", "aggregate_f1")
MEASURES = (*SCORES, "seconds")
"""Measured for every run, and averaged over runs."""
TAG_MEASURES = ("many_to_one", "homogeneity", "completeness", "v_measure")
"""Measured for runs whose trees have tags."""
FILE, FORMAT = "comparison.json", "dbpcfg comparison"
MEGABYTE = 1_000_000


def scored_run(cell: Cell, result: CellResult, evaluation: Evaluation) -> ScoredRun:
    """The scores of a finished cell of some system."""
    measures = {**measured(evaluation, SCORES), "seconds": result.seconds or 0.0}
    return ScoredRun(
        measures,
        cell.seed,
        peak_bytes=result.peak_bytes,
        version=result.version,
        source=evaluation,
    )


@dataclass(frozen=True, kw_only=True)
class SystemSummary(RunGroup):
    """A system and its runs; its name has ``-F`` if its trees were flattened."""

    spec: SystemSpec
    settings: Mapping[str, Any]
    """All of them, defaults included."""
    flattened: bool = False
    """Whether the trees were flattened before they were scored."""

    @property
    def peak_bytes(self) -> int | None:
        """The peak memory over all runs."""
        return max((run.peak_bytes for run in self.runs if run.peak_bytes), default=None)

    @property
    def tested_name(self) -> str:
        """The system's name, and the seed of the run that is tested."""
        if not self.spec.stochastic or not self.runs:
            return self.name
        return f"{self.name} (seed {self.median_run.seed})"

    def data(self) -> dict[str, Any]:
        """The summary as JSON data."""
        return {
            "name": self.name,
            "summary": self.spec.summary,
            "reference": self.spec.reference,
            "settings": dict(self.settings),
            "stochastic": self.spec.stochastic,
            "runs": [
                {
                    "seed": run.seed,
                    **run.measures,
                    "peak_bytes": run.peak_bytes,
                    "version": run.version,
                }
                for run in self.runs
            ],
            "spread": {
                measure: dict(zip(("mean", "sd", "min", "max"), map(finite, self.spread(measure))))
                for measure in MEASURES
            },
            "peak_bytes": self.peak_bytes,
            "failures": [{"seed": seed, "message": why} for seed, why in self.failures.items()],
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several systems on one corpus; ``print`` shows its tables."""

    corpus: Mapping[str, Any]
    """Digest, size and preprocessing of the corpus."""
    signature: str
    """The convention of the scores."""
    category: str
    """The gold category of ``phrase_recall``."""
    summaries: Sequence[SystemSummary]
    """One for each system, in the order in which they were named."""
    tests: Mapping[tuple[str, str], PairedTest]
    """The best system against every other."""

    @classmethod
    def from_summaries(
        cls,
        task: Task,
        summaries: Sequence[SystemSummary],
        permutations: int = 10_000,
        seed: int = 0,
    ) -> Comparison:
        """Test the best system against the others, but not against flattened trees."""
        tested = [summary for summary in summaries if not summary.flattened]
        signature = task.convention.signature()
        tests = _tests(tested, permutations, seed)
        return cls(task.describe(), signature, task.category, summaries, tests)

    def save(self, directory: Path) -> None:
        """Write the comparison to a file that `comparison_data` reads."""
        with write_errors(directory):
            write_json(directory / FILE, FORMAT, self.data())

    def data(self) -> dict[str, Any]:
        """The comparison as JSON data, which `comparison_data` reads back."""
        return {
            "corpus": dict(self.corpus),
            "signature": self.signature,
            "category": self.category,
            "systems": [summary.data() for summary in self.summaries],
            "tests": [
                {
                    "system": names[0],
                    "against": names[1],
                    "f1": finite(test.first),
                    "against_f1": finite(test.second),
                    "difference": finite(test.difference),
                    "p": test.p,
                    "permutations": test.permutations,
                    "seed": test.seed,
                }
                for names, test in self.tests.items()
            ],
            "tables": [table.json() for table in self.tables()],
        }

    def tables(self) -> list[Table]:
        """Scores, time and memory of all systems; spread; tests against the best; tag scores."""
        tables = [self._systems()]
        if any(len(system.runs) > 1 for system in self.summaries):
            tables.append(self._spread())
        if self.tests:
            tables.append(self._differences())
        with_tags = [
            summary
            for summary in self.summaries
            if any(has_tags(run.evaluation) for run in summary.runs)
        ]
        return [*tables, _tags(with_tags)] if with_tags else tables

    def __str__(self) -> str:
        return render(self.tables())

    def __repr__(self) -> str:
        names = ", ".join(system.name for system in self.summaries)
        return shortened(
            f"<Comparison of {names} on {plural(self.corpus['sentences'], 'sentence')}>"
        )

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

    def to_latex(self) -> str:
        """The tables for LaTeX, with the package booktabs."""
        return render(self.tables(), "latex")

    def _systems(self) -> Table:
        """One row for each system: means over its runs, and failures."""
        columns = [
            Column("System"),
            Column("Runs", "count"),
            Column("P", "score", "precision"),
            Column("R", "score", "recall"),
            Column("F1", "score", "f1"),
            Column(self.category, "score", "phrase_recall"),
            Column(f"{self.category} agg F1", "score", "aggregate_f1"),
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
            note: list[Entry] = [system.note] if failed else []
            rows.append([system.name, len(system.runs), *means, peak, *note])
        return Table("Systems", columns, rows, self._notes())

    def _notes(self) -> list[str]:
        return [
            f"{plural(self.corpus['sentences'], 'sentence')}, "
            f"{plural(self.corpus['words'], 'word')} without punctuation",
            f"{self.category}: recall of gold {self.category}s of two words or more",
            f"{self.category} agg F1: of the labels that together are closest to {self.category}, "
            "chosen on the first sentences and scored on the others",
            "P, R, F1, recall and seconds are means over runs; MB is the greatest of them",
            *(
                _settings(system)
                for system in self.summaries
                if system.settings and not system.flattened
            ),
            *(
                f"{system.name}: trees of {system.spec.name} flattened by estimated heads, our "
                "reading of a step that was not published; not tested"
                for system in self.summaries
                if system.flattened
            ),
            *(
                f"{system.name} ran under dbpcfg {version}, not {__version__}"
                for system in self.summaries
                for version in dict.fromkeys(run.version for run in system.runs)
                if version != __version__
            ),
            self.signature,
        ]

    def _spread(self) -> Table:
        """How the measures of systems with several runs vary."""
        columns = [
            Column("System"),
            Column("Runs", "count"),
            Column("Measure"),
            *(Column(name, "number") for name in ("mean", "sd", "min", "max")),
        ]
        names = {"f1": "F1", "phrase_recall": f"{self.category} recall"}
        names["aggregate_f1"] = f"{self.category} agg F1"
        rows: list[list[Entry]] = []
        for system in self.summaries:
            for measure in MEASURES if len(system.runs) > 1 else ():
                scale = 1 if measure == "seconds" else 100
                figures = [scale * figure for figure in system.spread(measure)[:4]]
                rows.append([system.name, len(system.runs), names.get(measure, measure), *figures])
        note = "sd: standard deviation over runs with different seeds, n − 1; scores in percent"
        return Table("Spread over runs", columns, rows, [note, self.signature])

    def _differences(self) -> Table:
        """Paired permutation tests of the best system against the others."""
        table = comparison_table(self.tests)
        notes = [*table.notes, "the best by mean F1 against each other system"]
        if any(system.spec.stochastic and system.runs for system in self.summaries):
            notes.append(
                "of several runs the one of median F1 is compared (of an even number the lower of "
                "the two in the middle)"
            )
        return Table(table.title, table.columns, table.rows, notes)


def _tests(
    summaries: Sequence[SystemSummary], permutations: int, seed: int
) -> dict[tuple[str, str], PairedTest]:
    """Test the system of greatest mean F1, the first among equals, against every other.

    Returns tests of F1 by the names of both, the best first; none if no score is defined.
    """
    ranked = [system for system in summaries if not math.isnan(system.spread("f1").mean)]
    if not ranked:
        return {}
    best = max(ranked, key=lambda system: system.spread("f1").mean)
    groups = {system.tested_name: system for system in summaries if system.runs}
    others = [name for name in groups if name != best.tested_name]
    return paired_tests(groups, [(best.tested_name, name) for name in others], permutations, seed)


def _tags(systems: Sequence[SystemSummary]) -> Table:
    """How well tags of words agree with gold tags: one row for each system that gives tags."""
    columns = [
        Column("System"),
        Column("Runs", "count"),
        *(Column(name, "score") for name in ("Many-to-one", "Homogeneity", "Completeness")),
        Column("V", "score", "v_measure"),
        Column("sd of V", "percent", "v_measure_sd"),
    ]
    rows: list[list[Entry]] = []
    for system in systems:
        scores = [run.evaluation.tags.score() for run in system.runs]
        spreads = [spread(getattr(score, name) for score in scores) for name in TAG_MEASURES]
        means = [score.mean for score in spreads]
        rows.append([system.name, len(system.runs), *means, spreads[-1].sd])
    signatures = dict.fromkeys(
        run.evaluation.tags.signature for system in systems for run in system.runs
    )
    return Table("Word categories", columns, rows, ["means over runs", *signatures])


def _settings(system: SystemSummary) -> str:
    settings = ", ".join(
        f"{name} = {value}"
        for name, value in system.settings.items()
        if value is not None or name == "D"  # no bound
    )
    return f"{system.name}: {settings}"


def comparison_data(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the last comparison in a directory.

    ================  ========================================================================
    ``corpus``        digest, number of sentences and words, how they were prepared
    ``signature``     of the scores
    ``systems``       for each: name, summary, reference, settings, whether it is stochastic;
                      ``runs`` (seed and measures of each), ``spread`` (by measure: mean, sd,
                      min, max), ``failures``; scores are fractions, what is undefined is None
    ``tests``         best against other: F1 of both, difference, p
    ``tables``        the printed tables: title, rows, notes
    ================  ========================================================================
    """
    path = Path(directory) / FILE
    if not path.exists():
        raise DbpcfgError(
            f"{path.parent} has no finished comparison; make one with "
            f"`dbpcfg compare TREEBANK --out {path.parent}`"
        )
    return read_json(path, FORMAT)
