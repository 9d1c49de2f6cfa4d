"""One chain with its trace, its retained samples and its best sample."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import GrammarError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.corpus import LOG_EVERY, GoldSpans
from dbpcfg.induction.criteria import Measures
from dbpcfg.induction.learners import State
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import NOT_HERE, TreeSource, mbr_under
from dbpcfg.numerics.kernels import Ints
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts

OTHER = tuple(name for name in Measures._fields if name != "likelihood")
"""What is measured in every iteration beside the log-likelihood."""

GRAMMARS_KEPT = 8
"""The greatest number of grammars of a chain that are kept to parse other text with."""


@dataclass(frozen=True, repr=False)
class Sample:
    """The trees of one iteration, the grammar they were drawn under and its log-likelihood."""

    iteration: int
    log_likelihood: float
    grammar: Grammar
    nodes: Ints

    def __repr__(self) -> str:
        return f"<Sample of iteration {self.iteration:,}, {self.log_likelihood:,.1f}>"


@dataclass(repr=False)
class Chain:
    """A chain after some iterations. A checkpoint holds all of it."""

    settings: ChainSettings
    state: State
    spans: SpanCounts
    logs: list[float] = field(default_factory=list)
    """Log-likelihood of every iteration's grammar."""
    measures: dict[str, list[float]] = field(default_factory=lambda: {n: [] for n in OTHER})
    """The other measures of every iteration, by their names."""
    betas: list[float] = field(default_factory=list)
    """β of every iteration."""
    burn_in: int | None = None
    """The number of iterations that do not count; None while that is not known."""
    best: Sample | None = None
    """The sample of greatest log-likelihood: of all iterations, then of those that count."""
    last: Sample | None = None
    grammars: list[Grammar] = field(default_factory=list)
    """Grammars of every 1st, 2nd, 4th … retained iteration: always evenly spaced, and few."""
    scores: dict[int, float] = field(default_factory=dict)
    """F1 after some iterations, if there are gold trees; never used for selection."""

    def __repr__(self) -> str:
        burn_in = "" if self.burn_in is None else f", burn-in {self.burn_in:,}"
        return (
            f"<Chain {self.settings.chain}: {self.iteration:,} iterations{burn_in}, "
            f"log-likelihood {self.mean_log_likelihood:,.1f}>"
        )

    @property
    def iteration(self) -> int:
        """The number of iterations done."""
        return self.state.iteration

    @property
    def retained(self) -> int:
        """The number of samples that count."""
        return 0 if self.burn_in is None else self.iteration - self.burn_in

    def trace(self, measure: str) -> list[float]:
        """A measure of every iteration."""
        return self.logs if measure == "likelihood" else self.measures[measure]

    @property
    def mean_log_likelihood(self) -> float:
        """Mean over the iterations that count; that of the last iteration while none does."""
        if self.retained:
            return float(np.mean(self.logs[self.burn_in :]))
        return self.logs[-1] if self.logs else -np.inf

    def finished(self, schedule: Schedule, until: int | None = None) -> bool:
        """Whether the chain has run long enough, or up to a given length."""
        if until is not None and self.iteration >= until:
            return True
        return schedule.finished(self.iteration, self.burn_in)


def new_chain(corpus: Encoded, settings: ChainSettings) -> Chain:
    """A chain before its first iteration."""
    first = settings.learner.first(corpus, settings)
    return Chain(settings, first, SpanCounts(corpus, settings.categories))


def advance(
    chain: Chain,
    corpus: Encoded,
    schedule: Schedule,
    seconds: float,
    threads: int = 1,
    gold: GoldSpans | None = None,
    until: int | None = None,
    trees: TreeSource | None = None,
) -> Chain:
    """Run a chain until it is finished, has a given length, or the time is up.

    ``seconds``: the time; the iteration that is running then is the last one.
    ``until``: the length at which it pauses; None if it does not.
    ``trees``: what draws its trees and holds them; this process, if not given.
    """
    end = time.monotonic() + seconds
    if trees is None:
        trees = chain.settings.learner.trees(corpus, chain.settings, threads)
    while not chain.finished(schedule, until):
        _iterate(chain, corpus, schedule, threads, trees)
        if gold is not None and chain.iteration % LOG_EVERY == 0:
            chain.scores[chain.iteration] = trees.f1(gold)
        if time.monotonic() >= end:
            break
    return chain


def _iterate(
    chain: Chain, corpus: Encoded, schedule: Schedule, threads: int, trees: TreeSource
) -> None:
    if chain.burn_in is None and schedule.converged(chain.logs):
        chain.burn_in, chain.best = chain.iteration, None
    before, after = _step(chain.state, corpus, chain.settings, threads, trees)
    assert after.measures is not None
    log_likelihood = after.measures.likelihood
    chain.state = replace(after, derivations=None, measures=None)
    chain.logs.append(log_likelihood)
    for name, values in chain.measures.items():
        values.append(getattr(after.measures, name))
    chain.betas.append(before.beta)
    if chain.burn_in is not None:
        trees.count(chain.spans)
        _keep_grammar(chain, before.grammar)
    nodes = NOT_HERE if trees.derivations is None else trees.derivations.nodes
    chain.last = Sample(after.iteration, log_likelihood, before.grammar, nodes)
    if chain.best is None or log_likelihood > chain.best.log_likelihood:
        chain.best = chain.last
        trees.keep()


def _step(
    before: State, corpus: Encoded, settings: ChainSettings, threads: int, trees: TreeSource
) -> tuple[State, State]:
    """The state that a step began with, and the one after it."""
    learner = settings.learner
    try:
        return before, learner.step(before, corpus, settings, threads, trees)
    except (GrammarError, UnparsableError) as error:
        before = learner.without_zeros(before, settings, error)
    return before, learner.step(before, corpus, settings, threads, trees)


def _keep_grammar(chain: Chain, grammar: Grammar) -> None:
    """Keep every 1st, 2nd, 4th … grammar: once there are too many, every second one is dropped."""
    number = chain.retained - 1
    spacing = 1
    while number > GRAMMARS_KEPT * spacing:
        spacing *= 2
    if number % spacing == 0:
        chain.grammars.append(grammar)
        if len(chain.grammars) > GRAMMARS_KEPT:
            chain.grammars = chain.grammars[::2]


def trees_of(chain: Chain, corpus: Encoded, method: str, threads: int = 1) -> Derivations:
    """The trees of a chain, one for each sentence.

    ``method``: ``"mbr"`` for MBR trees over the retained samples, or over the posteriors of the
    chain's grammars if there are too many spans to count; ``"best"`` for the sample of greatest
    log-likelihood; ``"last"`` for the last one. Of learners that sample none they are MBR trees.
    """
    depth = chain.settings.depth
    if method in ("mbr", "consensus") and chain.retained:
        if chain.spans.kept:
            return chain.spans.decode(threads)
        return mbr_under(chain.grammars, depth, corpus, threads)
    sample = chain.best if method == "best" else chain.last
    assert sample is not None
    if not chain.settings.learner.samples and not len(sample.nodes):
        return mbr_under([sample.grammar], depth, corpus, threads)
    return Derivations(sample.nodes, corpus)
