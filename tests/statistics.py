"""How well drawn outcomes agree with the probabilities that they should have."""

from collections.abc import Hashable, Mapping

import numpy as np
from scipy.stats import chi2, norm

LEAST_P = 1e-4
"""A test at a fixed seed passes above this p-value."""

FEWEST = 5.0
"""Outcomes expected less often than this are pooled."""


def goodness_of_fit(
    observed: Mapping[Hashable, int], expected: Mapping[Hashable, float], draws: int
) -> float:
    """p-value of Pearson's chi-square test of ``draws`` outcomes against their probabilities.

    ``observed`` holds numbers of times and ``expected`` probabilities. Probabilities may sum to
    less than one: what is left is that of all outcomes not listed, together. Cells expected less
    than five times are pooled. An outcome of probability zero, once observed, makes the p-value 0.
    """
    total = sum(expected.values())
    assert total < 1 + 1e-9, f"probabilities sum to {total}"
    assert sum(observed.values()) <= draws, "more outcomes than draws"
    cells = [(observed.get(outcome, 0), draws * p) for outcome, p in expected.items()]
    if any(seen and not p for seen, p in cells):
        return 0.0
    unlisted = draws - sum(seen for seen, _ in cells)
    if total < 1 - 1e-9:
        cells.append((unlisted, draws * (1 - total)))
    elif unlisted:
        return 0.0
    cells.sort(key=lambda cell: cell[1])
    kept = [cell for cell in cells if cell[1] >= FEWEST]
    pooled = np.array([cell for cell in cells if cell[1] < FEWEST] or [(0, 0.0)]).sum(axis=0)
    if kept and 0 < pooled[1] < FEWEST:  # still too rare: with the rarest of the others
        pooled += kept.pop(0)
    table = np.array(kept + [tuple(pooled)] * bool(pooled[1] > 0))
    assert len(table) > 1, "one cell tests nothing: draw more, or list more outcomes"
    statistic = ((table[:, 0] - table[:, 1]) ** 2 / table[:, 1]).sum()
    return float(chi2.sf(statistic, len(table) - 1))


def same_mean(samples: np.ndarray, expected: np.ndarray | float) -> float:
    """p-value that the columns of ``samples`` have these means: the worst column's, corrected."""
    return _worst(samples.mean(axis=0) - expected, samples.var(axis=0) / len(samples))


def same_means(first: np.ndarray, second: np.ndarray) -> float:
    """p-value that two samples, one draw in each row, have the same means; as `same_mean`."""
    variance = first.var(axis=0) / len(first) + second.var(axis=0) / len(second)
    return _worst(first.mean(axis=0) - second.mean(axis=0), variance)


def _worst(difference: np.ndarray, variance: np.ndarray) -> float:
    z = np.abs(difference) / np.sqrt(np.where(variance > 0, variance, np.finfo(float).tiny))
    return float(min(1.0, 2 * norm.sf(z.max()) * z.size))
