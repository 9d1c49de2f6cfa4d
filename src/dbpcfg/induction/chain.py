"""One chain with its trace, its retained samples and its best sample."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import GrammarError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar, without_zeros
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.criteria import Criterion, Measures, goodness
from dbpcfg.induction.decoding import DecodedTrees, mbr_under
from dbpcfg.induction.drawing import ELSEWHERE, LocalTrees, TreeSource
from dbpcfg.induction.expectation import least_probability
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.gold import LOG_EVERY, GoldSpans
from dbpcfg.induction.initial import initial_state
from dbpcfg.induction.learners import step_of
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Ints
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts

TreeChoice = Literal["mbr", "best", "last"]
"""How a chain's trees are chosen (see `trees_of`)."""

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
    """The sample of greatest log-likelihood: of all restarts, then of the iterations that count."""
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

    def trace(self, criterion: Criterion) -> list[float]:
        """A measure of every iteration."""
        return self.logs if criterion == "likelihood" else self.measures[criterion]

    def goodness(self, criterion: Criterion) -> float:
        """How good the chain is: a mean over the iterations that count, or the last one's value.

        ``criterion``: what by; not ``"agreement"``, which is about several chains.
        """
        return goodness(self.trace(criterion)[-max(1, self.retained) :], criterion)

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


def tree_source(corpus: Encoded, settings: ChainSettings, threads: int = 1) -> TreeSource:
    """What holds the trees of a chain in this process."""
    if settings.samples:
        return LocalTrees(corpus, threads)
    return DecodedTrees(corpus, settings.depth, threads)


def new_chain(corpus: Encoded, settings: ChainSettings) -> Chain:
    """A chain before its first iteration."""
    return Chain(settings, initial_state(corpus, settings), SpanCounts(corpus, settings.categories))


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
        trees = tree_source(corpus, chain.settings, threads)
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
    _restart(chain, corpus)
    settled = chain.logs[chain.settings.preliminary_iterations :]
    if chain.burn_in is None and schedule.converged(chain.logs, settled):
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
    nodes = ELSEWHERE if trees.derivations is None else trees.derivations.nodes
    chain.last = Sample(after.iteration, log_likelihood, before.grammar, nodes)
    if chain.best is None or log_likelihood > chain.best.log_likelihood:
        chain.best = chain.last
        trees.keep()


def _step(
    before: State, corpus: Encoded, settings: ChainSettings, threads: int, trees: TreeSource
) -> tuple[State, State]:
    """The state that a step began with, and the one after it.

    With a very small β most rules have probabilities too small for a float, and a sentence may have
    probability zero under what is left. Only then are zeros replaced.
    """
    step = step_of(settings)
    try:
        return before, step(before, corpus, settings, threads, trees)
    except (GrammarError, UnparsableError) as error:
        neural = settings.learner == "neural"
        if neural or (before.grammar.rows.all() and before.grammar.root.all()):
            raise
        if settings.exact and settings.samples:
            # It draws trees until as many fit, which might take for ever.
            raise UnparsableError(
                f"{error}; beta, {before.beta:.3g}, is too small for the exact step"
            ) from None
    grammar = without_zeros(before.grammar, least_probability(settings))
    before = State(before.iteration, grammar, before.beta)
    return before, step(before, corpus, settings, threads, trees)


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


def _restart(chain: Chain, corpus: Encoded) -> None:
    """At the end of each restart begin the next one; after the last, continue from the best."""
    settings, done = chain.settings, chain.iteration
    each, restarts = settings.restart_iterations, settings.restarts
    if not done or done % each or done > restarts * each:
        return
    if done < restarts * each:
        chain.state = initial_state(corpus, settings, done)
    elif chain.best is not None:
        chain.state = State(done, chain.best.grammar, chain.state.beta)


def trees_of(chain: Chain, corpus: Encoded, method: TreeChoice, threads: int = 1) -> Derivations:
    """The trees of a chain, one for each sentence.

    ``method``: ``"mbr"``: MBR trees over the retained samples, or over the posteriors of the
    chain's grammars if there are too many spans to count. ``"best"``: the sample of greatest
    log-likelihood. ``"last"``: the last sample. EM and VB have no samples, and their trees are MBR
    trees.
    """
    if method == "mbr" and chain.retained:
        return (
            chain.spans.decode(threads)
            if chain.spans.kept
            else mbr_under(chain.grammars, chain.settings.depth, corpus, threads)
        )
    sample = chain.best if method == "best" else chain.last
    assert sample is not None
    if not chain.settings.samples and not len(sample.nodes):
        return mbr_under([sample.grammar], chain.settings.depth, corpus, threads)
    return Derivations(sample.nodes, corpus)
