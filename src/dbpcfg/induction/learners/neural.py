"""Learning by gradient: the neural grammar.

A network (``network``) gives the factors of a low-rank grammar, the chart in rank space
(``parsing.lowrank``) their expected counts in a mini-batch, and Adam a step in the direction of
the gradient of the mean of log Σ_τ P(τ | G), over the trees τ that fit the bound. As in the
sampler, the bound's normaliser Z is left out, unless ``exact``: then log Z is subtracted.

**An iteration** is one pass over the sentences, in mini-batches in random order. Of a large text,
of more than ``LARGE`` sentences, it is a part of a pass, of about ``PART`` sentences, so that
checkpoints and progress come as often; and what is measured then is ``SAMPLE`` sentences at equal
distances instead of all, whose sums are multiplied to be those of the text.

**When to stop.** The grammar of a chain is that of its network after the last iteration. If
sentences are held out, it is that of the iteration after which these were most probable, and after
``patience`` iterations without a better one no more is learned. Nor is it after one that diverged:
numbers became too large, or log P of the sentences ``DIVERGED`` times what it was at the start. The
network before that iteration is kept.

**The optimiser** is Adam (Kingma and Ba 2015), on all parameters in one vector. With g the gradient
of what is maximised, shortened to ``LONGEST`` if it is longer::

    m ← β₁ m + (1 − β₁) g        s ← β₂ s + (1 − β₂) g²
    θ ← θ + η · m / (1 − β₁ᵗ) / (√(s / (1 − β₂ᵗ)) + ε)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preprocessing import PreprocessedCorpus, Preprocessing
from dbpcfg.errors import DbpcfgError, GrammarError, UnparsableError
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.normaliser import low_rank_normaliser
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.auto import TextFigures
from dbpcfg.induction.corpus import Lessons
from dbpcfg.induction.criteria import Measures, held_out_sentences, measure, plausible
from dbpcfg.induction.learners import Learner, State
from dbpcfg.induction.learners.expectation import minibatches
from dbpcfg.induction.learners.network import (
    Shape,
    backward,
    factors_of,
    forward,
    initial_parameters,
    network_of,
    slopes_of,
    views,
)
from dbpcfg.induction.lessons import ccl_brackets, lessons_of, suited, whole_sentences
from dbpcfg.induction.mapping import CorpusPart, Mapper, in_corpus_order, parts_of, together
from dbpcfg.induction.search import PAPER_CHAINS
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.archive import ArchiveError
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import plural
from dbpcfg.model.model import Model
from dbpcfg.numerics.kernels import Floats, Longs, loop_kernel
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.options import NeuralOptions
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.derivations import check_parsable
from dbpcfg.parsing.lowrank.blocks import block_edges
from dbpcfg.parsing.lowrank.parser import BlockCounts, FactorParser

BETA1, BETA2, EPSILON = 0.75, 0.999, 1e-8
LONGEST = 3.0
"""The greatest length of the gradient."""
DIVERGED = 5.0
UNSUITED = (
    "CCL's brackets do not branch to the side to which the words say that the language does: only "
    "those that do are taught, and the trees may be little better than branching ones"
)
STRETCH = 15
"""The greatest number of words in a stretch that is learned from, with a teacher."""
LITTLE_SPEECH = 30_000
"""Tokens of speech below which the bound is 2, and there are twice as many chains."""
BATCH, MAX_PASSES = 64, 30
"""Sentences of a mini-batch, and the greatest number of passes, if nothing is asked for."""
STEPS = 2000
"""Mini-batches after which a chain ends, if nothing is asked for.

