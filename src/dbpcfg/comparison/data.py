"""A comparison as plain data, for ``comparison.json`` and for reports."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from dbpcfg.comparison.result import Comparison
from dbpcfg.comparison.store import COMPARISON
from dbpcfg.comparison.summary import MEASURES, ScoredRun, SystemSummary
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import read_json


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
    path = Path(directory) / "comparison.json"
    if not path.exists():
        raise DbpcfgError(
            f"{path.parent} has no finished comparison; make one with "
            f"`dbpcfg compare TREEBANK --out {path.parent}`"
        )
    return read_json(path, COMPARISON)


def as_data(comparison: Comparison) -> dict[str, Any]:
    """The data of a comparison, as `comparison_data` reads it."""
    return {
        "corpus": dict(comparison.corpus),
        "signature": comparison.signature,
        "category": comparison.category,
        "systems": [_system(summary) for summary in comparison.summaries],
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
            for names, test in comparison.tests.items()
        ],
        "tables": [table.json() for table in comparison.tables()],
    }


def _system(system: SystemSummary) -> dict[str, Any]:
    return {
        "name": system.name,
        "summary": system.spec.summary,
        "reference": system.spec.reference,
        "settings": dict(system.settings),
        "stochastic": system.spec.stochastic,
        "runs": [_run(run) for run in system.runs],
        "spread": {
            measure: dict(zip(("mean", "sd", "min", "max"), map(finite, system.spread(measure))))
            for measure in MEASURES
        },
        "peak_bytes": system.peak_bytes,
        "failures": [{"seed": seed, "message": why} for seed, why in system.failures.items()],
    }


def _run(run: ScoredRun) -> dict[str, Any]:
    measures = {measure: finite(run.value(measure)) for measure in MEASURES}
    return {"seed": run.seed, **measures, "peak_bytes": run.peak_bytes, "version": run.version}


def finite(value: float) -> float | None:
    """The number, or None for one that JSON cannot hold."""
    return value if math.isfinite(value) else None
