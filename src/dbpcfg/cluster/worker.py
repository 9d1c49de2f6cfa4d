"""What runs in a worker process, and what it remembers of a run between calls.

**A chain** stays on its worker, and only its traces travel. **A shard** has some sentences of the
corpus; these, their trees and the counts of their spans stay on its worker. A call that needs what
the worker does not have is answered so, and the client then sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from threading import Lock, RLock
from typing import Any

import numpy as np

from dbpcfg.cluster.messages import (
    SentCorpus,
    SentCounts,
    Sparse,
    packed,
    sparse,
    unpacked,
    unpacked_chain,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import UnparsableError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.chain import Chain, advance, new_chain
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts

_runs: dict[str, dict[Hashable, Any]] = {}
_over: set[str] = set()
"""Runs that are over: a call of one that was still under way leaves nothing behind."""
_lock = RLock()
_one_blas_thread = cache(one_blas_thread.hold)


def memory_of(run: str) -> dict[Hashable, Any]:
    """What this worker has of a run."""
    with _lock:
        _one_blas_thread()
        return {} if run in _over else _runs.setdefault(run, {})


def remembered(run: str, name: Hashable, make: Callable[[], Any]) -> Any:
    """Something of a run, made when it is first asked for."""
    here = memory_of(run)
    with _lock:
        if name not in here:
            here[name] = make()
        return here[name]


def forget(run: str) -> None:
    """Drop all that is remembered of a run, for good."""
    with _lock:
        _over.add(run)
        _runs.pop(run, None)


def address() -> str:
    """The address of the worker that runs this call."""
    from distributed import get_worker

    return str(get_worker().address)


# --- whole chains ---------------------------------------------------------------------------------


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
class ChainAnswer:
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


def advance_chain(
    task: ChainTask, sent: bytes | None, anew: bool, sentences: SentCorpus
) -> ChainAnswer:
    """Advance a chain that this worker has, or was sent.

    ``sent``: the chain as it was last saved, if the client sends it.
    ``anew``: whether the chain begins again if the worker neither has it nor was sent it.
    ``sentences``: the sentences of the run, and gold spans or None.
    """
    corpus, gold = remembered(task.run, "corpus", sentences.read)
    name, here = task.settings.chain, memory_of(task.run)
    with remembered(task.run, ("lock", name), Lock):
        chain: Chain | None = here.get(name)
        if chain is None or chain.iteration < task.since:
            if sent is not None:
                chain = unpacked_chain(sent, corpus)
            elif anew:
                chain = new_chain(corpus, task.settings)
            else:
                return ChainAnswer(address(), False)
        if task.seconds >= 0:
            advance(chain, corpus, task.schedule, task.seconds, gold=gold, until=task.until)
        here[name] = chain
        return _answer(chain, task)


def _answer(chain: Chain, task: ChainTask) -> ChainAnswer:
    since = task.since
    traces = {"logs": chain.logs, "betas": chain.betas, **chain.measures}
    whole = task.whole or chain.finished(task.schedule, task.until)
    return ChainAnswer(
        address(),
        True,
        chain.iteration,
        chain.state.beta,
        chain.burn_in,
        {name: values[since:] for name, values in traces.items()},
        {iteration: score for iteration, score in chain.scores.items() if iteration > since},
        packed(chain) if whole else None,
    )


# --- shards ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShardTask:
    """What is to be done with a shard of a chain."""

    run: str
    part: str
    """The name of its sentences."""
    settings: ChainSettings
    after: int
    """The number of the task that the shard has done last."""
    number: int
    """The number of this one."""
    counted: bool
    """Whether the last trees count."""
    kept: bool
    """Whether the last trees are the chain's best."""
    iteration: int | None
    """The iteration whose trees are drawn; None for none."""
    fetch: bool = False
    """Whether the client wants the last and the best trees, and the counts of spans."""


@dataclass
class PastIteration:
    """An iteration that a shard which was lost repeats."""

    iteration: int
    grammar: bytes
    counted: bool = False
    kept: bool = False


@dataclass(frozen=True)
class SavedShard:
    """A shard as it last came to the client, and what it has done since."""

    last: Ints | None
    best: Ints | None
    spans: Sparse | None
    past: tuple[PastIteration, ...]


