"""Noun-phrase recall (the paper's section 5.3), and the same for any gold category.

How many gold constituents of the category, at all levels and not just the lowest, are spans of the
predicted tree, whatever their labels there?  Distinct spans of two words or more count, the whole
sentence like any other; as in PARSEVAL, every system is credited with that one.

Which induced labels are the noun phrases?  The paper's aggregate F1 says, again for any category:
the first ``mapping_sentences`` (4,000) sentences of the corpus choose the labels.  There each label
has a precision: the share of its spans that are gold constituents of the category.  Labels are
ranked by it (of equals the one with more spans is first, then by name), and as many of the first
are pooled as make the pool's F1 highest there (of equals the fewest).  The score is the F1 of this
pool on the remaining sentences.  A pool's spans are distinct: one under two of its labels is one.

* The paper says "all spans of proposed categories".  Whether it means one-word spans is open: they
  are left out unless ``min_words`` is 1, and then the tag of a word is a label over it.
* A corpus that has no sentences left after the mapping sentences is split in half instead.  The
  signature says which: ``mapping:first-4000`` or ``mapping:first-half-750``.
* Sentences are numbered as in the corpus, including those that have nothing to score, and counts
  are summed over sentences whatever the convention of PARSEVAL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import Brackets, TreePair
from dbpcfg.evaluation.parseval import BracketCounts, Convention, f1, ratios, terms
from dbpcfg.io.tables import percent


@dataclass(frozen=True, slots=True)
class Recall:
    """How many gold constituents of a category are spans of the predicted trees."""

    category: str
    """The gold category."""
    matched: int
    """Gold constituents that are spans of the predicted trees."""
    gold: int
    """All gold constituents."""
    signature: str
    """The convention."""

    @property
    def recall(self) -> float:
        """The share found; nan if there are none to find."""
        return self.matched / self.gold if self.gold else float("nan")

    def __str__(self) -> str:
        counts = f"found {self.matched}, gold {self.gold}"
        return f"{self.category} recall {percent(self.recall)} ({counts}) {self.signature}"


def count_matched(trees: TreePair, category: str) -> tuple[int, int]:
    """Count the gold constituents of a category in one sentence.

    Returns how many are spans of the predicted tree, and how many there are.
    """
    gold = [
        span for span, labels in trees.gold.items() if category in labels and span[1] - span[0] >= 2
    ]
    whole = (0, trees.words)
    return sum(span in trees.predicted or span == whole for span in gold), len(gold)


MAPPING_SENTENCES = 4000
"""How many sentences choose the labels in the paper."""

Proposals: TypeAlias = Counter[tuple[tuple[str, ...], bool]]
"""How often a span has these induced labels and is, or is not, gold; no labels: not predicted."""


class LabelPrecision(NamedTuple):
    """An induced label on the mapping sentences."""

    label: str
    """The induced label."""
    matched: int
    """Its spans that are gold."""
    predicted: int
    """All its spans."""

    @property
    def precision(self) -> float:
        """The share of its spans that are gold."""
        return self.matched / self.predicted


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The labels that together are a gold category, and their score on the other sentences."""

    category: str
    """The gold category."""
    chosen: tuple[LabelPrecision, ...]
    """The pooled labels, by their precision on the mapping sentences."""
    precision: float
    """Of the pool, on the other sentences."""
    recall: float
    """Likewise."""
    f1: float
    """Likewise."""
    counts: BracketCounts
    """The counts behind these."""
    signature: str
    """The convention."""

    def __str__(self) -> str:
        labels = ", ".join(f"{it.label} {percent(it.precision)}" for it in self.chosen) or "none"
        return (
            f"{self.category} aggregate P {percent(self.precision)} R {percent(self.recall)} "
            f"F1 {percent(self.f1)} (labels by precision: {labels}) {self.signature}"
        )


def mapping_split(sentences: int, mapping_sentences: int = MAPPING_SENTENCES) -> tuple[int, str]:
    """Split a corpus into mapping sentences and others.

    ``mapping_sentences``: how many of the first choose labels, if there are more.
    Returns how many choose labels, and the part of the signature that says so.
    """
    if mapping_sentences < 1:
        raise DbpcfgError(f"mapping_sentences must be at least 1, not {mapping_sentences}")
    if sentences > mapping_sentences:
        return mapping_sentences, f"mapping:first-{mapping_sentences}"
    return sentences // 2, f"mapping:first-half-{sentences // 2}"


def proposals(
    trees: TreePair, category: str, min_words: int = 2
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The items of `Proposals` of one sentence."""
    gold, predicted = trees.gold, trees.predicted
    if min_words == 1:
        gold, predicted = _with(trees.gold_tags, gold), _with(trees.predicted_tags, predicted)
    for span, labels in predicted.items():
        if span[1] - span[0] >= min_words:
            yield labels, category in gold.get(span, ())
    for span, labels in gold.items():
        if span[1] - span[0] >= min_words and category in labels and span not in predicted:
            yield (), True


def _with(tags: Sequence[str], brackets: Brackets) -> Brackets:
    words = {
        (word, word + 1): (*brackets.get((word, word + 1), ()), *filter(None, [tag]))
        for word, tag in enumerate(tags)
    }
    return brackets | words


def aggregate(mapping: Proposals, others: Proposals, category: str, signature: str) -> Aggregate:
    """Choose labels on the mapping sentences and score them on the others."""
    chosen = _choose(mapping)
    pool = {it.label for it in chosen}
    counts = _pooled(others, pool)
    precision, recall, both = ratios(terms(np.array([counts]), Convention()))[0].tolist()
    return Aggregate(category, chosen, precision, recall, both, counts, signature)


def _choose(mapping: Proposals) -> tuple[LabelPrecision, ...]:
    """The labels of highest precision, as many as make the pooled F1 highest."""
    predicted: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for (labels, is_gold), number in mapping.items():
        for label in set(labels):
            predicted[label] += number
            matched[label] += number * is_gold
    table = [LabelPrecision(label, matched[label], predicted[label]) for label in predicted]
    table.sort(key=lambda it: (-it.precision, -it.predicted, it.label))
    # A span joins the pool with the first of its labels.
    rank = {it.label: place for place, it in enumerate(table)}
    joining = np.zeros((len(table), 2), dtype=np.int64)
    for (labels, is_gold), number in mapping.items():
        if labels:
            joining[min(rank[label] for label in labels)] += number * is_gold, number
    gold = sum(number for (_, is_gold), number in mapping.items() if is_gold)
    pool_matched, pool_predicted = joining.cumsum(axis=0).T
    reached = f1(pool_matched, pool_predicted, np.int64(gold))
    best = int(reached.argmax()) if reached.any() else -1
    return tuple(table[: best + 1])


def _pooled(spans: Proposals, pool: set[str]) -> BracketCounts:
    inside = {key: number for key, number in spans.items() if not pool.isdisjoint(key[0])}
    matched = sum(number for (_, is_gold), number in inside.items() if is_gold)
    gold = sum(number for (_, is_gold), number in spans.items() if is_gold)
    return BracketCounts(matched, sum(inside.values()), gold)
