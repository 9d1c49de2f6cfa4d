"""The most probable tags of a sequence."""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, kernel
from dbpcfg.systems.upparse.tags import STOP, TAGS, tags_of

TIE = 1e-9
"""Logarithms of probabilities that differ by no more are the same but for rounding."""


@kernel
def best_tags(symbols: Longs, log_arcs: Floats) -> Longs:
    """The most probable tags; of equally probable ones the first in the order STOP, B, I, O.

    With w = symbol t, from right to left::

        best(t,j) = max_k log arc(w,j,k) + best(t+1,k)

    Reading off the tags from left to right, the first k that attains the maximum is taken.  Ties
    are real: where a word is repeated, the HMM gives B I B I I and B I I B I the same probability.
    All taggings meet at a boundary, so scores start from 0 there and stay small and exact.
    """
    n = len(symbols)
    following = np.zeros((n, TAGS), dtype=np.int64)
    here, after = np.zeros(TAGS), np.zeros(TAGS)
    for t in range(n - 2, -1, -1):
        w = symbols[t]
        first_j, end_j = tags_of(symbols[t])
        first_k, end_k = tags_of(symbols[t + 1])
        for j in range(first_j, end_j):
            here[j] = -np.inf
            for k in range(first_k, end_k):
                score = log_arcs[w, j, k] + after[k]
                if score > here[j] + TIE:
                    here[j] = score
                    following[t, j] = k
        if end_j == STOP + 1:
            here[STOP] = 0.0
        here, after = after, here

    tags = np.zeros(n, dtype=np.int64)
    for t in range(n - 1):
        tags[t + 1] = following[t, tags[t]]
    return tags
