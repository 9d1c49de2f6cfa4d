"""The scores of runs, their spread over seeds and chains, and tests between systems.

`compare`, `sweep` and `reproduce` make a `ScoredRun` for the trees of each run or chain. Those that
differ only in their seed or chain are a `RunGroup`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.io.files import finite
from dbpcfg.version import __version__

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)

Variant = Literal["", "flattened", "mbr"]
"""Which trees: those of the run, the same flattened, or MBR trees of a run that has others."""


def measured(evaluation: Evaluation, names: Iterable[str]) -> dict[str, float | None]:
    """Measures of an evaluation by name, as fractions; None for what is undefined."""
    return {name: finite(_measured(evaluation, name)) for name in names}


def _measured(evaluation: Evaluation, name: str) -> float:
    if name == "phrase_recall":
        return evaluation.recall.recall
    if name in ("aggregate_f1", "homogeneity"):
        if len(evaluation.constituents.induced) < 2:  # one label for all spans
            return math.nan
        if name == "aggregate_f1":
            return evaluation.aggregate.f1
        return evaluation.constituents.score().homogeneity
    return float(getattr(evaluation.score, name))


@dataclass(frozen=True)
class ScoredRun:
    """The scores of the trees of a run, or of one of its chains."""

    measures: Mapping[str, float | None]
    """By name: fractions, log-likelihood per token, seconds; None for what is undefined."""
    seed: int | None = None
    chain: int | None = None
    selected: bool = True
    """Whether the run selects this chain."""
    variant: Variant = ""
    peak_bytes: int | None = None
    version: str = __version__
    """The version of this package that made the run."""
    source: Evaluation | Callable[[], Evaluation] | None = field(
        default=None, compare=False, repr=False
    )
    """The scores sentence by sentence, or a function that computes them again."""

    def value(self, measure: str) -> float:
        """A measure; nan if it is undefined."""
        value = self.measures.get(measure)
        return math.nan if value is None else value

    @property
    def evaluation(self) -> Evaluation:
        """The scores sentence by sentence, for tests."""
        evaluation = self.source() if callable(self.source) else self.source
        assert evaluation is not None
        return evaluation


class Spread(NamedTuple):
    """Summary statistics of some values."""

    mean: float
    sd: float
    """Standard deviation, n − 1; nan for one run."""
    minimum: float
    maximum: float
    median: float
    """The mean of the two middle values if their number is even."""


def spread(values: Iterable[float]) -> Spread:
    """Summarise values; all statistics are nan if a value is nan, or there are none."""
    numbers = list(values)
    if not numbers or any(map(math.isnan, numbers)):
        return Spread(*[math.nan] * len(Spread._fields))
    mean = statistics.fmean(numbers)
    sd = statistics.stdev(numbers) if len(numbers) > 1 and math.isfinite(mean) else math.nan
    return Spread(mean, sd, min(numbers), max(numbers), statistics.median(numbers))


def middle_runs(runs: Iterable[T], value: Callable[[T], float]) -> list[T]:
    """The run of median value, or the two middle runs, the lower first.

    Paired tests compare the first of these. Comparing the best runs instead would favour systems
    that vary, or that are run often.
    """
    ranked = sorted(runs, key=value)
    return ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]


@dataclass(frozen=True)
class RunGroup:
    """Runs that differ only in their seed or chain."""

    name: str
    runs: Sequence[ScoredRun]
    """Those that finished."""
    failures: Mapping[int | None, str] = field(default_factory=dict)
    """Why others failed, by seed."""
    missing: int = 0
    """Runs that have neither finished nor failed."""

    def values(self, measure: str) -> list[float]:
        """A measure of all runs for which it is defined."""
        return [value for run in self.runs if not math.isnan(value := run.value(measure))]

    def spread(self, measure: str) -> Spread:
        """The spread of a measure over runs; all nan if it is undefined for one of them."""
        return spread(run.value(measure) for run in self.runs)

    def median_runs(self, measure: str = "f1") -> list[ScoredRun]:
        """The run of median value, or the two middle runs, the lower first."""
        defined = [run for run in self.runs if not math.isnan(run.value(measure))]
        return middle_runs(defined, lambda run: run.value(measure))

    @property
    def median_run(self) -> ScoredRun:
        """The run of median F1, which tests compare."""
        return (self.median_runs() or self.runs)[0]

    def at_median(self, measure: str, main: str = "f1") -> float | None:
        """A measure of the run that is median by ``main``, or the mean of the two middle runs."""
        values = [run.value(measure) for run in self.median_runs(main)]
        return finite(statistics.fmean(values)) if values else None

    @property
    def note(self) -> str:
        """Describe failed and missing runs."""
        seeds_by_reason: dict[str, list[str]] = {}
        for seed, why in self.failures.items():
            seeds_by_reason.setdefault(why, []).extend([] if seed is None else [str(seed)])
        parts = [
            f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds)} failed: {why}"
            if seeds
            else f"failed: {why}"
            for why, seeds in seeds_by_reason.items()
        ]
        return "; ".join([*parts, *([f"{self.missing} not finished"] if self.missing else [])])


def grouped(runs: Iterable[tuple[Key, ScoredRun]]) -> dict[Key, list[ScoredRun]]:
    """Group runs by a key."""
    groups: dict[Key, list[ScoredRun]] = {}
    for key, run in runs:
        groups.setdefault(key, []).append(run)
    return groups


def paired_tests(
    groups: Mapping[str, RunGroup],
    pairs: Iterable[tuple[str, str]],
    permutations: int,
    seed: int = 0,
) -> dict[tuple[str, str], PairedTest]:
    """Test pairs of groups by their runs of median F1; groups are named as in tables."""
    pairs = list(pairs)
    names = {name for pair in pairs for name in pair}
    evaluations = {name: groups[name].median_run.evaluation for name in groups if name in names}
    return {
        (first, second): evaluations[first].compare(evaluations[second], permutations, seed)
        for first, second in pairs
    }
