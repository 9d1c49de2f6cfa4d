"""How often each arc is expected to be used, over all taggings of a sequence."""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, kernel
from dbpcfg.systems.upparse.tags import STOP, TAGS, tags_of


@kernel
def expected_counts(symbols: Longs, arcs: Floats, counts: Floats) -> float:
    """Write the expected count of every arc to ``counts``; the log-likelihood of the sequence.

    The sequence begins and ends with a boundary; the last symbol is arrived at, but not emitted.
    With w = symbol t and each row of α divided by its sum z::

        α(0,STOP) = 1      α(t+1,k) = Σ_j α(t,j) · arc(w,j,k) / z(t+1)
        β(n-1,STOP) = 1    β(t,j)   = Σ_k arc(w,j,k) · β(t+1,k) / z(t+1)
        count(w,j,k)       = Σ_t α(t,j) · arc(w,j,k) · β(t+1,k) / z(t+1)
        log-likelihood     = Σ_t log z(t)
    """
    n = len(symbols)
    forward = np.zeros((n, TAGS))
    scale = np.ones(n)
    log_likelihood = 0.0
    forward[0, STOP] = 1.0
    for t in range(n - 1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        z = 0.0
        for k in range(first_k, end_k):
            for j in range(first_j, end_j):
                forward[t + 1, k] += forward[t, j] * arcs[w, j, k]
            z += forward[t + 1, k]
        for k in range(first_k, end_k):
            forward[t + 1, k] /= z
        scale[t + 1] = z
        log_likelihood += np.log(z)

    counts[:] = 0.0
    here, after = np.zeros(TAGS), np.zeros(TAGS)
    after[STOP] = 1.0
    for t in range(n - 2, -1, -1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        for j in range(first_j, end_j):
            here[j] = 0.0
            for k in range(first_k, end_k):
                onwards = arcs[w, j, k] * after[k] / scale[t + 1]
                counts[w, j, k] += forward[t, j] * onwards
                here[j] += onwards
        here, after = after, here
    return log_likelihood
