"""Induced against gold labels: many-to-one accuracy and V-measure.

A `Contingency` counts how often an induced label occurs with a gold label, on two kinds of items:

* `matched_labels`: constituents of two words or more whose span is in both trees.  If a span has
  several labels, the topmost counts; spans without a label are left out.
* `matched_tags`: words that have an induced and a gold tag.

With N items, n(i,g) of them labelled i and g, and H entropies of the induced labels I and gold G::

    many-to-one      Σ_i max_g n(i,g) / N      each induced label named by its commonest gold label
    homogeneity  h   1 − H(G|I) / H(G)         1 if there is one gold label only
    completeness c   1 − H(I|G) / H(I)         1 if there is one induced label only
    V-measure        2hc / (h + c)             0 if both are 0

(Rosenberg and Hirschberg 2007, with β = 1).  Without items all four are undefined: nan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import MISSING, TreePair, align, align_trees
from dbpcfg.evaluation.parseval import Convention, signature_of
from dbpcfg.io.tables import percent, plural

NO_PHRASE = "–"
"""The gold label of spans that are not in the gold tree."""


def matched_labels(trees: TreePair, otherwise: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """(induced, gold) for every span of two words or more that is in both trees.

    ``otherwise``: the gold labels of spans that are not in the gold tree; such spans are left out
    if it is empty.
    """
    for span, labels in trees.predicted.items():
        gold = trees.gold.get(span, otherwise)
        if labels and gold and span[1] - span[0] >= 2:
            yield labels[0], gold[0]


def matched_tags(trees: TreePair) -> Iterator[tuple[str, str]]:
    """(induced, gold) for every word that has a tag in both trees."""
    return (tags for tags in zip(trees.predicted_tags, trees.gold_tags) if all(tags))


@dataclass(frozen=True, slots=True)
class LabelScore:
    """How well induced labels agree with gold labels, as fractions."""

    many_to_one: float
    """Accuracy if each induced label is named by its commonest gold label."""
    homogeneity: float
    """1 − H(G|I) / H(G)."""
    completeness: float
    """1 − H(I|G) / H(I)."""
    v_measure: float
    """The harmonic mean of the last two."""
    items: int
    """The number of items."""
    signature: str
    """What the items are."""

    def __str__(self) -> str:
        return (
            f"many-to-one {percent(self.many_to_one)} homogeneity {percent(self.homogeneity)} "
            f"completeness {percent(self.completeness)} V {percent(self.v_measure)} "
            f"({plural(self.items, 'item')}) {self.signature}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """How often each induced label occurs with each gold label."""

    induced: tuple[str, ...]
    """The labels of the rows, sorted."""
    gold: tuple[str, ...]
    """The labels of the columns, sorted."""
    counts: NDArray[np.int64]
    """``[induced, gold]``."""
    signature: str = ""
    """What is counted."""

    @classmethod
    def from_counts(cls, items: Mapping[tuple[str, str], int], signature: str = "") -> Contingency:
        """Make a table from the counts of pairs of an induced and a gold label."""
        induced = tuple(sorted({label for label, _ in items}))
        gold = tuple(sorted({label for _, label in items}))
        row = {label: number for number, label in enumerate(induced)}
        column = {label: number for number, label in enumerate(gold)}
        counts = np.zeros((len(induced), len(gold)), dtype=np.int64)
        for (induced_label, gold_label), number in items.items():
            counts[row[induced_label], column[gold_label]] = number
        return cls(induced, gold, counts, signature)

    def score(self) -> LabelScore:
        """All measures of the table."""
        total = int(self.counts.sum())
        if not total:
            nan = float("nan")
            return LabelScore(nan, nan, nan, nan, 0, self.signature)
        joint = _entropy(self.counts)
        of_induced, of_gold = _entropy(self.counts.sum(axis=1)), _entropy(self.counts.sum(axis=0))
        homogeneity = 1 - (joint - of_induced) / of_gold if of_gold else 1.0
        completeness = 1 - (joint - of_gold) / of_induced if of_induced else 1.0
        sum_of_both = homogeneity + completeness
        return LabelScore(
            many_to_one=float(self.counts.max(axis=1).sum() / total),
            homogeneity=homogeneity,
            completeness=completeness,
            v_measure=2 * homogeneity * completeness / sum_of_both if sum_of_both else 0.0,
            items=total,
            signature=self.signature,
        )


@dataclass(frozen=True, eq=False)
class GoldLabels:
    """Which gold labels the categories of a grammar correspond to, without punctuation."""

    phrases: Contingency
    """Spans of two words or more: induced label against gold label or `NO_PHRASE`."""
    words: Contingency
    """Words: induced against gold tags."""


def gold_labels(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], punctuation: Sequence[Sequence[bool]]
) -> GoldLabels:
    """Count which gold labels the labels of predicted trees occur with.

    ``punctuation``: marks the words of each gold sentence that are punctuation.
    """
    phrases: Counter[tuple[str, str]] = Counter()
    words: Counter[tuple[str, str]] = Counter()
    for gold_sentence, predicted_sentence, marks in zip(gold, predicted, punctuation, strict=True):
        trees = align_trees(gold_sentence, predicted_sentence, marks)
        phrases.update(matched_labels(trees, (NO_PHRASE,)))
        words.update(matched_tags(trees))
    return GoldLabels(Contingency.from_counts(phrases), Contingency.from_counts(words))


def _entropy(counts: NDArray[np.int64]) -> float:
    """The entropy in nats of the distribution with these counts."""
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum()) + 0.0  # never −0


def compare_tags(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    punctuation: Sequence[Sequence[bool]],
    convention: Convention,
    progress: Callable[[int], None] | None = None,
) -> Contingency:
    """Count which gold tags induced tags occur with, as `evaluate` does for the tags of trees.

    ``predicted``: the same sentences with induced tags; punctuation may be missing.
    ``punctuation``: marks the words of each gold sentence that are punctuation; they do not count.
    """
    if not any(any(_tags(sentence)) for sentence in gold):
        location = gold[0].location if gold else "GOLD"
        raise DbpcfgError(f"{location}: the gold sentences have no tags to compare with")
    pairs: Counter[tuple[str, str]] = Counter()
    for number, (gold_sentence, predicted_sentence, marks) in enumerate(
        zip(gold, predicted, punctuation, strict=True), 1
    ):
        aligned = align(
            gold_sentence.words,
            marks,
            predicted_sentence.words,
            gold_sentence.location,
            predicted_sentence.location,
        )
        if not convention.too_long(marks.count(False)):
            tags = _tags(gold_sentence)
            pairs.update(
                (induced, tags[word])
                for induced, word in zip(_tags(predicted_sentence), aligned, strict=True)
                if word != MISSING and not marks[word] and induced and tags[word]
            )
        if progress is not None:
            progress(number)
    return Contingency.from_counts(pairs, signature_of("labels:tags", convention.sentences()))


def _tags(sentence: Sentence) -> Sequence[str]:
    if sentence.tags is not None:
        return sentence.tags
    if sentence.tree is not None:
        return sentence.tree.tags()
    return [""] * len(sentence.words)
