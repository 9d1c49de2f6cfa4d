"""DMV: the dependency model with valence, trained by EM on tags.

Dan Klein and Christopher D. Manning: *Corpus-based induction of syntactic structure: models of
dependency and constituency*, Proceedings of ACL 2004.

A sentence of tags is generated from its root outwards.  The root has tag t with probability
root(t).  A head with tag h generates dependents on its left and, independently, on its right: at
each step it stops or continues, with a probability that depends on h, the direction d, and the
valence v, which is 0 if it has no dependent on that side yet and 1 otherwise; if it continues, the
dependent has tag c with probability child(c|h,d), and generates its own dependents in the same way.
All trees are projective.

1. **Parameters** (`charts.Parameters`).  The three tables, their estimates from counts, and the
   smoothing of child(c|h,d) towards the tags of dependents of any head.
2. **Initialisation** (`initial_parameters`).  Dependents prefer near heads on either side; EM does
   the rest.  Uniform parameters would be a saddle point of the likelihood.
3. **Inside and outside** (`charts`).  The two sides of a head are independent, so each is an item
   with two positions, and the expected counts of a sentence take O(n³).
4. **Decoding** (`charts.best_heads`).  The most probable tree, by the same recurrences with a
   maximum.
5. **Training** (`DMV`).  EM; sentences with the same tags share one chart (`tag_sequences`).

As in the implementation that Jin et al. (2018) compare with (pr-toolkit), there are 20 iterations
of EM, and smoothing is that of its option for child backoff as implemented, not as described;
`DMV(backoff=0)` is plain EM.

EM starts from the parameters of Klein and Manning in Noah Smith's version.  In a sentence of n
words, every word is the root with probability 1/n, and the head of word c is word p with a
probability proportional to 1/|c − p|, which sums to (n − 1)/n.  So a word p has an expected number
of dependents on each side that has words.  How many of them are first dependents is not known;
therefore the counts of decisions have a free parameter E, the expected number of such sides with a
dependent::

    count(stop, 0) = 1 − E    count(continue, 0) = E
    count(stop, 1) = E        count(continue, 1) = dependents − E

E is the same for all tags: 0.9 times the greatest value that keeps every count above 0, and at most
0.9.

BMMM+DMV: word classes and dependencies, each learned from the other, generation by generation.

Christos Christodoulopoulos, Sharon Goldwater and Mark Steedman: *Turning the pipeline into a loop:
iterated unsupervised dependency parsing and PoS induction*, NAACL-HLT Workshop on the Induction of
Linguistic Structure, 2012.

1. BMMM finds word classes from the neighbours of words (`dbpcfg.systems.bmmm`).
2. DMV finds heads from the classes (`dbpcfg.systems.dmv`).
3. BMMM starts again, with the classes of heads and dependents as additional features, then DMV; and
   so on.

Only heads and classes are passed from one generation to the next, and the result is that of the
last one: there is no selection by likelihood. Each head with dependents is one flat constituent,
labelled with its class (`dbpcfg.trees.dependencies`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.systems.bmmm import BMMM, Dependencies
from dbpcfg.systems.dmv.charts import (
    CONTINUE,
    LEFT,
    RIGHT,
    STOP,
    Parameters,
    best_heads,
    estimate,
    expected_counts,
    for_decoding,
    no_counts,
    normalise,
)
from dbpcfg.systems.registry import require_fit
from dbpcfg.trees.dependencies import tree_from_heads
from dbpcfg.trees.tree import Tree

Column: TypeAlias = Literal["upos", "xpos", "form"]
"""The columns of CoNLL-U that can serve as tags; ``"upos"`` for tags in other formats."""


def tags_of(sentences: Iterable[Sentence], column: Column = "upos") -> list[tuple[str, ...]]:
    """The tags of sentences.

    ``column``: ``"upos"``, ``"xpos"``, or ``"form"`` for the words themselves, in lower case.
    """
    tags = []
    for sentence in sentences:
        if column == "form":
            sentence_tags: tuple[str, ...] | None = tuple(word.lower() for word in sentence.words)
        else:
            sentence_tags = sentence.tags if column == "upos" else sentence.xpos
        if sentence_tags is None:
            raise DbpcfgError(
                f"{sentence.location}: the sentence has no tags in column {column.upper()}; choose "
                "another column, such as FORM, the words themselves"
            )
        tags.append(sentence_tags)
    return tags


MAX_TAGS = 5000
"""The table of dependents has two numbers for each pair of tags: 400 MB, twice with counts."""

Tag = TypeVar("Tag", bound=Hashable)


def number_tags(sentences: Sequence[Sequence[Tag]]) -> tuple[list[Longs], list[Tag]]:
    """Number tags from 0, in the order in which they first occur."""
    numbers: dict[Tag, int] = {}
    numbered = [
        np.array([numbers.setdefault(tag, len(numbers)) for tag in sentence], dtype=np.int64)
        for sentence in sentences
    ]
    return numbered, list(numbers)


class TagSequences(NamedTuple):
    """The distinct sequences of tags of a corpus; equal ones share a chart."""

    tags: Longs
    """One sequence after the other."""
    ends: Longs
    """The end of each sequence."""
    weights: Floats
    """The frequency of each sequence."""
    sequence_of: list[int]
    """The number of each sentence's sequence."""
    number: int
    """The number of distinct tags."""

    def split(self, values: Longs) -> list[Longs]:
        """Split an array over ``tags`` into the parts of the sequences."""
        return np.split(values, self.ends[:-1])


