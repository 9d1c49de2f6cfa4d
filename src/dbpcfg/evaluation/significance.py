"""Significance of a difference between two systems, and confidence intervals of a score.

Both come from the statistics that scores are made of (see `parseval`), sentence by sentence.

**Paired permutation test** (approximate randomisation, Noreen 1989): under the null hypothesis it
does not matter which system produced which of a sentence's two trees.  So swap the two rows of each
sentence with probability 1/2, n times, and count the c times that the F1s differ at least as much
as observed, in either direction.  Then p = (c + 1) / (n + 1): the observed assignment is one of the
possible ones, so p is never 0.

**Bootstrap interval**: resample the sentences with replacement many times; the interval has the
middle 95% of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.parseval import Convention, Floats, Statistics, ratios, score, terms
from dbpcfg.io.tables import percent, plural

_CELLS = 2**21  # random numbers in memory at once
_ROUNDING = 1e-12  # tolerance for differences that are equal in exact arithmetic


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired permutation test of two systems on the same sentences."""

    first: float
    """F1 of the first system."""
    second: float
    """F1 of the second system."""
    p: float
    """The two-sided p-value."""
    permutations: int
    """The number of permutations."""
    seed: int
    """The seed of the random numbers."""
    signature: str
    """The convention."""

    @property
    def difference(self) -> float:
        """F1 of the first minus F1 of the second."""
        return self.first - self.second

    def __str__(self) -> str:
        return (
            f"F1 {percent(self.first)} against {percent(self.second)}: p = {self.p:.4g} "
            f"({plural(self.permutations, 'permutation')}, seed {self.seed}) {self.signature}"
        )


@dataclass(frozen=True, slots=True)
class Intervals:
    """Confidence intervals: the lower and upper end for each measure."""

    precision: tuple[float, float]
    """The interval of precision."""
    recall: tuple[float, float]
    """The interval of recall."""
    f1: tuple[float, float]
    """The interval of F1."""
    level: float
    """The level of confidence."""
    resamples: int
    """The number of resamples."""
    seed: int
    """The seed of the random numbers."""


def permutation_test(
    first: Statistics,
    second: Statistics,
    convention: Convention,
    permutations: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    """Test the difference in F1 of two systems, two-sided.

    ``first``: one row ``(matched, predicted, gold)`` for each sentence that is scored.
    ``second``: the rows of the other system for the same sentences.
    """
    if permutations < 1:
        raise DbpcfgError(f"permutations must be at least 1, not {permutations}")
    if first.shape != second.shape or (first[:, 2] != second[:, 2]).any():
        raise DbpcfgError(
            "the two systems are not scored on the same gold trees "
            f"({len(first):,} and {plural(len(second), 'sentence')}): use the same gold and "
            "convention"
        )
    first_terms, second_terms = terms(first, convention)[:, 2], terms(second, convention)[:, 2]
    changes = second_terms - first_terms
    changes = changes[changes.any(axis=1)]  # others make no difference
    total, other_total = first_terms.sum(axis=0), second_terms.sum(axis=0)
    observed = abs(_f1(total) - _f1(other_total))
    at_least = 0
    for rng, size in _chunks(permutations, len(changes), seed):
        swapped = rng.integers(0, 2, (size, len(changes)), dtype=bool).astype(float) @ changes
        differences = np.abs(_f1(total + swapped) - _f1(other_total - swapped))
        at_least += int((differences >= observed - _ROUNDING).sum())
    return PairedTest(
        first=score(first, convention).f1,
        second=score(second, convention).f1,
        p=(at_least + 1) / (permutations + 1),
        permutations=permutations,
        seed=seed,
        signature=convention.signature(),
    )


def bootstrap(
    statistics: Statistics,
    convention: Convention,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
) -> Intervals:
    """Percentile intervals of precision, recall and F1.

    ``statistics``: one row ``(matched, predicted, gold)`` for each sentence that is scored.
    """
    if not 0 < level < 1:
        raise DbpcfgError(f"the level must be between 0 and 1, such as 0.95, not {level}")
    if resamples < 1:
        raise DbpcfgError(f"resamples must be at least 1, not {resamples}")
    rows = terms(statistics, convention)
    sentences = len(rows)
    if np.isnan(ratios(rows.sum(axis=0))).any():  # nothing to resample
        undefined = (float("nan"), float("nan"))
        return Intervals(undefined, undefined, undefined, level, resamples, seed)
    values = [
        ratios(rows[rng.integers(0, sentences, (size, sentences))].sum(axis=1))
        for rng, size in _chunks(resamples, rows.size, seed)
    ]
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.nanquantile(np.concatenate(values), tails, axis=0).tolist()
    precision, recall, f1 = zip(low, high)
    return Intervals(precision, recall, f1, level, resamples, seed)


def wilson(successes: float, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, correction = successes / trials, z * z / trials
    middle = (share + correction / 2) / (1 + correction)
    half = (
        z * math.sqrt(share * (1 - share) / trials + correction / (4 * trials)) / (1 + correction)
    )
    return max(0.0, middle - half), min(1.0, middle + half)


def _f1(sums: Floats) -> Floats:
    """F1 from sums of its terms; 0 if undefined, so systems without brackets do not differ."""
    return sums[..., 0] / np.maximum(sums[..., 1], 1)  # denominators are whole numbers


def _chunks(times: int, width: int, seed: int) -> Iterator[tuple[np.random.Generator, int]]:
    """One generator, and how many rows of ``width`` random numbers to draw from it at a time."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _CELLS // max(1, width))
    for first in range(0, times, rows):
        yield rng, min(rows, times - first)
