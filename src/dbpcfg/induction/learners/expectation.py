"""Learning from expected rule counts: EM and variational Bayes.

Both alternate between expected counts, of the trees that fit the bound, under weights of rules
(``parsing.chart.outside``), and a grammar from these counts::

    EM   weights G                                 G[c → x] ∝ E[c → x] + λ
    VB   weights exp(ψ(α[c → x]) − ψ(Σ_y α[c → y]))   α = E + β, the grammar is its mean

**What is maximised**, and never falls. With S(G) = Σ log Σ_τ P(τ | G) over sentences and the trees
τ that fit the bound, EM maximises S(G) + λ Σ log G; λ = 0 is plain maximum likelihood, λ > 0 the
prior Dirichlet(1 + λ). VB maximises a lower bound of log P(sentences | β), rules integrated out
(Attias 2000; Kurihara and Sato 2004): with q the distribution of trees under the weights ::

    log B = H(q) + log Γ-ratio of E[counts] + β        H(q) = Σ log Σ_τ w(τ) − Σ E[rule] log w(rule)

As in the sampler, the bound's normaliser Z is left out of both, unless EM is ``exact``: then
S(G) − N log Z is maximised, and the expected counts of failed derivations are added, which is EM
with those as further hidden variables (``grammar.normaliser``).

**Mini-batches.** An iteration is one pass over the corpus, with an update after each of them. The
statistics are an interpolation of those so far and those of a mini-batch, scaled to the whole
corpus: s ← (1 − η_t) s + η_t ŝ, with η_t = (t + 2)^−α (Cappé and Moulines 2009; Liang and Klein
2009), ½ < α ≤ 1. The first mini-batch of all is taken as it is. What is maximised is then only
estimated, and may fall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, xlogy

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.bounding import containment, require_fitting
from dbpcfg.grammar.normaliser import failures
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, mean_grammar, normalised, without_zeros
from dbpcfg.induction.criteria import held_out_sentences, log_marginal, measure
from dbpcfg.induction.learners import Learner, State, least_probability, with_every_rule
from dbpcfg.induction.mapping import CorpusPart, InBlocks, Mapper, in_corpus_order
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.archive import ArchiveError
from dbpcfg.numerics.kernels import Floats, Longs, kernel
from dbpcfg.numerics.philox import Purpose, Stream, stream, uniform_pair
from dbpcfg.options import EMOptions, ExpectationOptions, VariationalOptions
from dbpcfg.parsing.chart.expectation import Block
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import check_parsable

MAX_COUNTS = 1e280
"""The greatest expected count of a rule: so many that sums of them are no more than a float."""


@dataclass(frozen=True, eq=False)
class CountsState(State):
    """A state with the expected counts that the next step goes on with; None at the start."""

    statistics: RuleWeights | None = None


class Pass(NamedTuple):
    """What is known after the mini-batches of one iteration."""

    grammar: Grammar
    statistics: RuleWeights
    logs: Floats | None
    """log Σ_τ P(τ | G) of each sentence under the grammar before; None if that was not computed."""
    entropy: float
    """H(q) of the trees of all sentences that are learned from."""


@dataclass(frozen=True)
class CountsLearner(ExpectationOptions, Learner):
    """What EM and VB have in common."""

    exact: ClassVar[bool] = False
    divisible: ClassVar[bool] = True
    iteration: ClassVar[tuple[str, str]] = ("pass", "passes")

    def rule_weights(
        self,
        grammar: Grammar,
        statistics: RuleWeights | None,
        beta: float,
        settings: ChainSettings,
    ) -> RuleWeights:
        """The weights of rules under which trees are counted: of G, before there are statistics."""
        return RuleWeights(grammar.root, grammar.binary, grammar.lexical)

    def grammar_of(
        self, statistics: RuleWeights, before: Grammar, beta: float, settings: ChainSettings
    ) -> Grammar:
        """The grammar that follows from expected counts."""
        raise NotImplementedError

    def objective(
        self, state: State, done: Pass, logs: Floats, log_mass: float, learned: Longs
    ) -> float:
        """What is maximised, of the state before a pass."""
        raise NotImplementedError

    def step(
        self,
        state: State,
        corpus: Encoded,
        settings: ChainSettings,
        work: Mapper,
        with_trees: bool = False,
    ) -> State:
        """One iteration: expected counts, then the grammar that follows from them."""
        depth, before = settings.depth, state.grammar
        held_out = held_out_sentences(len(corpus), settings.held_out)
        learned = np.delete(np.arange(len(corpus), dtype=np.int64), held_out)
        done = self._pass(state, corpus, learned, settings, work)
        log_mass, logs = _log_mass(before, depth), done.logs
        if logs is None:
            parts = work.parts(corpus, InBlocks.of(settings))
            each = work.map(log_part, parts, before, settings)
            logs = in_corpus_order(corpus, parts, each)
            check_parsable(before, corpus, logs)
            logs = logs + log_mass
        objective = self.objective(state, done, logs, log_mass, learned)
        measures = measure(logs - log_mass, corpus.lengths, held_out, None, state.beta)
        return CountsState(
            state.iteration + 1,
            done.grammar,
            state.beta,
            measures=measures._replace(posterior=objective),
            statistics=done.statistics,
        )

    def _pass(
        self,
        state: State,
        corpus: Encoded,
        learned: Longs,
        settings: ChainSettings,
        work: Mapper,
    ) -> Pass:
        """The mini-batches of one iteration."""
        grammar, depth = state.grammar, settings.depth
        statistics = state.statistics if isinstance(state, CountsState) else None
        numbers = stream(settings.seed, settings.chain, state.iteration, Purpose.MINIBATCHES)
        parts = minibatches(learned, self.batch, numbers)
        whole, entropy, logs = len(parts) == 1, 0.0, None
        for number, part in enumerate(parts):
            weights = self.rule_weights(grammar, statistics, state.beta, settings)
            here = corpus if whole else corpus.select(part)
            counts, sums = expected_counts(here, grammar, weights, settings, whole, work)
            check_parsable(grammar, here, sums)
            _check_finite(counts)
            total = float((sums[part] if whole else sums).sum())
            entropy += total - _energy(counts, weights)
            if self.exact and depth is not None:
                with np.errstate(over="ignore", invalid="ignore"):
                    counts += failures(grammar, depth) * len(part)
                _check_finite(counts)
            if whole:
                statistics, logs = counts, sums
            else:
                t, scale = state.iteration * len(parts) + number, len(learned) / len(part)
                statistics = blended(statistics, counts, scale, t, self.decay)
            grammar = self.grammar_of(statistics, grammar, state.beta, settings)
        assert statistics is not None
        return Pass(grammar, statistics, logs, entropy)

    def without_zeros(self, state: State, settings: ChainSettings, error: DbpcfgError) -> State:
        """With a very small β most rules have probabilities too small for a float."""
        return with_every_rule(state, settings, error)

    def types(self, settings: ChainSettings) -> dict[str, Any]:
        """Those of the grammar, and of the counts."""
        counts = {f"counts_{name}": np.float64 for name in Grammar.ARRAYS}
        return super().types(settings) | counts

    def arrays(self, state: State) -> dict[str, NDArray[Any]]:
        """The grammar and the counts."""
        assert isinstance(state, CountsState)
        counts = {f"counts_{n}": getattr(state.statistics, n) for n in Grammar.ARRAYS}
        return super().arrays(state) | counts

    def restored(
        self,
        arrays: Mapping[str, NDArray[Any]],
        corpus: Encoded,
        settings: ChainSettings,
        iteration: int,
        beta: float,
    ) -> State:
        """The state of `arrays`."""
        state = super().restored(arrays, corpus, settings, iteration, beta)
        found = {name: arrays[f"counts_{name}"] for name in Grammar.ARRAYS}
        for name, counts in found.items():
            shape = getattr(state.grammar, name).shape
            if counts.shape != shape or not ((counts >= 0) & (counts < MAX_COUNTS)).all():
                raise ArchiveError(
                    f"counts_{name} must be numbers of shape {shape} from 0 to {MAX_COUNTS:g}"
                )
        return CountsState(iteration, state.grammar, beta, statistics=RuleWeights(**found))


@dataclass(frozen=True)
class EM(EMOptions, CountsLearner):
    """Expectation maximisation."""

    name: ClassVar[str] = "em"

    def maximises(self, settings: ChainSettings) -> str:
        """The log-likelihood, but for a prior, and for Z if that is left out."""
        normalised = self.exact or settings.depth is None
        return "" if normalised and not self.smoothing else "objective"

    def grammar_of(
        self, statistics: RuleWeights, before: Grammar, beta: float, settings: ChainSettings
    ) -> Grammar:
        """The most probable grammar."""
        grammar = normalised(statistics, self.smoothing, before)
        return without_zeros(grammar, least_probability(settings))

    def objective(
        self, state: State, done: Pass, logs: Floats, log_mass: float, learned: Longs
    ) -> float:
        """S(G) + λ Σ log G, if exact less N log Z."""
        normaliser = len(learned) * log_mass if self.exact else 0.0
        return float(logs[learned].sum()) - normaliser + _log_prior(state.grammar, self.smoothing)


@dataclass(frozen=True)
class VariationalBayes(VariationalOptions, CountsLearner):
    """Variational Bayes."""

    name: ClassVar[str] = "vb"

    def maximises(self, settings: ChainSettings) -> str:
        """A bound of the probability of the sentences."""
        return "lower bound"

    def criterion(self, settings: ChainSettings) -> str:
        """The bound that it maximises, unless sentences are held out."""
        return "heldout" if settings.held_out else "posterior"

    def rule_weights(
        self,
        grammar: Grammar,
        statistics: RuleWeights | None,
        beta: float,
        settings: ChainSettings,
    ) -> RuleWeights:
        """exp(ψ(α[c → x]) − ψ(Σ_y α[c → y])); of G at the start."""
        if statistics is None:
            return super().rule_weights(grammar, statistics, beta, settings)
        root, rows = statistics.root + beta, statistics.rows + beta
        least = least_probability(settings)
        root = np.maximum(np.exp(digamma(root) - digamma(root.sum())), least)
        rows = np.maximum(np.exp(digamma(rows) - digamma(rows.sum(axis=1, keepdims=True))), least)
        return RuleWeights.from_rows(root, rows)

    def grammar_of(
        self, statistics: RuleWeights, before: Grammar, beta: float, settings: ChainSettings
    ) -> Grammar:
        """The mean of the distribution of grammars."""
        return mean_grammar(statistics, beta, before.vocabulary)

    def _pass(
        self,
        state: State,
        corpus: Encoded,
        learned: Longs,
        settings: ChainSettings,
        work: Mapper,
    ) -> Pass:
        """Its weights are not the grammar's: log-likelihoods have to be computed."""
        return super()._pass(state, corpus, learned, settings, work)._replace(logs=None)

    def objective(
        self, state: State, done: Pass, logs: Floats, log_mass: float, learned: Longs
    ) -> float:
        """log B."""
        return done.entropy + _log_evidence(done.statistics, state.beta)


