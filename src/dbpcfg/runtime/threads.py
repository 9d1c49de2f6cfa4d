"""Work on several threads, with the same result for any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock

import numpy as np
from threadpoolctl import ThreadpoolController

PIECES = 6
"""For each thread: more balance the work better, fewer allocate less."""


@cache
def _blas() -> ThreadpoolController:
    """Find the BLAS libraries once: looking for them takes longer than a small Gibbs step."""
    import scipy.linalg.blas  # noqa: F401  (the library numba calls must be loaded to be found)

    return ThreadpoolController()


class _OneBlasThread:
    """The limit, held as long as anyone on any thread needs it: it is one for the whole process.

    Hold it before starting threads: OpenBLAS takes the limit from the main thread only.
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
    """Call ``work(first, last)`` until all items are done, on several threads.

    ``work``: does items ``first`` to ``last − 1``. It must write each item's result where only that
    item's result goes.
    ``items``: the number of items, which should be in order of falling cost.
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
