"""Python in a process of its own, for what must not take the tests down with it; and threads."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import SimpleNamespace

import pytest

from dbpcfg.experiments import running, scheduling
from dbpcfg.experiments.corpora import forget_corpora
from dbpcfg.io.machine import one_blas_thread

STARTED = running.start_process


def output_of(script: str, seconds: float = 600) -> str:
    """What a script prints; an error if it crashes, or is not done in time."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-1000:]}"
    return done.stdout


class _Stand(threading.Thread):
    """A thread that stands for a process, with the one BLAS thread that a process has."""

    exitcode = None

    def __init__(self, target: Callable[..., None], arguments: tuple) -> None:
        super().__init__(target=target, args=arguments, daemon=True)
        self.connection, self.limit = arguments[0], ExitStack()
        self.limit.enter_context(one_blas_thread())
        self.start()

    def run(self) -> None:
        try:
            super().run()
        finally:
            self.limit.close()
            self.connection.close()

    def kill(self) -> None:
        """Threads cannot be killed: what never ends needs a process."""


def _start_thread(target: Callable[..., None], *arguments: object) -> tuple[_Stand, Connection]:
    forget_corpora()
    ours, theirs = Pipe()
    return _Stand(target, (theirs, *arguments)), ours


@contextmanager
def threads_for_processes() -> Iterator[None]:
    """Cells of experiments run in threads, as the processes would take longer than the cells."""
    no_signals = SimpleNamespace(**{**vars(signal), "signal": lambda *_: None})
    with pytest.MonkeyPatch.context() as patch:
        for module in (running, scheduling):
            patch.setattr(module, "start_process", _start_thread)
        patch.setattr(scheduling, "signal", no_signals)
        yield


@contextmanager
def real_processes() -> Iterator[None]:
    """Cells run in processes, as they do elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (running, scheduling):
            patch.setattr(module, "start_process", STARTED)
        yield
