"""How the package compiles its inner loops and runs them on several threads.

Kernels are free functions over plain arrays, compiled once and cached on disk, that release the
interpreter's lock. They never start threads of their own: threads take pieces of the corpus
(``runtime.threads``), so a sentence's result cannot depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers; division by zero follows IEEE 754."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(Function, compiled)


def also_in_kernels(function: Function) -> Function:
    """Let kernels call a small function; from Python it is the function itself, not compiled."""
    return register_jitable(error_model="numpy")(function)


def part_of_kernel(function: Function) -> Function:
    """Compile a small function into every kernel that calls it, so that loops can use vectors."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)
    return cast(Function, compiled)
