"""How processes that this package starts behave."""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread


def leave_signals_to_parent() -> None:
    """Leave Ctrl-C to the process that started this one, and end when that one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def end_workers(seconds: float = 2.0) -> None:
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
