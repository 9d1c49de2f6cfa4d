"""One chain with its trace, its retained samples and its best sample."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import GrammarError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar, without_zeros
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.criteria import Criterion, Measures, goodness
from dbpcfg.induction.drawing import ELSEWHERE, LocalTrees, TreeSource
from dbpcfg.induction.gibbs import State, step
from dbpcfg.induction.gold import LOG_EVERY, GoldSpans
from dbpcfg.induction.initial import initial_state
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Ints
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import mbr_trees, summed_posteriors
from dbpcfg.parsing.spans import SpanCounts

TreeChoice = Literal["mbr", "best", "last"]
"""How a chain's trees are chosen (see `trees_of`)."""

OTHER = tuple(name for name in Measures._fields if name != "likelihood")
"""What is measured in every iteration beside the log-likelihood."""

GRAMMARS_KEPT = 8
"""The greatest number of grammars of a chain that are kept to parse other text with."""

LEAST, LEAST_SINGLE = 2.0**-200, 2.0**-60
"""Probabilities in place of zeros: as small as a chart can multiply with two cells' least sizes."""

BATCH = 1000
"""Sentences that are decoded together where spans are not counted."""


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
        """A measure of every iteration.

        Parameters
        ----------
        criterion
            Which one.
        """
        return self.logs if criterion == "likelihood" else self.measures[criterion]

    def goodness(self, criterion: Criterion) -> float:
        """How good the chain is: a mean over the iterations that count, or the last one's value.

        Parameters
        ----------
        criterion
            What by; not ``"agreement"``, which is about several chains.
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

    Parameters
    ----------
    chain
        The chain; it is changed.
    corpus
        Its sentences.
    schedule
        How long it runs.
    seconds
        The time; the iteration that is running then is the last one.
    threads
        The number of threads.
    gold
        Gold spans to log F1 with.
    until
        The length at which it pauses; None if it does not.
    trees
        What draws its trees and holds them; this process, if not given.

    Returns
    -------
    Chain
        The same chain (a worker process returns its copy).
    """
    end = time.monotonic() + seconds
    trees = LocalTrees(corpus, threads) if trees is None else trees
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
    chain.state = State(after.iteration, after.grammar, after.beta)
    chain.logs.append(log_likelihood)
    for name, values in chain.measures.items():
        values.append(getattr(after.measures, name))
    chain.betas.append(before.beta)
    nodes = ELSEWHERE if after.derivations is None else after.derivations.nodes
    chain.last = Sample(after.iteration, log_likelihood, before.grammar, nodes)
    if chain.burn_in is not None:
        trees.count(chain.spans)
        _keep_grammar(chain, before.grammar)
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
    try:
        return before, step(before, corpus, settings, threads, trees)
    except (GrammarError, UnparsableError) as error:
        if before.grammar.rows.all() and before.grammar.root.all():
            raise
        if settings.exact:  # it draws trees until as many fit, which might take for ever
            raise UnparsableError(
                f"{error}; beta, {before.beta:.3g}, is too small for the exact step"
            ) from None
    least = LEAST_SINGLE if settings.precision == "single" else LEAST
    before = State(before.iteration, without_zeros(before.grammar, least), before.beta)
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

    Parameters
    ----------
    chain
        The chain.
    corpus
        Its sentences.
    method
        ``"mbr"``: MBR trees over the retained samples, or over the posteriors of the chain's
        grammars if there are too many spans to count. ``"best"``: the sample of greatest
        log-likelihood. ``"last"``: the last sample.
    threads
        The number of threads.

    Returns
    -------
    Derivations
        The trees.
    """
    if method == "mbr" and chain.retained:
        return (
            chain.spans.decode(threads)
            if chain.spans.kept
            else _mbr_over_grammars(chain, corpus, threads)
        )
    sample = chain.best if method == "best" else chain.last
    assert sample is not None
    return Derivations(sample.nodes, corpus)


def _mbr_over_grammars(chain: Chain, corpus: Encoded, threads: int) -> Derivations:
    """MBR trees under the chain's grammars, some sentences at a time."""
    charts = [ChartParser(grammar, chain.settings.depth, threads) for grammar in chain.grammars]
    trees = Derivations.empty(corpus)
    for first in range(0, len(corpus), BATCH):
        some = np.arange(first, min(first + BATCH, len(corpus)))
        here = corpus.chosen(some)
        weights, _ = summed_posteriors(charts, here)
        start = 2 * corpus.starts[first] - first
        found = mbr_trees(here, weights, threads).nodes
        trees.nodes[start : start + len(found)] = found
    return trees
