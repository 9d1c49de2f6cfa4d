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
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import mbr_under
from dbpcfg.io.tables import plural
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts

OTHER = tuple(name for name in Measures._fields if name != "likelihood")
"""What is measured in every iteration beside the log-likelihood."""

GRAMMARS_KEPT = 8
"""The greatest number of grammars of a chain that are kept to parse other text with."""


@dataclass(frozen=True, repr=False)
class Sample:
    """An iteration: the grammar that its trees were drawn under, and its log-likelihood.

    The trees follow from grammar and iteration: `trees_of` draws them again.
    """

    iteration: int
    log_likelihood: float
    grammar: Grammar

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
    trees: dict[str, Derivations] = field(default_factory=dict)
    """Those of `trees_of`, by its method, once they are computed; a checkpoint has none."""

    def __repr__(self) -> str:
        learner = self.settings.learner
        known = learner.samples and self.burn_in is not None
        burn_in = f", burn-in {self.burn_in:,}" if known else ""
        return (
            f"<Chain {self.settings.chain}: {plural(self.iteration, *learner.iteration)}{burn_in}, "
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
    return Chain(settings, first, no_spans(corpus, settings))


def no_spans(corpus: Encoded, settings: ChainSettings) -> SpanCounts:
    """The spans of a chain before its first sample."""
    return SpanCounts(corpus, settings.categories, several=settings.learner.samples)


def advance(
    chain: Chain,
    corpus: Encoded,
    schedule: Schedule,
    seconds: float,
    work: Mapper | None = None,
    gold: GoldSpans | None = None,
    until: int | None = None,
) -> Chain:
    """Run a chain until it is finished, has a given length, or the time is up.

    ``seconds``: the time; the iteration that is running then is the last one.
    ``work``: what computes functions of the sentences; this process on one thread, if not given.
    ``until``: the length at which it pauses; None if it does not.
    """
    end = time.monotonic() + seconds
    work = work or Mapper()
    chain.trees.clear()
    while not chain.finished(schedule, until):
        _iterate(chain, corpus, schedule, work, gold)
        if time.monotonic() >= end:
            break
    return chain


def _iterate(
    chain: Chain, corpus: Encoded, schedule: Schedule, work: Mapper, gold: GoldSpans | None
) -> None:
    if chain.burn_in is None and schedule.converged(chain.logs):
        chain.burn_in, chain.best = chain.iteration, None
    counted = chain.burn_in is not None and chain.spans.kept
    scored = gold is not None and (chain.iteration + 1) % LOG_EVERY == 0
    learner, settings = chain.settings.learner, chain.settings
    before, after = _step(chain.state, corpus, settings, work, counted or scored)
    trees = after.derivations
    if scored and gold is not None and gold.text is not None:
        parsed = learner.trees_of(before.grammar, before.iteration, gold.text, settings, work)
        chain.scores[after.iteration] = gold.f1(gold.text.starts, parsed.nodes)
        scored = False
    if trees is None and (counted or scored):
        trees = learner.trees_of(before.grammar, before.iteration, corpus, settings, work)
    assert after.measures is not None
    log_likelihood = after.measures.likelihood
    chain.state = replace(after, derivations=None, measures=None)
    chain.logs.append(log_likelihood)
    for name, values in chain.measures.items():
        values.append(getattr(after.measures, name))
    chain.betas.append(before.beta)
    if chain.burn_in is not None:
        _keep_grammar(chain, before.grammar)
    if counted:
        assert trees is not None
        chain.spans.add(trees)
    if scored:
        assert gold is not None
        assert trees is not None
        chain.scores[after.iteration] = gold.f1(corpus.starts, trees.nodes)
    chain.last = Sample(after.iteration, log_likelihood, before.grammar)
    if chain.best is None or log_likelihood > chain.best.log_likelihood:
        chain.best = chain.last


def _step(
    before: State, corpus: Encoded, settings: ChainSettings, work: Mapper, with_trees: bool
) -> tuple[State, State]:
    """The state that a step began with, and the one after it."""
    learner = settings.learner
    try:
        return before, learner.step(before, corpus, settings, work, with_trees)
    except (GrammarError, UnparsableError) as error:
        before = learner.without_zeros(before, settings, error)
    return before, learner.step(before, corpus, settings, work, with_trees)


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


def trees_of(chain: Chain, corpus: Encoded, method: str, work: Mapper | None = None) -> Derivations:
    """The trees of a chain, one for each sentence.

    ``corpus``: the sentences of the run, which need not be what is learned from.
    ``method``: ``"mbr"`` for MBR trees over the retained samples, or over the posteriors of the
    chain's grammars if spans were not counted, or not in these sentences; ``"best"`` for the
    sample of greatest log-likelihood; ``"last"`` for the last one. Of learners that sample none
    they are MBR trees.
    """
    if not chain.settings.learner.samples and chain.retained:
        method = "last"  # the only one that counts
    elif method not in ("best", "last"):
        method = "mbr" if chain.retained else "last"
    if method not in chain.trees or not chain.trees[method].corpus.equals(corpus):
        chain.trees[method] = _trees_of(chain, corpus, method, work or Mapper())
    return chain.trees[method]


def _trees_of(chain: Chain, corpus: Encoded, method: str, work: Mapper) -> Derivations:
    settings = chain.settings
    if method == "mbr":
        if chain.spans.kept and chain.spans.corpus.equals(corpus):
            return chain.spans.decode(work.threads)
        return mbr_under(chain.grammars, settings.depth, corpus, work)
    sample = chain.best if method == "best" else chain.last
    assert sample is not None
    number = sample.iteration - 1
    return settings.learner.trees_of(sample.grammar, number, corpus, settings, work)
