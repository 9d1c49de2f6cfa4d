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

**β sampled along with the grammar.** Given the rule counts, the rows of G integrate out: a row of n
rules with counts c has probability Γ(nβ) / Γ(Σc + nβ) · Π Γ(c + β) / Γ(β). β has an Exponential(1)
prior, and is updated by one move of slice sampling (Neal 2003) on log β; then G is drawn given it.
The pair (β, G) so has the right conditional distribution given the trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.grammar.derivation import failed_derivations
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_grammar
from dbpcfg.induction.criteria import kept_aside, log_marginal, measure
from dbpcfg.induction.learners import Learner, State, with_every_rule
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import DrawnTrees, TreeSource
from dbpcfg.numerics.kernels import Floats
from dbpcfg.numerics.philox import Purpose, Stream, stream, uniform_pair
from dbpcfg.options import GibbsOptions
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.parsers import Sampler

_WIDTH = 1.0
_MOST_STEPS = 100


@dataclass(frozen=True)
class Gibbs(GibbsOptions, Learner):
    """The Gibbs sampler of the paper."""

    name: ClassVar[str] = "gibbs"
    samples: ClassVar[bool] = True

    def check(self, settings: ChainSettings) -> None:
        """The left-corner parser needs a bound, and has double precision."""
        if self.parser == "leftcorner" and settings.precision == "single":
            raise DbpcfgError("only the chart has single precision")
        if self.parser == "leftcorner" and settings.depth is None:
            raise DbpcfgError("the left-corner parser needs a depth bound; the chart does not")

    def criterion(self, settings: ChainSettings) -> str:
        """The paper's, whether sentences are kept aside or not."""
        return "likelihood"

    def needed_bytes(self, settings: ChainSettings, corpus: Encoded) -> tuple[int, int]:
        """The left-corner parser has stores instead of a chart."""
        if self.parser == "leftcorner" and settings.depth is not None:
            from dbpcfg.parsing.leftcorner.parser import check_stores

            check_stores(settings.categories, settings.depth, int(corpus.lengths.max()))
            grammar, _ = super().needed_bytes(settings, corpus)
            return grammar, 40 * settings.categories**3 + 2 * grammar
        return super().needed_bytes(settings, corpus)

    def step(
        self,
        state: State,
        corpus: Encoded,
        settings: ChainSettings,
        threads: int = 1,
        trees: TreeSource | None = None,
    ) -> State:
        """Sample all trees given G, count their rules, draw G ~ Dirichlet(counts + β)."""

        def numbers_for(purpose: Purpose) -> Stream:
            return stream(settings.seed, settings.chain, state.iteration, purpose)

        trees = self.trees(corpus, settings, threads) if trees is None else trees
        logs, counts = trees.draw(state.grammar, state.iteration)
        aside = kept_aside(len(corpus), settings.aside)
        measures = measure(logs, corpus.lengths, aside, counts, state.beta)
        if self.exact and settings.depth is not None:
            rejected = numbers_for(Purpose.REJECTED)
            learned = len(corpus) - len(aside)
            counts += failed_derivations(state.grammar, settings.depth, learned, rejected)
        beta = state.beta
        if self.sample_beta:
            beta = draw_beta(counts, beta, numbers_for(Purpose.BETA))
        numbers = numbers_for(Purpose.GRAMMAR)
        grammar = draw_grammar(counts, beta, corpus.vocabulary, numbers, threads)
        return State(state.iteration + 1, grammar, beta, trees.derivations, measures)

    def without_zeros(self, state: State, settings: ChainSettings, error: DbpcfgError) -> State:
        """With a very small β most rules have probabilities too small for a float."""
        found = with_every_rule(state, settings, error)
        if self.exact:  # it draws trees until as many fit, which might take for ever
            raise UnparsableError(
                f"{error}; beta, {state.beta:.3g}, is too small for the exact step"
            ) from None
        return found

    def trees(self, corpus: Encoded, settings: ChainSettings, threads: int = 1) -> TreeSource:
        """Trees that are drawn in this process."""
        return DrawnTrees(corpus, settings, threads)

    def sample_trees(
        self,
        corpus: Encoded,
        grammar: Grammar,
        iteration: int,
        settings: ChainSettings,
        threads: int = 1,
        pilots: Encoded | None = None,
    ) -> tuple[Derivations, Floats]:
        """Draw a tree for every sentence; with them log P(sentence).

        If the corpus is a part of one, ``pilots`` are `pilots_of` the whole.
        """
        numbers = stream(settings.seed, settings.chain, iteration, Purpose.TREES)
        return self.parser_for(grammar, settings, threads, pilots).sample(corpus, numbers)

    def parser_for(
        self,
        grammar: Grammar,
        settings: ChainSettings,
        threads: int = 1,
        pilots: Encoded | None = None,
    ) -> Sampler:
        """The parser that samples trees."""
        if self.parser == "leftcorner":
            assert settings.depth is not None
            from dbpcfg.parsing.leftcorner.parser import LeftCornerParser

            return LeftCornerParser(grammar, settings.depth, threads)
        return super().parser_for(grammar, settings, threads, pilots)


def draw_beta(counts: RuleWeights, beta: float, numbers: Stream) -> float:
    """Draw β by one slice-sampling move, given the counts."""
    tables = [counts.root[np.newaxis], counts.rows]

    def log_density(log_beta: float) -> float:
        b = math.exp(log_beta)
        return sum(log_marginal(table, b) for table in tables) - b + log_beta

    return math.exp(slice_move(log_density, math.log(beta), numbers))


def slice_move(log_density: Callable[[float], float], x: float, numbers: Stream) -> float:
    """One move of slice sampling, with stepping out and shrinkage."""
    draw = 0

    def uniform() -> float:
        nonlocal draw
        draw += 1
        return uniform_pair(numbers, 0, draw - 1)[0]

    height = log_density(x) + math.log(uniform())
    left = x - _WIDTH * uniform()
    right = left + _WIDTH
    for _ in range(_MOST_STEPS):
        if log_density(left) <= height:
            break
        left -= _WIDTH
    for _ in range(_MOST_STEPS):
        if log_density(right) <= height:
            break
        right += _WIDTH
    while True:
        proposal = left + (right - left) * uniform()
        if log_density(proposal) > height:
            return proposal
        if proposal < x:
            left = proposal
        else:
            right = proposal
