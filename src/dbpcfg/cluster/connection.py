"""A cluster that runs can be given to."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from dbpcfg.cluster.address import EXPECTED, need_dask, parsed, started
from dbpcfg.cluster.calls import Elsewhere, running_elsewhere
from dbpcfg.cluster.chains import MOST_THREADS, RemoteChains
from dbpcfg.cluster.parcels import check, facts, forget
from dbpcfg.cluster.shards import AT_ONCE, ShardedChains
from dbpcfg.cluster.spread import Spread, spread_of
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import induce as induction
from dbpcfg.induction.chains import ChainRunner, Execution
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import Configuration
from dbpcfg.options import Running

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS = 5.0
"""Seconds between two looks at how many workers there are."""


def to_stderr(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


class DaskCluster:
    """Workers of Dask that have the same versions as this process.

    ``spread``: ``"chains"`` or ``"shards"``; None to choose by the size of each run.
    ``announce``: called with a line about the workers, and how work is spread, before each run.
    """

    def __init__(
        self,
        client: Client,
        spread: Spread | None = None,
        announce: Callable[[str], None] = to_stderr,
    ) -> None:
        self.client, self.spread, self.announce = client, spread, announce
        self._size, self._looked = {"workers": 0, "shards": 0}, 0.0
        try:
            theirs = client.run(facts)
        except ImportError as error:
            raise DbpcfgError(
                f"workers cannot import dbpcfg ({error}): install the same version there"
            ) from None
        if not theirs:
            raise DbpcfgError("the cluster has no workers")
        warning = check(facts(), theirs)
        if warning is not None:
            announce(f"warning: {warning}")

    def slots(self) -> list[str]:
        """The addresses of all workers, each as often as it has threads."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return [address for address, one in workers.items() for _ in range(one["nthreads"])]

    def size(self) -> dict[str, int]:
        """The number of workers there are now, and of shards of a chain; 0 for whole chains."""
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            with suppress(OSError, TimeoutError):  # whoever needs the scheduler will notice
                self._size["workers"] = len(set(self.slots()))
        return dict(self._size)

    @contextmanager
    def runner(
        self, configuration: Configuration, corpus: Encoded, execution: Execution
    ) -> Iterator[ChainRunner]:
        """What runs the chains of one run here."""
        import dask.config

        run, slots = uuid.uuid4().hex, self.slots()
        spread, line = spread_of(configuration, corpus, slots, self.spread)
        self.announce(line)
        self._size = {
            "workers": len(set(slots)),
            "shards": len(slots) if spread == "shards" else 0,
        }
        large = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        try:
            chains: Elsewhere
            if spread == "chains":
                chains, most = RemoteChains(self.client, run, slots), MOST_THREADS
            else:
                chains, most = ShardedChains(self.client, run, self.slots), AT_ONCE
            with running_elsewhere(chains, min(configuration.chains, most)) as runner:
                yield runner
        finally:
            large.__exit__(None, None, None)
            with suppress(Exception):  # the cluster may be gone
                self.client.run(forget, run, on_error="ignore")


@contextmanager
def connect(
    given: object,
    spread: Spread | None = None,
    announce: Callable[[str], None] = to_stderr,
) -> Iterator[DaskCluster]:
    """Connect to a cluster, or start one, for one or more runs.

    Parameters
    ----------
    given
        ``"local:4"``, the address of a scheduler, the name of a TOML file that describes a batch
        system, or a ``distributed.Client``.
    spread
        ``"chains"`` side by side or ``"shards"`` of each chain's sentences; None to choose by size.
    announce
        Called with a line about the workers, and how work is spread, before each run.

    Yields
    ------
    DaskCluster
        To be given to ``dbpcfg.induce`` or ``dbpcfg.resume`` as ``cluster``.

    Raises
    ------
    DbpcfgError
        If Dask is not installed, the cluster cannot be reached, or its versions are others.
    """
    place = parsed(given) if isinstance(given, str) else None
    need_dask()
    from distributed import Client

    if place is not None:
        with started(place) as client:
            yield DaskCluster(client, spread, announce)
    elif isinstance(given, Client):
        yield DaskCluster(given, spread, announce)
    else:
        raise DbpcfgError(f"{given!r} is no cluster: {EXPECTED}, or a distributed.Client")


P = ParamSpec("P")


def _connecting(verb: Callable[P, Run]) -> Callable[P, Run]:
    """The verb, which connects to the cluster that it is given by name."""

    @wraps(verb)
    def connecting(*arguments: P.args, **options: P.kwargs) -> Run:
        cluster, spread = options.get("cluster"), cast(Any, options.get("spread"))
        Running(spread=spread)  # raises an error for a wrong one
        if cluster is None or hasattr(cluster, "runner"):
            return verb(*arguments, **options)
        announce = (lambda _: None) if options.get("quiet") else to_stderr
        with connect(cluster, spread, announce) as options["cluster"]:
            return verb(*arguments, **options)

    return connecting


induce = _connecting(induction.induce)
resume = _connecting(induction.resume)
