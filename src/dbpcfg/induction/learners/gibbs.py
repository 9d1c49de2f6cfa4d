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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_grammar
from dbpcfg.induction.criteria import held_out_sentences, log_marginal, measure
from dbpcfg.induction.learners import Learner, State, with_every_rule
from dbpcfg.induction.mapping import CorpusPart, InBatches, Mapper, in_corpus_order, joined_nodes
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.tables import Column
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.numerics.philox import Purpose, Stream, stream, uniform_pair
from dbpcfg.options import GibbsOptions
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations, check_parsable
from dbpcfg.parsing.parser import Sampler

if TYPE_CHECKING:
    from dbpcfg.induction.auto import TextFigures

_WIDTH = 1.0
_MAX_STEPS = 100


@dataclass(frozen=True)
class Gibbs(GibbsOptions, Learner):
    """The Gibbs sampler of the paper."""

    name: ClassVar[str] = "gibbs"
    samples: ClassVar[bool] = True
    divisible: ClassVar[bool] = True
    phases: ClassVar[tuple[str, str]] = ("burn-in", "sampling")

    def preprocessing_for(self, text: TextFigures) -> dict[str, Any]:
        """Rare forms become classes where there are few tokens of a form."""
        return {"rare": text.rare}

    def check(self, settings: ChainSettings) -> None:
        """The left-corner parser needs a bound, and has double precision."""
        if self.parser == "leftcorner" and settings.precision == "single":
            raise DbpcfgError("only the chart has single precision")
        if self.parser == "leftcorner" and settings.depth is None:
            raise DbpcfgError("the left-corner parser needs a depth bound; the chart does not")

    def criterion(self, settings: ChainSettings) -> str:
        """The paper's, whether sentences are held out or not."""
        return "likelihood"

    def columns(self, settings: ChainSettings) -> list[Column]:
        """Means over the samples after burn-in, and how these vary."""
        return [
            Column("iterations", "count"),
            Column("burn-in", "count"),
            Column("log-likelihood", "number", "mean_log_likelihood"),
            Column("sd", "number"),
            Column("per token", "number", decimals=3),
            Column("greatest", "number", "best_log_likelihood"),
            Column("posterior", "number"),
            Column("variance", "number", decimals=3),
        ]

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
        work: Mapper,
        with_trees: bool = False,
    ) -> State:
        """Sample all trees given G, count their rules, draw G ~ Dirichlet(counts + β)."""

        def numbers_for(purpose: Purpose) -> Stream:
            return stream(settings.seed, settings.chain, state.iteration, purpose)

        logs, counts, trees = drawn_trees(
            state.grammar, state.iteration, corpus, settings, work, with_trees
        )
        held_out = held_out_sentences(len(corpus), settings.held_out)
        measures = measure(logs, corpus.lengths, held_out, counts, state.beta)
        if self.exact and settings.depth is not None:
            from dbpcfg.grammar.derivation import failed_derivations

            rejected = numbers_for(Purpose.REJECTED)
            learned = len(corpus) - len(held_out)
            counts += failed_derivations(state.grammar, settings.depth, learned, rejected)
        beta = state.beta
        if self.sample_beta:
            beta = draw_beta(counts, beta, numbers_for(Purpose.BETA))
        numbers = numbers_for(Purpose.GRAMMAR)
        grammar = draw_grammar(counts, beta, corpus.vocabulary, numbers, work.threads)
        return State(state.iteration + 1, grammar, beta, trees, measures)

    def without_zeros(self, state: State, settings: ChainSettings, error: DbpcfgError) -> State:
        """With a very small β most rules have probabilities too small for a float."""
        found = with_every_rule(state, settings, error)
        if self.exact:  # it draws trees until as many fit, which might take for ever
            raise UnparsableError(
                f"{error}; beta, {state.beta:.3g}, is too small for the exact step"
            ) from None
        return found

    def trees_of(
        self,
        grammar: Grammar,
        iteration: int,
        corpus: Encoded,
        settings: ChainSettings,
        work: Mapper,
    ) -> Derivations:
        """The trees that the iteration has drawn, drawn again."""
        trees = drawn_trees(grammar, iteration, corpus, settings, work, True).trees
        assert trees is not None
        return trees

    def parser_for(
        self,
        grammar: Grammar,
        settings: ChainSettings,
        threads: int = 1,
        scaling_sample: Encoded | None = None,
    ) -> Sampler:
        """The parser that samples trees.

        ``scaling_sample``: those of the whole corpus, if a part is parsed.
        """
        if self.parser == "leftcorner":
            assert settings.depth is not None
            from dbpcfg.parsing.leftcorner.parser import LeftCornerParser

            return LeftCornerParser(grammar, settings.depth, threads)
        return ChartParser(grammar, settings.depth, threads, settings.precision, scaling_sample)