def expected_counts(
    corpus: Encoded,
    grammar: Grammar,
    weights: RuleWeights,
    settings: ChainSettings,
    whole: bool,
    work: Mapper,
) -> tuple[RuleWeights, Floats]:
    """Expected rule counts, and the logarithm of each sentence's sum.

    ``whole``: whether this is the whole corpus, of which some sentences may be held out.
    """
    parts = work.parts(corpus, InBlocks.of(settings))
    blocks, logs = [], []
    for some, own in work.map(count_part, parts, grammar, weights, settings, whole):
        blocks += some
        logs.append(own)
    chart = ChartParser(grammar, settings.depth, work.threads, settings.precision, weights=weights)
    return chart.sum_of_blocks(corpus, blocks), in_corpus_order(corpus, parts, logs)


def count_part(
    part: CorpusPart,
    grammar: Grammar,
    weights: RuleWeights,
    settings: ChainSettings,
    whole: bool,
    threads: int,
) -> tuple[list[Block], Floats]:
    """The expected counts of the blocks of a part."""
    copies, every = np.ones(len(part.sentences)), settings.held_out
    if whole and every:
        copies[part.sentences.sentence_ids % every == every - 1] = 0.0
    precision, scaling_sample = settings.precision, part.scaling_sample
    chart = ChartParser(grammar, settings.depth, threads, precision, scaling_sample, weights)
    return chart.count_blocks(part.sentences, copies, edges=part.blocks)


