"""How the package compiles its inner loops and runs them on several threads.

Kernels are free functions over plain arrays, compiled once and cached on disk, that let go of the
interpreter's lock. They never start threads of their own: sentences are dealt out in pieces, so
what a sentence's result is cannot depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Function = TypeVar("Function", bound=Callable[..., object])

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


PIECES = 6
"""For each thread: more balance the work better, fewer allocate less."""


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers; division by zero follows IEEE 754."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(Function, compiled)


def part_of_kernel(function: Function) -> Function:
    """Compile a small function into every kernel that calls it, so that loops can use vectors."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)
    return cast(Function, compiled)


@cache
def _blas() -> ThreadpoolController:
    """Find the BLAS libraries once: looking for them takes longer than a small Gibbs step."""
    import scipy.linalg.blas  # noqa: F401  (the library numba calls must be loaded to be found)

    return ThreadpoolController()


class _OneBlasThread:
    """The limit, held as long as anyone on any thread needs it: it is one for the whole process.

    Whoever starts threads should hold it meanwhile: OpenBLAS listens to the main thread only.
    """

    def __init__(self) -> None:
        self.lock, self.holders, self.limit = Lock(), 0, ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self.lock:
            if not self.holders:
                self.limit.enter_context(_blas().limit(limits=1, user_api="blas"))
            self.holders += 1
        try:
            yield
        finally:
            with self.lock:
                self.holders -= 1
                if not self.holders:
                    self.limit.close()


one_blas_thread = _OneBlasThread()
"""A context that keeps BLAS from starting threads of its own beside ours."""


def in_pieces(work: Callable[[int, int], None], items: int, threads: int) -> None:
    """Call ``work(first, last)`` until all items, longest first, are done, on several threads.

    ``work`` must write each item's result where only that item's result goes.
    """
    with one_blas_thread():
        if threads == 1 or items < 2:
            work(0, items)
            return
        # Small pieces, so that no thread is left with a long one at the end.
        pieces = np.linspace(0, items, min(items, PIECES * threads) + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(work, pieces[:-1], pieces[1:]):
                pass
