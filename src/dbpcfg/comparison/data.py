"""A comparison as plain data, as JSON has it: what the directory keeps, and reports show."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from dbpcfg.comparison.store import COMPARISON
from dbpcfg.comparison.summary import MEASURES, Comparison, ScoredRun, SystemSummary
from dbpcfg.comparison.tables import comparison_tables
from dbpcfg.errors import DbpcfgError
from dbpcfg.files.json_files import read_json


def comparison_data(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """What the last comparison in a directory came to.

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
    path = Path(directory) / "comparison.json"
    if not path.exists():
        raise DbpcfgError(
            f"{path.parent} has no finished comparison; make one with "
            f"`dbpcfg compare TREEBANK --out {path.parent}`"
        )
    return read_json(path, COMPARISON)


def as_data(compared: Comparison) -> dict[str, Any]:
    """A comparison as `comparison_data` gives it back."""
    return {
        "corpus": dict(compared.corpus),
        "signature": compared.signature,
        "category": compared.category,
        "systems": [_system(it) for it in compared.summaries],
        "tests": [
            {
                "system": names[0],
                "against": names[1],
                "f1": _defined(it.first),
                "against_f1": _defined(it.second),
                "difference": _defined(it.difference),
                "p": it.p,
                "permutations": it.permutations,
                "seed": it.seed,
            }
            for names, it in compared.tests.items()
        ],
        "tables": [table.json() for table in comparison_tables(compared)],
    }


def _system(it: SystemSummary) -> dict[str, Any]:
    return {
        "name": it.name,
        "summary": it.kind.summary,
        "reference": it.kind.reference,
        "settings": dict(it.settings),
        "stochastic": it.kind.stochastic,
        "runs": [_run(run) for run in it.runs],
        "spread": {
            measure: dict(zip(("mean", "sd", "min", "max"), map(_defined, it.spread(measure))))
            for measure in MEASURES
        },
        "peak_bytes": it.peak_bytes,
        "failures": [{"seed": seed, "message": why} for seed, why in it.failures.items()],
    }


def _run(run: ScoredRun) -> dict[str, Any]:
    measures = {measure: _defined(run.value(measure)) for measure in MEASURES}
    return {"seed": run.seed, **measures, "peak_bytes": run.peak_bytes, "version": run.version}


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None
