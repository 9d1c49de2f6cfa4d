"""Chains whose sentences are in shards: two at a time, so that workers never wait for the client.

While the client draws a grammar of one chain, the shards of the other draw trees.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from dbpcfg.cluster.remote_shards import ShardedTrees, Shards
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.chain import Chain, advance
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.execution import CHECKPOINT_SECONDS
from dbpcfg.induction.gold import GoldSpans
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.store import ChainStore, InMemory

if TYPE_CHECKING:
    from distributed import Client

AT_ONCE = 2
"""Chains that advance at the same time."""


class ShardedChains:
    """The chains of a run, each in shards; a `ChainStore` around the run's own.

    ``slots``: returns the addresses of workers, each as often as it has threads.
    """

    def __init__(self, client: Client, run: str, slots: Callable[[], list[str]]) -> None:
        self.client, self.run, self.slots = client, run, slots
        self.store: ChainStore = InMemory()
        self.checkpoint = CHECKPOINT_SECONDS
        self._shards: Shards | None = None
        self._generation = 0
        self._saved: dict[int, Chain] = {}
        self._trees: dict[int, ShardedTrees] = {}
        self._lock = Lock()

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain as it was last saved."""
        return self._saved.get(settings.chain) or self.store.load(settings)

    def save(self, chain: Chain) -> None:
        """Fetch the trees of the chain from the shards, and save it."""
        trees = self._trees.get(chain.settings.chain)
        if trees is not None:
            trees.complete()
        self._saved[chain.settings.chain] = chain
        self.store.save(chain)
        self._look_for_workers()

    def whole_chain(self, chain: Chain) -> Chain:
        """The chain: saving it has fetched its trees."""
        return chain

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
        """Advance a chain, its trees drawn by shards."""
        number = chain.settings.chain
        with self._lock:
            if self._shards is None:
                self._shards = Shards(
                    self.client, self.run, corpus, chain.settings, self.slots(), self._generation
                )
            trees = self._trees.get(number)
            moved = trees is not None and trees.here and trees.shards is not self._shards
            if trees is None or trees.chain is not chain or moved:
                self._trees[number] = trees = ShardedTrees(self._shards, chain)
        return advance(chain, corpus, schedule, seconds, threads, gold, until, trees)

    def _look_for_workers(self) -> None:
        """If there are more workers than shards, part the corpus again when chains come by."""
        with self._lock:
            if self._shards is not None and len(self.slots()) > len(self._shards.slots):
                self._shards, self._generation = None, self._generation + 1
