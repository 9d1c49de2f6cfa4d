"""Draw rows of probabilities from Dirichlet distributions.

A Dirichlet row is a row of Gamma variables divided by their sum. If β is well below one, a Gamma
variable is often smaller than the smallest float (its logarithm is of the order of −1/β), so
logarithms are drawn and divided. Each entry of a table has its own counter, so draws do not depend
on the order of entries.
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.elementary import exp_negative, log
from dbpcfg.numerics.kernels import Floats, also_in_kernels, kernel, part_of_kernel
from dbpcfg.numerics.philox import Stream, uniform_pair


@part_of_kernel
def log_small_gamma(shape: float, u: float, v: float) -> float:
    """The logarithm of a Gamma(shape, 1) variable, shape < 1, from two uniform ones; NaN: rejected.

    The rejection method of Ahrens and Dieter (1974, their GS), with logarithms: x below 1 is drawn
    with density x^(shape − 1), x above 1 with density exp(−x). Both are computed, to avoid a
    branch.
    """
    scale = 1.0 + shape / math.e
    p = scale * u
    log_below = log(p) / shape
    log_above = log(-log((scale - p) / shape))
    below = p <= 1.0
    bound = -exp_negative(min(log_below, 0.0)) if below else (shape - 1.0) * log_above
    log_x = log_below if below else log_above
    return log_x if log(v) <= bound else math.nan


@also_in_kernels
def log_gamma_variate(shape: float, stream: Stream, item: int) -> float:
    """Logarithm of a Gamma(shape, 1) variable; for shape ≥ 1 after Marsaglia and Tsang (2000)."""
    draw = 0
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
def small_gammas(shapes: Floats, stream: Stream, first_item: int, logs: Floats) -> None:
    """``log_gamma_variate`` of the entries with shape < 1; the others are not changed.

    In each round, entries whose last draw was rejected draw again. The loops of a round have no
    branches and calls, so the compiler can vectorise them.
    """
    count, draw = 0, 0
    entries, small = np.empty(len(shapes), dtype=np.int64), np.empty(len(shapes))
    u, v, drawn = np.empty(len(shapes)), np.empty(len(shapes)), np.empty(len(shapes))
    for x in range(len(shapes)):
        entries[count], small[count] = x, shapes[x]
        count += shapes[x] < 1.0
    while count:
        for x in range(count):
            u[x], v[x] = uniform_pair(stream, first_item + entries[x], draw)
        for x in range(count):
            drawn[x] = log_small_gamma(small[x], u[x], v[x])
        rejected = 0
        for x in range(count):
            logs[entries[x]] = drawn[x]
            entries[rejected], small[rejected] = entries[x], small[x]
            rejected += math.isnan(drawn[x])
        count, draw = rejected, draw + 1


@kernel
def probabilities(logs: Floats) -> None:
    """Replace logarithms by their exponentials, divided by their sum."""
    greatest, total = logs[0], 0.0
    for x in range(len(logs)):
        greatest = max(greatest, logs[x])
    for x in range(len(logs)):
        logs[x] = exp_negative(logs[x] - greatest)
    for x in range(len(logs)):
        total += logs[x]
    for x in range(len(logs)):
        logs[x] /= total


def dirichlet_rows(parameters: Floats, stream: Stream, first_item: int, threads: int = 1) -> Floats:
    """Draw one row of probabilities for each row of parameters.

    Entry (r, x) uses the counter item ``first_item + r · columns + x``.

    ``threads``: threads to use; the result does not depend on their number.
    """
    drawn = np.empty_like(parameters)

    def work(first: int, last: int) -> None:
        draw_rows(first, last, parameters, stream, first_item, drawn)

    parallel_ranges(work, len(parameters), threads)
    return drawn


@kernel
def draw_rows(
    first: int, last: int, parameters: Floats, stream: Stream, first_item: int, drawn: Floats
) -> None:
    """Draw some of the rows. Most parameters equal β, as most rules are never used."""
    columns = parameters.shape[1]
    for r in range(first, last):
        item = first_item + r * columns
        small_gammas(parameters[r], stream, item, drawn[r])
        for x in range(columns):
            if parameters[r, x] >= 1.0:
                drawn[r, x] = log_gamma_variate(parameters[r, x], stream, item + x)
        probabilities(drawn[r])
