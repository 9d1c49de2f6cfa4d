"""Scores of the runs of each system, which system is best, and tests against it.

A system that draws random numbers is ranked by the mean of its runs.  A paired test needs one tree
for each sentence, so it compares the run of *median F1*: of an even number the lower of the two in
the middle, of equal ones the first.  Comparing the best run instead would reward systems for
varying, and for being run often.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.systems.registry import SystemSpec

MEASURES = ("precision", "recall", "f1", "phrase_recall", "aggregate_f1", "seconds")
"""Measured for every run, and averaged over runs."""

TAG_MEASURES = ("many_to_one", "homogeneity", "completeness", "v_measure")
"""Measured for runs whose trees have tags."""


@dataclass(frozen=True)
class ScoredRun:
    """A finished run and its scores."""

    seed: int | None
    evaluation: Evaluation
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None
    version: str
    """The version of this package that ran it."""

    def value(self, measure: str) -> float:
        """One of the `MEASURES` or `TAG_MEASURES`."""
        if measure == "seconds":
            return self.seconds
        if measure == "phrase_recall":
            return self.evaluation.recall.recall
        if measure == "aggregate_f1":  # with one label for all spans there is nothing to choose
            labelled = len(self.evaluation.constituents.induced) > 1
            return self.evaluation.aggregate.f1 if labelled else math.nan
        if measure in TAG_MEASURES:
            return float(getattr(self.evaluation.tags.score(), measure))
        return float(getattr(self.evaluation.score, measure))


class Spread(NamedTuple):
    """Mean, standard deviation (n − 1; nan for one run), least and greatest of some runs."""

    mean: float
    sd: float
    least: float
    greatest: float


@dataclass(frozen=True)
class SystemSummary:
    """A system and its runs."""

    spec: SystemSpec
    settings: Mapping[str, Any]
    """All of them, defaults included."""
    runs: Sequence[ScoredRun]
    """The runs that finished."""
    failures: Mapping[int | None, str] = field(default_factory=dict)
    """Why the others failed, by seed."""
    flattened: bool = False
    """Whether the trees were flattened before they were scored."""

    @property
    def name(self) -> str:
        """The name of the system, with ``-F`` if its trees were flattened."""
        return f"{self.spec.name}-F" if self.flattened else self.spec.name

    def spread(self, measure: str) -> Spread:
        """How one of the measures varies over runs; all nan if none finished."""
        values = [run.value(measure) for run in self.runs]
        if not values or any(map(math.isnan, values)):
            return Spread(math.nan, math.nan, math.nan, math.nan)
        sd = statistics.stdev(values) if len(values) > 1 else math.nan
        return Spread(statistics.fmean(values), sd, min(values), max(values))

    @property
    def peak_bytes(self) -> int | None:
        """The peak memory of the run that used most."""
        return max((run.peak_bytes for run in self.runs if run.peak_bytes), default=None)

    @property
    def median_run(self) -> ScoredRun:
        """The run of median F1, which is the one that is tested."""
        ranked = sorted(self.runs, key=lambda run: run.value("f1"))
        return ranked[(len(ranked) - 1) // 2]

    @property
    def tested_name(self) -> str:
        """The system's name, and the seed of the run that is tested."""
        if not self.spec.stochastic:
            return self.name
        return f"{self.name} (seed {self.median_run.seed})"

    @property
    def remark(self) -> str | None:
        """Why runs failed, if some did."""
        failed = [
            f"failed: {why}" if seed is None else f"seed {seed} failed: {why}"
            for seed, why in self.failures.items()
        ]
        return "; ".join(failed) or None


def best_of(summaries: Sequence[SystemSummary]) -> SystemSummary | None:
    """The system of greatest mean F1, the first among equals; None if no score is defined."""
    ranked = [system for system in summaries if not math.isnan(system.spread("f1").mean)]
    return max(ranked, key=lambda system: system.spread("f1").mean, default=None)


def compared_with_best(
    summaries: Sequence[SystemSummary], permutations: int = 10_000, seed: int = 0
) -> dict[tuple[str, str], PairedTest]:
    """Test the best system against every other by paired permutation.

    ``dict``: tests of F1 by the names of both, the best first; empty if no score is defined.
    """
    best = best_of(summaries)
    if best is None:
        return {}
    return {
        (best.tested_name, other.tested_name): best.median_run.evaluation.compare(
            other.median_run.evaluation, permutations, seed
        )
        for other in summaries
        if other is not best and other.runs
    }
