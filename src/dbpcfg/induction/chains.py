"""Several chains side by side, on any executor, saved in any store.

Chains advance in blocks of about a second. The results do not depend on where a block ends, nor on
anything else in `Execution`; how soon progress is reported and a request to stop takes effect does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
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
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain, advance, new_chain, no_spans
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.learners import Learner
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.io.log import note, warn
from dbpcfg.io.machine import can_send_to_worker, cores, init_worker, worker_context
from dbpcfg.io.progress import Progress
from dbpcfg.options import ExecutionOptions

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

    def budget(self, iterations: int, chains: int | None) -> int:
        """As `Execution.budget`."""


@dataclass(frozen=True)
class Execution(ExecutionOptions):
    """How a run is computed, and its callbacks. Its result does not depend on any of this."""

    cluster: Any = None
    """Where chains run instead of here: a `Cluster`, or a context manager that connects to one."""
    quiet: bool | None = None
    """Whether no progress bar is shown; if None, it is, unless there is ``on_progress``."""
    on_progress: Callable[[Chain], None] | None = None
    """Called with a chain after each block of its iterations."""
    on_phase: Callable[[str, int | None], Progress] | None = None
    """Called before and after chains run with what is done then, and how much; shows it."""
    should_stop: Callable[[], bool] = lambda: False
    """Called after each block; the run stops if it returns True."""
    on_plan: Callable[[Configuration], None] = lambda _: None
    """Called with the settings of the run before chains begin."""
    on_note: Callable[[str], None] = note
    """Called with what may be worth knowing of the text and of the run."""
    on_warning: Callable[[str], None] = warn
    """Called with a note on a text that is probably not ready."""

    def __post_init__(self) -> None:
        super().__post_init__()
        is_cluster = hasattr(self.cluster, "runner") or hasattr(self.cluster, "__enter__")
        if self.cluster is not None and not is_cluster:
            raise DbpcfgError(
                f"{self.cluster!r} is not a cluster: give what dbpcfg.cluster.connect returns, or "
                "call dbpcfg.induce, which connects"
            )
        if self.spread is not None and self.cluster is None:
            raise DbpcfgError("spread says how a cluster computes a run: give cluster too")

    def phase(self, name: str, total: int | None = None) -> Progress:
        """Progress of what is done before and after chains run."""
        if self.on_phase is not None:
            return self.on_phase(name, total)
        return Progress(name, total, self.hides_progress)

    @property
    def hides_progress(self) -> bool | None:
        """Whether there is no progress bar; None if that depends on who watches."""
        return self.quiet if self.on_progress is None else True

    @contextmanager
    def connected(self) -> Iterator[Execution]:
        """The same, connected to the cluster."""
        if self.cluster is None or hasattr(self.cluster, "runner"):
            yield self
        else:
            with self.cluster as cluster:
                yield replace(self, cluster=cluster)

    def threads_per_chain(self, chains: int) -> int:
        """How many threads each of a number of chains has."""
        return max(1, self.all_threads // chains)

    def executor(self, chains: int, learner: Learner | None = None) -> Executor:
        """Start the workers for a number of chains: threads if the learner cannot be sent."""
        workers = min(self.all_threads, chains)
        if self.workers == "threads" or not can_send_to_worker(learner):
            return ThreadPoolExecutor(workers)
        return ProcessPoolExecutor(workers, worker_context, initializer=init_worker)

    def budget(self, iterations: int, chains: int | None) -> int:
        """The budget of a race that takes about as long as so many iterations on one thread.

        ``chains``: the number of chains at the first rung, if it was given.
        """
        if self.cluster is not None:
            cluster: Cluster = self.cluster
            return cluster.budget(iterations, chains)
        return iterations * self.all_threads

    @property
    def all_threads(self) -> int:
        """How many threads there are."""
        return self.threads or cores()


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
        saved.spans = no_spans(corpus, settings)
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
    """Run chains until all are finished or `Execution.should_stop`; then all are saved.

    ``until``: the length at which chains pause; None if they do not.
    ``work``: what runs a block, called as `dbpcfg.induction.chain.advance`, which it is by default.
    Returns the chains in the order of ``settings``, as far as they have run.
    """
    should_stop, checkpoint = execution.should_stop, execution.checkpoint
    on_progress = execution.on_progress or (lambda _: None)
    mapper = Mapper(execution.threads_per_chain(len(settings)))
    chains = [begin(corpus, one, schedule, store.load(one)) for one in settings]
    saved = {n: time.monotonic() for n in range(len(chains))}
    running: dict[Future[Chain], int] = {}
    block = min(BLOCK_SECONDS, checkpoint)
    work = advance if work is None else work

    def submit(n: int) -> None:
        try:
            future = executor.submit(work, chains[n], corpus, schedule, block, mapper, gold, until)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        running[future] = n

    for n, chain in enumerate(chains):
        if chain.finished(schedule, until):
            on_progress(chain)
        else:
            submit(n)
    while running:
        done, waiting = wait(running, return_when=FIRST_COMPLETED)
        if should_stop():
            for future in waiting:
                future.cancel()
        for future in done:
            n = running.pop(future)
            chains[n] = chain = _result(future, chains[n], should_stop)
            if not chain.iteration:  # stopped before it began
                continue
            on_progress(chain)
            ends = should_stop() or chain.finished(schedule, until)
            if ends or time.monotonic() - saved[n] > checkpoint:
                store.save(chain)
                saved[n] = time.monotonic()
            if not ends:
                submit(n)
    return chains


def _result(future: Future[Chain], before: Chain, should_stop: Callable[[], bool]) -> Chain:
    """The chain after a block; as it was before, if the run stops and the block did not run."""
    try:
        return future.result()
    except CancelledError:
        return before
    except BrokenExecutor:
        if should_stop():  # the signal that stopped this process may have stopped the workers too
            return before
        raise DbpcfgError(
            "a worker process has died: it was killed, or memory ran out; "
            "the last checkpoint can be resumed"
        ) from None
