"""Logarithm and exponential against those of the C library."""

import math
import sys

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dbpcfg.numerics import elementary
from dbpcfg.numerics.elementary import MIN_EXPONENT
from dbpcfg.numerics.kernels import Floats, kernel

log, exp_negative = kernel(elementary.log), kernel(elementary.exp_negative)


@kernel
def logs(numbers: Floats, result: Floats) -> None:
    for x in range(len(numbers)):
        result[x] = elementary.log(numbers[x])


@kernel
def exponentials(numbers: Floats, result: Floats) -> None:
    for x in range(len(numbers)):
        result[x] = elementary.exp_negative(numbers[x])


@given(st.floats(sys.float_info.min, sys.float_info.max))
@example(1.0)
@example(sys.float_info.min)
@example(math.sqrt(0.5))
@example(math.nextafter(1.0, 0.0))
def test_log(x):
    assert math.isclose(log(x), math.log(x), rel_tol=5e-16, abs_tol=0.0)


@given(st.floats(MIN_EXPONENT, 0.0))
@example(MIN_EXPONENT)
@example(0.0)
def test_exp(x):
    assert math.isclose(exp_negative(x), math.exp(x), rel_tol=5e-16)


def test_exp_ends_with_the_normal_numbers():
    assert exp_negative(MIN_EXPONENT) >= sys.float_info.min
    assert exp_negative(math.nextafter(MIN_EXPONENT, -math.inf)) == 0.0
    assert exp_negative(-math.inf) == 0.0


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_vectors_give_the_same_bits(size, seed):
    rng = np.random.default_rng(seed)
    for many, one, numbers in (
        (logs, log, 10.0 ** rng.uniform(-300, 300, size)),
        (exponentials, exp_negative, rng.uniform(-800, 0, size)),
    ):
        found = np.empty(size)
        many(numbers, found)
        assert found.tolist() == [one(x) for x in numbers.tolist()]
