"""The chain: sweeps, hyperparameters, and the best classes so far.

The best are those of greatest log p(z, features | α, β) with the α and β of their iteration, which
have a flat prior: the most probable state of the chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.numerics.philox import Purpose, compiled_uniform_pair, stream
from dbpcfg.systems.bmmm import faithful as published
from dbpcfg.systems.bmmm.features import Features
from dbpcfg.systems.bmmm.hyperparameters import step
from dbpcfg.systems.bmmm.likelihood import ClassCounts, count_classes, log_posterior
from dbpcfg.systems.bmmm.schedule import powers
from dbpcfg.systems.bmmm.sweep import LogTables, fill_tables, sweep

INTERVAL = 5
"""Iterations from one sampling of hyperparameters to the next."""


@dataclass(frozen=True)
class ClassSampler:
    """The settings of a chain."""

    classes: int
    """K."""
    iterations: int
    """The number of sweeps."""
    seed: int = 0
    """The seed of the random numbers."""
    generation: int = 0
    """Which of several chains with the same seed this is."""
    faithful: bool = False
    """Whether to do as the published program does."""
    alpha: float = 0.1
    """α at the start."""
    beta: float = 0.1
    """Each β_f at the start."""

    def sample(self, features: Features, report: Callable[[int], None]) -> ClassSample:
        """Run the chain."""
        types = features.pointers.shape[1] - 1
        z = self._initial(types)
        counts = count_classes(features, z, self.classes)
        x = np.array([self.alpha] + [self.beta] * len(features.pointers))
        tables = _tables(features, counts)
        fill_tables(features.firsts, x[1:], tables)
        best: ClassSample | None = None
        for number, tau in enumerate(powers(self.iterations), start=1):
            numbers = stream(self.seed, self.generation, number, Purpose.BMMM)
            sweep(features, counts, tables, x[0], tau, z, numbers, self.faithful)
            density = self._density(features, counts, z)
            fifth = number % INTERVAL == 0
            if fifth or not self.faithful or (best is None and number == self.iterations):
                value = sum(density(j, x[j]) for j in range(len(x)))
                if best is None or value > best.log_posterior:
                    best = ClassSample(z.copy(), value, x.copy())
            if fifth:
                step(x, density, tau, numbers, self.faithful)
                fill_tables(features.firsts, x[1:], tables)
            report(number)
        assert best is not None  # the last iteration is compared if none was before
        return best

    def _initial(self, types: int) -> Longs:
        """Classes drawn uniformly."""
        numbers = stream(self.seed, self.generation, 0, Purpose.BMMM)
        drawn = [int(self.classes * compiled_uniform_pair(numbers, i, 0)[0]) for i in range(types)]
        return np.array(drawn, dtype=np.int64)

    def _density(
        self, features: Features, counts: ClassCounts, z: Longs
    ) -> Callable[[int, float], float]:
        """The term of each hyperparameter in the log posterior that samples are compared by."""
        if self.faithful:
            return partial(published.log_posterior, features, counts, z)
        return partial(log_posterior, features, counts)


@dataclass(frozen=True)
class ClassSample:
    """A state of the chain."""

    z: Longs
    """The class of each type."""
    log_posterior: float
    """log p(z, features | α, β); with ``faithful`` what the published program takes for it."""
    hyperparameters: Floats
    """α, then β of each set of features."""


def _tables(features: Features, counts: ClassCounts) -> LogTables:
    """Tables for all counts that a class can have."""
    sets = len(features.pointers)
    most = int(counts.features.sum(axis=1).max())
    tokens = int(counts.tokens.sum(axis=1).max())
    return LogTables(np.empty((sets, most + 1)), np.empty((sets, tokens + 1)))
