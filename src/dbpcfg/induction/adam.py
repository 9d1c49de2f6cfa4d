"""The optimiser Adam (Kingma and Ba 2015), on all parameters in one vector.

With g the gradient of what is maximised, shortened to ``LONGEST`` if it is longer::

    m ← β₁ m + (1 − β₁) g        s ← β₂ s + (1 − β₂) g²
    θ ← θ + η · m / (1 − β₁ᵗ) / (√(s / (1 − β₂ᵗ)) + ε)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, loop_kernel

BETA1, BETA2, EPSILON = 0.75, 0.999, 1e-8
LONGEST = 3.0
"""The greatest length of the gradient."""


class Moments(NamedTuple):
    """The parameters, and what Adam has noted of each; all are written to."""

    parameters: Floats
    """θ."""
    first: Floats
    """m."""
    second: Floats
    """s."""


def ascend(moments: Moments, gradient: Floats, rate: float, step: int) -> None:
    """One step up a gradient."""
    length = math.sqrt(float(gradient @ gradient))
    shortened = min(1.0, LONGEST / length) if length else 1.0
    size = rate / (1.0 - BETA1**step)
    spread = 1.0 / math.sqrt(1.0 - BETA2**step)
    factors = shortened, BETA1, 1.0 - BETA1, BETA2, 1.0 - BETA2, spread, EPSILON, size
    update(*moments, gradient, np.array(factors, gradient.dtype))


@loop_kernel
def update(theta: Floats, first: Floats, second: Floats, gradient: Floats, f: Floats) -> None:
    """The formulas above; the factors are of the arrays' type, so that all is computed in it."""
    f0, f1, f2, f3, f4, f5, f6, f7 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
    for x in range(len(theta)):
        g = gradient[x] * f0
        m = f1 * first[x] + f2 * g
        s = f3 * second[x] + f4 * (g * g)
        first[x], second[x] = m, s
        theta[x] += f7 * (m / (np.sqrt(s) * f5 + f6))
