"""The probability of classes and features with θ and φ integrated out: Pólya urns.

K urns have balls of V colours.  Of n_vc balls of colour v drawn from urn c, in any fixed order,

    log p(n | x) = Σ_c [ Σ_v L(n_vc, x) − L(n_c, Vx) ],      L(m, x) = Σ_{t<m} log(t + x)

With the features of set f as colours and classes as urns this is log p(features | z, β_f); with
classes as colours and one urn it is log p(z | α).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.elementary import log
from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels, kernel
from dbpcfg.systems.bmmm.features import Features


class ClassCounts(NamedTuple):
    """What the classes have."""

    types: Longs
    """``[c]``: N_c, the number of types."""
    features: Longs
    """``[v, c]``: tokens of each feature, numbered over all sets."""
    tokens: Longs
    """``[f, c]``: tokens of all features of a set."""


@also_in_kernels
def running_logs(x: float, size: int) -> Floats:
    """L(m, x) for m = 0, …, size."""
    table = np.empty(size + 1)
    for m in range(size):
        table[m + 1] = log(m + x)
    table[0] = 0.0
    for m in range(size):
        table[m + 1] += table[m]
    return table


@kernel
def log_polya(n: Longs, x: float) -> float:
    """log p(n | x); n is ``[v, c]``."""
    V, K = n.shape
    totals = np.zeros(K, dtype=np.int64)
    greatest = 0
    for v in range(V):
        for c in range(K):
            totals[c] += n[v, c]
            greatest = max(greatest, n[v, c])
    of_one, of_all = running_logs(x, greatest), running_logs(V * x, totals.max())
    total = 0.0
    for v in range(V):
        for c in range(K):
            total += of_one[n[v, c]]
    for c in range(K):
        total -= of_all[totals[c]]
    return total


def count_classes(features: Features, z: Longs, classes: int) -> ClassCounts:
    """Count what each class has."""
    sets, firsts = len(features.pointers), features.firsts
    counts = np.zeros((firsts[-1], classes), dtype=np.int64)
    for pointers in features.pointers:
        entries = slice(pointers[0], pointers[-1])
        owners = np.repeat(np.arange(len(z)), np.diff(pointers))
        np.add.at(counts, (features.ids[entries], z[owners]), features.counts[entries])
    tokens = [counts[firsts[f] : firsts[f + 1]].sum(axis=0) for f in range(sets)]
    return ClassCounts(np.bincount(z, minlength=classes), counts, np.array(tokens))


def log_posterior(features: Features, counts: ClassCounts, j: int, x: float) -> float:
    """The term of hyperparameter j, α if 0 and else β of set j − 1, at the value x."""
    if j == 0:
        return log_polya(counts.types[:, np.newaxis], x)
    return log_polya(counts.features[features.firsts[j - 1] : features.firsts[j]], x)
