"""The optimiser Adam (Kingma and Ba 2015), on all parameters in one vector.

With g the gradient of what is maximised, shortened to ``LONGEST`` if it is longer::

    m ← β₁ m + (1 − β₁) g        s ← β₂ s + (1 − β₂) g²
    θ ← θ + η · m / (1 − β₁ᵗ) / (√(s / (1 − β₂ᵗ)) + ε)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats

BETA1, BETA2, EPSILON = 0.75, 0.999, 1e-8
LONGEST = 3.0
"""The greatest length of the gradient."""
PART = 2**15
"""Parameters that are done together: what is computed of them stays in the cache."""


class Moments(NamedTuple):
    """The parameters, and what Adam has noted of each; all are written to."""

    parameters: Floats
    """θ."""
    first: Floats
    """m."""
    second: Floats
    """s."""


def ascend(moments: Moments, gradient: Floats, rate: float, step: int) -> None:
    """One step up a gradient.

    Parameters
    ----------
    moments
        Are changed.
    gradient
        The gradient; it is written to.
    rate
        η.
    step
        t, from 1 up.
    """
    length = math.sqrt(float(gradient @ gradient))
    shortened = min(1.0, LONGEST / length) if length else 1.0
    size = rate / (1.0 - BETA1**step)
    spread = 1.0 / math.sqrt(1.0 - BETA2**step)
    room = np.empty(min(PART, len(gradient)), gradient.dtype)
    for begin in range(0, len(gradient), PART):
        part = slice(begin, begin + PART)
        g, m, s = gradient[part], moments.first[part], moments.second[part]
        x = room[: len(g)]
        if shortened < 1.0:
            g *= shortened
        m *= BETA1
        np.multiply(g, 1.0 - BETA1, out=x)
        m += x
        g *= g
        g *= 1.0 - BETA2
        s *= BETA2
        s += g
        np.sqrt(s, out=x)
        x *= spread
        x += EPSILON
        np.divide(m, x, out=x)
        x *= size
        moments.parameters[part] += x
