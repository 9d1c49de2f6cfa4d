"""Metropolis–Hastings steps for α and each β_f, given the classes.

x' ~ Normal(x, (x/10)²) is accepted with probability min(1, r),

    r = (p(z, features | x') / p(z, features | x))^τ · N(x; x', (x'/10)²) / N(x'; x, (x/10)²)

The prior is flat between `LEAST` and `GREATEST`: over all positive numbers the posterior would not
be proper, for the likelihood tends to a constant as x grows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dbpcfg.numerics.kernels import Floats
from dbpcfg.numerics.philox import Stream, compiled_uniform_pair

LEAST, GREATEST = 1e-6, 1e3
"""Where hyperparameters can be."""
ROUNDS = 5
"""Steps of each hyperparameter at a time."""
WIDTH = 0.1
"""The standard deviation of a proposal, relative to the value."""


def step(
    x: Floats,
    log_density: Callable[[int, float], float],
    tau: float,
    numbers: Stream,
    faithful: bool = False,
) -> None:
    """Make `ROUNDS` steps of each hyperparameter.

    ``log_density``: the term of hyperparameter j at a value: the log posterior is the sum of all
    terms.
    ``numbers``: the random numbers; item is j, draws are from 1.
    ``faithful``: whether to compare as the published program does (see `faithful`).
    """
    terms = [log_density(j, x[j]) for j in range(len(x))]
    before = sum(terms)
    for number in range(ROUNDS):
        for j in range(len(x)):
            proposed = x[j] * (1 + WIDTH * _normal(numbers, j, 2 * number + 1))
            if not LEAST <= proposed <= GREATEST:
                continue
            term = log_density(j, proposed)
            gain = sum(terms) - terms[j] + term - before if faithful else term - terms[j]
            back = _log_normal(x[j], proposed) - _log_normal(proposed, x[j])
            log_r = tau * (gain + back) if faithful else tau * gain + back
            if math.log(compiled_uniform_pair(numbers, j, 2 * number + 2)[0]) < log_r:
                x[j], terms[j] = proposed, term


def _normal(numbers: Stream, item: int, draw: int) -> float:
    """A standard normal number (Box and Muller)."""
    u, v = compiled_uniform_pair(numbers, item, draw)
    return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)


def _log_normal(x: float, mean: float) -> float:
    """log N(x; mean, (mean/10)²) without its constant."""
    return -0.5 * ((x - mean) / (WIDTH * mean)) ** 2 - math.log(mean)
