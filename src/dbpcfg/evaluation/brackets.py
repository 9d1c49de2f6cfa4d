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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.trees.tree import Tree

__all__ = ["TOP_LABELS", "Brackets", "Pair", "brackets", "number_words", "pair"]

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
