"""PARSEVAL: precision, recall and F1 of brackets, and conventions for counting brackets.

A score is a function of a `Convention` and of *statistics*: one row ``(matched, predicted, gold)``
for each sentence that the convention does not leave out.  Precision, recall and F1 are each a ratio
of two sums over sentences, whose `terms` are::

                 average:corpus                   average:sentence
    precision    matched / predicted              its own precision / 1
    recall       matched / gold                   its own recall / 1
    F1           2 matched / (predicted + gold)   its own F1 / 1

(a sentence with nothing predicted and nothing gold has terms 0 / 0).  Permutation tests and
bootstrap intervals swap and resample these same terms.

Precision is 0 if nothing is predicted, and recall is 0 if nothing is gold; if both, all three are
undefined (nan, printed as a dash).

The default is the convention of the paper and of Seginer (2007).  Scores are unlabelled and over
the whole corpus; punctuation and empty elements are removed; the whole sentence is a span, and
every system is credited with it; one-word spans do not count; and a span counts once, however many
nodes cover it.  Other papers use other conventions, which often matter more than the system:

* ``labelled``: distinct pairs of a span and a label are counted.  No system is credited with the
  sentence: it has to give it the right label.  Labels of top nodes (`TOP_LABELS`) do not count.
* ``whole_sentence=False``: the span over all words does not count.
* ``average="sentence"``: precision, recall and F1 are means over the sentences with brackets in
  either tree.  (Some scorers give a sentence without gold brackets the value 1; here its value is 0
  if brackets are predicted, and otherwise it does not count.)
* ``max_length``: longer sentences are left out; punctuation is not part of the length.
* ``min_words=1``: one-word spans count too, preterminals never.

Sentences of fewer words than ``min_words``, or of punctuation only, are left out; their number is
reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import Brackets, TreePair
from dbpcfg.io.tables import percent
from dbpcfg.version import __version__

Statistics: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Number = TypeVar("Number", int, NDArray[np.int64])
Item: TypeAlias = tuple[int, int] | tuple[int, int, str]


def signature_of(*parts: str) -> str:
    """Join the parts of a signature with the version of this package."""
    return "|".join([*parts, f"dbpcfg:{__version__}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """A convention of scoring; ``Convention()`` is the paper's."""

    labelled: bool = False
    """Whether labels count."""
    average: Literal["corpus", "sentence"] = "corpus"
    """Whether counts are summed over the corpus, or scores averaged over sentences."""
    whole_sentence: bool = True
    """Whether the span over all words counts."""
    min_words: int = 2
    """The length of the shortest span that counts."""
    max_length: int | None = None
    """The length of the longest sentence that is scored, without punctuation."""
    punctuation: str = "tags"
    """How punctuation was recognised; only the signature uses it."""

    def __post_init__(self) -> None:
        if self.average not in ("corpus", "sentence"):
            raise DbpcfgError(f"average must be 'corpus' or 'sentence', not {self.average!r}")
        if self.min_words < 1:
            raise DbpcfgError(f"min_words must be at least 1, not {self.min_words}")
        if self.max_length is not None and self.max_length < 1:
            raise DbpcfgError(f"max_length must be None or at least 1, not {self.max_length}")

    def signature(self) -> str:
        """The convention in one line, as every score prints it."""
        return signature_of(
            f"labels:{'yes' if self.labelled else 'no'}",
            f"average:{self.average}",
            f"root:{'counted' if self.whole_sentence else 'ignored'}",
            f"span:>={self.min_words}",
            self.sentences(),
        )

    def sentences(self) -> str:
        """The part of signatures that says which words and sentences are scored."""
        length = "any" if self.max_length is None else f"<={self.max_length}"
        return f"punct:removed-by-{self.punctuation}|length:{length}"

    def too_long(self, words: int) -> bool:
        """Whether sentences of this many words are left out of all scores."""
        return self.max_length is not None and words > self.max_length


@dataclass(frozen=True, slots=True)
class Skipped:
    """How many sentences a score leaves out, and why."""

    only_punctuation: int = 0
    """Sentences of punctuation only."""
    too_short: int = 0
    """Sentences of fewer words than ``min_words``."""
    too_long: int = 0
    """Sentences of more words than ``max_length``."""

    @property
    def total(self) -> int:
        """The total number of sentences left out."""
        return self.only_punctuation + self.too_short + self.too_long

    def __str__(self) -> str:
        reasons = {
            "of punctuation only": self.only_punctuation,
            "too short": self.too_short,
            "too long": self.too_long,
        }
        return ", ".join(f"{number} {why}" for why, number in reasons.items() if number) or "none"


