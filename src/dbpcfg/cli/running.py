"""Runs of commands: on a cluster if there is one, until a signal stops them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from dbpcfg.cli.output import harmless
from dbpcfg.options import Group, option

if TYPE_CHECKING:
    from dbpcfg.cluster.connection import DaskCluster, Spread

LOST = 130
"""The exit code if the cluster is lost: that of a run which Ctrl-C has stopped."""


def check_cluster(cluster: str | None, spread: Spread | None) -> None:
    """Raise an error if a cluster cannot be, before anything is read."""
    from dbpcfg.errors import DbpcfgError

    if cluster is None:
        if spread is not None:
            raise DbpcfgError("--spread needs --cluster")
        return
    from dbpcfg.cluster.address import need_dask, parsed

    parsed(cluster)
    need_dask()


@dataclass(frozen=True)
class RunningCells(Group):
    """How the cells of a grid or recipe are run."""

    dry_run: bool = option(False, "List the cells and their state; run nothing.")
    jobs: int = option(1, "Cells that run side by side; they share --threads.", least=1)
    cluster: str | None = option(
        None,
        "Run cells on a Dask cluster: local:N, tcp://HOST:PORT, or a TOML file. Workers must see "
        "the same files.",
    )
    threads: int | None = option(
        None, "Number of processors; all if not given. Results do not depend on it.", least=1
    )

    def check(self) -> None:
        """Raise an error if this cannot be, before anything is read."""
        from dbpcfg.errors import DbpcfgError

        if self.cluster is not None and self.jobs > 1:
            raise DbpcfgError(
                "--jobs is for this machine; a cluster runs as many cells as it has workers"
            )
        check_cluster(self.cluster, None)


@contextlib.contextmanager
def on_cluster(
    cluster: str | None, spread: Spread | None, quiet: bool, hint: str
) -> Iterator[DaskCluster | None]:
    """The cluster of a command; if it is lost, say how to resume, ``hint``, and stop."""
    if cluster is None:
        yield None
        return
    from dbpcfg.cluster.calls import ClusterLostError
    from dbpcfg.cluster.connection import connect, to_stderr

    try:
        with connect(cluster, spread, (lambda _: None) if quiet else to_stderr) as there:
            yield there
    except ClusterLostError as error:
        typer.echo(f"dbpcfg: {error}", err=True)
        typer.echo(hint, err=True)
        raise typer.Exit(LOST) from None


class StopRequest:
    """Whether a signal has asked a run to stop, and which."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        """Whether the run is to stop."""
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """The exit code of a command that a signal has stopped."""
        return 128 + (self.signal or 0)


def resume_hint(run: str) -> str:
    """How to resume a run that was stopped."""
    return f"stopped; resume with: dbpcfg resume {harmless(run)}"


@contextlib.contextmanager
def stop_on_signal(run: str = "", hint: str = "") -> Iterator[StopRequest]:
    """Turn the first SIGINT or SIGTERM into a request to stop; the second ends the process.

    ``run``: the run that is stopped, which the second signal says how to resume.
    """
    from dbpcfg.io.machine import end_workers

    stop = StopRequest()

    def handle(number: int, _: object) -> None:
        if stop():
            cursor = "\x1b[?25h" if os.isatty(2) else ""  # a live table hides it
            os.write(2, f"{cursor}\n{hint or resume_hint(run)}\n".encode("utf-8", "replace"))
            end_workers()
            os._exit(128 + number)  # every file is whole at any moment
        stop.signal = number
        print(
            "\nstopping after the current iteration; Ctrl-C again stops immediately",
            file=sys.stderr,
            flush=True,
        )

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
