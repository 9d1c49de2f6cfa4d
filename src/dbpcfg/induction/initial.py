"""Where a chain starts: at a grammar from the prior, or at one counted from branching trees."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import RuleCounts, draw_from_prior, draw_grammar
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.neural import initial_network
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.kernels import Ints, Longs, kernel
from dbpcfg.numerics.philox import Purpose, Stream, stream, uniform_pair
from dbpcfg.parsing.derivations import Derivations


def initial_state(corpus: Encoded, settings: ChainSettings, iteration: int = 0) -> State:
    """The state of a chain before its first iteration, or of a restart.

    ``settings``: those of the chain; ``initial`` says where it starts.
    """
    if settings.learner == "neural":
        return initial_network(corpus, settings, iteration)
    K, words = settings.categories, corpus.vocabulary
    if settings.initial == "prior":
        grammar = draw_from_prior(K, words, settings.beta, settings.seed, settings.chain, iteration)
    else:
        numbers = stream(settings.seed, settings.chain, iteration, Purpose.INITIAL)
        counts = branching_counts(corpus, K, settings.initial, numbers)
        numbers = stream(settings.seed, settings.chain, iteration, Purpose.PRIOR)
        grammar = draw_grammar(counts, settings.beta, words, numbers)
    return State(iteration=iteration, grammar=grammar, beta=settings.beta)


def branching_counts(
    corpus: Encoded, categories: int, branching: Literal["left", "right"], numbers: Stream
) -> RuleCounts:
    """Rule counts of left- or right-branching trees with categories drawn at random."""
    trees = Derivations.empty(corpus)
    branching_nodes(corpus.starts, categories, branching == "right", numbers, trees.nodes)
    return trees.counts(categories)


@kernel
def branching_nodes(
    starts: Longs, categories: int, right: bool, numbers: Stream, nodes: Ints
) -> None:
    """Pre-order nodes of branching trees: node t's category is drawn from draw t."""
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        base = 2 * starts[s] - s
        for t in range(2 * n - 1):
            if right:  # phrases and words take turns, the last one is a word
                start, end = t // 2, n if t % 2 == 0 else t // 2 + 1
            elif t < n:  # all phrases, from the longest, then the words
                start, end = 0, n - t
            else:
                start, end = t - n + 1, t - n + 2
            uniform, _ = uniform_pair(numbers, s, t)
            nodes[base + t] = np.array([start, end, int(uniform * categories)])