class BracketCounts(NamedTuple):
    """Numbers of brackets, of one sentence or of many."""

    matched: int
    """Brackets in both trees."""
    predicted: int
    """Brackets in the predicted tree."""
    gold: int
    """Brackets in the gold tree."""


@dataclass(frozen=True, slots=True)
class Score:
    """The PARSEVAL score of a corpus.

    With ``average="sentence"`` the three measures are means over sentences.
    """

    precision: float
    """matched / predicted, as a fraction."""
    recall: float
    """matched / gold, as a fraction."""
    f1: float
    """Their harmonic mean."""
    matched: int
    """Brackets in both trees."""
    predicted: int
    """Brackets in the predicted trees."""
    gold: int
    """Brackets in the gold trees."""
    sentences: int
    """The number of sentences scored."""
    skipped: Skipped
    """Sentences left out."""
    signature: str
    """The convention."""

    def __str__(self) -> str:
        return (
            f"P {percent(self.precision)} R {percent(self.recall)} F1 {percent(self.f1)} "
            f"(matched {self.matched}, predicted {self.predicted}, gold {self.gold}; "
            f"sentences {self.sentences}, left out {self.skipped}) {self.signature}"
        )


def count(trees: TreePair, convention: Convention) -> BracketCounts:
    """Count the brackets of one sentence."""
    if trees.words < convention.min_words:
        return BracketCounts(0, 0, 0)
    gold = _counted(trees.gold, trees.words, convention)
    predicted = _counted(trees.predicted, trees.words, convention)
    return BracketCounts(len(gold & predicted), len(predicted), len(gold))


def _counted(brackets: Brackets, words: int, convention: Convention) -> set[Item]:
    min_words = convention.min_words
    sentence_span = (0, words)
    if convention.labelled:
        return {
            (*span, label)
            for span, labels in brackets.items()
            if span[1] - span[0] >= min_words
            and (convention.whole_sentence or span != sentence_span)
            for label in labels
        }
    spans: set[Item] = {span for span in brackets if span[1] - span[0] >= min_words}
    if convention.whole_sentence:
        spans.add(sentence_span)
    else:
        spans.discard(sentence_span)
    return spans


def score(statistics: Statistics, convention: Convention, skipped: Skipped | None = None) -> Score:
    """Score a corpus.

    ``statistics``: one row ``(matched, predicted, gold)`` for each sentence that is scored.
    """
    precision, recall, f1 = ratios(terms(statistics, convention).sum(axis=0)).tolist()
    matched, predicted, gold = statistics.sum(axis=0).tolist()
    return Score(
        precision,
        recall,
        f1,
        matched,
        predicted,
        gold,
        sentences=len(statistics),
        skipped=skipped or Skipped(),
        signature=convention.signature(),
    )


def terms(statistics: Statistics, convention: Convention) -> Floats:
    """Numerators and denominators of precision, recall and F1, sentence by sentence.

    Returns ``[sentence, measure, 0 or 1]``; a score is a ratio of sums over sentences.

    ``statistics``: one row ``(matched, predicted, gold)`` for each sentence that is scored.
    """
    matched, predicted, gold = statistics.T
    numerators = np.stack([matched, matched, 2 * matched], axis=1)
    denominators = np.stack([predicted, gold, predicted + gold], axis=1)
    sums = np.stack([numerators, denominators], axis=2).astype(float)
    if convention.average == "corpus":
        return sums
    values = ratios(sums)
    return np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=2)


def f1_terms(matched: Number, predicted: Number, gold: Number) -> tuple[Number, Number]:
    """Numerator and denominator of F1 = 2 matched / (predicted + gold)."""
    return 2 * matched, predicted + gold


def f1(matched: Number, predicted: Number, gold: Number) -> Any:
    """F1 from counts, or arrays of counts; 0 where nothing is predicted and nothing gold."""
    numerator, denominator = f1_terms(matched, predicted, gold)
    return numerator / np.maximum(denominator, 1)


def ratios(sums: Floats) -> Floats:
    """Precision, recall and F1, ``[..., measure]``; nan where nothing is predicted or gold.

    ``sums``: sums of numerators and denominators ``[..., measure, 0 or 1]``.
    """
    numerator, denominator = sums[..., 0], sums[..., 1]
    with np.errstate(invalid="ignore"):
        values = numerator / denominator
    undefined = denominator[..., -1:] == 0  # neither predicted nor gold
    return np.where(denominator > 0, values, np.where(undefined, np.nan, 0.0))