def tag_sequences(sentences: Sequence[Sequence[int] | Longs]) -> TagSequences:
    """Collect the distinct sequences of a corpus."""
    if not len(sentences):
        raise DbpcfgError("there are no sentences to learn dependencies from")
    number_of: dict[bytes, int] = {}
    distinct: list[Longs] = []
    sequence_of: list[int] = []
    for number, sentence in enumerate(sentences, start=1):
        tags = np.asarray(sentence)
        if tags.ndim != 1 or not len(tags):
            raise DbpcfgError(f"sentence {number} has no tags; leave empty sentences out")
        if tags.dtype.kind not in "iu":
            raise DbpcfgError(
                f"sentence {number} has tags that are not integers, such as {sentence[0]!r}; "
                "number them first, with number_tags"
            )
        tags = tags.astype(np.int64)
        index = number_of.setdefault(tags.tobytes(), len(distinct))
        if index == len(distinct):
            distinct.append(tags)
        sequence_of.append(index)
    names, numbers = np.unique(np.concatenate(distinct), return_inverse=True)
    if len(names) > MAX_TAGS:
        raise DbpcfgError(
            f"found {len(names):,} different tags; DMV takes at most {MAX_TAGS:,}, because its "
            "tables grow with their square: use parts of speech, or classes of rare words"
        )
    return TagSequences(
        numbers.astype(np.int64).reshape(-1),
        np.cumsum([len(tags) for tags in distinct]),
        np.bincount(sequence_of).astype(np.float64),
        sequence_of,
        len(names),
    )


SMOOTHING = 0.1
"""Added to every count."""
SHARE = 0.9
"""E as a share of its greatest possible value."""


def initial_parameters(
    sentences: Sequence[Longs], weights: Sequence[float], tags: int
) -> Parameters:
    """The parameters that EM starts from, by which near heads are preferred."""
    counts = no_counts(tags)
    slope = np.zeros_like(counts.decision)  # what E is multiplied by
    for sentence, weight in zip(sentences, weights, strict=True):
        n = len(sentence)
        np.add.at(counts.root, sentence, weight / n)
        heads = _head_probabilities(n) * weight
        for d, side_heads in ((LEFT, np.triu(heads, 1)), (RIGHT, np.tril(heads, -1))):
            np.add.at(counts.child[:, d], (sentence[None, :], sentence[:, None]), side_heads)
            expected = side_heads.sum(axis=0)
            np.add.at(counts.decision[:, d, 0, STOP], sentence, weight)
            np.add.at(counts.decision[:, d, 1, CONTINUE], sentence, expected)
            with_dependents = sentence[expected > 0]
            for v, sign in ((0, weight), (1, -weight)):
                np.add.at(slope[:, d, v, CONTINUE], with_dependents, sign)
                np.add.at(slope[:, d, v, STOP], with_dependents, -sign)
    for table in counts:
        table += SMOOTHING
    decreasing = slope < 0
    max_free = (-counts.decision[decreasing] / slope[decreasing]).min(initial=1.0)
    counts.decision[...] += SHARE * max_free * slope
    return Parameters(*map(normalise, counts))


def _head_probabilities(n: int) -> Floats:
    """``[c, p]``: the probability that the head of word c is word p."""
    positions = np.arange(n)
    distances = np.abs(positions[:, None] - positions[None, :])
    weights = np.zeros((n, n))
    np.divide(1.0, distances, out=weights, where=distances > 0)
    if n == 1:
        return weights
    probabilities: Floats = weights / weights.sum(axis=1, keepdims=True) * ((n - 1) / n)
    return probabilities


