"""Chains whose sentences are in shards, on workers.

Each iteration sends one grammar out; log-probabilities and rule counts come back. The trees and the
counts of their spans stay with the shards until a checkpoint. Counts are whole numbers, and the
log-probability of each sentence is put in its place before any sum, so the result is the local
one, to the bit, for any number of shards. Two chains advance at a time: while the client draws a
grammar of one, the shards of the other draw trees.

**Which sentences are in which shard.** The last bits of a sentence's log-probability depend on the
sentences that are in its batch (`dbpcfg.parsing.chart.batches`). So a shard is made of whole
batches of the corpus: its own batches are then the same, and so are all bits.

**A shard that is lost** is made again, from what last came to the client and the iterations since
then that left a trace: those whose trees count, that of the best trees and the last. Their grammars
are kept here for that. If these grow beyond ``PAST_BYTES``, all shards are fetched.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dbpcfg.cluster.calls import Call, Shared
from dbpcfg.cluster.chains import ClusterChains
from dbpcfg.cluster.messages import SentCorpus, packed, sparse
from dbpcfg.cluster.worker import (
    PastIteration,
    SavedShard,
    ShardAnswer,
    ShardTask,
    work_on_shard,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.induction.chain import Chain, advance
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import Drawn
from dbpcfg.numerics.kernels import Ints, Longs
from dbpcfg.parsing.chart.batches import together
from dbpcfg.parsing.chart.layout import padded
from dbpcfg.parsing.chart.parser import pilots_of
from dbpcfg.parsing.derivations import Derivations, check_parsable, first_cells
from dbpcfg.parsing.mbr import SpanCounts

if TYPE_CHECKING:
    from distributed import Client


def parts(corpus: Encoded, settings: ChainSettings, shards: int) -> list[Longs]:
    """The sentences of each shard, in rising order; about the same work for each.

    ``shards``: the number of shards; there are fewer if there are fewer batches.
    """
    distinct, first_copy, copies = corpus.distinct
    edges = _edges(corpus.lengths[distinct], settings)
    n = corpus.lengths[distinct[edges[:-1]]].astype(float)
    K = settings.categories
    work = np.diff(edges) * n**2 * (n + K) + np.diff(first_copy[edges]) * n**2
    shares = [(0.0, shard) for shard in range(shards)]
    found: list[list[Longs]] = [[] for _ in range(shards)]
    for unit in np.argsort(-work, kind="stable").tolist():
        load, shard = heapq.heappop(shares)
        found[shard].append(copies[first_copy[edges[unit]] : first_copy[edges[unit + 1]]])
        heapq.heappush(shares, (load + float(work[unit]), shard))
    return [np.sort(np.concatenate(units)) for units in found if units]


def _edges(lengths: Longs, settings: ChainSettings) -> Longs:
    """Where groups of distinct sentences that stay together begin and end."""
    K, depth = padded(settings.categories), settings.depth
    changes = np.flatnonzero(np.diff(lengths)) + 1
    found = []
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), len(lengths)]):
        size = together(int(lengths[first]), K, depth or 0)
        found.append(np.arange(first, last, size, dtype=np.int64))
    return np.concatenate([*found, np.array([len(lengths)], dtype=np.int64)])


def rows_of(starts: Longs, sentences: Longs) -> Longs:
    """The rows of some sentences, of which sentence s has ``starts[s]`` to ``starts[s + 1]``."""
    sizes = starts[sentences + 1] - starts[sentences]
    ends = np.cumsum(sizes)
    rows: Longs = np.arange(int(sizes.sum())) + np.repeat(starts[sentences] - ends + sizes, sizes)
    return rows


AT_ONCE = 2
"""Chains that advance at the same time."""


class ShardedChains(ClusterChains):
    """The chains of a run, each in shards.

    ``slots``: returns the addresses of workers, each as often as it has threads.
    """

    def __init__(self, client: Client, run: str, slots: Callable[[], list[str]]) -> None:
        super().__init__(client, run)
        self.slots = slots
        self._shards: Shards | None = None
        self._generation = 0
        self._trees: dict[int, ShardedTrees] = {}

    def save(self, chain: Chain) -> None:
        """Fetch the trees of the chain from the shards, and save it."""
        trees = self._trees.get(chain.settings.chain)
        if trees is not None:
            trees.complete()
        self.whole[chain.settings.chain] = chain
        self.store.save(chain)
        self._look_for_workers()

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


PAST_BYTES = 2**28
"""The most memory for grammars of iterations that a lost shard would have to repeat."""


class Shards:
    """A corpus in parts, which any number of chains share.

    ``slots``: the addresses of workers, each as often as it has threads.
    ``generation``: the number of times that the corpus was parted before.
    """

    def __init__(
        self,
        client: Client,
        run: str,
        corpus: Encoded,
        settings: ChainSettings,
        slots: Sequence[str],
        generation: int = 0,
    ) -> None:
        self.client, self.run, self.corpus = client, run, corpus
        self.slots = list(slots)
        self.parts = parts(corpus, settings, len(slots))
        self.names = [f"{generation}.{n}" for n in range(len(self.parts))]
        self.workers = self.slots[: len(self.parts)]
        pilots = pilots_of(corpus)
        sent = [SentCorpus.of(corpus.part(part), pilots) for part in self.parts]
        self.sentences = [Shared(client, one) for one in sent]

    def node_rows(self, part: Longs) -> Longs:
        """The rows of the nodes of a part's trees among those of the whole corpus."""
        return rows_of(2 * self.corpus.starts - np.arange(len(self.corpus) + 1), part)

    def span_rows(self, part: Longs) -> Longs:
        """The rows of a part's counts of spans among those of the whole corpus."""
        return rows_of(first_cells(self.corpus), part)


