"""What the runs of each system came to, which system is best, and tests against it.

A system that draws random numbers stands where the mean of its runs does.  A paired test needs
one tree for each sentence, so it compares the run of *median F1*: of an even number the lower of
the two in the middle, of equal ones the first.  Comparing the best run instead would reward
systems for varying, and for being run often.
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

MEASURES = ("precision", "recall", "f1", "phrase_recall", "seconds")
"""What is measured of every run, and averaged over runs."""


@dataclass(frozen=True)
class ScoredRun:
    """A finished run and its scores."""

    seed: int | None
    evaluation: Evaluation
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None
    version: str
    """Of this package, when it ran."""

    def value(self, measure: str) -> float:
        """One of the `MEASURES`."""
        if measure == "seconds":
            return self.seconds
        if measure == "phrase_recall":
            return self.evaluation.recall.recall
        return float(getattr(self.evaluation.score, measure))


class Spread(NamedTuple):
    """Mean, standard deviation (n − 1; nan for one run), least and greatest of some runs."""

    mean: float
    sd: float
    least: float
    greatest: float


@dataclass(frozen=True)
class SystemSummary:
    """A system, its finished runs, and how others failed, by seed."""

    kind: SystemSpec
    settings: Mapping[str, Any]
    runs: Sequence[ScoredRun]
    failures: Mapping[int | None, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the system."""
        return self.kind.name

    def spread(self, measure: str) -> Spread:
        """How a measure varies over runs; all nan if none is finished."""
        values = [run.value(measure) for run in self.runs]
        if not values or any(map(math.isnan, values)):
            return Spread(math.nan, math.nan, math.nan, math.nan)
        sd = statistics.stdev(values) if len(values) > 1 else math.nan
        return Spread(statistics.fmean(values), sd, min(values), max(values))

    @property
    def peak_bytes(self) -> int | None:
        """The greatest amount of memory that any run held."""
        return max((run.peak_bytes for run in self.runs if run.peak_bytes), default=None)

    @property
    def median(self) -> ScoredRun:
        """The run of median F1, which is the one that is compared."""
        ranked = sorted(self.runs, key=lambda run: run.value("f1"))
        return ranked[(len(ranked) - 1) // 2]

    @property
    def compared(self) -> str:
        """The system's name, and the seed of the run that is compared."""
        if not self.kind.stochastic:
            return self.name
        return f"{self.name} (seed {self.median.seed})"

    @property
    def remark(self) -> str | None:
        """How runs failed, if some did."""
        told = [
            f"failed: {why}" if seed is None else f"seed {seed} failed: {why}"
            for seed, why in self.failures.items()
        ]
        return "; ".join(told) or None


def best_of(summaries: Sequence[SystemSummary]) -> SystemSummary | None:
    """The system of greatest mean F1, the first among equals; None if no score is defined."""
    ranked = [it for it in summaries if not math.isnan(it.spread("f1").mean)]
    return max(ranked, key=lambda it: it.spread("f1").mean, default=None)


def compared_with_best(
    summaries: Sequence[SystemSummary], permutations: int = 10_000, seed: int = 0
) -> dict[tuple[str, str], PairedTest]:
    """Paired permutation tests of the best system against every other, by what is compared."""
    best = best_of(summaries)
    if best is None:
        return {}
    return {
        (best.compared, other.compared): best.median.evaluation.compare(
            other.median.evaluation, permutations, seed
        )
        for other in summaries
        if other is not best and other.runs
    }


@dataclass(frozen=True)
class Comparison:
    """A comparison: the corpus, the convention of its scores, where systems stand, and tests."""

    corpus: Mapping[str, Any]
    signature: str
    category: str
    """The gold category of ``phrase_recall``."""
    summaries: Sequence[SystemSummary]
    tests: Mapping[tuple[str, str], PairedTest]