@dataclass(frozen=True)
class ShardAnswer:
    """What a worker has to say of a shard."""

    worker: str
    found: bool
    """Whether it had the shard, or was sent it."""
    logs: Floats | None = None
    counts: SentCounts | None = None
    impossible: int | None = None
    """The first sentence of the corpus that has probability zero, if there is one."""
    last: Ints | None = None
    best: Ints | None = None
    spans: Sparse | None = None


class Shard:
    """Some sentences of a corpus, with the trees of one chain.

    ``pilots``: sentences of the whole corpus that show how to scale the chart.
    """

    def __init__(
        self, part: Encoded, pilots: Encoded, settings: ChainSettings, saved: SavedShard, done: int
    ) -> None:
        self.part, self.pilots, self.settings = part, pilots, settings
        self.last, self.best = _writable(saved.last), _writable(saved.best)
        self.spans = SpanCounts(part, settings.categories)
        if saved.spans is not None:
            saved.spans.add_to(self.spans.counts)
        self.done = done
        """The number of the task that it has done last."""
        for past in saved.past:
            trees, _ = self.draw(unpacked(past.grammar, part), past.iteration)
            self.last = trees.nodes
            self.settle(past.counted, past.kept)

    def draw(self, grammar: Grammar, iteration: int) -> tuple[Derivations, Floats]:
        """Draw trees, without keeping them yet."""
        sample = self.settings.learner.sample_trees
        return sample(self.part, grammar, iteration, self.settings, 1, self.pilots)

    def settle(self, counted: bool, kept: bool) -> None:
        """Do with the last trees what the client has decided."""
        assert not (counted or kept) or self.last is not None
        if counted:
            assert self.last is not None
            self.spans.add(Derivations(self.last, self.part))
        if kept:
            self.best = self.last

    def first_impossible(self, grammar: Grammar) -> int:
        """The first sentence of probability zero, by its number in the whole corpus."""
        parser = self.settings.learner.parser_for(grammar, self.settings, 1, self.pilots)
        logs = parser.log_probabilities(self.part)
        return int(self.part.items[np.isneginf(logs)][0])


def work_on_shard(task: ShardTask, saved: SavedShard | None, *sent: Any) -> ShardAnswer:
    """Draw the trees of a shard that this worker has, or was sent.

    ``saved``: the shard, if the client sends it.
    ``sent``: the sentences of a shard that is sent, then the grammar if trees are drawn.
    """
    name, here = (task.part, task.settings.chain), memory_of(task.run)
    with remembered(task.run, ("lock", *name), Lock):
        shard: Shard | None = here.get(name)
        if shard is None or shard.done != task.after:
            if saved is None:
                return ShardAnswer(address(), False)
            here.pop(name, None)
            part, pilots = remembered(task.run, task.part, sent[0].read)
            here[name] = shard = Shard(part, pilots, task.settings, saved, task.after)
        return _worked(shard, task, None if task.iteration is None else sent[-1])


def _worked(shard: Shard, task: ShardTask, sent: bytes | None) -> ShardAnswer:
    logs, counts = None, None
    if task.iteration is None:
        shard.settle(task.counted, task.kept)
    else:
        assert sent is not None
        grammar: Grammar = unpacked(sent, shard.part)
        try:
            trees, logs = shard.draw(grammar, task.iteration)
        except UnparsableError:  # the shard is as it was before
            first = shard.first_impossible(grammar)
            return ShardAnswer(address(), True, impossible=first)
        shard.settle(task.counted, task.kept)
        shard.last = trees.nodes
        settings = task.settings
        counts = SentCounts.of(trees.counts(settings.categories, settings.aside))
    shard.done = task.number
    if not task.fetch:
        return ShardAnswer(address(), True, logs, counts)
    spans = shard.spans.__dict__.get("counts")
    found = shard.last, shard.best, None if spans is None else sparse(spans)
    return ShardAnswer(address(), True, logs, counts, None, *found)


def _writable(nodes: Ints | None) -> Ints | None:
    """An array that may be written to: those that arrive in a message may not."""
    return None if nodes is None else np.array(nodes)
