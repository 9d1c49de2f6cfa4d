"""Chains that are advanced on workers, and the simplest way to do so: whole chains side by side.

A chain lives where it was begun. After each block of iterations its traces come back; all of it
comes at a checkpoint, at the end of a rung and at its end. A chain whose worker is lost is sent to
another one as it last came, or begins again: it has the same random numbers, so the same result.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from dbpcfg.cluster.calls import Call, Shared
from dbpcfg.cluster.messages import SentCorpus, packed, unpacked_chain
from dbpcfg.cluster.worker import ChainAnswer, ChainTask, advance_chain
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.chains import ChainRunner, ChainStore, Execution, InMemory, run_chains
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.learners import State
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.options import Running

if TYPE_CHECKING:
    from distributed import Client


class ClusterChains(ABC):
    """The chains of a run, advanced on workers; a `ChainStore` around the run's own, ``store``."""

    def __init__(self, client: Client, run: str) -> None:
        self.client, self.run = client, run
        self.store: ChainStore = InMemory()
        self.checkpoint = Running().checkpoint
        """Seconds between two checkpoints of a chain."""
        self.whole: dict[int, Chain] = {}
        """Each chain as it last came, or as it began."""
        self._lock = Lock()

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain as it last came; as it was saved, if it never did."""
        return self.whole.get(settings.chain) or self.store.load(settings)

    @abstractmethod
    def save(self, chain: Chain) -> None:
        """Fetch what workers have of a chain, and save it."""

    @abstractmethod
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
        """Advance a chain, as `dbpcfg.induction.chain.advance` does here.

        ``chain``: the chain; as it was begun, loaded, or returned after the last block.
        """

    @contextmanager
    def runner(self, at_once: int) -> Iterator[ChainRunner]:
        """What runs the chains.

        ``at_once``: how many advance at the same time: threads of this process, which only wait.
        """
        with ThreadPoolExecutor(at_once) as executor:

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
                self.store, self.checkpoint = store, execution.running.checkpoint
                given = corpus, settings, schedule, self, executor, execution, gold, until
                found = run_chains(*given, work=self.advance)
                return [self.whole.get(chain.settings.chain, chain) for chain in found]

            yield run


BLOCK_SECONDS = 2.0
"""Seconds of a block, at most: longer than locally, as each costs a message."""
MOST_THREADS = 256
"""Threads of the client, which only wait: one for each chain, at most this many."""


class WholeChains(ClusterChains):
    """Chains side by side, each on a worker.

    ``slots``: the addresses of workers, each as often as it has threads.
    """

    def __init__(self, client: Client, run: str, slots: Sequence[str]) -> None:
        super().__init__(client, run)
        self.slots = list(slots)
        self._corpus: Encoded | None = None
        self._sentences: Shared | None = None
        self._workers: dict[int, str] = {}
        """The address of the worker that has each chain."""
        self._tasks: dict[int, ChainTask] = {}
        self._fetched_at: dict[int, float] = {}
        self._shown: dict[int, Chain] = {}

    def save(self, chain: Chain) -> None:
        """Fetch the chain from its worker and save it; if the worker is lost, leave it as it was.

        ``chain``: the chain as it is shown: with its traces, but without the rest.
        """
        number = chain.settings.chain
        if self.whole[number].iteration != chain.iteration:
            self._fetch(number)
        if self.whole[number].iteration:
            self.store.save(self.whole[number])

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
            if self._sentences is None:
                self._corpus = corpus
                sentences = SentCorpus.of(corpus, gold)
                self._sentences = Shared(self.client, sentences, everywhere=True)
        if chain is not self._shown.get(number):
            self.whole[number], chain = chain, _shown(chain)
        block = BLOCK_SECONDS if seconds >= 1 else seconds
        # What is saved soon comes with the block: a call of its own would wait for other chains.
        due = self._fetched_at.setdefault(number, time.monotonic()) + self.checkpoint - block
        whole = time.monotonic() >= due
        begun = chain.settings if not chain.iteration else replace(chain.settings, start=None)
        task = ChainTask(self.run, begun, schedule, until, chain.iteration, block, whole)
        self._tasks[number] = task
        answer = self._ask(task, None, False)
        if not answer.found:
            # Perhaps the call was moved from a worker that still has the chain.
            self._fetch(number)
            chain, start = _shown(self.whole[number]), self.whole[number]
            task = replace(task, since=chain.iteration, settings=start.settings)
            self._workers[number] = answer.worker
            sent = packed(start) if start.iteration else None
            answer = self._ask(task, sent, sent is None)
        self._take(answer, chain)
        self._shown[number] = chain
        return chain

    def _ask(self, task: ChainTask, sent: bytes | None, anew: bool) -> ChainAnswer:
        number = task.settings.chain
        assert self._sentences is not None
        with self._lock:
            worker = self._workers.setdefault(number, self._least_busy())
        # A new chain is begun wherever it is asked for: there is nothing to be lost.
        anew = anew or self.whole[number].iteration == 0 == task.since
        call = Call(self.client, advance_chain, (task, sent, anew), (self._sentences,), worker)
        answer = call.result()
        assert isinstance(answer, ChainAnswer)
        return answer

    def _fetch(self, number: int) -> None:
        """The whole chain from its worker, if it is still there."""
        task = replace(
            self._tasks[number], since=self.whole[number].iteration, seconds=-1.0, whole=True
        )
        answer = self._ask(task, None, False)
        if answer.found:
            self._take(answer, _shown(self.whole[number]))

    def _take(self, answer: ChainAnswer, chain: Chain) -> None:
        """Take in what a worker has to say."""
        number = chain.settings.chain
        self._workers[number] = answer.worker
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
            self._fetched_at[number] = time.monotonic()

    def _least_busy(self) -> str:
        """The worker with the fewest chains for each of its threads."""
        chains, threads = Counter(self._workers.values()), Counter(self.slots)
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
