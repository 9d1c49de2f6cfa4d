"""A shard on its worker: its sentences, their trees and the counts of their spans stay there."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np

from dbpcfg.cluster.parcels import (
    Cargo,
    SentCounts,
    Sparse,
    address,
    holdings,
    once,
    opened,
    sparse,
    unpacked,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import UnparsableError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts


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


@dataclass(frozen=True)
class Past:
    """An iteration that a shard which was lost repeats."""

    iteration: int
    grammar: bytes
    counted: bool
    kept: bool


@dataclass(frozen=True)
class Base:
    """A shard as it last came to the client, and what it has done since."""

    last: Ints | None
    best: Ints | None
    spans: Sparse | None
    past: tuple[Past, ...]


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

    def __init__(self, part: Encoded, pilots: Encoded, settings: ChainSettings, base: Base) -> None:
        self.part, self.pilots, self.settings = part, pilots, settings
        self.last, self.best = _own(base.last), _own(base.best)
        self.spans = SpanCounts(part, settings.categories)
        if base.spans is not None:
            base.spans.add_to(self.spans.counts)
        self.done = -1
        for past in base.past:
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


def work_on_shard(
    task: ShardTask, base: Base | None, cargo: Cargo | None, grammar: bytes | None
) -> ShardAnswer:
    """Draw the trees of a shard that this worker has, or was sent.

    ``base``: what the shard was, if the client sends it.
    """
    name, held = (task.part, task.settings.chain), holdings(task.run)
    with once(task.run, ("lock", *name), Lock):
        shard: Shard | None = held.get(name)
        if shard is None or shard.done != task.after:
            if base is None or cargo is None:
                return ShardAnswer(address(), False)
            held.pop(name, None)
            part, pilots = once(task.run, task.part, lambda: opened(cargo))
            shard = Shard(part, pilots, task.settings, base)
            shard.done = task.after
            held[name] = shard
        return _worked(shard, task, grammar)


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
    held = shard.last, shard.best, None if spans is None else sparse(spans)
    return ShardAnswer(address(), True, logs, counts, None, *held)


def _own(nodes: Ints | None) -> Ints | None:
    """An array that may be written to: those that arrive in a message may not."""
    return None if nodes is None else np.array(nodes)
