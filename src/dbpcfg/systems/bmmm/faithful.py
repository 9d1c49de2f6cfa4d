"""What the published program does otherwise.

1. **Rescaled logarithms** (`sweep.sweep`).  If the probabilities of all classes for a type are
   below e⁻¹⁰⁰, as they are for every frequent type, their logarithms are divided by a number that
   makes the least −100.  Such types are drawn from a much flatter distribution.
2. **NULL** (`features.context_features`).  The most frequent type counts as NULL too.
3. **Own counts first** (`log_posterior`).  In the posterior probability by which samples are
   compared a type is scored after its own counts were added.
4. **Stale posterior** (`hyperparameters.step`).  Proposed hyperparameters are compared with the
   posterior before the first of the five rounds, also after one has been accepted; and the ratio of
   proposal densities is raised to the power τ too.
5. **Every fifth sample** (`sampler`) is compared with the best; the others are not.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.bmmm.model import ClassCounts, Features, running_logs


def log_posterior(features: Features, counts: ClassCounts, z: Longs, j: int, x: float) -> float:
    """The program's term of hyperparameter j, α if 0 and else β of set j − 1, at the value x."""
    if j == 0:
        return _classes(counts.types, x)
    return _features(features, counts, z, j - 1, x)


@kernel
def _classes(types: Longs, alpha: float) -> float:
    """Σ_i log (m_i + α) / (i + Kα), i from 1; type i is the m_i-th of its class."""
    K, N = len(types), types.sum()
    of_one, of_all = running_logs(alpha, types.max() + 1), running_logs(K * alpha, N + 1)
    total = -float(of_all[N + 1] - of_all[1])
    for c in range(K):
        total += of_one[types[c] + 1] - of_one[1]
    return total


@kernel
def _features(features: Features, counts: ClassCounts, z: Longs, f: int, beta: float) -> float:
    """Σ_i log p(features of i in f | types up to and including i)."""
    first, size = features.firsts[f], features.firsts[f + 1] - features.firsts[f]
    K = len(counts.types)
    n, totals = np.zeros((size, K), dtype=np.int64), np.zeros(K, dtype=np.int64)
    greatest = counts.features[first : first + size].max()
    of_one = running_logs(beta, 2 * greatest)
    of_all = running_logs(size * beta, 2 * counts.tokens[f].max())
    total = 0.0
    for i in range(len(z)):
        c = z[i]
        tokens = 0
        for entry in range(features.pointers[f, i], features.pointers[f, i + 1]):
            v, number = features.ids[entry] - first, features.counts[entry]
            tokens += number
            n[v, c] += number
            total += of_one[n[v, c] + number] - of_one[n[v, c]]
        totals[c] += tokens
        total -= of_all[totals[c] + tokens] - of_all[totals[c]]
    return total
