"""Which gold labels the categories of a grammar meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.evaluation.brackets import Pair, pair
from dbpcfg.evaluation.labels import Contingency, matched_tags

NO_PHRASE = "–"
"""Stands for a gold label where the gold tree has no phrase."""


@dataclass(frozen=True, eq=False)
class Meanings:
    """Which gold labels the categories meet in the trees of a run, punctuation taken out."""

    phrases: Contingency
    """Labels of spans of two words or more, against the gold label or `NO_PHRASE`."""
    words: Contingency
    """Labels of words against gold tags."""


def meanings(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], punctuation: Sequence[Sequence[bool]]
) -> Meanings:
    """Compare trees with gold trees of the same sentences, whose punctuation is marked."""
    phrases: Counter[tuple[str, str]] = Counter()
    words: Counter[tuple[str, str]] = Counter()
    for one, other, marks in zip(gold, predicted, punctuation, strict=True):
        both = pair(one, other, marks)
        phrases.update(_phrases(both))
        words.update(matched_tags(both))
    return Meanings(Contingency.of(phrases), Contingency.of(words))


def _phrases(both: Pair) -> Iterator[tuple[str, str]]:
    for span, labels in both.predicted.items():
        gold = both.gold.get(span, (NO_PHRASE,))
        if labels and gold and span[1] - span[0] >= 2:
            yield labels[0], gold[0]