class ShardedTrees:
    """The trees of a chain, drawn and held by shards; a `TreeSource`."""

    derivations: Derivations | None = None

    def __init__(self, shards: Shards, chain: Chain) -> None:
        self.shards, self.chain = shards, chain
        self.settings = replace(chain.settings, start=None)  # which is large, and not needed
        self._last = None if chain.last is None else chain.last.nodes
        self._best = None if chain.best is None else chain.best.nodes
        counted = chain.retained and chain.spans.kept
        self._spans: Ints | None = chain.spans.counts if counted else None
        self._past: list[PastIteration] = []
        self._latest: PastIteration | None = None
        """The last iteration, with what was decided about its trees since."""
        self._done, self._asked = 0, 0
        self._placed = [False] * len(shards.parts)

    def draw(self, grammar: Grammar, iteration: int) -> Drawn:
        """Draw the trees of an iteration."""
        if sum(len(past.grammar) for past in self._past) > PAST_BYTES:
            self.fetch()
        content = packed(grammar)
        answers = self._ask(iteration, Shared(self.shards.client, content))
        impossible = [one.impossible for one in answers if one.impossible is not None]
        logs = np.zeros(len(self.shards.corpus))
        if impossible:
            logs[min(impossible)] = -np.inf
            check_parsable(grammar, self.shards.corpus, logs)
        self._settled()
        self._latest = PastIteration(iteration, content)
        counts = RuleWeights.zeros(self.settings.categories, len(grammar.vocabulary))
        for part, answer in zip(self.shards.parts, answers, strict=True):
            assert answer.logs is not None
            assert answer.counts is not None
            logs[part] = answer.logs
            answer.counts.add_to(counts)
        return Drawn(logs, counts)

    def of(self, grammar: Grammar) -> None:
        """Shards draw trees; none are decoded."""

    def count(self, spans: SpanCounts) -> None:
        """Count the spans of the last trees."""
        assert self._latest is not None
        self._latest.counted = spans.kept

    def keep(self) -> None:
        """The last trees are the chain's best ones."""
        assert self._latest is not None
        self._latest.kept = True

    def f1(self, gold: GoldSpans) -> float:
        """F1 of the last trees, which are fetched for that."""
        self.fetch()
        assert self._last is not None
        return gold.f1(self.shards.corpus.starts, self._last)

    @property
    def here(self) -> bool:
        """Whether the client has all that the shards have."""
        return self._latest is None

    def complete(self) -> None:
        """Fetch the trees and the counts of spans, and put them into the chain."""
        chain = self.chain
        if not self.here:
            self.fetch()
        if self._last is None:
            return
        assert chain.last is not None
        assert chain.best is not None
        assert self._best is not None
        chain.last = replace(chain.last, nodes=self._last)
        chain.best = replace(chain.best, nodes=self._best)
        if chain.retained and chain.spans.kept:
            assert self._spans is not None
            chain.spans.counts[:] = self._spans

    def fetch(self) -> None:
        """Fetch the trees and the counts of spans: lost shards are made again from here on."""
        answers = self._ask(None, None)
        shards, corpus = self.shards, self.shards.corpus
        self._last = Derivations.empty(corpus).nodes
        self._best = Derivations.empty(corpus).nodes
        spans = None
        for part, answer in zip(shards.parts, answers, strict=True):
            rows = shards.node_rows(part)
            assert answer.last is not None
            assert answer.best is not None
            self._last[rows], self._best[rows] = answer.last, answer.best
            if answer.spans is not None:
                if spans is None:
                    cells = int(first_cells(corpus)[-1])
                    spans = np.zeros((cells, self.settings.categories), dtype=np.int32)
                rows = shards.span_rows(part)
                here = np.zeros((len(rows), spans.shape[1]), dtype=np.int32)
                answer.spans.add_to(here)
                spans[rows] = here
        self._spans, self._past, self._latest = spans, [], None

    def _settled(self) -> None:
        """Keep the last iteration, and drop those of which no trace is left."""
        if self._latest is None:
            return
        if self._latest.kept:
            self._past = [replace(past, kept=False) for past in self._past]
        self._past.append(self._latest)
        self._past = [past for past in self._past if past.counted or past.kept]

    def _ask(self, iteration: int | None, grammar: Shared | None) -> list[ShardAnswer]:
        """Give all shards one task."""
        latest = self._latest
        self._asked += 1
        counted, kept = (latest.counted, latest.kept) if latest else (False, False)
        calls = []
        for n, name in enumerate(self.shards.names):
            task = ShardTask(
                self.shards.run,
                name,
                self.settings,
                self._done,
                self._asked,
                counted,
                kept,
                iteration,
                fetch=iteration is None,
            )
            calls.append((task, self._call(n, task, grammar, whole=not self._placed[n])))
        answers = []
        for n, (task, call) in enumerate(calls):
            answer = call.result()
            while not answer.found:
                self.shards.workers[n] = answer.worker
                answer = self._call(n, task, grammar, whole=True).result()
            self.shards.workers[n], self._placed[n] = answer.worker, True
            answers.append(answer)
        if all(answer.impossible is None for answer in answers):
            self._done = self._asked
        return answers

    def _call(self, n: int, task: ShardTask, grammar: Shared | None, whole: bool) -> Call:
        shards = self.shards
        saved = self._saved(shards.parts[n]) if whole else None
        sent = [shards.sentences[n]] if whole else []
        sent += [] if grammar is None else [grammar]
        return Call(shards.client, work_on_shard, (task, saved), sent, shards.workers[n])

    def _saved(self, part: Longs) -> SavedShard:
        """A shard as it last came, and what it has done since."""
        nodes = None if self._last is None else self.shards.node_rows(part)
        counts = None if self._spans is None else self._spans[self.shards.span_rows(part)]
        past, latest = list(self._past), self._latest
        if latest is not None:
            past.append(replace(latest, counted=False, kept=False))
        return SavedShard(
            None if self._last is None else self._last[nodes],
            None if self._best is None else self._best[nodes],
            None if counts is None else sparse(counts),
            tuple(past),
        )
