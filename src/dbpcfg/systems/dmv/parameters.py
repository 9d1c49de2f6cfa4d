"""The tables of the model, and their estimates from counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats

LEFT, RIGHT = 0, 1
"""Directions, from the head to the dependent."""
STOP, CONTINUE = 0, 1
"""Decisions."""


class Parameters(NamedTuple):
    """Probabilities; or, in the same form, counts."""

    root: Floats
    """``[t]``: the tag of the root."""
    decision: Floats
    """``[h, d, v, STOP or CONTINUE]``: v is 0 for a head without dependents in direction d."""
    child: Floats
    """``[h, d, c]``: the tag of a dependent."""


def no_counts(tags: int) -> Parameters:
    """Counts that are all 0."""
    return Parameters(np.zeros(tags), np.zeros((tags, 2, 2, 2)), np.zeros((tags, 2, tags)))


def normalise(counts: Floats) -> Floats:
    """Divide by the sums over the last index, in place; all are equal where a sum is 0."""
    sums = counts.sum(axis=-1, keepdims=True)
    counts[sums[..., 0] <= 0] = 1.0
    sums[sums <= 0] = counts.shape[-1]
    counts /= sums
    return counts


def estimate(counts: Parameters, backoff: float) -> Parameters:
    """Turn expected counts into parameters, in place; ``backoff=0`` maximises the likelihood.

    With b = ``backoff``, child(c|h,d) is proportional to (1 − b) · count(h,d,c) + b · P(c|d), P
    being the relative frequency among dependents of all heads.  The count is not normalised first,
    so this adds b / (1 − b) pseudo-counts to every (h,d), 1.94 for b = 0.66; it is no interpolation
    of probabilities, and no step of EM: the likelihood may fall.
    """
    if backoff:
        of_any_head = normalise(counts.child.sum(axis=0))
        counts.child[...] *= 1 - backoff
        counts.child[...] += backoff * of_any_head
    return Parameters(*map(normalise, counts))


FLOOR = float(np.exp(-10))
"""Added to probabilities before decoding."""


def for_decoding(parameters: Parameters) -> Parameters:
    """Parameters under which every tree is possible; they no longer sum to 1."""
    return Parameters(*(table + FLOOR for table in parameters))
