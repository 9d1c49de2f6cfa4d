"""How the package compiles its inner loops and runs them on several threads.

Kernels are free functions over plain arrays, compiled once and cached on disk, that release the
interpreter's lock. They never start threads of their own: threads take pieces of the corpus
(``runtime.threads``), so a sentence's result cannot depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.compiler import Compiler
from numba.extending import register_jitable
from numpy.typing import NDArray

from dbpcfg.numerics.cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., object])

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class QuickCompiler(Compiler):
    """Numba's compiler with fewer passes of LLVM: what has to be fast is in vectors already.

    The setting is numba's own and for the whole process, so it is put back; one lock is held while
    anything is compiled.
    """

    def _compile_core(self) -> Any:
        settings: Any = config
        chosen = settings.OPT
        settings.OPT = type(chosen)(min(chosen, 1))
        try:
            return super()._compile_core()  # type: ignore[no-untyped-call]
        finally:
            settings.OPT = chosen


@cache
def repeated(kernel: Callable[..., None], numbers: np.dtype[Any]) -> Callable[..., None]:
    """A kernel for one call after another with arguments of the same types.

    Numba looks at the types of all arguments in each call, which for tuples of arrays takes longer
    than a small batch; here it is done in the first one, and nothing is checked later.

    ``numbers``: the only thing in which its arguments may differ in type from call to call.
    """
    compiled: Callable[..., None] | None = None

    def run(*arguments: object) -> None:
        nonlocal compiled
        if compiled is None:
            of_any_type: Any = kernel
            compiled = of_any_type.compile(tuple(map(numba.typeof, arguments)))
        compiled(*arguments)

    return run


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers; division by zero follows IEEE 754.

    For functions that Python calls. Each costs a wrapper, and compiles again all that it calls:
    what only kernels call is ``also_in_kernels``.
    """
    # no_cfunc_wrapper: nothing calls kernels from C
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options, pipeline_class=QuickCompiler)(function)
    compiled._cache = KernelCache(function)
    return cast(Function, compiled)


def loop_kernel(function: Function) -> Function:
    """``kernel`` with all passes of LLVM, which turn plain loops over arrays into vectors."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options)(function)
    compiled._cache = KernelCache(function)
    return cast(Function, compiled)


def also_in_kernels(function: Function) -> Function:
    """Let kernels call a function; from Python it is the function itself, not compiled."""
    return register_jitable(error_model="numpy")(function)


def part_of_kernel(function: Function) -> Function:
    """``also_in_kernels``, put in the place of every call, so that loops can use vectors."""
    return register_jitable(error_model="numpy", forceinline=True)(function)
