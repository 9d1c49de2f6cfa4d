"""UPPARSE: a cascade of chunkers, each a finite-state model trained by EM on raw words.

Elias Ponvert, Jason Baldridge and Katrin Erk: *Simple unsupervised grammar induction from raw text
with cascaded finite state models*, Proceedings of ACL 2011.

Phrases at the bottom of a tree are short, do not cross commas, and look alike; so a model that can
only cut a sentence into chunks can find them.  Each chunk is then replaced by a pseudo-word, and a
new model of the same kind finds the phrases above.

1. **Segments** (`segments`).  Stopping punctuation, ``. ? ! ; , --``, is replaced by a boundary
   that no phrase crosses.  All sentences become one sequence of symbols,
   ``EOS segment STOP segment … EOS segment … EOS``.
2. **Tags** (`models`).  Every word begins a chunk (B), continues one (I) or is outside (O);
   boundaries have a separate tag.  A chunk has at least two words: B is always followed by I.
3. **Model** (`models`).  A tag emits its word and is followed by the next tag, with probability
   P(k|j) · P(w|j) in the *HMM*, and P(k|j) · P(w|j,k) in the *PRLG*, a probabilistic
   right-linear grammar, whose words depend on the next tag too.  Words are smoothed, tags are not.
4. **Training** (`models.Trainer`).  EM from the uniform model, until the perplexity hardly falls.
   Nothing is random.
5. **Decoding** (`models.best_tags`).  The most probable tags; each B with the following I's is a
   chunk.
6. **Cascade** (`find_chunks`).  A chunk becomes the pseudo-word ``=t``, where t is the symbol in it
   that is most frequent in the text of this level: usually a function word, which represents the
   phrase well.  A chunk of the next level may become ``==t``.  The cascade ends when a level finds
   no chunk, or when there is nothing left to chunk.
7. **Trees** (`build_trees`).  Every chunk of every level is a bracket, and so is the whole
   sentence.  Segments are not: their chunks hang from the root, side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, Self, get_args

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.systems.registry import check_sentences, require_fit, tree_from_spans
from dbpcfg.systems.upparse.models import (
    BOUNDARIES,
    EOS,
    SEGMENT_END,
    ChunkModel,
    I,
    Trainer,
    best_tags,
)
from dbpcfg.trees.tree import Tree

STOPS = frozenset((".", "?", "!", ";", ",", "--", "。", "，", "、"))
"""Stopping punctuation, that of Chinese and Japanese included."""


def segments(sentence: Iterable[str], stops: frozenset[str] = STOPS) -> list[list[str]]:
    """Cut a sentence at its stopping punctuation, which is removed.

    At the start of a sentence, or after another stop, a stop is kept as a word.
    """
    pieces: list[list[str]] = [[]]
    for word in sentence:
        if word in stops and pieces[-1]:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return pieces if pieces[-1] else pieces[:-1]


@dataclass(frozen=True)
class SegmentedText:
    """The words of each sentence without stops, and the symbols of all sentences.

    Symbols are EOS, STOP and, numbered in order of appearance, the words of the ``vocabulary``.
    """

    sentences: list[list[str]]
    symbols: Longs
    vocabulary: dict[str, int]


def segment_text(
    sentences: Sequence[Sequence[str]], stops: frozenset[str] = STOPS
) -> SegmentedText:
    """Cut sentences into segments and number their words."""
    if not sentences:
        raise DbpcfgError("there are no sentences to learn from; give one at least")
    check_sentences(sentences)
    kept_words: list[list[str]] = []
    symbols = [EOS]
    vocabulary: dict[str, int] = {}
    for sentence in sentences:
        pieces = segments(sentence, stops)
        for segment in pieces:
            for word in segment:
                symbols.append(vocabulary.setdefault(word, BOUNDARIES + len(vocabulary)))
            symbols.append(SEGMENT_END)
        symbols[-1] = EOS
        kept_words.append([word for segment in pieces for word in segment])
    return SegmentedText(kept_words, np.array(symbols, dtype=np.int64), vocabulary)


def build_trees(
    sentences: Sequence[Sequence[str]], symbols: Longs, brackets: Sequence[Longs]
) -> list[Tree]:
    """Build a tree for each sentence.

    ``brackets``: for each level, half-open spans of positions in the sequence of symbols.
    """
    is_word = symbols >= BOUNDARIES
    words_before: Longs = np.cumsum(is_word) - is_word
    spans = words_before[np.concatenate([np.empty((0, 2), dtype=np.int64), *brackets])]
    spans = spans[np.lexsort((-spans[:, 1], spans[:, 0]))]
    ends = np.cumsum([len(words) for words in sentences])
    parts: list[Longs] = np.split(spans, np.searchsorted(spans[:, 0], ends[:-1]))
    return [
        tree_from_spans(words, (part - (end - len(words))).tolist())
        for words, part, end in zip(sentences, parts, ends)
    ]


Train = Callable[[Longs, int], Floats | None]
"""From a sequence of symbols 0, 1, … and their number to arcs, or None if none can be learned."""


@dataclass
class Cascade:
    """The chunks of all levels, and why there were no more."""

    brackets: list[Longs] = field(default_factory=list)
    """For each level, half-open spans of positions in the sequence of level 1."""
    levels: int = 0
    """The number of trained models."""
    ended: Literal["all chunked", "no change"] | None = None
    """"all chunked" if no model can be trained, in practice because every segment is one symbol;
    "no change" if the last model finds no chunk."""


def find_chunks(symbols: Longs, words: int, train: Train, separator: int = -1) -> Cascade:
    """Chunk a sequence, replace the chunks by pseudo-words, and repeat until nothing changes.

    If symbol t is a word w, or a pseudo-word made of it, then t + words is the pseudo-word ``=t``.

    ``separator``: the symbol of ";", if it is kept as a word. The original passes on text with ";"
    after every segment, so these occurrences are added to its frequency.
    """
    cascade = Cascade()
    starts = np.arange(len(symbols))  # the position of each symbol in the first sequence
    while True:
        types, numbers, frequencies = _counted(symbols)
        frequencies[types == separator] += np.count_nonzero(symbols < BOUNDARIES) - 1
        arcs = train(numbers, len(types))
        if arcs is None:
            cascade.ended = "all chunked"
            return cascade
        cascade.levels += 1
        with np.errstate(divide="ignore"):
            tags = best_tags(numbers, np.log(arcs))
        begins = np.flatnonzero(tags != I)
        if len(begins) == len(symbols):
            cascade.ended = "no change"
            return cascade
        chunk = np.diff(begins, append=len(symbols)) > 1
        starts = starts[begins]
        # The last symbol is always a boundary.
        cascade.brackets.append(np.stack([starts[:-1], starts[1:]], axis=1)[chunk[:-1]])
        heads = most_frequent(frequencies[numbers], begins)
        symbols = symbols[heads] + words * chunk


def most_frequent(frequencies: Longs, begins: Longs) -> Longs:
    """The position of the highest frequency in each part of an array, the last if equal."""
    n = len(frequencies)
    ranks = frequencies * n + np.arange(n)
    best: Longs = np.maximum.reduceat(ranks, begins)
    return best % n


def _counted(symbols: Longs) -> tuple[Longs, Longs, Longs]:
    """The distinct symbols, the sequence numbered by them, and their frequencies.

    Both boundaries are always included, so that they keep their numbers.
    """
    types, numbers, frequencies = np.unique(
        np.append(symbols, [EOS, SEGMENT_END]), return_inverse=True, return_counts=True
    )
    return types, numbers[:-BOUNDARIES], frequencies


class Upparse:
    """Cascaded chunkers (Ponvert, Baldridge and Erk 2011), with the PRLG or the HMM.

    Words are not lower-cased.

    ``model``: ``"prlg"``, a probabilistic right-linear grammar, or ``"hmm"``, a hidden Markov
    model.
    ``stops``: stopping punctuation, which is not in the trees unless it is kept as a word (see
    `segments`).
    """

    reference = "Ponvert, Baldridge and Erk (2011)"

    def __init__(
        self,
        model: ChunkModel = "prlg",
        smoothing: float = 0.1,
        tolerance: float = 1e-4,
        stops: Iterable[str] = STOPS,
    ) -> None:
        if model not in get_args(ChunkModel):
            raise DbpcfgError(
                f"no model {model!r}; choose one of {', '.join(get_args(ChunkModel))}"
            )
        for name, value in (("smoothing", smoothing), ("tolerance", tolerance)):
            if not 0 < value < math.inf:
                raise DbpcfgError(f"{name} must be a number above 0, not {value!r}")
        self.name = f"upparse-{model}"
        self.stops = frozenset(stops)
        self._trainer = Trainer(model, smoothing, tolerance)
        self._fitted: tuple[SegmentedText, Cascade] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``progress``: updated with the number of iterations of EM on all levels.
        """
        text = segment_text(sentences, self.stops)
        iterations = count(1)

        def report() -> None:
            if progress is not None:
                progress.update(next(iterations))

        cascade = find_chunks(
            text.symbols,
            len(text.vocabulary),
            lambda symbols, number: self._trainer.train(symbols, number, report),
            separator=text.vocabulary.get(";", -1),
        )
        self._fitted = text, cascade
        return self

    @property
    def cascade(self) -> Cascade:
        """The chunks of all levels, and why the cascade ended."""
        return require_fit(self.name, self._fitted)[1]

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        text, cascade = require_fit(self.name, self._fitted)
        return build_trees(text.sentences, text.symbols, cascade.brackets)


class UpparsePRLG(Upparse):
    """Cascaded chunkers with the PRLG."""

    summary = "cascaded chunkers, probabilistic right-linear grammar"

    def __init__(self, smoothing: float = 0.1, tolerance: float = 1e-4) -> None:
        super().__init__("prlg", smoothing, tolerance)


class UpparseHMM(Upparse):
    """Cascaded chunkers with the HMM."""

    summary = "cascaded chunkers, hidden Markov model"

    def __init__(self, smoothing: float = 0.1, tolerance: float = 1e-4) -> None:
        super().__init__("hmm", smoothing, tolerance)