def log_part(part: CorpusPart, grammar: Grammar, settings: ChainSettings, threads: int) -> Floats:
    """log P(sentence) of every sentence of a part."""
    chart = ChartParser(grammar, settings.depth, threads, settings.precision, part.scaling_sample)
    return chart.log_probabilities(part.sentences)


def _check_finite(counts: RuleWeights) -> None:
    """Counts are not finite if probabilities are so small that quotients of them overflow."""
    found = (counts.root, counts.binary, counts.lexical)
    if not all((rules < MAX_COUNTS).all() for rules in found):
        raise GrammarError("probabilities of the grammar are too small for a float")


def _log_mass(grammar: Grammar, depth: int | None) -> float:
    """log Z; 0 without a bound."""
    if depth is None:
        return 0.0
    return math.log(require_fitting(grammar, containment(grammar, depth)))


def _energy(counts: RuleWeights, weights: RuleWeights) -> float:
    """Σ E[rule] log w(rule)."""
    return float(
        xlogy(counts.root, weights.root).sum()
        + xlogy(counts.binary, weights.binary).sum()
        + xlogy(counts.lexical, weights.lexical).sum()
    )


def _log_evidence(counts: RuleWeights, beta: float) -> float:
    """E[log P(trees | G)] − KL, where the distribution of G is Dirichlet(counts + β)."""
    return log_marginal(counts.root[np.newaxis], beta) + log_marginal(counts.rows, beta)


