"""Learning from expected rule counts: EM and variational Bayes.

Both alternate between expected counts, of the trees that fit the bound, under weights of rules
(``parsing.chart.counts``), and a grammar from these counts::

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

With mini-batches an iteration is one pass over the corpus, with an update after each of them; what
is maximised then is only estimated, and may fall.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, xlogy

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.bounding import containment, require_fitting
from dbpcfg.grammar.normaliser import failures
from dbpcfg.grammar.pcfg import Grammar, without_zeros
from dbpcfg.grammar.weights import RuleWeights, mean_grammar, normalised
from dbpcfg.induction.beta import log_marginal
from dbpcfg.induction.criteria import Measures, kept_aside, measure
from dbpcfg.induction.decoding import DecodedTrees
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.minibatches import blended, minibatches
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.protocol import check_parsable

LEAST, LEAST_SINGLE = 2.0**-200, 2.0**-60
"""Probabilities in place of smaller ones: as small as a chart can multiply with two cells' least
sizes."""


class Pass(NamedTuple):
    """What is known after the mini-batches of one iteration."""

    grammar: Grammar
    statistics: RuleWeights
    logs: Floats | None
    """log Σ_τ P(τ | G) of each sentence under the grammar before; None if that was not computed."""
    entropy: float
    """H(q) of the trees of all sentences that are learned from."""


def step(
    state: State,
    corpus: Encoded,
    settings: ChainSettings,
    threads: int = 1,
    trees: DecodedTrees | None = None,
) -> State:
    """One iteration: expected counts, then the grammar that follows from them.

    ``threads``: the number of threads; the result does not depend on it.
    ``trees``: has the grammar before the iteration afterwards, to decode its trees.
    """
    depth = settings.depth_at(state.iteration)
    aside = kept_aside(len(corpus), settings.aside)
    learned = np.delete(np.arange(len(corpus), dtype=np.int64), aside)
    done = _pass(state, corpus, learned, settings, threads)
    before, logs = state.grammar, done.logs
    log_mass = _log_mass(before, depth)
    if logs is None:
        logs = ChartParser(before, depth, threads, settings.precision).log_probabilities(corpus)
        logs = logs + log_mass
    if settings.learner == "vb":
        objective = done.entropy + _log_evidence(done.statistics, state.beta)
    else:
        normaliser = len(learned) * log_mass if settings.exact else 0.0
        objective = float(logs[learned].sum()) - normaliser + _log_prior(before, settings.smoothing)
    measures: Measures = measure(logs - log_mass, corpus.lengths, aside, None, state.beta)
    if trees is not None:
        trees.of(before)
    return State(
        state.iteration + 1,
        done.grammar,
        state.beta,
        measures=measures._replace(posterior=objective),
        statistics=done.statistics,
    )


def _pass(
    state: State, corpus: Encoded, learned: Longs, settings: ChainSettings, threads: int
) -> Pass:
    """The mini-batches of one iteration."""
    grammar, statistics = state.grammar, state.statistics
    numbers = stream(settings.seed, settings.chain, state.iteration, Purpose.MINIBATCHES)
    parts = minibatches(learned, settings.batch, numbers)
    whole, entropy, logs = len(parts) == 1, 0.0, None
    temperature = settings.temperature_at(state.iteration)
    for number, part in enumerate(parts):
        weights = rule_weights(grammar, statistics, state.beta, settings)
        if temperature > 1:
            weights = weights ** (1 / temperature)
        here, copies = (corpus, np.zeros(len(corpus))) if whole else (corpus.chosen(part), None)
        if copies is not None:
            copies[part] = 1.0
        depth = settings.depth_at(state.iteration)
        chart = ChartParser(grammar, depth, threads, settings.precision, weights=weights)
        counts, sums = chart.expected_counts(here, copies)
        check_parsable(grammar, here, sums)
        entropy += float((sums if copies is None else sums[part]).sum()) - _energy(counts, weights)
        if settings.exact and depth is not None:
            counts += failures(grammar, depth) * len(part)
        if whole:
            statistics = counts
            logs = sums if settings.learner == "em" and temperature == 1 else None
        else:
            t, scale = state.iteration * len(parts) + number, len(learned) / len(part)
            statistics = blended(statistics, counts, scale, t, settings.step)
        grammar = _grammar(statistics, grammar, state.beta, settings)
    assert statistics is not None
    return Pass(grammar, statistics, logs, entropy)


def rule_weights(
    grammar: Grammar, statistics: RuleWeights | None, beta: float, settings: ChainSettings
) -> RuleWeights:
    """The weights of rules under which trees are counted.

    ``statistics``: expected counts so far; None at the start, which is from G in either case.
    """
    if settings.learner == "em" or statistics is None:
        return RuleWeights(grammar.root, grammar.binary, grammar.lexical)
    root, rows = statistics.root + beta, statistics.rows + beta
    least = least_probability(settings)
    root = np.maximum(np.exp(digamma(root) - digamma(root.sum())), least)
    rows = np.maximum(np.exp(digamma(rows) - digamma(rows.sum(axis=1, keepdims=True))), least)
    return RuleWeights.of(root, rows)


def least_probability(settings: ChainSettings) -> float:
    """What probabilities are at least, so that every tree stays possible."""
    return LEAST_SINGLE if settings.precision == "single" else LEAST


def _grammar(
    statistics: RuleWeights, before: Grammar, beta: float, settings: ChainSettings
) -> Grammar:
    """The grammar that follows from expected counts."""
    if settings.learner == "vb":
        return mean_grammar(statistics, beta, before.vocabulary)
    return without_zeros(
        normalised(statistics, settings.smoothing, before), least_probability(settings)
    )


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
