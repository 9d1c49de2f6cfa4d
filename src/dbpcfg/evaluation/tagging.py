"""Tags without trees against gold tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.evaluation.convention import Convention, signed
from dbpcfg.evaluation.labels import Contingency

__all__ = ["compare_tags"]


def compare_tags(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    punctuation: Sequence[Sequence[bool]],
    convention: Convention,
    progress: Callable[[int], None] | None = None,
) -> Contingency:
    """Count which gold tags induced tags meet, as `evaluate` does for the tags of trees.

    ``predicted``: the same sentences with induced tags; punctuation may be missing.
    ``punctuation``: marks the words of each gold sentence that are punctuation, which is left out.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    tagged = False
    for number, (one, other, marks) in enumerate(
        zip(gold, predicted, punctuation, strict=True), start=1
    ):
        aligned = align(one.words, marks, other.words, one.place, other.place)
        tags = _tags(one)
        tagged = tagged or any(tags)
        if not convention.too_long(marks.count(False)):
            pairs.update(
                (induced, tags[place])
                for induced, place in zip(_tags(other), aligned, strict=True)
                if place != MISSING and not marks[place] and induced and tags[place]
            )
        if progress is not None:
            progress(number)
    if not tagged:
        place = gold[0].place if gold else "GOLD"
        raise DbpcfgError(f"{place}: the gold sentences have no tags to compare with")
    return Contingency.of(pairs, signed("labels:tags", convention.sentences()))


def _tags(sentence: Sentence) -> Sequence[str]:
    if sentence.tags is not None:
        return sentence.tags
    if sentence.tree is not None:
        return [tag for _, tag in sentence.tree.leaves()]
    return [""] * len(sentence.words)
