"""Logarithm and exponential that the compiler can vectorise.

Those of the C library take one number at a time, and differ between machines in the last bit. These
have errors of about 4 · 10⁻¹⁶ and are the same everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from dbpcfg.numerics.kernels import part_of_kernel

MIN_EXPONENT = -708.0
"""The smallest number whose exponential is a normal number."""

_LN2 = math.log(2.0)
_LN2_HIGH = 6.93147180369123816490e-01  # its last bits are zero, so that multiples are exact
_LN2_LOW = 1.90821492927058770002e-10
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
_MANTISSA_BITS, _BIAS = 52, 1023


@part_of_kernel
def log(x: float) -> float:
    """The logarithm of a positive normal number.

    With x = 2^e m, m between √½ and √2, and s = (m − 1)/(m + 1):
    log x = e log 2 + 2 (s + s³/3 + s⁵/5 + …).
    """
    bits = np.float64(x).view(np.int64)
    e = (bits - _ROOT_HALF_BITS) >> _MANTISSA_BITS
    m = np.int64(bits - (e << _MANTISSA_BITS)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 1 / 21.0
    series = series * z + 1 / 19.0
    series = series * z + 1 / 17.0
    series = series * z + 1 / 15.0
    series = series * z + 1 / 13.0
    series = series * z + 1 / 11.0
    series = series * z + 1 / 9.0
    series = series * z + 1 / 7.0
    series = series * z + 1 / 5.0
    series = series * z + 1 / 3.0
    return float(e) * _LN2 + (2.0 * s + 2.0 * s * z * series)


@part_of_kernel
def exp_negative(x: float) -> float:
    """The exponential of a number that is not positive; 0 if it would be denormal.

    With x = k log 2 + r, k an integer and r small: exp x = 2^k (1 + r + r²/2! + …).
    """
    y = max(x, MIN_EXPONENT)
    k = math.floor(y / _LN2 + 0.5)
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    series = 1 / 6227020800.0
    series = series * r + 1 / 479001600.0
    series = series * r + 1 / 39916800.0
    series = series * r + 1 / 3628800.0
    series = series * r + 1 / 362880.0
    series = series * r + 1 / 40320.0
    series = series * r + 1 / 5040.0
    series = series * r + 1 / 720.0
    series = series * r + 1 / 120.0
    series = series * r + 1 / 24.0
    series = series * r + 1 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    power = np.int64((np.int64(k) + _BIAS) << _MANTISSA_BITS).view(np.float64)
    return (1.0 + series * r) * power if x >= MIN_EXPONENT else 0.0
