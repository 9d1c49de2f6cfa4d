"""A connection to a scheduler: to one that runs, or to one that is started here."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from dbpcfg.cluster.address import KINDS, Jobs, Local, Place, Scheduler
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 20.0
WORKER_SECONDS = 60.0
"""Seconds to wait for workers of a scheduler that runs, or of this machine."""
LOOPBACK = "127.0.0.1"
_SETTINGS = {
    # A nanny is closed for good if its worker is gone this long after one was lost: also if that
    # one had come back, and was lost again.
    "distributed.deploy.lost-worker-timeout": "1h",
    "distributed.admin.tick.limit": "1h",
}
_SILENT = logging.CRITICAL + 1


def need_dask() -> None:
    """Raise an error if Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise DbpcfgError(
            'a cluster needs Dask: install it with pip install "dbpcfg[cluster]"'
        ) from None


@contextmanager
def started(place: Place) -> Iterator[Client]:
    """A client of the cluster; what is started for it ends with it."""
    import dask.config
    import distributed  # noqa: F401  (sets up its log)

    with ExitStack() as stack:
        stack.enter_context(dask.config.set(_SETTINGS))
        stack.enter_context(_unlogged())
        if isinstance(place, Scheduler):
            client, wanted, seconds = stack.enter_context(_reached(place)), 1, WORKER_SECONDS
        elif isinstance(place, Local):
            cluster = stack.enter_context(_processes(place.workers))
            client = stack.enter_context(_client(cluster))
            _leave_signals_to_client(client)
            wanted, seconds = place.workers, WORKER_SECONDS
        else:
            cluster = stack.enter_context(jobs_cluster(place))
            cluster.scale(place.workers)
            client = stack.enter_context(_client(cluster))
            wanted, seconds = 1, place.wait
        try:
            client.wait_for_workers(wanted, timeout=seconds)
        except TimeoutError:
            raise DbpcfgError(f"no worker has come within {seconds:.0f} seconds") from None
        yield client


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep Dask's log from standard error: what goes wrong is reported here, or does not matter."""
    handlers = logging.getLogger("distributed").handlers
    before = [(handler, handler.level) for handler in handlers]
    for handler, _ in before:
        handler.setLevel(_SILENT)
    try:
        yield
    finally:
        for handler, level in before:
            handler.setLevel(level)


def _client(cluster: Any) -> Any:
    from distributed import Client

    return Client(cluster, set_as_default=False)


def _processes(workers: int) -> Any:
    """Processes of this machine with one thread each, on loopback, without a dashboard.

    What chains and shards hold is not known to Dask, so it must not judge workers by their memory.
    """
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host=LOOPBACK,
        dashboard_address=f"{LOOPBACK}:0",
        worker_dashboard_address=f"{LOOPBACK}:0",
        memory_limit=0,
        silence_logs=_SILENT,
    )


def _leave_signals_to_client(client: Client) -> None:
    """Ctrl-C reaches all processes of a terminal; workers, also later ones, leave it to ours."""
    from distributed import WorkerPlugin

    class Deaf(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: object) -> None:
            import signal

            signal.signal(signal.SIGINT, signal.SIG_IGN)

    client.register_plugin(Deaf(), name="dbpcfg-signals")


def _reached(place: Scheduler) -> Any:
    from distributed import Client
    from distributed.security import Security

    files = {
        "tls_ca_file": place.tls_ca,
        "tls_client_cert": place.tls_cert,
        "tls_client_key": place.tls_key,
    }
    given = {name: file for name, file in files.items() if file is not None}
    security = Security(require_encryption=True, **given) if given else None
    try:
        return Client(
            place.address, timeout=CONNECT_SECONDS, security=security, set_as_default=False
        )
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise DbpcfgError(f"cannot reach the scheduler at {place.address}: {error}") from None


def jobs_cluster(place: Jobs) -> Any:
    """The batch system's cluster; ``job_script()`` of it is the script of a job."""
    try:
        import dask_jobqueue
    except ImportError:
        raise DbpcfgError(
            'a batch system needs dask-jobqueue: pip install "dbpcfg[cluster]"'
        ) from None
    optional = {
        "queue": place.queue,
        "account": place.account,
        "walltime": place.walltime,
        "interface": place.interface,
        "python": place.python,
        "local_directory": place.local_directory,
        "log_directory": place.log_directory,
    }
    return getattr(dask_jobqueue, KINDS[place.kind])(
        cores=place.cores,
        processes=place.processes or place.cores,
        memory=place.memory,
        job_extra_directives=list(place.directives),
        job_script_prologue=list(place.prologue),
        silence_logs=_SILENT,
        scheduler_options={"dashboard_address": f"{LOOPBACK}:0"},
        **{name: value for name, value in optional.items() if value is not None},
    )