def _log_prior(grammar: Grammar, smoothing: float) -> float:
    """λ Σ log G, the logarithm of the prior but for a constant."""
    if not smoothing:
        return 0.0
    least = np.finfo(np.float64).tiny
    logs = [np.log(np.maximum(rules, least)).sum() for rules in (grammar.root, grammar.rows)]
    return smoothing * float(sum(logs))


def minibatches(sentences: Longs, size: int, numbers: Stream) -> list[Longs]:
    """The sentences in random order, in batches of nearly equal size.

    ``size``: the greatest size of a batch; 0 for one batch of all sentences, in their order.
    ``numbers``: the random numbers; each sentence has those of its own number.
    """
    if not size or size >= len(sentences):
        return [sentences]
    keys = np.empty(len(sentences))
    uniforms(numbers, sentences, keys)
    order = sentences[np.argsort(keys, kind="stable")]
    return np.array_split(order, -(-len(order) // size))


@kernel
def uniforms(numbers: Stream, items: Longs, found: Floats) -> None:
    """A random number for each item."""
    for x in range(len(items)):
        found[x], _ = uniform_pair(numbers, items[x], 0)


def blended(
    before: RuleWeights | None, found: RuleWeights, scale: float, step: int, exponent: float
) -> RuleWeights:
    """The statistics after one more mini-batch.

    ``before``: the statistics so far; None before the first mini-batch.
    """
    if before is None:
        return found * scale
    rate = float((step + 2.0) ** -exponent)
    return before * (1.0 - rate) + found * (rate * scale)
