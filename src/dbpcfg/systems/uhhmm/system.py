"""The Gibbs sampler, its trees, and the system.

**States** of whole sentences are drawn from their exact distribution. The state of a word is a row
``(f, j, a, b, g)``: its decisions, the deepest fragment before it (−1, −1 if there is none), and
its tag. These determine all stores (`model.count_events`). The last word has f = 0 and j = 1: it
completes the sentence.

**Trees** follow from f and j. A fragment is a chain of nodes that are open on the right; they all
end with the word that completes it. A node that begins a fragment has the active category, one in
the place of an awaited category has that category. Labels are ``a1``, ``b1`` and, for words,
``g1``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple, Self, get_args

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.machine import cores, one_blas_thread, parallel_ranges
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.philox import Purpose, Stream, stream, uniform_pair
from dbpcfg.parsing.derivations import END, START, Derivations, as_tree, first_node
from dbpcfg.parsing.mbr import SpanCounts
from dbpcfg.systems.registry import check_sentences, require_fit
from dbpcfg.systems.uhhmm.filtering import (
    A,
    B,
    F,
    G,
    J,
    depth_bound,
    draw_tag,
    first_stores,
    forward,
    last_store,
    store_before,
    tag_between,
)
from dbpcfg.systems.uhhmm.model import (
    Prior,
    Size,
    Steps,
    SubModels,
    contract,
    count_events,
    draw_beta,
    draw_models,
    uniform,
    without_choice,
)
from dbpcfg.trees.tree import Tree


def draw_states(
    corpus: Encoded, steps: Steps, numbers: Stream, threads: int = 1
) -> tuple[Ints, Floats]:
    """Draw the states ``[token, 5]`` of all sentences; return also their log-probabilities.

    Equal sentences share a forward pass.

    ``threads``: the number of threads; the result does not depend on it.
    """
    states = np.full((len(corpus.tokens), 5), -1, dtype=np.int32)
    logs = np.empty(len(corpus))

    def work(first: int, last: int) -> None:
        draw_sentences(first, last, corpus.sentences, corpus.distinct, steps, numbers, states, logs)

    parallel_ranges(work, len(corpus.distinct[0]), threads)
    return states, logs


@kernel
def draw_sentences(
    first_kind: int,
    last_kind: int,
    sentences: Sentences,
    distinct: tuple[Longs, Longs, Longs],
    steps: Steps,
    numbers: Stream,
    states: Ints,
    logs: Floats,
) -> None:
    """Filter some of the distinct sentences, and draw states for all their copies."""
    tokens, starts = sentences
    kinds, first_copy, copies = distinct
    D = steps.fill.shape[0]
    first = first_stores(steps.first.shape[1], D)
    longest = 1
    for kind in range(first_kind, last_kind):
        longest = max(longest, starts[kinds[kind] + 1] - starts[kinds[kind]])
    messages = np.empty((longest, first[D]))
    for kind in range(first_kind, last_kind):
        words = tokens[starts[kinds[kind]] : starts[kinds[kind] + 1]]
        log_probability = forward(words, steps, first, messages)
        for copy in range(first_copy[kind], first_copy[kind + 1]):
            s = copies[copy]
            logs[s] = log_probability
            backward(words, steps, first, messages, numbers, s, states[starts[s] : starts[s + 1]])


@also_in_kernels
def backward(
    words: Ints,
    steps: Steps,
    first: Longs,
    messages: Floats,
    numbers: Stream,
    item: int,
    states: Ints,
) -> None:
    """Draw states from the last word to the first, given the messages of `forward`."""
    n = len(words)
    D, _, up_to = steps.fill.shape
    weights = np.empty(1 + up_to + (1 + up_to) * steps.first.shape[1] + steps.fill.shape[1])
    u, v = uniform_pair(numbers, item, n - 1)
    emit = steps.emit[words[n - 1]]
    states[n - 1, F], states[n - 1, J] = 0, 1
    if n == 1:
        states[0, G] = draw_tag(emit, steps.alone, weights, v)
        return
    store, d = last_store(emit, steps, messages[n - 1], weights, u), 0
    b = store % up_to
    states[n - 1, A], states[n - 1, B] = store // up_to, b
    states[n - 1, G] = draw_tag(emit, steps.last[:, b], weights, v)
    for t in range(n - 2, 0, -1):
        u, v = uniform_pair(numbers, item, t)
        emit = steps.emit[words[t]]
        deepest = depth_bound(t, n, D)
        store, d = store_before(
            emit, steps, first, deepest, messages[t], weights, u, store, d, states[t]
        )
        tag_between(emit, steps, weights, v, store, d, states[t], states[t + 1])
    _, v = uniform_pair(numbers, item, 0)
    states[0, F], states[0, J] = 1, 0
    states[0, G] = draw_tag(steps.emit[words[0]], steps.first[:, store], weights, v)


def label_names(size: Size) -> list[str]:
    """The labels of nodes: of active categories, awaited categories and tags."""
    kinds = zip("abg", (size.A, size.B, size.G))
    return [f"{kind}{n}" for kind, number in kinds for n in range(1, number + 1)]


def derivations(corpus: Encoded, states: Ints, size: Size) -> Derivations:
    """The trees of all sentences.

    ``states``: ``[token, 5]``, from `draw_states`.
    """
    trees = Derivations.empty(corpus)
    close_nodes(corpus.starts, states, size.A, size.B, trees.nodes)
    sentence = np.repeat(np.arange(len(corpus)), 2 * corpus.lengths - 1)
    order = np.lexsort((-trees.nodes[:, END], trees.nodes[:, START], sentence))
    return Derivations(trees.nodes[order], corpus)


@kernel
def close_nodes(starts: Longs, states: Ints, active: int, awaited: int, nodes: Ints) -> None:
    """Write the nodes of all trees; those of a sentence are in any order."""
    deepest = 1
    for s in range(len(starts) - 1):
        deepest = max(deepest, starts[s + 1] - starts[s])
    newest = np.empty(deepest + 1, dtype=np.int64)  # the newest open node of each fragment
    begins = np.empty(deepest + 1, dtype=np.int64)  # where each fragment begins
    category = np.empty(deepest + 1, dtype=np.int64)  # what each fragment awaits
    older = np.empty(len(nodes), dtype=np.int64)  # the open node before in the same fragment
    for s in range(len(starts) - 1):
        depth, node, n = 0, first_node(starts, s), starts[s + 1] - starts[s]
        for t in range(n):
            f, j, _, _, g = states[starts[s] + t]
            nodes[node] = t, t + 1, active + awaited + g
            node += 1
            begin = t
            if f == 0 and depth > 0:
                begin = begins[depth]
                closing = newest[depth]
                while closing >= 0:
                    nodes[closing, 1] = t + 1
                    closing = older[closing]
                depth -= 1
            if t + 1 == n:
                break
            new_a, new_b = states[starts[s] + t + 1, 2], states[starts[s] + t + 1, 3]
            if j == 1:
                label, older[node] = active + category[depth], newest[depth]
            else:
                depth += 1
                label, older[node], begins[depth] = new_a, -1, begin
            nodes[node] = begin, -1, label
            newest[depth], category[depth] = node, new_b
            node += 1


@dataclass(frozen=True)
class StateSample:
    """A sample of all unknowns."""

    iteration: int
    models: SubModels
    beta: Floats
    """β of tags."""
    states: Ints
    """``[token, 5]``, as in `backward`."""
    log_likelihood: float
    """The log-likelihood of the sentences given ``models``, with states summed out."""


@dataclass(frozen=True)
class StateSampler:
    """A Gibbs sampler for a corpus."""

    corpus: Encoded
    size: Size
    prior: Prior
    seed: int
    threads: int = 1
    """The result does not depend on it."""

    def first(self) -> StateSample:
        """Random states, drawn with uniform distributions."""
        models = uniform(self.size)
        models = models if self.prior.faithful else without_choice(models)
        outcomes = self.prior.outcomes(self.size.G)
        beta = np.full(outcomes, 1.0 / outcomes)
        no_states = np.empty((0, 5), dtype=np.int32)
        return self._with_states(StateSample(0, models, beta, no_states, 0.0))

    def step(self, last: StateSample) -> StateSample:
        """Draw β, then the distributions, then all states."""
        iteration = last.iteration + 1
        counts = count_events(self.corpus, last.states, self.size)
        numbers = stream(self.seed, 0, iteration, Purpose.UHHMM_TABLES)
        beta = draw_beta(counts.pos, last.beta, self.prior, numbers)
        numbers = stream(self.seed, 0, iteration, Purpose.UHHMM_MODELS)
        models = draw_models(counts, beta, self.prior, numbers)
        return self._with_states(replace(last, iteration=iteration, models=models, beta=beta))

    def _with_states(self, sample: StateSample) -> StateSample:
        numbers = stream(self.seed, 0, sample.iteration, Purpose.UHHMM_STATES)
        steps = contract(sample.models, self.prior.faithful)
        states, logs = draw_states(self.corpus, steps, numbers, self.threads)
        return replace(sample, states=states, log_likelihood=float(logs.sum()))

    def sample(self) -> Iterator[StateSample]:
        """Yield samples, from iteration 1 on."""
        sample = self.first()
        while True:
            sample = self.step(sample)
            yield sample


TreeChoice = Literal["last", "mbr"]

BURN_IN, EVERY = 50, 5
"""As in the released recipe: 50 iterations, then a sample every 5."""
ITERATIONS = 1000
"""The recipe gives no number. The likelihood of the synthetic corpus rises for nearly as long."""
MAX_STORES = 10**6
"""The most stores of the greatest depth; messages have a number for each."""


class Fitted(NamedTuple):
    """The result of `UHHMM.fit`."""

    sample: StateSample
    """The last sample."""
    trees: Derivations
    log_likelihoods: list[float]
    """Log-likelihoods after each iteration."""


class UHHMM:
    """Unsupervised hierarchical hidden Markov model (Shain et al. 2016), finite sampler.

    Words are not lower-cased. Trees are binary, over all words, punctuation included. See the
    package for the model and for what is exact.

    ``trees``: ``"last"`` for those of the last sample, as in the original, or ``"mbr"`` for MBR
    trees over every fifth sample after 50 iterations.
    ``faithful``: whether to follow the original where it differs from the model.
    ``threads``: processors to use, all if not given; trees do not depend on their number.
    """

    name = "uhhmm"
    summary = "hierarchical hidden Markov model, left-corner parser, Gibbs sampling"
    reference = "Shain, Bryce, Jin, Krakovna, Doshi-Velez, Miller, Schuler and Schwartz (2016)"

    def __init__(
        self,
        A: int = 4,
        B: int = 4,
        G: int = 8,
        D: int = 2,
        iterations: int = ITERATIONS,
        *,
        trees: TreeChoice = "last",
        faithful: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        numbers = {"A": A, "B": B, "G": G, "D": D, "iterations": iterations}
        for name, value in numbers.items():
            if value < 1:
                raise DbpcfgError(f"{name} must be at least 1, not {value!r}")
        if (A * B) ** D > MAX_STORES:
            raise DbpcfgError(
                f"A = {A}, B = {B}, D = {D} has {(A * B) ** D:,} stores; "
                f"at most {MAX_STORES:,} are possible, so make one of them smaller"
            )
        if trees not in get_args(TreeChoice):
            raise DbpcfgError(
                f"no trees {trees!r}; choose one of {', '.join(get_args(TreeChoice))}"
            )
        self._size = A, B, G, D
        self._iterations, self._choice = iterations, trees
        self._prior, self._seed = Prior(faithful=bool(faithful)), seed
        self._threads = cores() if threads is None else threads
        self._fitted: Fitted | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Sample."""
        if not sentences:
            raise DbpcfgError("there are no sentences to learn from; give one at least")
        check_sentences(sentences)
        corpus = Encoded.from_sentences(sentences)
        size = Size(*self._size, len(corpus.vocabulary))
        spans = SpanCounts(corpus, len(label_names(size)))
        if progress is not None:
            progress.total = self._iterations
        trace = []
        sampler = StateSampler(corpus, size, self._prior, self._seed, self._threads)
        with one_blas_thread():  # once, as changing the number of threads takes time
            for sample in islice(sampler.sample(), self._iterations):
                trace.append(sample.log_likelihood)
                if self._choice == "mbr" and self._is_kept(sample.iteration):
                    spans.add(derivations(corpus, sample.states, size))
                if progress is not None:
                    progress.update(sample.iteration)
        if self._choice == "mbr" and spans.kept:
            trees = spans.decode(self._threads)
        else:
            trees = derivations(corpus, sample.states, size)
        self._fitted = Fitted(sample, trees, trace)
        return self

    def _is_kept(self, iteration: int) -> bool:
        """Whether MBR trees count this sample; the last one is always counted."""
        past_burn_in = iteration - BURN_IN
        return iteration == self._iterations or (past_burn_in > 0 and past_burn_in % EVERY == 0)

    @property
    def fitted(self) -> Fitted:
        """The last sample, the trees, and the log-likelihood after each iteration."""
        return require_fit(self.name, self._fitted)

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        trees, corpus = self.fitted.trees, self.fitted.trees.corpus
        names = label_names(Size(*self._size, len(corpus.vocabulary)))
        return [as_tree(trees[s], corpus[s], names) for s in range(len(corpus))]
