"""One system in a process of its own: its trees, time and memory, or why it failed.

The process is a new one, so its peak memory is that of the system and of Python, not that of what
was run or read before. If it crashes, the comparison continues.
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
from dbpcfg.io.machine import leave_signals_to_parent, peak_bytes
from dbpcfg.io.progress import Progress
from dbpcfg.systems.registry import SystemSettings, SystemSpec
from dbpcfg.version import __version__


@dataclass(frozen=True)
class Outcome:
    """The trees of a system for some sentences, in brackets, or why it failed."""

    trees: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """From sentences to trees; starting Python and importing modules is not part of it."""
    cpu_seconds: float = 0.0
    """CPU time of all threads, starting Python included."""
    peak_bytes: int | None = None
    """Peak memory of the process, Python included."""
    failure: str | None = None
    """Why it failed; None if it did not."""
    version: str = __version__
    """The version of this package that ran it."""


def run_in_process(
    spec: SystemSpec,
    seed: int,
    settings: SystemSettings,
    sentences: Sequence[Sequence[str]],
    *,
    threads: int | None = None,
    quiet: bool = False,
) -> Outcome:
    """Run a system on sentences in a new process, and wait for it.

    ``seed``: its seed; ignored by systems that draw no random numbers.
    ``sentences``: the words of each sentence, as the system gets them.
    ``threads``: processors to use; all if not given.
    Returns one tree for each sentence, or a failure. A crash is a failure, not an error.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (sender, spec, seed, dict(settings), list(sentences), threads, quiet)
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
    spec: SystemSpec,
    seed: int,
    settings: dict[str, Any],
    sentences: list[Sequence[str]],
    threads: int | None,
    quiet: bool,
) -> None:
    """Run the system: this is the new process."""
    leave_signals_to_parent()
    label = f"{spec.name}, seed {seed}" if spec.stochastic else spec.name
    try:
        system = spec.make(seed, threads, **settings)
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
    """Why a process may have ended without an outcome."""
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        memory = "; memory may have run out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{memory}"
    return (
        f"its process ended with exit code {exitcode}; a program that compares systems needs "
        "`if __name__ == '__main__':`"
    )
