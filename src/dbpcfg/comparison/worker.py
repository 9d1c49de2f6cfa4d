"""One system in a process of its own: its trees, its time and its memory, or how it failed.

The process starts afresh, so its greatest memory is the system's and Python's, not that of what
was run or read before; and if it crashes, only it does.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.runtime.processes import leave_signals_to_parent, peak_bytes
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.registry import SystemSettings, SystemSpec
from dbpcfg.version import __version__


@dataclass(frozen=True)
class Outcome:
    """What came of a system on some sentences: trees in brackets, or a failure."""

    trees: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """From sentences to trees; starting Python and importing modules is not part of it."""
    cpu_seconds: float = 0.0
    """Of all threads, the start included."""
    peak_bytes: int | None = None
    """The greatest amount of memory that the process held, Python's own included."""
    failure: str | None = None
    version: str = __version__
    """Of this package, when it ran."""


def run_in_process(
    kind: SystemSpec,
    seed: int,
    settings: SystemSettings,
    sentences: Sequence[Sequence[str]],
    *,
    threads: int | None = None,
    quiet: bool = False,
) -> Outcome:
    """Run a system on sentences in a new process, and wait for it."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (sender, kind, seed, dict(settings), list(sentences), threads, quiet)
    process = context.Process(target=_work, args=arguments)
    try:
        process.start()
        sender.close()  # so that the child's end is the only one, and its death is noticed
        try:
            outcome = receiver.recv()
        except EOFError:
            process.join()
            return Outcome(failure=_ending(process.exitcode))
        process.join()
        assert isinstance(outcome, Outcome)
        return outcome
    finally:
        if process.is_alive():
            process.terminate()
            process.join()
        receiver.close()


def _work(
    connection: Connection,
    kind: SystemSpec,
    seed: int,
    settings: dict[str, Any],
    sentences: list[Sequence[str]],
    threads: int | None,
    quiet: bool,
) -> None:
    """What the child does."""
    leave_signals_to_parent()
    label = f"{kind.name}, seed {seed}" if kind.stochastic else kind.name
    try:
        system = kind.make(seed, threads, **settings)
        with Progress(label, quiet=quiet) as progress:
            start = time.perf_counter()
            trees = system.fit(sentences, progress).trees()
            seconds = time.perf_counter() - start
        cpu, peak = time.process_time(), peak_bytes()
        outcome = Outcome([str(tree) for tree in trees], seconds, cpu, peak)
    except DbpcfgError as error:
        outcome = Outcome(failure=str(error))
    except MemoryError:
        outcome = Outcome(failure="there was not enough memory")
    except Exception as error:
        outcome = Outcome(failure=f"{type(error).__name__}: {error}")
    connection.send(outcome)
    connection.close()


def _ending(exitcode: int | None) -> str:
    """Why a process may have ended without a word."""
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        memory = "; memory may have run out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{memory}"
    return (
        f"its process ended with exit code {exitcode}; a program that compares systems needs "
        "`if __name__ == '__main__':`"
    )
