"""Noun-phrase recall (the paper's section 5.3) and aggregate F1, for any gold category.

**Recall**: the share of gold constituents of the category, at all levels, that are spans of the
predicted tree, whatever their labels there.  Distinct spans of two words or more count, the whole
sentence included; as in PARSEVAL, every system is credited with that one.

**Aggregate F1** (the paper's): which induced labels are noun phrases?  Labels are chosen on the
first ``mapping_sentences`` (4,000) sentences.  The precision of a label is the share of its spans
that are gold constituents of the category.  Labels are ranked by precision (then by number of
spans, then by name), and the first of them are pooled, as many as maximise the F1 of the pool (the
fewest if equal).  The score is the F1 of the pool on the remaining sentences.  A span with two
labels of the pool counts once.

* The paper says "all spans of proposed categories".  Whether this includes one-word spans is open:
  they are left out unless ``min_words`` is 1; then the tag of a word is its label.
* A corpus that has no more than the mapping sentences is split in half instead.  The signature says
  which: ``mapping:first-4000`` or ``mapping:first-half-750``.
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
    """The recall of the gold constituents of a category."""

    category: str
    """The gold category."""
    matched: int
    """Gold constituents that are spans of the predicted trees."""
    gold: int
    """All gold constituents."""
    signature: str
    """The convention."""
    others: tuple[str, ...] = ()
    """The most frequent gold labels, if none is this category."""

    @property
    def recall(self) -> float:
        """The share of gold constituents that are matched; nan if there are none."""
        return self.matched / self.gold if self.gold else float("nan")

    def __str__(self) -> str:
        counts = f"found {self.matched}, gold {self.gold}"
        return f"{self.category} recall {percent(self.recall)} ({counts}) {self.signature}"


def count_matched(trees: TreePair, category: str) -> tuple[int, int]:
    """The number of matched and of all gold constituents of a category in one sentence."""
    gold = [
        span for span, labels in trees.gold.items() if category in labels and span[1] - span[0] >= 2
    ]
    sentence_span = (0, trees.words)
    return sum(span in trees.predicted or span == sentence_span for span in gold), len(gold)


def phrase_labels(trees: TreePair) -> Iterator[str]:
    """The labels of the gold constituents of two words or more."""
    for (start, end), labels in trees.gold.items():
        if end - start >= 2:
            yield from labels


def other_labels(labels: Counter[str], category: str) -> tuple[str, ...]:
    """The most frequent labels, if none is the category."""
    if category in labels:
        return ()
    return tuple(label for label, _ in labels.most_common(_LABELS_SHOWN))


_LABELS_SHOWN = 6
MAPPING_SENTENCES = 4000
"""The paper's number of sentences on which labels are chosen."""

Proposals: TypeAlias = Counter[tuple[tuple[str, ...], bool]]
"""Counts of spans by their induced labels (none if not predicted) and whether they are gold."""


class LabelPrecision(NamedTuple):
    """The precision of an induced label on the mapping sentences."""

    label: str
    """The induced label."""
    matched: int
    """Spans that are gold constituents of the category."""
    predicted: int
    """All spans with this label."""

    @property
    def precision(self) -> float:
        """The share of spans that are gold constituents."""
        return self.matched / self.predicted


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The induced labels chosen for a gold category, and their score on the other sentences."""

    category: str
    """The gold category."""
    chosen: tuple[LabelPrecision, ...]
    """The pooled labels, by their precision on the mapping sentences."""
    precision: float
    """Precision of the pool on the other sentences."""
    recall: float
    """Recall of the pool on the other sentences."""
    f1: float
    """F1 of the pool on the other sentences."""
    counts: BracketCounts
    """The counts behind the scores."""
    signature: str
    """The convention."""

    def __str__(self) -> str:
        labels = (
            ", ".join(f"{choice.label} {percent(choice.precision)}" for choice in self.chosen)
            or "none"
        )
        return (
            f"{self.category} aggregate P {percent(self.precision)} R {percent(self.recall)} "
            f"F1 {percent(self.f1)} (labels by precision: {labels}) {self.signature}"
        )


def mapping_split(sentences: int, mapping_sentences: int = MAPPING_SENTENCES) -> tuple[int, str]:
    """The number of sentences on which labels are chosen, and its part of the signature.

    ``mapping_sentences``: the number to use if the corpus has more sentences.
    """
    if mapping_sentences < 1:
        raise DbpcfgError(f"mapping_sentences must be at least 1, not {mapping_sentences}")
    if sentences > mapping_sentences:
        return mapping_sentences, f"mapping:first-{mapping_sentences}"
    return sentences // 2, f"mapping:first-half-{sentences // 2}"


def proposals(
    trees: TreePair, category: str, min_words: int = 2
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The items of one sentence that `Proposals` counts."""
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
    pool = {choice.label for choice in chosen}
    counts = _pooled(others, pool)
    precision, recall, f1_score = ratios(terms(np.array([counts]), Convention()))[0].tolist()
    return Aggregate(category, chosen, precision, recall, f1_score, counts, signature)


def _choose(mapping: Proposals) -> tuple[LabelPrecision, ...]:
    """The labels of highest precision, as many as maximise the F1 of the pool."""
    predicted: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for (labels, is_gold), number in mapping.items():
        for label in set(labels):
            predicted[label] += number
            matched[label] += number * is_gold
    table = [LabelPrecision(label, matched[label], predicted[label]) for label in predicted]
    table.sort(key=lambda entry: (-entry.precision, -entry.predicted, entry.label))
    # A span joins the pool with the first of its labels.
    rank = {entry.label: position for position, entry in enumerate(table)}
    added = np.zeros((len(table), 2), dtype=np.int64)
    for (labels, is_gold), number in mapping.items():
        if labels:
            added[min(rank[label] for label in labels)] += number * is_gold, number
    gold = sum(number for (_, is_gold), number in mapping.items() if is_gold)
    pool_matched, pool_predicted = added.cumsum(axis=0).T
    scores = f1(pool_matched, pool_predicted, np.int64(gold))
    best = int(scores.argmax()) if scores.any() else -1
    return tuple(table[: best + 1])


def _pooled(spans: Proposals, pool: set[str]) -> BracketCounts:
    inside = {key: number for key, number in spans.items() if not pool.isdisjoint(key[0])}
    matched = sum(number for (_, is_gold), number in inside.items() if is_gold)
    gold = sum(number for (_, is_gold), number in spans.items() if is_gold)
    return BracketCounts(matched, sum(inside.values()), gold)
