"""Runs of commands: on a cluster if there is one, until a signal stops them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from dbpcfg.cli.output import harmless
from dbpcfg.options import ExecutionOptions, Group, option

if TYPE_CHECKING:
    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.cluster.connection import DaskCluster, Spread
    from dbpcfg.induction.chains import Execution
    from dbpcfg.induction.settings import Configuration

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
    jobs: int = option(1, "Cells that run side by side; they share --threads.", minimum=1)
    cluster: str | None = option(
        None,
        "Run cells on a Dask cluster: local:N, tcp://HOST:PORT, or a TOML file. Workers must see "
        "the same files.",
    )
    threads: int | None = option(
        None, "Number of processors; all if not given. Results do not depend on it.", minimum=1
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
    from dbpcfg.cluster.connection import connect

    try:
        with connect(cluster, spread, (lambda _: None) if quiet else _to_stderr) as there:
            yield there
    except ClusterLostError as error:
        typer.echo(f"dbpcfg: {error}", err=True)
        typer.echo(hint, err=True)
        raise typer.Exit(LOST) from None


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class StopRequest:
    """The first SIGINT or SIGTERM is a request to stop; the second ends the process.

    A context manager, which handles these signals until its end.

    ``hint``: how to resume, which the second signal prints.
    """

    def __init__(self, hint: str) -> None:
        self.hint = hint
        self.signal: int | None = None
        self._handlers: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Whether a signal has come."""
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """The exit code of a command that a signal has stopped."""
        return 128 + (self.signal or 0)

    def __enter__(self) -> StopRequest:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: object) -> None:
        from dbpcfg.io.machine import kill_workers

        if self():
            cursor = "\x1b[?25h" if os.isatty(2) else ""  # a live table hides it
            os.write(2, f"{cursor}\n{self.hint}\n".encode("utf-8", "replace"))
            kill_workers()
            os._exit(128 + number)  # every file is whole at any moment
        self.signal = number
        print(
            "\nstopping after the current iteration; Ctrl-C again stops immediately",
            file=sys.stderr,
            flush=True,
        )


def resume_hint(run: str) -> str:
    """How to resume a run that was stopped."""
    return f"stopped; resume with: dbpcfg resume {harmless(run)}"


@contextlib.contextmanager
def monitored(
    run: str, options: ExecutionOptions, quiet: bool, json: bool
) -> Iterator[tuple[Execution, StopRequest]]:
    """How a command runs chains: it shows them, and signals stop them.

    ``run``: the directory of the run.
    """
    from dbpcfg.induction.chains import Execution

    check_cluster(options.cluster, options.spread)
    stop, hidden = StopRequest(resume_hint(run)), quiet or json

    def say(note: str) -> None:
        if not hidden:
            typer.echo(note, err=True)

    with contextlib.ExitStack() as stack:
        progress = None if quiet and not json else stack.enter_context(_progress(json))

        def on_plan(configuration: Configuration) -> None:
            stack.enter_context(stop)
            if progress is not None:
                progress.begin(configuration)

        @contextlib.contextmanager
        def connected() -> Iterator[DaskCluster | None]:
            with on_cluster(options.cluster, options.spread, hidden, stop.hint) as cluster:
                if progress is not None:
                    progress.cluster = cluster
                yield cluster

        yield (
            Execution(
                **{**vars(options), "cluster": connected() if options.cluster else None},
                quiet=True,
                on_progress=None if progress is None else progress.show,
                on_phase=None if progress is None else progress.phase,
                should_stop=stop,
                on_plan=on_plan,
                on_note=say,
                on_warning=lambda note: say(f"note: {note}"),
            ),
            stop,
        )


def _progress(json: bool) -> ChainProgress:
    from dbpcfg.cli.chain_progress import ChainProgress

    return ChainProgress("json" if json else "auto")
