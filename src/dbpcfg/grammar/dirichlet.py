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


@kernel
def log_gamma_variate(shape: float, stream: Stream, item: int) -> float:
    """Logarithm of a Gamma(shape, 1) variable.

    For shape < 1 the rejection method of Ahrens and Dieter (1974, their GS), on logarithms, which
    most often needs one logarithm; otherwise that of Marsaglia and Tsang (2000).
    """
    draw = 0
    if shape < 1.0:
        scale = 1.0 + shape / math.e
        while True:
            u, v = uniform_pair(stream, item, draw)
            draw += 1
            p = scale * u
            if p <= 1.0:
                log_x = math.log(p) / shape
                # Below e⁻⁴⁰ the test cannot fail for any v that occurs.
                if log_x < -40.0 or math.log(v) <= -math.exp(log_x):
                    return log_x
            else:
                x = -math.log((scale - p) / shape)
                if math.log(v) <= (shape - 1.0) * math.log(x):
                    return math.log(x)
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
    drawn = np.empty((rows, columns))
    for r in range(rows):
        greatest = -np.inf
        for x in range(columns):
            drawn[r, x] = log_gamma_variate(parameters[r, x], stream, first_item + r * columns + x)
            greatest = max(greatest, drawn[r, x])
        total = 0.0
        for x in range(columns):
            drawn[r, x] = np.exp(drawn[r, x] - greatest)
            total += drawn[r, x]
        for x in range(columns):
            drawn[r, x] /= total
    return drawn