class PartTrees(NamedTuple):
    """What was drawn for a part of the corpus."""

    logs: Floats
    """log P(sentence) of every sentence."""
    counts: RuleWeights | None
    """The rules of the trees, but for those of sentences that are held out; None if a sentence has
    probability zero."""
    nodes: Ints | None
    """The trees, if they are needed."""


class DrawnTrees(NamedTuple):
    """What was drawn in an iteration."""

    logs: Floats
    counts: RuleWeights
    trees: Derivations | None


def drawn_trees(
    grammar: Grammar,
    iteration: int,
    corpus: Encoded,
    settings: ChainSettings,
    work: Mapper,
    with_trees: bool,
) -> DrawnTrees:
    """Draw a tree for every sentence; a sentence of probability zero is an `UnparsableError`."""
    parts = work.parts(corpus, InBatches.of(settings))
    drawn: list[PartTrees] = work.map(draw_part, parts, grammar, iteration, settings, with_trees)
    logs = in_corpus_order(corpus, parts, [one.logs for one in drawn])
    check_parsable(grammar, corpus, logs)
    counts = drawn[0].counts
    assert counts is not None
    for one in drawn[1:]:  # sums of whole numbers are the same in any order
        assert one.counts is not None
        for name in ("root", "binary", "lexical"):
            getattr(counts, name)[...] += getattr(one.counts, name)
    if not with_trees:
        return DrawnTrees(logs, counts, None)
    nodes = [one.nodes for one in drawn if one.nodes is not None]
    return DrawnTrees(logs, counts, Derivations(joined_nodes(corpus, parts, nodes), corpus))


def draw_part(
    part: CorpusPart,
    grammar: Grammar,
    iteration: int,
    settings: ChainSettings,
    with_trees: bool,
    threads: int,
) -> PartTrees:
    """Draw a tree for every sentence of a part."""
    learner = settings.learner
    assert isinstance(learner, Gibbs)
    numbers = stream(settings.seed, settings.chain, iteration, Purpose.TREES)
    parser = learner.parser_for(grammar, settings, threads, part.scaling_sample)
    try:
        trees, logs = parser.sample(part.sentences, numbers)
    except UnparsableError:  # which does not know the sentence's number in the whole corpus
        return PartTrees(parser.log_probabilities(part.sentences), None, None)
    counts = trees.counts(settings.categories, settings.held_out)
    return PartTrees(logs, counts, trees.nodes if with_trees else None)


def draw_beta(counts: RuleWeights, beta: float, numbers: Stream) -> float:
    """Draw β by one slice-sampling move, given the counts."""
    tables = [counts.root[np.newaxis], counts.rows]

    def log_density(log_beta: float) -> float:
        b = math.exp(log_beta)
        return sum(log_marginal(table, b) for table in tables) - b + log_beta

    return math.exp(slice_move(log_density, math.log(beta), numbers))


def slice_move(log_density: Callable[[float], float], x: float, numbers: Stream) -> float:
    """One move of slice sampling, with stepping out and shrinkage.

    A FloatingPointError is raised if the density at ``x`` is no finite number.
    """
    draw = 0

    def uniform() -> float:
        nonlocal draw
        draw += 1
        return uniform_pair(numbers, 0, draw - 1)[0]

    height = log_density(x) + math.log(uniform())
    if not math.isfinite(height):  # no proposal would be above it
        raise FloatingPointError(f"the log-density at {x!r} is not finite: it is {height!r}")
    left = x - _WIDTH * uniform()
    right = left + _WIDTH
    for _ in range(_MAX_STEPS):
        if not log_density(left) > height:
            break
        left -= _WIDTH
    for _ in range(_MAX_STEPS):
        if not log_density(right) > height:
            break
        right += _WIDTH
    while True:
        proposal = left + (right - left) * uniform()
        if proposal == x or log_density(proposal) > height:
            return proposal
        if proposal < x:
            left = proposal
        else:
            right = proposal
