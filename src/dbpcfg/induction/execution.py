"""How a run is computed. Its result does not depend on any of this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Literal, Protocol, cast, get_args

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.configuration import Configuration
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.gold import GoldSpans
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.store import ChainStore
from dbpcfg.io.machine import cores, leave_signals_to_parent
from dbpcfg.io.validation import check_choice

Workers = Literal["threads", "processes"]

CHECKPOINT_SECONDS = 30.0


def no_report(chain: Chain) -> None:
    """Report nothing."""


def no_plan(configuration: Configuration) -> None:
    """Do nothing."""


def no_remark(text: str) -> None:
    """Remark nothing."""


def never() -> bool:
    """Do not stop."""
    return False


class ChainRunner(Protocol):
    """What runs chains: here `dbpcfg.induction.chains.run_chains`, which says what is what."""

    def __call__(
        self,
        corpus: Encoded,
        settings: Sequence[ChainSettings],
        schedule: Schedule,
        store: ChainStore,
        *,
        execution: Execution,
        gold: GoldSpans | None,
        until: int | None,
    ) -> list[Chain]:
        """Run chains until all are finished or the run is to stop."""


class Cluster(Protocol):
    """Other processes or machines that chains can run on."""

    def runner(
        self, configuration: Configuration, corpus: Encoded, execution: Execution
    ) -> AbstractContextManager[ChainRunner]:
        """What runs the chains of one run there."""


AnyCluster = Cluster | str | object | None
"""A cluster, or what `dbpcfg.induce` connects to; None for this process."""


def connected(cluster: AnyCluster) -> Cluster | None:
    """A cluster that is connected to already; `dbpcfg.induce` connects, this layer does not."""
    if cluster is not None and not hasattr(cluster, "runner"):
        raise DbpcfgError(
            f"{cluster!r} is not a cluster: give what dbpcfg.cluster.connect returns, or call "
            "dbpcfg.induce, which connects"
        )
    return cast(Cluster | None, cluster)


@dataclass(frozen=True)
class Execution:
    """Threads, workers and checkpoints of a run, and its callbacks."""

    threads: int | None = None
    """For all chains together; None for as many as there are processors."""
    workers: Workers = "threads"
    """What runs chains side by side."""
    checkpoint: float = CHECKPOINT_SECONDS
    """Seconds between two checkpoints of a chain."""
    report: Callable[[Chain], None] = no_report
    """Called with a chain after each block of its iterations."""
    stopping: Callable[[], bool] = never
    """Called after each block; the run stops if it returns True."""
    planned: Callable[[Configuration], None] = no_plan
    """Called once with the settings of the run, before chains begin."""
    cluster: Cluster | None = None
    """Where chains run instead of here."""

    def __post_init__(self) -> None:
        check_choice("workers", self.workers, get_args(Workers))
        if self.threads is not None and self.threads < 1:
            raise DbpcfgError(f"there must be at least 1 thread, got {self.threads}")

    def threads_per_chain(self, chains: int) -> int:
        """How many threads each of a number of chains has."""
        return max(1, self._threads // chains)

    def executor(self, chains: int) -> Executor:
        """Start the workers for a number of chains."""
        workers = min(self._threads, chains)
        if self.workers == "threads":
            return ThreadPoolExecutor(workers)
        return ProcessPoolExecutor(
            workers, get_context("spawn"), initializer=leave_signals_to_parent
        )

    @property
    def _threads(self) -> int:
        return cores() if self.threads is None else self.threads
