"""Rows of probabilities drawn from Dirichlet distributions.

A Dirichlet row is a row of Gamma variables divided by their sum. With β well below one a Gamma
variable is often smaller than the smallest float (its logarithm is of the order of −1/β), so both
the draw and the division are done on logarithms. Each entry of a table has a counter of its own:
the draw does not depend on the order in which entries are visited.
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.kernels import Floats, kernel
from dbpcfg.philox import Stream, uniform_pair

LEAST_LOG = -745.2
"""Below it the exponential is zero."""


@kernel
def log_small_gamma(shape: float, u: float, v: float) -> float:
    """Logarithm of a Gamma(shape, 1) variable, shape < 1, from two uniform ones; NaN: try again.

    The rejection method of Ahrens and Dieter (1974, their GS), on logarithms.
    """
    scale = 1.0 + shape / math.e
    p = scale * u
    if p <= 1.0:
        log_x = math.log(p) / shape
        # Accepted if log v ≤ −x. Since log v ≤ v − 1 and 1/x = exp(t) ≥ 1 + t + t²/2, most draws
        # are without another exponential or logarithm.
        t = -log_x
        series = 1.0 + t * (1.0 + 0.5 * t)
        if v * series <= series - 1.0 or math.log(v) <= -math.exp(log_x):
            return log_x
    else:
        x = -math.log((scale - p) / shape)
        if math.log(v) <= (shape - 1.0) * math.log(x):
            return math.log(x)
    return math.nan


@kernel
def log_gamma_variate(shape: float, stream: Stream, item: int, draw: int = 0) -> float:
    """Logarithm of a Gamma(shape, 1) variable, from this draw on.

    For shape ≥ 1 the method of Marsaglia and Tsang (2000).
    """
    while shape < 1.0:
        u, v = uniform_pair(stream, item, draw)
        draw += 1
        drawn = log_small_gamma(shape, u, v)
        if not math.isnan(drawn):
            return drawn
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        u1, u2 = uniform_pair(stream, item, draw)
        u, _ = uniform_pair(stream, item, draw + 1)
        draw += 2
        x = math.sqrt(-2.0 * math.log(u1)) * math.cos(2.0 * math.pi * u2)  # Box and Muller
        v = (1.0 + c * x) ** 3
        if v > 0.0 and (
            u < 1.0 - 0.0331 * x**4  # a cheap bound that nearly always decides
            or math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v)
        ):
            return math.log(d * v)


@kernel
def dirichlet_rows(parameters: Floats, stream: Stream, first_item: int) -> Floats:
    """Draw one row of probabilities for each row of positive ``parameters``.

    Entry (r, x) uses the counter item ``first_item + r · columns + x``.
    """
    rows, columns = parameters.shape
    drawn, u, v = np.empty((rows, columns)), np.empty(columns), np.empty(columns)
    for r in range(rows):
        item = first_item + r * columns
        for x in range(columns):  # the first draws of all: the compiler makes several at a time
            u[x], v[x] = uniform_pair(stream, item + x, 0)
        greatest = -np.inf
        for x in range(columns):
            shape, log_x = parameters[r, x], math.nan
            if shape < 1.0:
                log_x = log_small_gamma(shape, u[x], v[x])
            if math.isnan(log_x):
                log_x = log_gamma_variate(shape, stream, item + x, int(shape < 1.0))
            drawn[r, x] = log_x
            greatest = max(greatest, log_x)
        total = 0.0
        for x in range(columns):
            difference = drawn[r, x] - greatest
            drawn[r, x] = math.exp(difference) if difference > LEAST_LOG else 0.0
            total += drawn[r, x]
        for x in range(columns):
            drawn[r, x] /= total
    return drawn
