"""The Gibbs sampler (the paper's section 4.3): trees given a grammar, then a grammar given trees.

**What the paper's step leaves out.** A tree τ that fits the bound has probability P(τ | G) / Z(G),
with Z(G) = Σ_c π_c h(L,1,c) the probability of fitting. Given the trees of N sentences,

    P(G | trees) ∝ Dirichlet(G; counts + β) / Z(G)^N,

and the paper draws from the Dirichlet alone. What its step samples is therefore the posterior for
the likelihood Π Σ_τ P(τ | G), without the normaliser; with no bound that is the model itself.

**The exact step.** 1/Z is the sum over all sequences of failures: 1/Z = Σ_m (1 − Z)^m. So let each
sentence also have the derivations that the unbounded grammar tried, and that left the bound, before
one fitted. Given G they are drawn by running the grammar; given them, G is again Dirichlet, with
their rules counted too, and nothing is left out (Rao, Lin and Dunson 2016 do this for any model
defined by rejection). A failure is abandoned at the first node that leaves the bound, so it is
short, and no proposal is ever refused, however many sentences there are; accepting or refusing
Dirichlet draws by their ratio of Z^N, the obvious alternative, accepts ever fewer as N grows.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.derivation import failed_derivations
from dbpcfg.grammar.pcfg import Grammar, draw_grammar
from dbpcfg.grammar.weights import RuleWeights
from dbpcfg.induction.beta import draw_beta
from dbpcfg.induction.criteria import Measures, kept_aside, measure
from dbpcfg.induction.drawing import LocalTrees, TreeSource
from dbpcfg.induction.network_state import NetworkState
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.philox import Purpose, Stream, stream
from dbpcfg.parsing.derivations import Derivations


@dataclass(frozen=True, eq=False)
class State:
    """A chain after some iterations. With its settings and corpus, all that the next step needs.

    ``derivations`` were drawn under the grammar before this one, and ``measures`` are of that
    grammar and these trees; both are None before the first iteration, and trees that are not in
    this process are. ``statistics`` are the expected counts that EM and VB go on with, ``network``
    is what the neural learner does.
    """

    iteration: int
    grammar: Grammar
    beta: float
    derivations: Derivations | None = None
    measures: Measures | None = None
    statistics: RuleWeights | None = None
    network: NetworkState | None = None


def step(
    state: State,
    corpus: Encoded,
    settings: ChainSettings,
    threads: int = 1,
    trees: TreeSource | None = None,
) -> State:
    """Sample all trees given G, count their rules, draw G ~ Dirichlet(counts + β).

    A pure function: the random numbers are those of (seed, chain, iteration), so the number of
    threads makes no difference and neither does stopping in between.

    ``trees``: what draws the trees; this process, if not given.
    Returns the chain after it, with the trees, and the measures of the grammar before.
    """

    def numbers_for(purpose: Purpose) -> Stream:
        return stream(settings.seed, settings.chain, state.iteration, purpose)

    depth = settings.depth_at(state.iteration)
    trees = LocalTrees(corpus, threads) if trees is None else trees
    logs, counts = trees.draw(state.grammar, state.iteration, settings)
    aside = kept_aside(len(corpus), settings.aside)
    measures = measure(logs, corpus.lengths, aside, counts, state.beta)
    if settings.exact and depth is not None:
        rejected = numbers_for(Purpose.REJECTED)
        learned = len(corpus) - len(aside)
        counts += failed_derivations(state.grammar, depth, learned, rejected)
    beta = state.beta
    if settings.sample_beta:
        beta = draw_beta(counts, beta, numbers_for(Purpose.BETA))
    numbers = numbers_for(Purpose.GRAMMAR)
    grammar = draw_grammar(counts, beta, corpus.vocabulary, numbers, threads)
    return State(state.iteration + 1, grammar, beta, trees.derivations, measures)
