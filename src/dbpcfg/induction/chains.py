"""Several chains side by side, on any executor, saved in any store.

Chains advance in blocks of about a second. The results do not depend on where a block ends, nor on
anything else in `Execution`; how soon progress is reported and a request to stop takes effect does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Protocol

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain, advance, new_chain
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.io.machine import begin_worker, cores
from dbpcfg.options import Running
from dbpcfg.parsing.mbr import SpanCounts

BLOCK_SECONDS = 1.0


class ChainStore(Protocol):
    """Where chains are saved."""

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain as it was last saved; None if it never was."""

    def save(self, chain: Chain) -> None:
        """Save the chain as it is."""


class InMemory:
    """Keeps chains as they are: for runs without a directory, whose chains stop at rungs too."""

    def __init__(self) -> None:
        self._chains: dict[int, Chain] = {}

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain of this number; None if it has not begun."""
        return self._chains.get(settings.chain)

    def save(self, chain: Chain) -> None:
        """Keep the chain."""
        self._chains[chain.settings.chain] = chain


class ChainRunner(Protocol):
    """What runs chains: here `run_chains`, which says what is what."""

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


@dataclass(frozen=True)
class Execution:
    """How a run is computed, and its callbacks."""

    running: Running = field(default_factory=Running)
    report: Callable[[Chain], None] | None = None
    """Called with a chain after each block of its iterations."""
    stopping: Callable[[], bool] = lambda: False
    """Called after each block; the run stops if it returns True."""
    planned: Callable[[Configuration], None] = lambda _: None
    """Called once with the settings of the run, before chains begin."""
    cluster: Cluster | None = None
    """Where chains run instead of here."""

    def __post_init__(self) -> None:
        if self.running.spread is not None and self.cluster is None:
            raise DbpcfgError("spread says how a cluster computes a run: give cluster too")

    def threads_per_chain(self, chains: int) -> int:
        """How many threads each of a number of chains has."""
        return max(1, self._threads // chains)

    def executor(self, chains: int) -> Executor:
        """Start the workers for a number of chains."""
        workers = min(self._threads, chains)
        if self.running.workers == "threads":
            return ThreadPoolExecutor(workers)
        return ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin_worker)

    @property
    def _threads(self) -> int:
        return self.running.threads or cores()


def begin(
    corpus: Encoded, settings: ChainSettings, schedule: Schedule, saved: Chain | None
) -> Chain:
    """The chain to advance: as it was saved, or a new one if what was saved does not fit.

    A chain that was saved under a shorter schedule has counted samples that are burn-in now. It
    continues without them if all its iterations are burn-in; otherwise some of the samples that
    count now cannot be separated from those that do not, and the chain begins again.

    ``saved``: the chain as it was saved, if it was.
    """
    if saved is None or not can_continue(saved, schedule):
        return new_chain(corpus, settings)
    if schedule.iterations is not None and saved.burn_in not in (None, schedule.latest_burn_in):
        saved.burn_in, saved.grammars = None, []
        saved.spans = SpanCounts(corpus, settings.categories)
    return saved


def can_continue(chain: Chain, schedule: Schedule) -> bool:
    """Whether the samples that count under a schedule are in the chain, or still to come."""
    if schedule.iterations is None or chain.burn_in == schedule.latest_burn_in:
        return True
    return chain.iteration <= schedule.latest_burn_in


def run_chains(
    corpus: Encoded,
    settings: Sequence[ChainSettings],
    schedule: Schedule,
    store: ChainStore,
    executor: Executor,
    execution: Execution,
    gold: GoldSpans | None = None,
    until: int | None = None,
    work: Callable[..., Chain] | None = None,
) -> list[Chain]:
    """Run chains until all are finished or `Execution.stopping`; then all are saved.

    ``until``: the length at which chains pause; None if they do not.
    ``work``: what runs a block, called as `dbpcfg.induction.chain.advance`, which it is by default.
    Returns the chains in the order of ``settings``, as far as they have run.
    """
    stopping, checkpoint = execution.stopping, execution.running.checkpoint
    report = execution.report or (lambda _: None)
    threads = execution.threads_per_chain(len(settings))
    chains = [begin(corpus, one, schedule, store.load(one)) for one in settings]
    saved = {n: time.monotonic() for n in range(len(chains))}
    running: dict[Future[Chain], int] = {}
    block = min(BLOCK_SECONDS, checkpoint)
    work = advance if work is None else work

    def submit(n: int) -> None:
        try:
            future = executor.submit(work, chains[n], corpus, schedule, block, threads, gold, until)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        running[future] = n

    for n, chain in enumerate(chains):
        if chain.finished(schedule, until):
            report(chain)
        else:
            submit(n)
    while running:
        done, waiting = wait(running, return_when=FIRST_COMPLETED)
        if stopping():
            for future in waiting:
                future.cancel()
        for future in done:
            n = running.pop(future)
            chains[n] = chain = _result(future, chains[n], stopping)
            if not chain.iteration:  # stopped before it began
                continue
            report(chain)
            ends = stopping() or chain.finished(schedule, until)
            if ends or time.monotonic() - saved[n] > checkpoint:
                store.save(chain)
                saved[n] = time.monotonic()
            if not ends:
                submit(n)
    return chains


def _result(future: Future[Chain], before: Chain, stopping: Callable[[], bool]) -> Chain:
    """The chain after a block; as it was before, if the run stops and the block did not run."""
    try:
        return future.result()
    except CancelledError:
        return before
    except BrokenExecutor:
        if stopping():  # the signal that stopped this process may have stopped the workers too
            return before
        raise DbpcfgError(
            "a worker process has died: it was killed, memory ran out, or the calling script lacks "
            "`if __name__ == '__main__':`; the last checkpoint can be resumed"
        ) from None
