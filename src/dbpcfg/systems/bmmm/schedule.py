"""The power τ to which probabilities are raised in each iteration.

With I iterations, H = I − round(I/2) and i counted from 0:

* i < H: τ = 1 / (1 + (σ(i/H) − σ(1)) / (σ(0) − σ(1))) with σ(x) = 1 / (1 + exp(10 (x − 0.2))),
  from ½ to nearly 1.
* Then τ = 1.
* In the last 4 · (I div 20) iterations τ is multiplied by 1.11 at each multiple of I div 20, four
  times in all: with I = 500 it is 1.11 from 400 on, 1.23 from 425, 1.37 from 450, 1.52 from 475.
  Fewer than 20 iterations end with τ = 1.
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import Floats

_STEEPNESS, _MIDDLE = 10.0, 0.2
_COOLING = 1.11
_PARTS, _COOLED = 20, 4


def powers(iterations: int) -> Floats:
    """τ of each iteration."""
    tau = np.ones(iterations)
    warm = iterations - (iterations + 1) // 2  # halves are rounded up
    for i in range(warm):
        tau[i] = 1 / (1 + (_sigmoid(i / warm) - _sigmoid(1)) / (_sigmoid(0) - _sigmoid(1)))
    part = iterations // _PARTS
    power = 1.0
    for i in range(iterations - _COOLED * part, iterations):
        power *= _COOLING if i % part == 0 else 1.0
        tau[i] = power
    return tau


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(_STEEPNESS * (x - _MIDDLE)))
