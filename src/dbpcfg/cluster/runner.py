"""What runs the chains of a run elsewhere, however its work is spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.chains import run_chains
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.execution import ChainRunner, Execution
from dbpcfg.induction.gold import GoldSpans
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.store import ChainStore


class Elsewhere(ChainStore, Protocol):
    """Chains that are advanced on workers; a `ChainStore` around the run's own, ``store``."""

    store: ChainStore
    checkpoint: float
    """Seconds between two checkpoints of a chain."""

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

    def whole_chain(self, chain: Chain) -> Chain:
        """A chain with all that belongs to it, after it was saved."""


@contextmanager
def running_elsewhere(chains: Elsewhere, at_once: int) -> Iterator[ChainRunner]:
    """What runs chains elsewhere.

    ``at_once``: how many advance at the same time: threads of this process, which only wait.
    """
    with ThreadPoolExecutor(at_once) as executor:

        def runner(
            corpus: Encoded,
            settings: Sequence[ChainSettings],
            schedule: Schedule,
            store: ChainStore,
            *,
            execution: Execution,
            gold: GoldSpans | None,
            until: int | None,
        ) -> list[Chain]:
            chains.store, chains.checkpoint = store, execution.checkpoint
            given = corpus, settings, schedule, chains, executor, execution, gold, until
            return [chains.whole_chain(one) for one in run_chains(*given, work=chains.advance)]

        yield runner
