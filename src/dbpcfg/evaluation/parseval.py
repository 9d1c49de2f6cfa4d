"""PARSEVAL: precision, recall and F1 of brackets.

A score is a function of a `Convention` and of *statistics*: one row ``(matched, predicted, gold)``
for each sentence that the convention does not leave out.  Precision, recall and F1 are each a ratio
of two sums over sentences, whose `terms` are::

                 average:corpus                   average:sentence
    precision    matched / predicted              its own precision / 1
    recall       matched / gold                   its own recall / 1
    F1           2 matched / (predicted + gold)   its own F1 / 1

(a sentence with nothing predicted and nothing gold has terms 0 / 0).  Permutation tests and
bootstrap intervals swap and resample these same terms.

If nothing is predicted precision is 0; if there is nothing gold recall is 0; if both, all three are
undefined and nan, which prints as a dash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dbpcfg.evaluation.brackets import Brackets, Pair
from dbpcfg.evaluation.convention import Convention, Skipped
from dbpcfg.files.table import percent

__all__ = [
    "BracketCounts",
    "Convention",
    "Score",
    "Skipped",
    "Statistics",
    "count",
    "f1",
    "f1_terms",
    "ratios",
    "score",
    "terms",
]

Statistics: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Number = TypeVar("Number", int, NDArray[np.int64])
Item: TypeAlias = tuple[int, int] | tuple[int, int, str]


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


def count(trees: Pair, convention: Convention) -> BracketCounts:
    """Count the brackets of one sentence."""
    if trees.words < convention.min_words:
        return BracketCounts(0, 0, 0)
    gold = _counted(trees.gold, trees.words, convention)
    predicted = _counted(trees.predicted, trees.words, convention)
    return BracketCounts(len(gold & predicted), len(predicted), len(gold))


def _counted(brackets: Brackets, words: int, convention: Convention) -> set[Item]:
    least = convention.min_words
    whole = (0, words)
    if convention.labelled:
        return {
            (*span, label)
            for span, labels in brackets.items()
            if span[1] - span[0] >= least and (convention.whole_sentence or span != whole)
            for label in labels
        }
    spans: set[Item] = {span for span in brackets if span[1] - span[0] >= least}
    if convention.whole_sentence:
        spans.add(whole)
    else:
        spans.discard(whole)
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

    ``statistics``: one row ``(matched, predicted, gold)`` for each sentence that is scored.
    ``array``: ``[sentence, measure, 0 or 1]``; a score is a ratio of sums over sentences.
    """
    matched, predicted, gold = statistics.T
    twice, both = f1_terms(matched, predicted, gold)
    numerators = np.stack([matched, matched, twice], axis=1)
    denominators = np.stack([predicted, gold, both], axis=1)
    sums = np.stack([numerators, denominators], axis=2).astype(float)
    if convention.average == "corpus":
        return sums
    values = ratios(sums)
    return np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=2)


def f1_terms(matched: Number, predicted: Number, gold: Number) -> tuple[Number, Number]:
    """Numerator and denominator of F1 = 2 matched / (predicted + gold)."""
    return 2 * matched, predicted + gold


def f1(matched: Number, predicted: Number, gold: Number) -> Any:
    """F1 from numbers of brackets, or arrays of them; 0 where nothing is predicted or gold."""
    twice, both = f1_terms(matched, predicted, gold)
    return twice / np.maximum(both, 1)


def ratios(sums: Floats) -> Floats:
    """Precision, recall and F1 from sums of their terms.

    ``sums``: numerators and denominators ``[..., measure, 0 or 1]``.
    ``array``: ``[..., measure]``; nan where nothing is predicted and nothing gold.
    """
    numerator, denominator = sums[..., 0], sums[..., 1]
    with np.errstate(invalid="ignore"):
        values = numerator / denominator
    nothing = denominator[..., -1:] == 0  # neither predicted nor gold
    return np.where(denominator > 0, values, np.where(nothing, np.nan, 0.0))
