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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.derivation import failed_derivations
from dbpcfg.grammar.pcfg import Grammar, draw_from_prior, draw_grammar
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from dbpcfg.parsing.protocol import Parser
from dbpcfg.philox import Purpose, Stream, stream


@dataclass(frozen=True)
class Settings:
    """What a chain is, apart from its corpus and its state."""

    categories: int
    depth: int | None
    beta: float = 0.2
    seed: int = 0
    chain: int = 0
    parser: Literal["chart", "leftcorner"] = "chart"
    exact: bool = False
    """Whether the grammar's draw takes the bound's normaliser into account."""


@dataclass(frozen=True, eq=False)
class State:
    """A chain after some iterations. With its settings and corpus, all that is needed to go on.

    ``derivations`` were drawn under the grammar before this one, and ``log_likelihood`` is that
    grammar's; both are None before the first iteration.
    """

    iteration: int
    grammar: Grammar
    derivations: Derivations | None = None
    log_likelihood: float | None = None


def start(corpus: Encoded, settings: Settings) -> State:
    """A chain before its first iteration: a grammar drawn from the prior."""
    return State(
        iteration=0,
        grammar=draw_from_prior(
            settings.categories, corpus.vocabulary, settings.beta, settings.seed, settings.chain
        ),
    )


def step(state: State, corpus: Encoded, settings: Settings, threads: int = 1) -> State:
    """Sample all trees given G, count their rules, draw G ~ Dirichlet(counts + β).

    A pure function: the random numbers are those of (seed, chain, iteration), so the number of
    threads makes no difference and neither does stopping in between.
    """
    parser = parser_for(state.grammar, settings, threads)

    def numbers_for(purpose: Purpose) -> Stream:
        return stream(settings.seed, settings.chain, state.iteration, purpose)

    derivations, logs = parser.sample(corpus, numbers_for(Purpose.TREES))
    counts = derivations.counts(settings.categories)
    if settings.exact and settings.depth is not None:
        counts += failed_derivations(
            state.grammar, settings.depth, len(corpus), numbers_for(Purpose.REJECTED)
        )
    grammar = draw_grammar(counts, settings.beta, corpus.vocabulary, numbers_for(Purpose.GRAMMAR))
    return State(state.iteration + 1, grammar, derivations, float(logs.sum()))


def states(corpus: Encoded, settings: Settings, threads: int = 1) -> Iterator[State]:
    """The chain from its start, for ever: one state after each iteration."""
    state = start(corpus, settings)
    while True:
        state = step(state, corpus, settings, threads)
        yield state


def parser_for(grammar: Grammar, settings: Settings, threads: int = 1) -> Parser:
    """The parser that the settings ask for."""
    if settings.parser == "chart":
        return ChartParser(grammar, settings.depth, threads)
    if settings.parser == "leftcorner":
        if settings.depth is None:
            raise DbpcfgError("the left-corner parser needs a depth bound; the chart does not")
        return LeftCornerParser(grammar, settings.depth, threads)
    raise DbpcfgError(f"there is no parser {settings.parser!r}; choose chart or leftcorner")
