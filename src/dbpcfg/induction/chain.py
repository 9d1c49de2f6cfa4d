"""One chain with everything it remembers: its trace, its retained samples, its best one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.gibbs import State, start, step
from dbpcfg.induction.gold import LOG_EVERY, GoldSpans
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Ints
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import mbr_trees, summed_posteriors
from dbpcfg.parsing.spans import SpanCounts

Trees = Literal["mbr", "best", "last"]

GRAMMARS_KEPT = 8
"""The most grammars of a chain that are kept to parse other text with."""

TOGETHER = 1000
"""Sentences that are decoded together where spans are not counted."""


@dataclass(frozen=True)
class Sample:
    """The trees of one iteration, the grammar they were drawn under and its log-likelihood."""

    iteration: int
    log_likelihood: float
    grammar: Grammar
    nodes: Ints


@dataclass
class Chain:
    """A chain at some point of its run. A checkpoint of it is all of it."""

    settings: ChainSettings
    state: State
    spans: SpanCounts
    logs: list[float] = field(default_factory=list)
    """Log-likelihood of every iteration's grammar."""
    betas: list[float] = field(default_factory=list)
    burn_in: int | None = None
    """How many iterations do not count; None while that is not known."""
    best: Sample | None = None
    """The sample of greatest log-likelihood: of all restarts, then of the iterations that count."""
    last: Sample | None = None
    grammars: list[Grammar] = field(default_factory=list)
    """Grammars of every 1st, 2nd, 4th … retained iteration: always evenly spaced, and few."""
    scores: dict[int, float] = field(default_factory=dict)
    """F1 after some iterations, if there are gold trees; for the record only."""

    @property
    def iteration(self) -> int:
        """How many iterations are done."""
        return self.state.iteration

    @property
    def retained(self) -> int:
        """How many samples count."""
        return 0 if self.burn_in is None else self.iteration - self.burn_in

    @property
    def mean_log_likelihood(self) -> float:
        """Mean over the iterations that count; of the last one while none does."""
        if self.retained:
            return float(np.mean(self.logs[self.burn_in :]))
        return self.logs[-1] if self.logs else -np.inf

    def finished(self, schedule: Schedule) -> bool:
        """Whether the chain has run long enough."""
        return schedule.finished(self.iteration, self.burn_in)


def new_chain(corpus: Encoded, settings: ChainSettings) -> Chain:
    """A chain before its first iteration."""
    return Chain(settings, start(corpus, settings), SpanCounts(corpus, settings.categories))


def advance(
    chain: Chain,
    corpus: Encoded,
    schedule: Schedule,
    seconds: float,
    threads: int = 1,
    gold: GoldSpans | None = None,
) -> Chain:
    """Run a chain until it is finished or, after some iteration, the time is up."""
    until = time.monotonic() + seconds
    while not chain.finished(schedule):
        _iterate(chain, corpus, schedule, threads)
        if gold is not None and chain.last is not None and chain.iteration % LOG_EVERY == 0:
            chain.scores[chain.iteration] = gold.f1(corpus.starts, chain.last.nodes)
        if time.monotonic() >= until:
            break
    return chain


def _iterate(chain: Chain, corpus: Encoded, schedule: Schedule, threads: int) -> None:
    _race(chain, corpus)
    settled = chain.logs[chain.settings.settled_from :]
    if chain.burn_in is None and schedule.converged(chain.logs, settled):
        chain.burn_in, chain.best = chain.iteration, None
    before = chain.state
    after = step(before, corpus, chain.settings, threads)
    assert after.derivations is not None
    assert after.log_likelihood is not None
    chain.state = State(after.iteration, after.grammar, after.beta)
    chain.logs.append(after.log_likelihood)
    chain.betas.append(before.beta)
    chain.last = Sample(
        after.iteration, after.log_likelihood, before.grammar, after.derivations.nodes
    )
    if chain.burn_in is not None:
        chain.spans.add(after.derivations)
        _keep(chain, before.grammar)
    if chain.best is None or after.log_likelihood > chain.best.log_likelihood:
        chain.best = chain.last


def _keep(chain: Chain, grammar: Grammar) -> None:
    """Keep this grammar if its turn has come; if there are too many then, every second one goes."""
    number = chain.retained - 1
    spacing = 1
    while number > GRAMMARS_KEPT * spacing:
        spacing *= 2
    if number % spacing == 0:
        chain.grammars.append(grammar)
        if len(chain.grammars) > GRAMMARS_KEPT:
            chain.grammars = chain.grammars[::2]


def _race(chain: Chain, corpus: Encoded) -> None:
    """At the end of each restart begin the next one, and after the last go on from the best."""
    settings, done = chain.settings, chain.iteration
    each, races = settings.restart_iterations, settings.restarts
    if not done or done % each or done > races * each:
        return
    if done < races * each:
        chain.state = start(corpus, settings, done)
    elif chain.best is not None:
        chain.state = State(done, chain.best.grammar, chain.state.beta)


def trees_of(chain: Chain, corpus: Encoded, method: Trees, threads: int = 1) -> Derivations:
    """The chain's answer: ``mbr`` over retained samples, or the ``best`` or ``last`` sample.

    Where spans were not counted, for there are too many, ``mbr`` is over the posteriors of the
    chain's grammars.
    """
    if method == "mbr" and chain.retained:
        return (
            chain.spans.decode(threads) if chain.spans.kept else _expected(chain, corpus, threads)
        )
    sample = chain.best if method == "best" else chain.last
    assert sample is not None
    return Derivations(sample.nodes, corpus)


def _expected(chain: Chain, corpus: Encoded, threads: int) -> Derivations:
    """Minimum-Bayes-risk trees under the chain's grammars, some sentences at a time."""
    charts = [ChartParser(grammar, chain.settings.depth, threads) for grammar in chain.grammars]
    trees = Derivations.empty(corpus)
    for first in range(0, len(corpus), TOGETHER):
        some = np.arange(first, min(first + TOGETHER, len(corpus)))
        here = corpus.chosen(some)
        weights, _ = summed_posteriors(charts, here)
        start = 2 * corpus.starts[first] - first
        found = mbr_trees(here, weights, threads).nodes
        trees.nodes[start : start + len(found)] = found
    return trees
