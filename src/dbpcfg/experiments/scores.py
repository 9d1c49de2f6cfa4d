"""The scores of runs: how they vary over seeds and chains, and tests between systems.

`compare`, `sweep` and `reproduce` have a `ScoredRun` for the trees of each run or chain. Those that
differ only in their seed or chain are a `RunGroup`; each command shows groups in tables of its own.
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
    """Measures of some trees by their names: fractions, None for what is undefined."""
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
    """Whether it is the chain that its run selects."""
    variant: Variant = ""
    peak_bytes: int | None = None
    version: str = __version__
    """The version of this package that ran it."""
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
        found = self.source() if callable(self.source) else self.source
        assert found is not None
        return found


class Spread(NamedTuple):
    """How some values vary: those of runs that differ in their seed."""

    mean: float
    sd: float
    """Standard deviation, n − 1; nan for one run."""
    least: float
    greatest: float
    median: float
    """Of an even number the mean of the two in the middle."""


def spread(values: Iterable[float]) -> Spread:
    """Mean, standard deviation, least, greatest and median; all nan if a value is, or none is."""
    found = list(values)
    if not found or any(map(math.isnan, found)):
        return Spread(*[math.nan] * len(Spread._fields))
    mean = statistics.fmean(found)
    sd = statistics.stdev(found) if len(found) > 1 and math.isfinite(mean) else math.nan
    return Spread(mean, sd, min(found), max(found), statistics.median(found))


def middle_runs(runs: Iterable[T], value: Callable[[T], float]) -> list[T]:
    """The run of median value; of an even number the two in the middle, the lower first.

    A paired test needs one tree for each sentence, so it compares the first of these. Comparing the
    best run instead would reward systems for varying, and for being run often.
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
        """How a measure varies over runs; all nan if it is undefined for one, or none finished."""
        return spread(run.value(measure) for run in self.runs)

    def median_runs(self, measure: str = "f1") -> list[ScoredRun]:
        """The run of median value; of an even number the two in the middle, the lower first."""
        defined = [run for run in self.runs if not math.isnan(run.value(measure))]
        return middle_runs(defined, lambda run: run.value(measure))

    @property
    def median_run(self) -> ScoredRun:
        """The run of median F1, which is the one that is tested."""
        return (self.median_runs() or self.runs)[0]

    def at_median(self, measure: str, main: str = "f1") -> float | None:
        """A measure of the run that is median by ``main``; of two in the middle the mean."""
        values = [run.value(measure) for run in self.median_runs(main)]
        return finite(statistics.fmean(values)) if values else None

    @property
    def note(self) -> str:
        """What went wrong, in words."""
        seeds: dict[str, list[str]] = {}
        for seed, why in self.failures.items():
            seeds.setdefault(why, []).extend([] if seed is None else [str(seed)])
        parts = [
            f"{'seed' if len(found) == 1 else 'seeds'} {', '.join(found)} failed: {why}"
            if found
            else f"failed: {why}"
            for why, found in seeds.items()
        ]
        return "; ".join([*parts, *([f"{self.missing} not finished"] if self.missing else [])])


def grouped(runs: Iterable[tuple[Key, ScoredRun]]) -> dict[Key, list[ScoredRun]]:
    """Runs by a key: what they have in common, the seed and chain apart."""
    found: dict[Key, list[ScoredRun]] = {}
    for key, run in runs:
        found.setdefault(key, []).append(run)
    return found


def paired_tests(
    groups: Mapping[str, RunGroup],
    pairs: Iterable[tuple[str, str]],
    permutations: int,
    seed: int = 0,
) -> dict[tuple[str, str], PairedTest]:
    """Permutation tests between groups, by their names in tables: of their runs of median F1."""
    pairs = list(pairs)
    names = {name for pair in pairs for name in pair}
    scored = {name: groups[name].median_run.evaluation for name in groups if name in names}
    return {
        (one, other): scored[one].compare(scored[other], permutations, seed) for one, other in pairs
    }
