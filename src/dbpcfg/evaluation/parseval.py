"""The brackets of a gold and a predicted tree over the same words, from which all scores are made.

Punctuation is taken out of both trees.  The *words* of a sentence are the gold words that are not
punctuation, numbered from 0, and every node of either tree becomes a half-open span of them:

* A node's span goes from its first word to its last.  In a predicted tree a gold word that the
  prediction lacks therefore lies inside a span if words on both sides of it do.
* A node without words vanishes, and so do words of the prediction that the gold sentence lacks.
* Preterminals are not constituents: a label whose only child is a word is that word's tag.
* A top node labelled "", ROOT, TOP, S1 or VROOT only holds the sentence together: its span stays,
  its label goes.

Nodes over the same words are one span with several labels, the topmost first.

PARSEVAL: precision, recall and F1 of brackets.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.evaluation.convention import Convention, Skipped
from dbpcfg.io.tables import percent
from dbpcfg.trees.tree import Tree

Brackets: TypeAlias = dict[tuple[int, int], tuple[str, ...]]
"""From spans, in pre-order, to the labels over them, the topmost first."""

TOP_LABELS = frozenset({"", "ROOT", "TOP", "S1", "VROOT"})


@dataclass(frozen=True, slots=True)
class Pair:
    """The two trees of one sentence, over its words without punctuation."""

    words: int
    """The number of words."""
    gold: Brackets
    """The brackets of the gold tree."""
    predicted: Brackets
    """The brackets of the predicted tree."""
    gold_tags: Sequence[str]
    """The gold tag of each word, "" where there is none."""
    predicted_tags: Sequence[str]
    """The same in the predicted tree."""


def pair(gold: Sentence, predicted: Sentence, punctuation: Sequence[bool]) -> Pair:
    """Align two trees and take the punctuation out.

    ``punctuation``: marks the words of the gold sentence that are punctuation.
    """
    aligned = align(gold.words, punctuation, predicted.words, gold.place, predicted.place)
    gold_words = number_words(punctuation)
    words = [MISSING if leaf == MISSING else gold_words[leaf] for leaf in aligned]
    total = sum(not mark for mark in punctuation)
    gold_brackets, gold_tags = brackets(_tree(gold), gold_words)
    predicted_brackets, predicted_tags = brackets(_tree(predicted), words)
    return Pair(
        total,
        gold_brackets,
        predicted_brackets,
        _of_words(gold.tags or gold_tags, gold_words, total),
        _of_words(predicted_tags, words, total),
    )


def number_words(punctuation: Sequence[bool]) -> list[int]:
    """Number words without punctuation."""
    numbers = []
    total = 0
    for mark in punctuation:
        numbers.append(MISSING if mark else total)
        total += not mark
    return numbers


def brackets(tree: Tree, words: Sequence[int]) -> tuple[Brackets, list[str]]:
    """The brackets of a tree.

    ``words``: for every leaf the number of its word, or `MISSING`.
    """
    starts = [*words, max(words, default=0) + 1]  # for each leaf the first word not before it
    for leaf in range(len(words) - 1, -1, -1):
        if starts[leaf] == MISSING:
            starts[leaf] = starts[leaf + 1]
    spans: list[tuple[int, int, str]] = []
    tags: list[str] = []
    end = 0  # after the last word so far
    todo: list[Tree | str | int] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, int):  # all below the node of this span has been seen
            start, _, label = spans[item]
            spans[item] = (start, end, label)
            continue
        tag = ""
        if isinstance(item, Tree):
            if not item.preterminal:
                todo.append(len(spans))
                spans.append((starts[len(tags)], end, item.label))
                todo.extend(item.children[::-1])
                continue
            tag = item.label
        if words[len(tags)] != MISSING:
            end = words[len(tags)] + 1
        tags.append(tag)
    found: Brackets = {}
    for start, end, label in spans:
        if start < end:
            above = found.get((start, end), ())
            only_top = label in TOP_LABELS and not above and (start, end) == spans[0][:2]
            found[start, end] = () if only_top else (*above, label)
    return found, tags


def _tree(sentence: Sentence) -> Tree:
    if sentence.tree is None:
        raise DbpcfgError(f"{sentence.place}: found words but no tree; only trees can be scored")
    return sentence.tree


def _of_words(tags: Sequence[str], words: Sequence[int], total: int) -> list[str]:
    found = [""] * total
    for tag, word in zip(tags, words):
        if word != MISSING:
            found[word] = tag
    return found


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