Of little speech they are smaller, so that there are as many: with fewer, chains end as
right-branching trees (docs/results-learners.md).
"""
LARGE = 20_000
"""A text of more sentences is large."""
PART, SAMPLE = 10_000, 5_000
"""Of a large text, sentences of an iteration, and sentences that are measured after it."""


class Moments(NamedTuple):
    """The parameters, and what Adam has noted of each; all are written to."""

    parameters: Floats
    """θ."""
    first: Floats
    """m."""
    second: Floats
    """s."""


class Network(NamedTuple):
    """A network after some iterations. Its arrays are not written to."""

    parameters: Floats
    """θ, all in one vector."""
    first: Floats
    """Adam's m."""
    second: Floats
    """Adam's s."""
    answer: Floats
    """The parameters of the chain's grammar."""
    steps: int = 0
    """The number of mini-batches so far."""
    since: int = 0
    """The number of iterations since the answer."""
    diverged: int = 0
    """The iteration that diverged, of which nothing is kept; 0 if none did."""
    measures: Measures | None = None
    """Those of the answer; None before the first iteration."""
    start: float = 0.0
    """What is maximised, before the first iteration."""


_VECTORS = Network._fields[:4]


@dataclass(frozen=True, eq=False)
class NetworkState(State):
    """A state with the network that gives the grammar."""

    network: Network | None = None


