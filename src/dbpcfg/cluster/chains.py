"""A chain on its worker: it stays there, and only its traces travel.

Chains side by side, each on a worker.

A chain lives where it was begun. After each block of iterations its traces come back; all of it
comes at a checkpoint, at the end of a rung and at its end. A chain whose worker is lost is sent to
another one as it last came, or begins again: it has the same random numbers, so the same result.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from dbpcfg.cluster.calls import Call, Shared
from dbpcfg.cluster.parcels import (
    Cargo,
    address,
    cargo_of,
    holdings,
    once,
    opened,
    packed,
    unpacked_chain,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.chain import Chain, advance, new_chain
from dbpcfg.induction.chains import ChainStore, InMemory
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.learners import State
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.options import Running

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class ChainTask:
    """What is to be done with a chain."""

    run: str
    settings: ChainSettings
    schedule: Schedule
    until: int | None
    """The length at which it pauses; None if it does not."""
    since: int
    """The number of iterations that the client knows of; the worker must have as many."""
    seconds: float
    """The time for further iterations; 0 for one, less than 0 for none."""
    whole: bool
    """Whether the client wants the whole chain."""


@dataclass(frozen=True)
class Answer:
    """What a worker has to say of a chain."""

    worker: str
    found: bool
    """Whether it had the chain, or was sent it."""
    iteration: int = 0
    beta: float = 0.0
    burn_in: int | None = None
    traces: dict[str, list[float]] | None = None
    """Of the iterations since those the client knew of: measures, logs and betas."""
    scores: dict[int, float] | None = None
    whole: bytes | None = None


def advance_chain(task: ChainTask, sent: bytes | None, anew: bool, cargo: Cargo) -> Answer:
    """Advance a chain that this worker has, or was sent.

    ``sent``: the chain as it was last saved, if the client sends it.
    ``cargo``: the sentences of the run, and gold spans or None.
    """
    corpus, gold = once(task.run, "corpus", lambda: opened(cargo))
    name, held = task.settings.chain, holdings(task.run)
    with once(task.run, ("lock", name), Lock):
        chain: Chain | None = held.get(name)
        if chain is None or chain.iteration < task.since:
            if sent is not None:
                chain = unpacked_chain(sent, corpus)
            elif anew:
                chain = new_chain(corpus, task.settings)
            else:
                return Answer(address(), False)
        held.pop(name, None)  # should an iteration fail, nothing half done is left
        if task.seconds >= 0:
            advance(chain, corpus, task.schedule, task.seconds, gold=gold, until=task.until)
        held[name] = chain
        return _answer(chain, task)


def _answer(chain: Chain, task: ChainTask) -> Answer:
    since = task.since
    traces = {"logs": chain.logs, "betas": chain.betas, **chain.measures}
    whole = task.whole or chain.finished(task.schedule, task.until)
    return Answer(
        address(),
        True,
        chain.iteration,
        chain.state.beta,
        chain.burn_in,
        {name: values[since:] for name, values in traces.items()},
        {iteration: score for iteration, score in chain.scores.items() if iteration > since},
        packed(chain) if whole else None,
    )


BLOCK_SECONDS = 2.0
"""Seconds of a block, at most: longer than locally, as each costs a message."""
MOST_THREADS = 256
"""Threads of the client, which only wait: one for each chain, at most this many."""


class RemoteChains:
    """The chains of a run on workers; a `ChainStore` around the run's own.

    ``slots``: the addresses of workers, each as often as it has threads.
    """

    def __init__(self, client: Client, run: str, slots: Sequence[str]) -> None:
        self.client, self.run, self.slots = client, run, list(slots)
        self.store: ChainStore = InMemory()
        self.whole: dict[int, Chain] = {}
        """Each chain as it last came, or as it began."""
        self.checkpoint = Running().checkpoint
        self._corpus: Encoded | None = None
        self._cargo: Shared | None = None
        self._homes: dict[int, str] = {}
        self._tasks: dict[int, ChainTask] = {}
        self._came: dict[int, float] = {}
        self._shown: dict[int, Chain] = {}
        self._lock = Lock()

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain as it last came; as it was saved, if it never did."""
        return self.whole.get(settings.chain) or self.store.load(settings)

    def save(self, chain: Chain) -> None:
        """Fetch the chain from its worker and save it; if the worker is lost, leave it as it was.

        ``chain``: the chain as it is shown: with its traces, but without the rest.
        """
        number = chain.settings.chain
        if self.whole[number].iteration != chain.iteration:
            self._fetch(number)
        if self.whole[number].iteration:
            self.store.save(self.whole[number])

    def whole_chain(self, chain: Chain) -> Chain:
        """The chain as it last came from its worker."""
        return self.whole.get(chain.settings.chain, chain)

    def advance(
        self,
        chain: Chain,
        corpus: Encoded,
        schedule: Schedule,
        seconds: float,
        threads: int,
        gold: GoldSpans | None,
        until: int | None,
    ) -> Chain:
        """Advance a chain on its worker, for ``BLOCK_SECONDS`` unless it is less than a second.

        It has one thread there. The chain that is returned has its traces; its grammars and trees
        are those it began with.
        """
        number = chain.settings.chain
        with self._lock:
            if self._cargo is None:
                self._corpus = corpus
                self._cargo = Shared(self.client, cargo_of(corpus, gold), everywhere=True)
        if chain is not self._shown.get(number):
            self.whole[number], chain = chain, _shown(chain)
        block = BLOCK_SECONDS if seconds >= 1 else seconds
        # What is saved soon comes with the block: a call of its own would wait for other chains.
        due = self._came.setdefault(number, time.monotonic()) + self.checkpoint - block
        whole = time.monotonic() >= due
        task = ChainTask(self.run, chain.settings, schedule, until, chain.iteration, block, whole)
        self._tasks[number] = task
        answer = self._ask(task, None, False)
        if not answer.found:
            # Perhaps the call was moved from a worker that still has the chain.
            self._fetch(number)
            chain, start = _shown(self.whole[number]), self.whole[number]
            task = replace(task, since=chain.iteration)
            self._homes[number] = answer.worker
            sent = packed(start) if start.iteration else None
            answer = self._ask(task, sent, sent is None)
        self._take(answer, chain)
        self._shown[number] = chain
        return chain

    def _ask(self, task: ChainTask, sent: bytes | None, anew: bool) -> Answer:
        number = task.settings.chain
        assert self._cargo is not None
        with self._lock:
            home = self._homes.setdefault(number, self._least_busy())
        # A new chain is begun wherever it is asked for: there is nothing to be lost.
        anew = anew or self.whole[number].iteration == 0 == task.since
        call = Call(self.client, advance_chain, (task, sent, anew), (self._cargo,), home)
        answer = call.result()
        assert isinstance(answer, Answer)
        return answer

    def _fetch(self, number: int) -> None:
        """The whole chain from its worker, if it is still there."""
        task = replace(
            self._tasks[number], since=self.whole[number].iteration, seconds=-1.0, whole=True
        )
        answer = self._ask(task, None, False)
        if answer.found:
            self._take(answer, _shown(self.whole[number]))

    def _take(self, answer: Answer, chain: Chain) -> None:
        """Take in what a worker has to say."""
        number = chain.settings.chain
        self._homes[number] = answer.worker
        assert answer.traces is not None
        assert answer.scores is not None
        chain.state = State(answer.iteration, chain.state.grammar, answer.beta)
        chain.burn_in = answer.burn_in
        for name, values in answer.traces.items():
            to = getattr(chain, name) if name in ("logs", "betas") else chain.measures[name]
            to.extend(values)
        chain.scores.update(answer.scores)
        if answer.whole is not None:
            assert self._corpus is not None
            self.whole[number] = unpacked_chain(answer.whole, self._corpus)
            self._came[number] = time.monotonic()

    def _least_busy(self) -> str:
        """The worker with the fewest chains for each of its threads."""
        chains, threads = Counter(self._homes.values()), Counter(self.slots)
        return min(threads, key=lambda address: chains[address] / threads[address])


def _shown(chain: Chain) -> Chain:
    """A copy whose traces can grow."""
    return replace(
        chain,
        logs=list(chain.logs),
        measures={name: list(values) for name, values in chain.measures.items()},
        betas=list(chain.betas),
        scores=dict(chain.scores),
    )
