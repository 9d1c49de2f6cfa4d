"""Work dealt out in pieces, and BLAS held to one thread while anyone needs it."""

import os
import threading
from functools import partial

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from dbpcfg.io.machine import (
    format_bytes,
    format_count,
    memory_limit,
    one_blas_thread,
    parallel_ranges,
)


def blas_threads() -> set[int]:
    import scipy.linalg.blas  # noqa: F401  (loads the library)

    libraries = ThreadpoolController().select(user_api="blas").info()
    return {library["num_threads"] for library in libraries}


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("items", [0, 1, 7, 1000])
def test_every_item_is_done_once(threads, items):
    done = np.zeros(items, dtype=int)

    def work(first: int, last: int) -> None:
        done[first:last] += 1

    parallel_ranges(work, items, threads)
    assert (done == 1).all()


def test_an_error_in_a_piece_comes_out():
    def work(first: int, last: int) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        parallel_ranges(work, 10, 2)


def test_work_within_work_and_beside_it_ends():
    """All use the same helpers, of which there are fewer than calls."""
    done = np.zeros((8, 6, 6), dtype=int)

    def from_one_thread(n: int) -> None:
        def outer(first: int, last: int) -> None:
            for i in range(first, last):
                parallel_ranges(partial(inner, i), 6, 2)

        def inner(i: int, first: int, last: int) -> None:
            done[n, i, first:last] += 1

        parallel_ranges(outer, 6, 2)

    threads = [threading.Thread(target=from_one_thread, args=(n,)) for n in range(len(done))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (done == 1).all()


def test_an_error_on_any_thread_comes_out():
    here = threading.get_ident()
    both = threading.Barrier(2)  # so that two threads have a piece

    for wrong in (True, False):

        def work(first: int, last: int, wrong: bool = wrong) -> None:
            if first < 2:
                both.wait()
            if (threading.get_ident() == here) is wrong:
                raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            parallel_ranges(work, 12, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_helpers_of_its_own():
    parallel_ranges(lambda first, last: None, 4, 3)
    child = os.fork()
    if not child:
        done = np.zeros(4, dtype=int)

        def work(first: int, last: int) -> None:
            done[first:last] += 1

        parallel_ranges(work, 4, 3)
        os._exit(0 if (done == 1).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_limit_holds_while_other_threads_come_and_go():
    before = blas_threads()

    def other() -> None:
        with one_blas_thread():
            pass

    with one_blas_thread():
        for _ in range(3):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            assert blas_threads() == {1}
    assert blas_threads() == before


def test_amounts_in_words():
    assert [format_bytes(n) for n in (0, 2**20, 2**30, 3 * 2**29, 931 * 2**30, 10**400)] == [
        *("1 MiB", "1 MiB", "1.0 GiB", "1.5 GiB", "931 GiB", "10^400 bytes")
    ]
    assert [format_count(n) for n in (225, 7 * 10**8, 10**4000)] == ["225", "7e+08", "10^4000"]
    assert (memory_limit() or 2**30) > 2**20
