"""A cluster that runs can be given to, and how it spreads a run over its workers.

Chains side by side need few messages, so that is the choice where there are enough of them to keep
all workers at work, and where each worker can hold the whole corpus. Otherwise the sentences of
each chain are spread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, cast

from dbpcfg.cluster.address import EXPECTED, need_dask, parsed, started
from dbpcfg.cluster.calls import ClusterLostError, threads_of_workers
from dbpcfg.cluster.chains import by_sentences, side_by_side
from dbpcfg.cluster.mapping import DaskMapper
from dbpcfg.cluster.messages import check_same, environment
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.induction import induce as induction
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.chains import ChainRunner, ChainStore, Execution, run_chains
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.search import side_by_side as budget_side_by_side
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.io.log import note
from dbpcfg.io.tables import plural
from dbpcfg.options import ExecutionOptions
from dbpcfg.parsing.mbr import MAX_BYTES

if TYPE_CHECKING:
    from distributed import Client

Spread = Literal["chains", "sentences"]

LOOK_SECONDS = 5.0
"""Seconds between two looks at how many workers there are."""
MAX_THREADS = 256
"""Threads of the client, which only wait: one for each chain side by side, at most this many."""
AT_ONCE = 2
"""Chains that advance at the same time, if their sentences are spread: while this process draws a
grammar of one, workers draw trees of the other."""
SPREAD_WORK = 10**9
"""Multiplications of one call on a worker, at least: about a second. Less is not worth it."""
WHOLE_BYTES = 2**31
"""The most memory for one chain's trees and counts on one worker."""


class DaskCluster:
    """Workers of Dask that have the same versions as this process.

    ``spread``: ``"chains"`` or ``"sentences"``; None to choose by the size of each run.
    ``announce``: called with a line about the workers, and how work is spread, before each run.
    """

    def __init__(
        self,
        client: Client,
        spread: Spread | None = None,
        announce: Callable[[str], None] = note,
    ) -> None:
        self.client, self.spread, self.announce = client, spread, announce
        self._threads: dict[str, int] = {}
        self._looked, self._parts = 0.0, False
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

    def threads(self) -> dict[str, int]:
        """The number of threads of each worker, by its address; as it was a few seconds ago."""
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            with suppress(ClusterLostError):  # whoever needs the scheduler will notice
                self._threads = threads_of_workers(self.client)
        return self._threads

    def slots(self) -> int:
        """The number of calls that all workers can do at a time."""
        return sum(self.threads().values())

    def size(self) -> dict[str, int]:
        """The number of workers there are now, and of parts of a chain; 0 for whole chains."""
        return {"workers": len(self.threads()), "parts": self.slots() if self._parts else 0}

    def budget(self, iterations: int, chains: int | None) -> int:
        """The budget of a race that takes about as long as so many iterations on one thread."""
        threads = max(1, self.slots())
        if self.spread == "sentences":
            return iterations * threads
        return budget_side_by_side(iterations, min(threads, MAX_THREADS), chains)

    @contextmanager
    def runner(
        self, configuration: Configuration, corpus: Encoded, execution: Execution
    ) -> Iterator[ChainRunner]:
        """What runs the chains of one run here."""
        import dask.config

        spread, line = spread_of(configuration, corpus, self.threads(), self.spread)
        self.announce(line)
        self._parts = spread == "sentences"
        at_once = min(configuration.chains, AT_ONCE if self._parts else MAX_THREADS)
        if self._parts:
            threads = execution.threads_per_chain(at_once)
            mapper = DaskMapper(self.client, self.slots, threads)
            work = by_sentences(mapper, configuration.trees)
        else:
            work = side_by_side(self.client, at_once)
        with (
            dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}),
            ThreadPoolExecutor(at_once) as executor,
        ):

            def run(
                corpus: Encoded,
                settings: Sequence[ChainSettings],
                schedule: Schedule,
                store: ChainStore,
                *,
                execution: Execution,
                gold: GoldSpans | None,
                until: int | None,
            ) -> list[Chain]:
                given = corpus, settings, schedule, store, executor, execution, gold, until
                return run_chains(*given, work=work)

            yield run


def spread_of(
    configuration: Configuration, corpus: Encoded, workers: dict[str, int], asked: Spread | None
) -> tuple[Spread, str]:
    """How a run is spread, and a line that says so.

    ``workers``: the number of threads of each worker, by its address.
    ``asked``: how it is to be spread; None to choose.
    """
    model = configuration.model
    threads, chains = sum(workers.values()), configuration.chains
    if asked == "sentences" and not model.learner.divisible:
        raise DbpcfgError(
            f"the learner {model.learner.name} cannot spread sentences: give spread = chains"
        )
    spread: Spread = asked or _chosen(configuration, corpus, threads)
    there = f"{plural(len(workers), 'worker')} with {plural(threads, 'thread')}"
    if spread == "chains":
        return spread, f"{there}: {plural(chains, 'chain')} side by side"
    grammar, _ = model.learner.needed_bytes(model, corpus)
    return spread, (
        f"{there}: sentences in {plural(threads, 'part')}, {_text(grammar)} to each worker for an "
        "iteration of a chain"
    )


def _text(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 10**6 else f"{size / 1e3:,.0f} kB"


def _chosen(configuration: Configuration, corpus: Encoded, threads: int) -> Spread:
    model, lengths = configuration.model, corpus.lengths
    if not model.learner.divisible or threads < 2:
        return "chains"
    K = model.categories
    spans = 4 * K * int((lengths * (lengths + 1) // 2).sum())
    trees = 24 * len(corpus.tokens)
    if trees + (spans if spans <= MAX_BYTES else 0) > WHOLE_BYTES:
        return "sentences"
    # In rank space, a split costs a number for each rank, and a span a square of them.
    costs = (K, K**2) if model.learner.grammar_kind is LowRankGrammar else (K**2, K**3)
    work = int((lengths**3 * costs[0] + lengths**2 * costs[1]).sum())
    batch = getattr(model.learner, "batch", 0) or len(corpus)
    work = work * min(batch, len(corpus)) // len(corpus)
    idle = configuration.chains < threads
    return "sentences" if idle and work > SPREAD_WORK * threads else "chains"


@contextmanager
def connect(
    given: object,
    spread: Spread | None = None,
    announce: Callable[[str], None] = note,
) -> Iterator[DaskCluster]:
    """Connect to a cluster, or start one, for one or more runs.

    Parameters
    ----------
    given
        ``"local:4"``, the address of a scheduler, the name of a TOML file that describes a batch
        system, or a ``distributed.Client``.
    spread
        ``"chains"`` side by side, or the ``"sentences"`` of each chain over all workers; None to
        choose by size.
    announce
        Called with a line about the workers, and how work is spread, before each run;
        if not given, it is logged.

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
    """The verb, which also takes the name of a cluster."""

    @wraps(verb)
    def connecting(*arguments: P.args, **options: P.kwargs) -> Run:
        cluster, spread = options.get("cluster"), cast(Any, options.get("spread"))
        ExecutionOptions(spread=spread)  # raises an error for a wrong one
        if spread is not None and getattr(cluster, "spread", spread) != spread:
            raise DbpcfgError("give spread to dbpcfg.cluster.connect, which made this cluster")
        if cluster is None or hasattr(cluster, "runner"):
            return verb(*arguments, **options)
        if isinstance(cluster, str):
            parsed(cluster)  # raises an error for an address that is none
        options["cluster"] = connect(cluster, spread)  # when the run begins
        return verb(*arguments, **options)

    return connecting


induce = _connecting(induction.induce)
resume = _connecting(induction.resume)
