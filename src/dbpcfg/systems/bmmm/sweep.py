"""One visit to every type: taken out of its class, and drawn again given all others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.elementary import exp_negative, log
from dbpcfg.numerics.kernels import Floats, Longs, kernel, part_of_kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.systems.bmmm.features import Features
from dbpcfg.systems.bmmm.likelihood import ClassCounts, running_logs

FLOOR = 100.0
"""``faithful``: the negative of the least logarithm where all are below it."""


class LogTables(NamedTuple):
    """Sums of logarithms for one α and one β_f for each set, as far as counts can go."""

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
    """Add type i to class c, or with −1 take it out."""
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
    """p[c] = log (N_c + α) / (N − 1 + Kα) + Σ_f log p(features of i | c), type i taken out::

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
    """A class from logarithms of unnormalised probabilities, which are replaced; u in (0, 1)."""
    K = len(p)
    greatest = p.max()
    total = 0.0
    for c in range(K):
        p[c] = exp_negative(p[c] - greatest)
        total += p[c]
    rest = u * total
    last = 0
    for c in range(K):
        if p[c] > 0.0:
            last = c
            rest -= p[c]
            if rest < 0.0:
                return c
    return last


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

    ``faithful``: logarithms that are all below −100 are divided so that the least is −100.
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
