"""The machine: threads, worker processes, and how much memory there is.

Work on several threads has the same result for any number of them.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import pairwise
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from threading import Lock, Thread
from typing import Any

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

    def hold(self) -> None:
        """Hold it as long as the process lives, as workers do."""
        with self.lock:
            if not self.holders:
                self.limit.enter_context(_blas().limit(limits=1, user_api="blas"))
            self.holders += 1

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.hold()
        try:
            yield
        finally:
            with self.lock:
                self.holders -= 1
                if not self.holders:
                    self.limit.close()


one_blas_thread = _OneBlasThread()
"""A context that keeps BLAS from starting threads of its own beside ours."""


def parallel_ranges(work: Callable[[int, int], None], items: int, threads: int) -> None:
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
        left = iter(list(pairwise(pieces)))

        def help_out() -> None:
            for first, last in left:  # next() of a list's iterator is atomic
                work(first, last)

        # This thread works too, so that it waits for nothing that has not begun: there may be
        # others that use the same helpers.
        helpers = [_helpers(os.getpid(), threads).submit(help_out) for _ in range(threads - 1)]
        try:
            help_out()
        finally:
            for each in left:  # none, unless there was an error
                del each
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()


@cache
def _helpers(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads that stay, as starting them takes longer than some of what they do.

    ``process``: this process; one that it forked has none of its threads.
    """
    return ThreadPoolExecutor(threads - 1)


class _WorkerProcess(SpawnProcess):
    """A new process that does not import the main module.

    Nothing that is sent to it may be defined there (`can_send_to_worker`). So a script that starts
    one needs no ``if __name__ == "__main__":``, without which each process would run it again.
    """

    _lock = Lock()

    def start(self) -> None:
        """Start it."""
        from multiprocessing import spawn

        with self._lock:
            complete = spawn.get_preparation_data

            def without_main(name: str) -> dict[str, Any]:
                data = complete(name)
                return {key: data[key] for key in data if not key.startswith("init_main")}

            spawn.get_preparation_data = without_main
            try:
                super().start()
            finally:
                spawn.get_preparation_data = complete


class _WorkerContext(SpawnContext):
    Process = _WorkerProcess


worker_context = _WorkerContext()
"""What starts the processes of this package, in place of `multiprocessing.get_context`."""


def can_send_to_worker(what: object) -> bool:
    """Whether a worker process can be given this: nothing of it is defined in the main module.

    What a notebook or the script itself defines is not there in another process, nor is what a
    function defines.
    """
    try:
        return b"__main__" not in pickle.dumps(what)
    except Exception:  # each class has its own
        return False


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block."""
    if threading.current_thread() is not threading.main_thread():  # which alone gets it
        yield
        return
    held = list[int]()
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


def init_worker() -> None:
    """What a worker process does first: its numbers are those of the process that started it."""
    leave_signals_to_parent()
    one_blas_thread.hold()


def leave_signals_to_parent() -> None:
    """Leave Ctrl-C to the process that started this one, and end when that one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def kill_workers(seconds: float = 2.0) -> None:
    """Kill the worker processes of this one at once, and give back their semaphores.

    For a process that is about to end without the usual clean-up of `multiprocessing`, which would
    wait for the workers; its resource tracker would report semaphores that nobody gave back.

    ``seconds``: the time after which to give up: a lock may be held by what a signal has
    interrupted.
    """
    if "multiprocessing.util" not in sys.modules:
        return
    from multiprocessing import active_children, util

    def clean_up() -> None:
        workers = active_children()
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join(seconds)
        util._run_finalizers(0)  # type: ignore[attr-defined]

    cleaning = Thread(target=clean_up, daemon=True)
    cleaning.start()
    cleaning.join(seconds)


def peak_bytes() -> int | None:
    """The greatest amount of memory that this process has held since it began, if known.

    Linux counts what a process held before it became another program (`exec`) as its own in
    ``ru_maxrss``: a child would seem as large as its parent.  Its ``VmHWM`` begins anew.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        status = ""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # not on this system: do without
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_CGROUP_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def memory_limit() -> int | None:
    """The memory of this machine or container in bytes; None if that is not known."""
    known = []
    with suppress(AttributeError, OSError, ValueError):  # not on this system
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in _CGROUP_LIMITS:
        try:
            known.append(int(Path(file).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not here, or "max"
            continue
    return min((size for size in known if size > 0), default=None)


def format_count(number: int) -> str:
    """A number that may be too large for a float, with three digits."""
    return f"{number:.3g}" if number < 2**1000 else f"10^{int(math.log10(number))}"


def format_bytes(size: int) -> str:
    """An amount of memory in MiB or GiB, such as ``931 GiB``; never 0."""
    if size >= 2**70:  # too many digits to read, or for a float
        return f"10^{int(math.log10(size))} bytes"
    if size >= 2**30:
        gib = size / 2**30
        return f"{gib:,.1f} GiB" if gib < 10 else f"{gib:,.0f} GiB"
    return f"{max(1, round(size / 2**20)):,} MiB"
