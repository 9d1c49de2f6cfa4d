"""What ``--cluster`` can be: ``local:4``, the address of a scheduler, or a TOML file."""

from __future__ import annotations

import logging
import re
import signal
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import read_errors
from dbpcfg.options import Group, option

if TYPE_CHECKING:
    from distributed import Client

EXPECTED = (
    "give local:N for N processes of this machine, the address of a scheduler such as "
    "tcp://host:8786, or a .toml file"
)
KINDS = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "moab": "MoabCluster",
    "oar": "OARCluster",
    "htcondor": "HTCondorCluster",
}
"""Batch systems, and the classes of dask-jobqueue for them."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine, reachable from this machine only."""

    workers: int


@dataclass(frozen=True)
class Scheduler(Group):
    """A scheduler that is running already."""

    address: str = option("", "``tcp://host:port`` or ``tls://host:port``.")
    tls_ca: str | None = option(None, "Of TLS: the file of the certificate authority.")
    tls_cert: str | None = option(None, "The file of the certificate.")
    tls_key: str | None = option(None, "The file of the key.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not re.fullmatch(r"(tcp|tls)://[^/\s]+:[0-9]+", self.address):
            raise DbpcfgError(
                f"{self.address!r} is not the address of a scheduler: tcp://host:port or tls://host:port"
            )


@dataclass(frozen=True)
class Jobs(Group):
    """Jobs of a batch system, each of which starts workers."""

    kind: str = option("slurm", "The batch system.")
    workers: int = option(0, "The number of jobs' workers in all.", minimum=1)
    cores: int = option(1, "Threads of each job.", minimum=1)
    memory: str = option("4GB", "Memory of each job.")
    processes: int | None = option(
        None, "Worker processes of each job; one for each core, if not given.", minimum=1
    )
    queue: str | None = option(None, "The queue or partition.")
    account: str | None = option(None, "The account.")
    walltime: str | None = option(None, "The time of a job, such as 04:00:00.")
    interface: str | None = option(None, "The network interface, such as ib0.")
    directives: tuple[str, ...] = option(
        (), "Further lines of the job's header, such as --exclusive."
    )
    prologue: tuple[str, ...] = option(
        (), "Lines of the script before the worker starts, such as module load python."
    )
    python: str | None = option(None, "The interpreter of the workers; this one, if not given.")
    local_directory: str | None = option(None, "A folder on the nodes.")
    log_directory: str | None = option(None, "A folder for the logs of jobs.")
    wait: float = option(3600.0, "Seconds to wait for the first worker.", minimum=0)


Place = Local | Scheduler | Jobs


def parsed(text: str) -> Place:
    """What a value of ``--cluster`` stands for.

    ``text``: ``local:N``, an address, or the name of a TOML file.
    """
    if text == "local" or text.startswith("local:"):
        number = text.removeprefix("local").removeprefix(":")
        if not re.fullmatch(r"[1-9][0-9]{0,3}", number):
            raise DbpcfgError(f"{text!r}: local:N needs the number of processes, such as local:4")
        return Local(int(number))
    if "://" in text:
        return Scheduler(text)
    if text.endswith(".toml"):
        return _from_file(Path(text))
    raise DbpcfgError(f"{text!r} is not a cluster: {EXPECTED}")


def _from_file(path: Path) -> Place:
    with read_errors(path):
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise DbpcfgError(f"it is not TOML: {error}") from None
        table = content.pop("cluster", None)
        if not isinstance(table, dict) or content:
            raise DbpcfgError("it must have the table [cluster] and nothing else")
        kind = table.get("kind")
        if kind == "scheduler":
            rest = {name: value for name, value in table.items() if name != "kind"}
            return Scheduler.of_table(rest, "[cluster]")
        if kind not in KINDS:
            kinds = ", ".join(["scheduler", *KINDS])
            raise DbpcfgError(f"[cluster] kind must be one of {kinds}, got {kind!r:.80}")
        return Jobs.of_table(table, "[cluster]")


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

    Dask does not judge workers by their memory: what kernels need for charts comes and goes.
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

    class IgnoreCtrlC(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: object) -> None:
            import signal

            signal.signal(signal.SIGINT, signal.SIG_IGN)

    client.register_plugin(IgnoreCtrlC(), name="dbpcfg-signals")


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
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue  # takes Ctrl-C for itself
    except ImportError:
        raise DbpcfgError(
            'a batch system needs dask-jobqueue: pip install "dbpcfg[cluster]"'
        ) from None
    signal.signal(signal.SIGINT, interrupted)
    names = [
        "queue",
        "account",
        "walltime",
        "interface",
        "python",
        "local_directory",
        "log_directory",
    ]
    given = {name: getattr(place, name) for name in names}
    return getattr(dask_jobqueue, KINDS[place.kind])(
        cores=place.cores,
        processes=place.processes or place.cores,
        memory=place.memory,
        job_extra_directives=list(place.directives),
        job_script_prologue=list(place.prologue),
        silence_logs=_SILENT,
        scheduler_options={"dashboard_address": f"{LOOPBACK}:0"},
        **{name: value for name, value in given.items() if value is not None},
    )
