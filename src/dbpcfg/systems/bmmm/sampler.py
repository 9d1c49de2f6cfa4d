"""The Markov chain: sweeps over all types, steps for hyperparameters, and the best sample.

The best sample has the greatest log p(z, features | α, β), with the α and β of its iteration. As
these have a flat prior, it is the most probable state of the chain.

Probabilities are raised to a power τ in each iteration. With I iterations, H = I − round(I/2) and i
counted from 0:

* i < H: τ = 1 / (1 + (σ(i/H) − σ(1)) / (σ(0) − σ(1))) with σ(x) = 1 / (1 + exp(10 (x − 0.2))),
  from ½ to nearly 1.
* Then τ = 1.
* In the last 4 · (I div 20) iterations τ is multiplied by 1.11 at each multiple of I div 20, four
  times in all: with I = 500 it is 1.11 from 400 on, 1.23 from 425, 1.37 from 450, 1.52 from 475.
  Fewer than 20 iterations end with τ = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.elementary import exp_negative, log
from dbpcfg.numerics.kernels import Floats, Longs, kernel, part_of_kernel
from dbpcfg.numerics.philox import Purpose, Stream, compiled_uniform_pair, stream, uniform_pair
from dbpcfg.systems.bmmm.model import (
    ClassCounts,
    Features,
    count_classes,
    faithful_log_posterior,
    log_posterior,
    running_logs,
    step,
)

_STEEPNESS, _MIDDLE = 10.0, 0.2
_COOLING = 1.11
_PARTS, _COOLED = 20, 4


def powers(iterations: int) -> Floats:
    """τ of each iteration."""
    tau = np.ones(iterations)
    warm = iterations - (iterations + 1) // 2  # halves are rounded up
    for i in range(warm):
        tau[i] = 1 / (1 + (_sigmoid(i / warm) - _sigmoid(1)) / (_sigmoid(0) - _sigmoid(1)))
    part = iterations // _PARTS
    power = 1.0
    for i in range(iterations - _COOLED * part, iterations):
        power *= _COOLING if i % part == 0 else 1.0
        tau[i] = power
    return tau


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(_STEEPNESS * (x - _MIDDLE)))


FLOOR = 100.0
"""With ``faithful``, logarithms that are all below −100 are rescaled so that the least is −100."""


class LogTables(NamedTuple):
    """Sums of logarithms for each β_f, up to the greatest possible counts."""

    features: Floats
    """``[f, m]``: L(m, β_f)."""
    tokens: Floats
    """``[f, m]``: L(m, |V_f| β_f)."""


@kernel
def fill_tables(firsts: Longs, betas: Floats, tables: LogTables) -> None:
    """L(m, β_f) and L(m, |V_f| β_f)."""
    for f in range(len(betas)):
        size = firsts[f + 1] - firsts[f]
        tables.features[f] = running_logs(betas[f], tables.features.shape[1] - 1)
        tables.tokens[f] = running_logs(size * betas[f], tables.tokens.shape[1] - 1)


@part_of_kernel
def move(features: Features, counts: ClassCounts, i: int, c: int, sign: int) -> None:
    """Add type i to class c (``sign`` 1), or remove it (−1)."""
    counts.types[c] += sign
    for f in range(len(features.pointers)):
        for entry in range(features.pointers[f, i], features.pointers[f, i + 1]):
            number = sign * features.counts[entry]
            counts.features[features.ids[entry], c] += number
            counts.tokens[f, c] += number


@part_of_kernel
def score(
    features: Features, counts: ClassCounts, tables: LogTables, alpha: float, i: int, p: Floats
) -> None:
    """p[c] = log (N_c + α) / (N − 1 + Kα) + Σ_f log p(features of i | c), without type i::

    log p(features of i in f | c) = Σ_v [L(n_vc + n_iv, β_f) − L(n_vc, β_f)]
                                        − [L(n_c + n_i, |V_f| β_f) − L(n_c, |V_f| β_f)]
    """
    K = len(p)
    others = 0
    for c in range(K):
        others += counts.types[c]
    for c in range(K):
        p[c] = log((counts.types[c] + alpha) / (others + K * alpha))
    for f in range(len(features.pointers)):
        logs = tables.features[f]
        tokens = 0
        for entry in range(features.pointers[f, i], features.pointers[f, i + 1]):
            number = features.counts[entry]
            n = counts.features[features.ids[entry]]
            tokens += number
            for c in range(K):
                p[c] += logs[n[c] + number] - logs[n[c]]
        logs, n = tables.tokens[f], counts.tokens[f]
        for c in range(K):
            p[c] -= logs[n[c] + tokens] - logs[n[c]]


@part_of_kernel
def draw(p: Floats, u: float) -> int:
    """Draw a class, given log probabilities up to a constant, which are overwritten."""
    K = len(p)
    greatest = p.max()
    total = 0.0
    for c in range(K):
        p[c] = exp_negative(p[c] - greatest)
        total += p[c]
    remaining = u * total
    last_possible = 0
    for c in range(K):
        if p[c] > 0.0:
            last_possible = c
            remaining -= p[c]
            if remaining < 0.0:
                return c
    return last_possible


@kernel
def sweep(
    features: Features,
    counts: ClassCounts,
    tables: LogTables,
    alpha: float,
    tau: float,
    z: Longs,
    stream: Stream,
    faithful: bool,
) -> None:
    """Draw z_i with probability ∝ p(z_i | all others)^τ for every type i, in order.

    ``faithful``: whether to rescale logarithms that are all below −100.
    """
    p = np.empty(len(counts.types))
    for i in range(len(z)):
        move(features, counts, i, z[i], -1)
        score(features, counts, tables, alpha, i, p)
        for c in range(len(p)):
            p[c] *= tau
        if faithful and p.max() < -FLOOR:
            scale = -p.min() / FLOOR
            for c in range(len(p)):
                p[c] /= scale
        z[i] = draw(p, uniform_pair(stream, i, 0)[0])
        move(features, counts, i, z[i], 1)


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
    generation: int = 0
    """The number of the chain, among chains with the same seed."""
    faithful: bool = False
    """Whether to follow the published program."""
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
        assert best is not None  # the last iteration is compared if no other was
        return best

    def _initial(self, types: int) -> Longs:
        """Classes drawn uniformly."""
        numbers = stream(self.seed, self.generation, 0, Purpose.BMMM)
        drawn = [int(self.classes * compiled_uniform_pair(numbers, i, 0)[0]) for i in range(types)]
        return np.array(drawn, dtype=np.int64)

    def _density(
        self, features: Features, counts: ClassCounts, z: Longs
    ) -> Callable[[int, float], float]:
        """The term of each hyperparameter in the log posterior by which samples are compared."""
        if self.faithful:
            return partial(faithful_log_posterior, features, counts, z)
        return partial(log_posterior, features, counts)


@dataclass(frozen=True)
class ClassSample:
    """A state of the chain."""

    z: Longs
    """The class of each type."""
    log_posterior: float
    """log p(z, features | α, β), or with ``faithful`` the published program's version of it."""
    hyperparameters: Floats
    """α, then β of each set of features."""


def _tables(features: Features, counts: ClassCounts) -> LogTables:
    """Tables for all counts that a class can have."""
    sets = len(features.pointers)
    feature_tokens = int(counts.features.sum(axis=1).max())
    tokens = int(counts.tokens.sum(axis=1).max())
    return LogTables(np.empty((sets, feature_tokens + 1)), np.empty((sets, tokens + 1)))
