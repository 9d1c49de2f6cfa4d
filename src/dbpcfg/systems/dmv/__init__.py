"""DMV: the dependency model with valence, trained by EM on tags.

Dan Klein and Christopher D. Manning: *Corpus-based induction of syntactic structure: models of
dependency and constituency*, Proceedings of ACL 2004.

A sentence of tags is generated from its root outwards.  The root has tag t with probability
root(t).  A head with tag h generates dependents on its left and, independently, on its right: at
each step it stops or continues, which depends on h, the direction d, and on the valence v, 0 if it
has no dependent on that side yet and 1 if it has; if it continues, the dependent has tag c with
probability child(c|h,d), and generates its own dependents in the same way.  All trees are
projective.

1. **Parameters** (`charts.Parameters`).  The three tables, their estimates from counts, and the
   smoothing of child(c|h,d) towards the tags of dependents of any head.
2. **Initialisation** (`initial_parameters`).  Dependents prefer near heads, on both sides alike;
   then EM finds what is regular.  Uniform parameters would be a saddle of the likelihood.
3. **Inside and outside** (`charts`).  The two sides of a head are independent, so each is an item
   of its own, with two positions, and all expected counts of a sentence take O(n³).
4. **Decoding** (`charts.best_heads`).  The most probable tree, by the same recurrences with a
   maximum.
5. **Training** (`DMV`).  EM; sentences with the same tags share one chart (`tag_sequences`).

As in the implementation that Jin et al. (2018) compare with (pr-toolkit), there are 20 iterations
of EM, and the smoothing is that of its option for child backoff as it works, not as it is
described; `DMV(backoff=0)` is plain EM.

The parameters that EM starts from are Klein and Manning's in Noah Smith's version.  In a sentence
of n words every word is the root with 1/n, and the head of word c is word p with a probability
proportional to 1/|c − p|, altogether (n − 1)/n.  So a word p expects some number of dependents on
each side that has words.  How many of them are the first one is not known; the counts of decisions
therefore have a free parameter E, the expected number of such sides with a dependent::

    count(stop, 0) = 1 − E    count(continue, 0) = E
    count(stop, 1) = E        count(continue, 1) = dependents − E

It is one number for all tags: 0.9 of the greatest that leaves every count above 0, and at most 0.9.

BMMM+DMV: word classes and dependencies, each learned from the other, generation by generation.

Christos Christodoulopoulos, Sharon Goldwater and Mark Steedman: *Turning the pipeline into a loop:
iterated unsupervised dependency parsing and PoS induction*, NAACL-HLT Workshop on the Induction of
Linguistic Structure, 2012.

1. BMMM finds word classes from the neighbours of words (`dbpcfg.systems.bmmm`).
2. DMV finds heads from the classes (`dbpcfg.systems.dmv`).
3. BMMM starts again, with the classes of heads and dependents as features beside the neighbours,
   and DMV after it, from its own start; and so on.

Nothing but heads and classes passes from one generation to the next, and the last one is the
result: there is no selection by likelihood. Each head with dependents is one flat constituent,
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
"""The columns of CoNLL-U that can be tags. In other formats, parts of speech are ``"upos"``."""


def tags_of(sentences: Iterable[Sentence], column: Column = "upos") -> list[tuple[str, ...]]:
    """The tags of sentences.

    ``column``: ``"upos"``, ``"xpos"``, or ``"form"`` for the words themselves, in lower case.
    """
    tags = []
    for sentence in sentences:
        if column == "form":
            found: tuple[str, ...] | None = tuple(word.lower() for word in sentence.words)
        else:
            found = sentence.tags if column == "upos" else sentence.xpos
        if found is None:
            raise DbpcfgError(
                f"{sentence.location}: the sentence has no tags in column {column.upper()}; choose "
                "another column, such as FORM, the words themselves"
            )
        tags.append(found)
    return tags


MAX_TAGS = 5000
"""The table of dependents has two numbers for each pair of tags: 400 MB, and as much for counts."""

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
    """The different sequences of tags of a corpus, which share one chart each."""

    tags: Longs
    """One sequence after the other."""
    ends: Longs
    """Where each sequence ends."""
    weights: Floats
    """How often each occurs."""
    sequence_of: list[int]
    """For each sentence the number of its sequence."""
    number: int
    """The number of different tags; they are numbered below it."""

    def split(self, values: Longs) -> list[Longs]:
        """Cut an array over ``tags`` into one part for each sequence."""
        return np.split(values, self.ends[:-1])


def tag_sequences(sentences: Sequence[Sequence[int] | Longs]) -> TagSequences:
    """Collect the sequences of a corpus."""
    if not len(sentences):
        raise DbpcfgError("there are no sentences to learn dependencies from")
    found: dict[bytes, int] = {}
    different: list[Longs] = []
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
        place = found.setdefault(tags.tobytes(), len(different))
        if place == len(different):
            different.append(tags)
        sequence_of.append(place)
    names, numbers = np.unique(np.concatenate(different), return_inverse=True)
    if len(names) > MAX_TAGS:
        raise DbpcfgError(
            f"found {len(names):,} different tags; DMV takes at most {MAX_TAGS:,}, because its "
            "tables grow with their square: use parts of speech, or classes of rare words"
        )
    return TagSequences(
        numbers.astype(np.int64).reshape(-1),
        np.cumsum([len(tags) for tags in different]),
        np.bincount(sequence_of).astype(np.float64),
        sequence_of,
        len(names),
    )


SMOOTHING = 0.1
"""Added to every count."""
SHARE = 0.9
"""Of the greatest possible E."""


def initial_parameters(
    sentences: Sequence[Longs], weights: Sequence[float], tags: int
) -> Parameters:
    """Count near heads."""
    counts = no_counts(tags)
    free = np.zeros_like(counts.decision)  # what E is multiplied by
    for sentence, weight in zip(sentences, weights, strict=True):
        n = len(sentence)
        np.add.at(counts.root, sentence, weight / n)
        heads = _head_probabilities(n) * weight
        for d, of_side in ((LEFT, np.triu(heads, 1)), (RIGHT, np.tril(heads, -1))):
            np.add.at(counts.child[:, d], (sentence[None, :], sentence[:, None]), of_side)
            expected = of_side.sum(axis=0)
            np.add.at(counts.decision[:, d, 0, STOP], sentence, weight)
            np.add.at(counts.decision[:, d, 1, CONTINUE], sentence, expected)
            having = sentence[expected > 0]
            for v, sign in ((0, weight), (1, -weight)):
                np.add.at(free[:, d, v, CONTINUE], having, sign)
                np.add.at(free[:, d, v, STOP], having, -sign)
    for table in counts:
        table += SMOOTHING
    falling = free < 0
    greatest = (-counts.decision[falling] / free[falling]).min(initial=1.0)
    counts.decision[...] += SHARE * greatest * free
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

    ``backoff``: b of the smoothing of dependents (see `charts.estimate`), which adds b / (1 −
    b) pseudo-counts. With 0 this is plain EM, whose likelihood never falls.
    """

    def __init__(self, iterations: int = 20, backoff: float = 0.66) -> None:
        if iterations < 0:
            raise DbpcfgError(f"iterations must be 0 or more, not {iterations!r}")
        if not 0 <= backoff < 1:
            raise DbpcfgError(f"backoff must be at least 0 and below 1, not {backoff!r}")
        self.iterations, self.backoff = iterations, backoff
        self.log_likelihoods: list[float] = []
        """Of all sentences, before each iteration."""
        self._parameters: Parameters | None = None
        self._heads: list[Longs] | None = None

    def fit(self, tags: Sequence[Sequence[int] | Longs], progress: Progress | None = None) -> Self:
        """Learn from tags, then find the heads of the same sentences.

        ``tags``: the tags of each sentence, integers; `number_tags` makes them from any other tags.
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

    Words are taken as they are: lower-case them first. Punctuation is treated like words.

    ``faithful``: whether BMMM samples as the published program does (see
    `dbpcfg.systems.bmmm`).
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

        ``progress``: updated with the number of iterations of BMMM and DMV, over all generations.
        """
        dependencies: Dependencies | None = None
        each = self._tagger.iterations + self._parser.iterations
        shown = progress or Progress(self.name, quiet=True)
        shown.total = self.generations * each
        for generation in range(self.generations):
            done = generation * each
            tags = self._tagger.fit(sentences, shown.after(done), dependencies, generation).tags()
            parsing = shown.after(done + self._tagger.iterations)
            heads = self._parser.fit(tags, parsing).heads()
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
