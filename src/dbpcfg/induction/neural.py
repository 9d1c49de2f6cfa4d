"""Learning by gradient: the neural grammar.

A network (``neural_network``) gives the factors of a low-rank grammar, the chart in rank space
(``parsing.lowrank``) their expected counts in a mini-batch, and Adam a step in the direction of
the gradient of the mean of log Σ_τ P(τ | G), over the trees τ that fit the bound. As in the
sampler, the bound's normaliser Z is left out, unless ``exact``: then log Z is subtracted. An
iteration is one pass over the sentences.

**When to stop.** The grammar of a chain is that of its network after the last pass. If sentences
are kept aside, it is that of the pass after which these were most probable, and after ``patience``
passes without a better one no more is learned.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.normaliser import low_rank_normaliser
from dbpcfg.induction.adam import Moments, ascend
from dbpcfg.induction.criteria import Measures, kept_aside, measure
from dbpcfg.induction.decoding import DecodedTrees
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.minibatches import minibatches
from dbpcfg.induction.network_state import NetworkState
from dbpcfg.induction.neural_network import (
    Shape,
    backward,
    factors_of,
    forward,
    initial_parameters,
    slopes_of,
    views,
)
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.lowrank.parser import LowRankParser
from dbpcfg.parsing.protocol import check_parsable

BATCH = 32
"""Sentences in a mini-batch, if nothing else is asked for."""


def initial_network(corpus: Encoded, settings: ChainSettings, iteration: int = 0) -> State:
    """The state of a chain before its first pass."""
    numbers = stream(settings.seed, settings.chain, iteration, Purpose.NETWORK)
    shape = shape_of(settings, corpus.vocabulary)
    parameters: Floats = initial_parameters(shape, numbers).astype(number_type(settings))
    nothing = np.zeros_like(parameters)
    network = NetworkState(parameters, nothing, nothing, parameters, 0, 0, None)
    grammar = grammar_of(parameters, settings, corpus.vocabulary)
    return State(iteration, grammar, settings.beta, network=network)


def shape_of(settings: ChainSettings, vocabulary: Vocabulary) -> Shape:
    """The size of a chain's network."""
    P = settings.words_categories
    return Shape(settings.categories - P, P, settings.hidden_symbols, len(vocabulary))


def number_type(settings: ChainSettings) -> type:
    """The type of a network's numbers."""
    return np.float32 if settings.precision == "single" else np.float64


def grammar_of(
    parameters: Floats, settings: ChainSettings, vocabulary: Vocabulary
) -> LowRankGrammar:
    """The grammar that a network gives."""
    shape = shape_of(settings, vocabulary)
    done = forward(views(parameters, shape), shape.phrases)
    doubles = {name: z.astype(np.float64) for name, z in done.logits.items()}
    return LowRankGrammar(factors_of(done._replace(logits=doubles)), vocabulary)


def step(
    state: State,
    corpus: Encoded,
    settings: ChainSettings,
    threads: int = 1,
    trees: DecodedTrees | None = None,
) -> State:
    """One pass over the sentences, in mini-batches.

    ``threads``: the number of threads; the result does not depend on it.
    ``trees``: has the grammar before the iteration afterwards, to decode its trees.
    """
    network, before = state.network, state.grammar
    assert network is not None
    assert isinstance(before, LowRankGrammar)
    if network.measures is None:
        network = network._replace(measures=evaluate(before, corpus, settings, threads))
    after, measures = before, network.measures
    assert measures is not None
    if not settings.aside or network.since < settings.patience:
        learned = np.delete(np.arange(len(corpus)), kept_aside(len(corpus), settings.aside))
        network = train(network, corpus, learned, settings, state.iteration, threads)
        new = grammar_of(network.parameters, settings, corpus.vocabulary)
        found = evaluate(new, corpus, settings, threads)
        if not settings.aside or found.heldout > measures.heldout:
            after = new
            network = network._replace(answer=network.parameters, measures=found, since=0)
        else:
            network = network._replace(since=network.since + 1)
    if trees is not None:
        trees.of(before)
    return State(state.iteration + 1, after, state.beta, measures=measures, network=network)


def train(
    network: NetworkState,
    corpus: Encoded,
    learned: Longs,
    settings: ChainSettings,
    iteration: int,
    threads: int = 1,
) -> NetworkState:
    """The network after one pass over some sentences."""
    moments = Moments(network.parameters.copy(), network.first.copy(), network.second.copy())
    gradient = np.zeros_like(moments.parameters)
    numbers = stream(settings.seed, settings.chain, iteration, Purpose.MINIBATCHES)
    steps = network.steps
    for part in minibatches(learned, settings.batch or BATCH, numbers):
        find_gradient(moments.parameters, corpus.chosen(part), settings, gradient, threads)
        steps += 1
        ascend(moments, gradient, settings.rate, steps)
    return network._replace(**moments._asdict(), steps=steps)


def find_gradient(
    parameters: Floats,
    sentences: Encoded,
    settings: ChainSettings,
    gradient: Floats,
    threads: int = 1,
) -> Floats:
    """The gradient of the mean of log Σ_τ P(τ | G) over some sentences; if exact, less log Z."""
    shape = shape_of(settings, sentences.vocabulary)
    P, G = views(parameters, shape), views(gradient, shape)
    done = forward(P, shape.phrases)
    factors = factors_of(done)
    parser = LowRankParser(factors, settings.depth, threads, settings.precision)
    counts, logs = parser.expected_counts(sentences)
    if settings.exact and settings.depth is not None:
        mass, uses = low_rank_normaliser(factors, settings.depth)
        share = len(sentences) / mass
        counts = Factors(*(E - Z * share for E, Z in zip(counts, uses, strict=True)))
    slopes = slopes_of(factors, counts, 1.0 / len(sentences))
    same = {name: slope.astype(gradient.dtype) for name, slope in slopes.items()}
    backward(P, done, same, shape.phrases, G)
    return logs


def evaluate(
    grammar: LowRankGrammar, corpus: Encoded, settings: ChainSettings, threads: int = 1
) -> Measures:
    """The measures of a grammar."""
    parser = LowRankParser(grammar.factors, settings.depth, threads, settings.precision)
    logs, log_mass = parser.log_inside(corpus), parser.log_fitting_mass
    check_parsable(grammar, corpus, logs)
    aside = kept_aside(len(corpus), settings.aside)
    found = measure(logs - log_mass, corpus.lengths, aside, None, settings.beta)
    learned = np.delete(logs - log_mass if settings.exact else logs, aside)
    return found._replace(posterior=float(learned.sum()))
