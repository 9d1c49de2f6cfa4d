"""The options ``--cluster`` and ``--spread``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

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