@dataclass(frozen=True)
class Neural(NeuralOptions, Learner):
    """The neural grammar of low rank."""

    name: ClassVar[str] = "neural"
    divisible: ClassVar[bool] = True
    default_categories: ClassVar[int] = 60
    default_depth: ClassVar[int] = 3
    default_precision: ClassVar[Precision] = "single"
    default_trees: ClassVar[str] = "consensus"
    grammar_kind: ClassVar[type[Grammar]] = LowRankGrammar
    START: ClassVar[tuple[str, ...]] = ("parameters", "shape")

    @classmethod
    def of_grammar(cls, grammar: Grammar) -> Learner:
        """One with as many word categories, and of the same rank."""
        assert isinstance(grammar, LowRankGrammar)
        K, R, P = grammar.categories, grammar.factors.rank, len(grammar.factors.emission)
        return cls(rank=0 if R == K else R, word_categories=0 if _word_categories(K) == P else P)

    def maximises(self, settings: ChainSettings) -> str:
        """The log-likelihood, unless Z is left out."""
        return "" if self.exact or settings.depth is None else "objective"

    def preprocessing_for(self, text: TextFigures) -> dict[str, Any]:
        """Punctuation is left out, and divides sentences."""
        return {"no_punctuation": True, "punctuation_brackets": True, "rare": text.rare}

    def suited_to(self, text: TextFigures, preprocessing: Preprocessing) -> Learner:
        """Whether it may have a teacher, and learns from stretches."""
        known = preprocessing.brackets is not None
        teacher = self.teacher
        if teacher == "auto" and (known or text.is_speech):
            teacher = "none"
        stretch = self.stretch
        if stretch is None:
            stretch = 0 if known or teacher == "none" else STRETCH
        batch = self.batch
        if not batch and text.is_speech:
            batch = min(BATCH, 8 * math.ceil(text.sentences * MAX_PASSES / STEPS / 8))
        return replace(self, teacher=teacher, stretch=stretch, batch=batch or BATCH)

    @property
    def batch_size(self) -> int:
        """Sentences of a mini-batch."""
        return self.batch or BATCH

    def depth_for(self, text: TextFigures) -> int:
        """2 for a little speech: with 3, most chains become right-branching."""
        return 2 if _is_little_speech(text) else self.default_depth

    def chains_for(self, text: TextFigures) -> int:
        """More for a little speech: with 4, the answer depends on chance, and they cost little."""
        return 2 * PAPER_CHAINS if _is_little_speech(text) else PAPER_CHAINS

    def choices(self) -> list[str]:
        """Whose brackets it learns from, and from which stretches."""
        stretches = [f"from stretches of {plural(self.stretch, 'word')}"] if self.stretch else []
        if self.teacher == "ccl":
            return ["taught by CCL", *stretches]
        return ["without a teacher", *stretches] if stretches else []

    def lessons(
        self, text: PreprocessedCorpus, settings: ChainSettings, progress: Progress | None = None
    ) -> tuple[Learner, Lessons | None]:
        """Stretches between punctuation marks, with the brackets of the teacher that suit."""
        brackets, limit, note = None, self.stretch or 0, ""
        if self.teacher != "none":
            brackets = found = ccl_brackets(text, progress)
            if self.teacher == "auto":
                brackets = suited(text, found)
                note = "" if brackets is found else UNSUITED
                brackets = brackets if any(brackets) else None
        learner = replace(self, teacher="none" if brackets is None else "ccl")
        if brackets is None and not limit:
            known = text.preprocessing.brackets is not None or text.encoded.brackets is None
            return learner, None if known else whole_sentences(text)
        lessons = lessons_of(text, settings.depth, limit, brackets)
        return learner, lessons._replace(note=note)

    def default_iterations(self, sentences: int) -> int:
        """As many as have ``STEPS`` mini-batches together; of a smaller text 5 to 30."""
        parts = self.parts(sentences)
        iterations = math.ceil(parts * STEPS * self.batch_size / max(1, sentences))
        return max(5, min(MAX_PASSES, iterations)) if parts == 1 else iterations

    def check(self, settings: ChainSettings) -> None:
        """There is a category of phrases and one of words."""
        if not self.word_categories < settings.categories or settings.categories < 2:
            raise DbpcfgError(
                "the learner neural needs a phrase category and a word category, got "
                f"{plural(settings.categories, 'category', 'categories')}, of which "
                f"{self.word_categories} for words"
            )

    def shape(self, settings: ChainSettings, vocabulary: Vocabulary) -> Shape:
        """The size of the network: N, P, R and W."""
        K = settings.categories
        P = self.word_categories or _word_categories(K)
        return Shape(K - P, P, self.rank or K, len(vocabulary))

    def needed_bytes(self, settings: ChainSettings, corpus: Encoded) -> tuple[int, int]:
        """The factors of the grammar, and a network with its moments and its gradient."""
        shape = self.shape(settings, corpus.vocabulary)
        K, number = settings.categories, np.dtype(_number_type(settings)).itemsize
        rules = (shape.phrases + 2 * K) * shape.rank + shape.word_categories * shape.vocabulary
        return 8 * rules, 5 * number * shape.size

    def first(self, corpus: Encoded, settings: ChainSettings) -> State:
        """The state of a chain before its first iteration."""
        numbers = stream(settings.seed, settings.chain, 0, Purpose.NETWORK)
        shape = self.shape(settings, corpus.vocabulary)
        parameters: Floats = initial_parameters(shape, numbers).astype(_number_type(settings))
        if settings.start is not None:
            old = settings.start.arrays["parameters"].astype(parameters.dtype)
            here, there = settings.start.known_words(corpus.vocabulary)
            before = views(old, shape._replace(vocabulary=len(settings.start.words)))
            for name, layer in views(parameters, shape).items():
                if name.startswith("emission.out"):  # of which each word has a column
                    layer[..., here] = before[name][..., there]
                else:
                    layer[:] = before[name]
        nothing = np.zeros_like(parameters)
        network = Network(parameters, nothing, nothing, parameters)
        grammar = self.grammar_of(parameters, settings, corpus.vocabulary)
        return NetworkState(0, grammar, self.beta, network=network)

    def check_start(self, settings: ChainSettings) -> None:
        """The networks have the same layers."""
        super().check_start(settings)
        start = settings.start
        assert start is not None
        own = self.shape(settings, Vocabulary(start.words))
        if tuple(start.arrays["shape"]) != own:
            raise DbpcfgError(
                f"{start.run} has a different number of word categories or a different rank: leave "
                f"word_categories and rank out"
            )

    def warm_start(self, state: State | None, model: Model) -> dict[str, Floats]:
        """The network after its last iteration, or one that gives the grammar of a model."""
        grammar = model.grammar
        if not isinstance(grammar, LowRankGrammar):
            return super().warm_start(state, model)
        N, R, K = grammar.factors.phrases, grammar.factors.rank, grammar.categories
        shape = Shape(N, K - N, R, len(grammar.vocabulary))
        if state is None:
            parameters = network_of(grammar.factors, shape, stream(0, 0, 0, Purpose.NETWORK))
        else:
            assert isinstance(state, NetworkState)
            assert state.network is not None
            parameters = state.network.answer.astype(np.float64)
        return {"parameters": parameters, "shape": np.array(shape, dtype=np.float64)}

    def grammar_of(
        self, parameters: Floats, settings: ChainSettings, vocabulary: Vocabulary
    ) -> LowRankGrammar:
        """The grammar that a network gives."""
        shape = self.shape(settings, vocabulary)
        done = forward(views(parameters, shape), shape.phrases)
        doubles = {name: z.astype(np.float64) for name, z in done.logits.items()}
        return LowRankGrammar(factors_of(done._replace(logits=doubles)), vocabulary)

    def step(
        self,
        state: State,
        corpus: Encoded,
        settings: ChainSettings,
        work: Mapper,
        with_trees: bool = False,
    ) -> State:
        """One pass over the sentences, or a part of it, in mini-batches."""
        assert isinstance(state, NetworkState)
        network, before = state.network, state.grammar
        assert network is not None
        assert isinstance(before, LowRankGrammar)
        if network.measures is None:
            found = self.measures(before, corpus, settings, work)
            network = network._replace(measures=found, start=found.posterior)
        after, measures = before, network.measures
        assert measures is not None
        if not network.diverged and (not settings.held_out or network.since < self.patience):
            learned = np.delete(
                np.arange(len(corpus)), held_out_sentences(len(corpus), settings.held_out)
            )
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    numbered = learned, settings, state.iteration
                    trained = self.train(network, corpus, *numbered, work)
                    new = self.grammar_of(trained.parameters, settings, corpus.vocabulary)
                    found = self.measures(new, corpus, settings, work)
                if not found.posterior >= DIVERGED * network.start:
                    raise GrammarError("the sentences are too improbable")
            except (GrammarError, UnparsableError, np.linalg.LinAlgError):
                network = network._replace(diverged=state.iteration + 1)
            else:
                if not settings.held_out or found.heldout > measures.heldout:
                    after = new
                    network = trained._replace(answer=trained.parameters, measures=found, since=0)
                else:
                    network = trained._replace(since=network.since + 1)
        return NetworkState(
            state.iteration + 1, after, state.beta, measures=measures, network=network
        )

    def note(self, state: State) -> str | None:
        """In which iteration it diverged, if it did."""
        assert isinstance(state, NetworkState)
        if state.network is None or not state.network.diverged:
            return None
        return (
            f"learning diverged in iteration {state.network.diverged:,}, and stopped with the "
            f"grammar before it: lower the rate ({self.rate:g})"
        )

    def train(
        self,
        network: Network,
        corpus: Encoded,
        learned: Longs,
        settings: ChainSettings,
        iteration: int,
        work: Mapper,
    ) -> Network:
        """The network after one more iteration over the sentences that are learned from."""
        moments = Moments(network.parameters.copy(), network.first.copy(), network.second.copy())
        gradient = np.zeros_like(moments.parameters)
        parts = self.parts(len(learned))
        number, part = divmod(iteration, parts)
        numbers = stream(settings.seed, settings.chain, number, Purpose.MINIBATCHES)
        steps, batches = network.steps, minibatches(learned, self.batch_size, numbers)
        first, last = part * len(batches) // parts, (part + 1) * len(batches) // parts
        for sentences in batches[first:last]:
            here = corpus.select(sentences)
            self.gradient(moments.parameters, here, settings, gradient, work)
            steps += 1
            ascend(moments, gradient, self.rate, steps)
        return network._replace(**moments._asdict(), steps=steps)

    def parts(self, sentences: int) -> int:
        """The number of iterations of one pass."""
        return 1 if sentences <= LARGE else -(-sentences // max(PART, self.batch_size))

    def gradient(
        self,
        parameters: Floats,
        sentences: Encoded,
        settings: ChainSettings,
        gradient: Floats,
        work: Mapper,
    ) -> Floats:
        """The gradient of the mean of log Σ_τ P(τ | G) over some sentences; if exact, less log Z.

        It is written to ``gradient``. Returns log Σ_τ P(τ | G) of each sentence.
        """
        shape = self.shape(settings, sentences.vocabulary)
        P, G = views(parameters, shape), views(gradient, shape)
        done = forward(P, shape.phrases)
        factors, (words, here) = factors_of(done), sentences.compact
        seen = factors._replace(emission=factors.emission[:, words])
        if not all(np.isfinite(array).all() for array in seen):
            raise GrammarError("the network has numbers that are too large")
        parser = FactorParser(seen, settings.depth, work.threads, settings.precision)
        parts, blocks, logs = work.parts(here, InFactorBlocks(parser.cell_bytes)), [], []
        for some, own in work.map(count_part, parts, seen, settings.depth, settings.precision):
            blocks += some
            logs.append(own)
        counts = parser.sum_of_blocks(blocks)
        if self.exact and settings.depth is not None:
            mass, uses = low_rank_normaliser(seen, settings.depth)
            share = len(sentences) / mass
            rules = Factors(*(E - Z * share for E, Z in zip(counts, uses, strict=True)))
            counts = rules._replace(emission=counts.emission)  # Z depends on none
        slopes = slopes_of(factors, counts, words, 1.0 / len(sentences))
        backward(P, done, slopes, shape.phrases, G)
        return in_corpus_order(here, parts, logs)

    def measures(
        self, grammar: LowRankGrammar, corpus: Encoded, settings: ChainSettings, work: Mapper
    ) -> Measures:
        """The measures of a grammar; ``posterior`` is what is maximised."""
        given = grammar.factors, settings.depth, settings.precision
        parser = FactorParser(given[0], given[1], work.threads, given[2])
        sample, held_out, shares = measured(corpus, settings.held_out)
        parts = work.parts(sample, InFactorBlocks(parser.cell_bytes))
        logs = in_corpus_order(sample, parts, work.map(log_part, parts, *given))
        log_mass = parser.log_fitting_mass
        check_parsable(grammar, sample, logs)
        found = measure(logs - log_mass, sample.lengths, held_out, None, self.beta)
        learned = np.delete(logs - log_mass if self.exact else logs, held_out)
        found = found._replace(posterior=float(learned.sum()))
        return found._replace(**{name: getattr(found, name) * x for name, x in shares.items()})

    def types(self, settings: ChainSettings) -> dict[str, Any]:
        """Those of the network, from which the grammar follows."""
        vectors = {f"network_{name}": _number_type(settings) for name in _VECTORS}
        return {**vectors, "network_steps": np.int64, "network_measures": np.float64}

    def arrays(self, state: State) -> dict[str, NDArray[Any]]:
        """The network after at least one pass."""
        assert isinstance(state, NetworkState)
        assert state.network is not None
        network = state.network
        return {
            **{f"network_{name}": getattr(network, name) for name in _VECTORS},
            "network_steps": np.array(network[4:7], dtype=np.int64),
            "network_measures": np.array(network.measures, dtype=np.float64),
        }

    def restored(
        self,
        arrays: Mapping[str, NDArray[Any]],
        corpus: Encoded,
        settings: ChainSettings,
        iteration: int,
        beta: float,
    ) -> State:
        """The state of `arrays`."""
        theta, first, second, answer = (arrays[f"network_{name}"] for name in _VECTORS)
        vectors = theta, first, second, answer
        steps, measures = arrays["network_steps"], arrays["network_measures"]
        size = self.shape(settings, corpus.vocabulary).size
        for name, vector in zip(_VECTORS, vectors, strict=True):
            if vector.shape != (size,) or not np.isfinite(vector).all():
                raise ArchiveError(f"network_{name} must be {size} numbers, none of them infinite")
        if (second < 0).any():
            raise ArchiveError("network_second has negative numbers")
        most = [iteration * len(corpus), iteration, iteration]
        if steps.shape != (3,) or (steps < 0).any() or (steps > most).any():
            raise ArchiveError(f"network_steps cannot be that after iteration {iteration}")
        if measures.shape != (len(Measures._fields),) or not plausible(
            measures[: 4 if settings.held_out else 3]
        ):
            raise ArchiveError("network_measures has impossible values")
        done, since, diverged = steps.tolist()
        found, start = Measures(*measures.tolist()), float(arrays["posterior"][0])
        network = Network(*vectors, done, since, diverged, found, start)
        for name in ("parameters", "answer"):
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    own = getattr(network, name)
                    grammar = self.grammar_of(own, settings, corpus.vocabulary)
            except GrammarError:
                raise ArchiveError(f"network_{name} has numbers that are too large") from None
        return NetworkState(iteration, grammar, beta, network=network)


def _is_little_speech(text: TextFigures) -> bool:
    return text.is_speech and text.tokens < LITTLE_SPEECH


def _word_categories(K: int) -> int:
    """How many of K categories are for words, if nothing is asked for."""
    return min(K - 1, round(2 * K / 3))


@dataclass(frozen=True)
class InFactorBlocks:
    """Parts of whole blocks of the chart in rank space, in their order.

    ``cell_bytes``: those of a cell of the chart.
    """

    cell_bytes: int

    def __call__(self, corpus: Encoded, most: int) -> list[CorpusPart]:
        """Divide a corpus."""
        edges = block_edges(corpus, self.cell_bytes)
        some = together(len(edges) - 1, most)
        return parts_of(corpus, [[(edges[own[0]], edges[own[-1] + 1])] for own in some])


def count_part(
    part: CorpusPart, factors: Factors, depth: int | None, precision: Precision, threads: int
) -> tuple[list[BlockCounts], Floats]:
    """The expected counts of the blocks of a part, and the logarithm of each sentence's sum."""
    return FactorParser(factors, depth, threads, precision).count_blocks(part.sentences)


def log_part(
    part: CorpusPart, factors: Factors, depth: int | None, precision: Precision, threads: int
) -> Floats:
    """The logarithm of the sum of each sentence of a part."""
    return FactorParser(factors, depth, threads, precision).log_inside(part.sentences)


def measured(corpus: Encoded, every: int) -> tuple[Encoded, Longs, dict[str, float]]:
    """The sentences that are measured, and which of them are held out: every n-th one of the text.

    Returns also what sums over them are multiplied by, to be those of the text, by their names.
    """
    held_out = held_out_sentences(len(corpus), every)
    if len(corpus) <= LARGE:
        return corpus, held_out, {}
    learned, lengths = np.delete(np.arange(len(corpus)), held_out), corpus.lengths
    kinds = {"likelihood": learned, "posterior": learned, "heldout": held_out}
    shares = {
        name: float(lengths[kind].sum() / lengths[evenly(kind)].sum())
        for name, kind in kinds.items()
        if len(kind)
    }
    sample = np.concatenate([evenly(learned), evenly(held_out)])
    return corpus.select(sample), np.arange(len(evenly(learned)), len(sample)), shares


def evenly(sentences: Longs) -> Longs:
    """``SAMPLE`` of some sentences, at equal distances; all, if they are no more."""
    most = min(SAMPLE, len(sentences))
    return sentences[np.arange(most) * len(sentences) // most]


def _number_type(settings: ChainSettings) -> type:
    return np.float32 if settings.precision == "single" else np.float64


def ascend(moments: Moments, gradient: Floats, rate: float, step: int) -> None:
    """One step up a gradient."""
    length = math.sqrt(float(gradient @ gradient))
    shortened = min(1.0, LONGEST / length) if length else 1.0
    size = rate / (1.0 - BETA1**step)
    spread = 1.0 / math.sqrt(1.0 - BETA2**step)
    factors = shortened, BETA1, 1.0 - BETA1, BETA2, 1.0 - BETA2, spread, EPSILON, size
    update(*moments, gradient, np.array(factors, gradient.dtype))


@loop_kernel
def update(theta: Floats, first: Floats, second: Floats, gradient: Floats, f: Floats) -> None:
    """The formulas above; the factors are of the arrays' type, so that all is computed in it."""
    f0, f1, f2, f3, f4, f5, f6, f7 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
    for x in range(len(theta)):
        g = gradient[x] * f0
        m = f1 * first[x] + f2 * g
        s = f3 * second[x] + f4 * (g * g)
        first[x], second[x] = m, s
        theta[x] += f7 * (m / (np.sqrt(s) * f5 + f6))