class DMV:
    """The dependency model with valence (Klein and Manning 2004), trained by EM.

    Nothing is random.

    ``backoff``: the b of `charts.estimate`, which adds b / (1 − b) pseudo-counts. With 0 this is
    plain EM, whose likelihood never falls.
    """

    def __init__(self, iterations: int = 20, backoff: float = 0.66) -> None:
        if iterations < 0:
            raise DbpcfgError(f"iterations must be 0 or more, not {iterations!r}")
        if not 0 <= backoff < 1:
            raise DbpcfgError(f"backoff must be at least 0 and below 1, not {backoff!r}")
        self.iterations, self.backoff = iterations, backoff
        self.log_likelihoods: list[float] = []
        """Log-likelihoods of all sentences before each iteration."""
        self._parameters: Parameters | None = None
        self._heads: list[Longs] | None = None

    def fit(self, tags: Sequence[Sequence[int] | Longs], progress: Progress | None = None) -> Self:
        """Learn from tags, then find the heads of the same sentences.

        ``tags``: the tags of each sentence as integers, which `number_tags` makes.
        """
        corpus = tag_sequences(tags)
        parameters = initial_parameters(
            corpus.split(corpus.tags), corpus.weights.tolist(), corpus.number
        )
        self.log_likelihoods = []
        for iteration in range(self.iterations):
            counts = no_counts(corpus.number)
            self.log_likelihoods.append(
                expected_counts(corpus.tags, corpus.ends, corpus.weights, parameters, counts)
            )
            parameters = estimate(counts, self.backoff)
            if progress is not None:
                progress.update(iteration + 1)
        self._parameters = parameters
        heads = corpus.split(best_heads(corpus.tags, corpus.ends, for_decoding(parameters)))
        self._heads = [heads[number] for number in corpus.sequence_of]
        return self

    @property
    def parameters(self) -> Parameters:
        """The parameters after the last iteration; tags are in the order of their numbers."""
        return require_fit("dmv", self._parameters)

    def heads(self) -> list[Longs]:
        """For each sentence the position of every word's head, from 0; −1 for the root."""
        return [heads.copy() for heads in require_fit("dmv", self._heads)]


class BmmmDmv:
    """Word classes by BMMM and heads by DMV, in a loop (Christodoulopoulos et al. 2012).

    Words are not lower-cased. Punctuation is treated like words.

    ``faithful``: whether BMMM follows the published program (see `dbpcfg.systems.bmmm`).
    """

    name = "bmmm-dmv"
    summary = "word classes and dependencies, learned in a loop"
    reference = "Christodoulopoulos, Goldwater and Steedman (2012)"

    def __init__(
        self,
        classes: int = 45,
        generations: int = 10,
        iterations: int = 500,
        em: int = 20,
        backoff: float = 0.66,
        faithful: bool = False,
        seed: int = 0,
    ) -> None:
        if generations < 1:
            raise DbpcfgError(f"generations must be at least 1, not {generations!r}")
        self.generations = generations
        self._tagger = BMMM(classes, iterations, seed, faithful)
        self._parser = DMV(em, backoff)
        self._fitted: tuple[Sequence[Sequence[str]], list[Longs], list[Longs]] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``progress``: updated with the number of iterations of BMMM and DMV in all generations.
        """
        dependencies: Dependencies | None = None
        iterations_per_generation = self._tagger.iterations + self._parser.iterations
        overall = progress or Progress(self.name, quiet=True)
        overall.total = self.generations * iterations_per_generation
        for generation in range(self.generations):
            iterations_done = generation * iterations_per_generation
            tags = self._tagger.fit(
                sentences, overall.after(iterations_done), dependencies, generation
            ).tags()
            parser_progress = overall.after(iterations_done + self._tagger.iterations)
            heads = self._parser.fit(tags, parser_progress).heads()
            dependencies = Dependencies(heads, tags)
            self._fitted = sentences, heads, tags
        return self

    def heads(self) -> list[Longs]:
        """For each sentence the position of every word's head, from 0; −1 for the root."""
        return require_fit(self.name, self._fitted)[1]

    def tags(self) -> list[Longs]:
        """For each sentence the class of every word."""
        return require_fit(self.name, self._fitted)[2]

    def trees(self) -> list[Tree]:
        """The constituents of every sentence, in order, labelled with the class of the head."""
        return [
            tree_from_heads(words, list(heads), [str(tag) for tag in tags])
            for words, heads, tags in zip(*require_fit(self.name, self._fitted), strict=True)
        ]
