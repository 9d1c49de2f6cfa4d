"""How kernels are compiled and called."""

from __future__ import annotations

import numpy as np
from numba import config

from dbpcfg.numerics.kernels import kernel, repeated


def fill(array, value):
    for i in range(len(array)):
        array[i] = value


def test_numbas_own_setting_is_put_back():
    before = config.OPT
    compiled = kernel(fill)
    array = np.zeros(2)
    compiled(array, 3.0)
    assert array.tolist() == [3.0, 3.0]
    assert before == config.OPT


def test_repeated_calls_do_the_same():
    run = repeated(kernel(fill), np.dtype(float))
    for size in (1, 3, 2):
        array = np.zeros(size)
        run(array, 2.0)
        assert array.tolist() == [2.0] * size


def test_kernels_for_two_types_are_not_mixed_up():
    compiled = kernel(fill)
    for dtype in (np.float32, np.float64, np.float32):
        array = np.zeros(3, dtype)
        repeated(compiled, array.dtype)(array, 0.1)
        assert array.tolist() == [dtype(0.1)] * 3
