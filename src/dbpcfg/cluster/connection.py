"""A cluster that runs can be given to, and how it spreads a run over its workers.

Chains side by side need no messages to speak of, so that is the choice where there are enough of
them to keep all workers at work, and where each worker can hold the whole corpus. Otherwise the
sentences of each chain are in shards.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, cast

from dbpcfg.cluster.address import EXPECTED, need_dask, parsed, started
from dbpcfg.cluster.chains import MOST_THREADS, ClusterChains, WholeChains
from dbpcfg.cluster.messages import check_same, environment
from dbpcfg.cluster.shards import AT_ONCE, ShardedChains
from dbpcfg.cluster.worker import forget
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import induce as induction
from dbpcfg.induction.chains import ChainRunner, Execution
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import Configuration
from dbpcfg.options import Running

if TYPE_CHECKING:
    from distributed import Client

Spread = Literal["chains", "shards"]

LOOK_SECONDS = 5.0
"""Seconds between two looks at how many workers there are."""
SHARD_WORK = 10**9
"""Multiplications of one iteration in a shard, at least: about a second. Less is not worth it."""
WHOLE_BYTES = 2**31
"""The most memory for one chain's trees and counts on one worker."""


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
            theirs = client.run(environment)
        except ImportError as error:
            raise DbpcfgError(
                f"workers cannot import dbpcfg ({error}): install the same version there"
            ) from None
        if not theirs:
            raise DbpcfgError("the cluster has no workers")
        warning = check_same(environment(), theirs)
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
            chains: ClusterChains
            if spread == "chains":
                chains, most = WholeChains(self.client, run, slots), MOST_THREADS
            else:
                chains, most = ShardedChains(self.client, run, self.slots), AT_ONCE
            with chains.runner(min(configuration.chains, most)) as runner:
                yield runner
        finally:
            large.__exit__(None, None, None)
            with suppress(Exception):  # the cluster may be gone
                self.client.run(forget, run, on_error="ignore")


def spread_of(
    configuration: Configuration, corpus: Encoded, slots: list[str], asked: Spread | None
) -> tuple[Spread, str]:
    """How a run is spread, and a line that says so.

    ``slots``: the addresses of workers, each as often as it has threads.
    ``asked``: how it is to be spread; None to choose.
    """
    if not configuration.model.learner.samples:
        if asked == "shards":
            raise DbpcfgError("shards are for the learner gibbs; others run chains side by side")
        asked = "chains"
    chains, threads, workers = configuration.chains, len(slots), len(set(slots))
    spread: Spread = asked or _chosen(configuration, corpus, threads)
    grammar, back = bytes_per_iteration(configuration, corpus)
    there = f"{workers} worker{'s' * (workers != 1)} with {threads} thread{'s' * (threads != 1)}"
    if spread == "chains":
        line = f"{there}: {chains} chain{'s' * (chains != 1)} side by side, 64 bytes per iteration"
    else:
        line = (
            f"{there}: sentences in {threads} shards, per iteration of a chain "
            f"{_text(grammar)} to each worker and at most {_text(back)} back in all"
        )
    return spread, line


def _text(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 10**6 else f"{size / 1e3:,.0f} kB"


def bytes_per_iteration(configuration: Configuration, corpus: Encoded) -> tuple[int, int]:
    """Of one chain in shards: the bytes of a grammar, and the most that come back in all."""
    K, W = configuration.model.categories, len(corpus.vocabulary)
    rules = K + K**3 + K * W
    used = 8 * min(rules, 2 * len(corpus.tokens))
    return 8 * rules, used + 8 * len(corpus)


def _chosen(configuration: Configuration, corpus: Encoded, threads: int) -> Spread:
    K, lengths = configuration.model.categories, corpus.lengths
    work = int((lengths**3 * K**2 + lengths**2 * K**3).sum())
    spans = 4 * K * int((lengths * (lengths + 1) // 2).sum())
    if threads > 1 and spans + 24 * len(corpus.tokens) > WHOLE_BYTES:
        return "shards"
    if configuration.chains < threads and work > SHARD_WORK * threads:
        return "shards"
    return "chains"


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
        raise DbpcfgError(f"{given!r} is not a cluster: {EXPECTED}, or a distributed.Client")


P = ParamSpec("P")


def _connecting(verb: Callable[P, Run]) -> Callable[P, Run]:
    """The verb, which connects to the cluster that it is given by name."""

    @wraps(verb)
    def connecting(*arguments: P.args, **options: P.kwargs) -> Run:
        cluster, spread = options.get("cluster"), cast(Any, options.get("spread"))
        Running(spread=spread)  # raises an error for a wrong one
        if spread is not None and getattr(cluster, "spread", spread) != spread:
            raise DbpcfgError("give spread to dbpcfg.cluster.connect, which made this cluster")
        if cluster is None or hasattr(cluster, "runner"):
            return verb(*arguments, **options)
        announce = (lambda _: None) if options.get("quiet") else to_stderr
        with connect(cluster, spread, announce) as options["cluster"]:
            return verb(*arguments, **options)

    return connecting


induce = _connecting(induction.induce)
resume = _connecting(induction.resume)
