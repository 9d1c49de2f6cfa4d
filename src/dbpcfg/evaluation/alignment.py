"""Align the words of a gold and a predicted tree, and turn both into spans over the same words.

Systems may remove punctuation and lower-case words; otherwise the words must be the same.  Case is
ignored, and so is the spelling of brackets: ``(`` equals ``-LRB-``, ``[`` equals ``-LSB-``, ``{``
equals ``-LCB-``, and so on.

* A gold word may be missing from the prediction if the mask marks it as punctuation, or it has no
  letter and no digit.
* A predicted word may be missing from the gold sentence if it has no letter and no digit.
* The best alignment pairs the most gold words that are not punctuation, then the most words, then
  the first of equal gold words.

If both sides have the same words with letters or digits, in the same order, these are anchors that
pair in that order.  Only the few signs between two anchors need the dynamic program of `_best`; it
runs on the whole sentence if a gold word with letters is missing, as the mask allows.

Then punctuation is removed from both trees.  The *words* of a sentence are the gold words that are
not punctuation, numbered from 0, and every node of either tree becomes a half-open span of them:

* A node's span goes from its first word to its last.  In a predicted tree a gold word that the
  prediction lacks therefore lies inside a span if words on both sides of it do.
* A node without words vanishes, and so do words of the prediction that the gold sentence lacks.
* Preterminals are not constituents: a label whose only child is a word is that word's tag.
* A top node labelled "", ROOT, TOP, S1 or VROOT keeps its span but loses its label.

Nodes over the same words are one span with several labels, the topmost first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural
from dbpcfg.trees.tree import Tree

MISSING = -1
"""The gold position of a predicted word that the gold sentence does not have."""

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_IMPOSSIBLE = float("-inf")


class AlignmentError(DbpcfgError):
    """A predicted tree that is not over the words of its gold sentence."""


@lru_cache(maxsize=2**16)
def _normalised(word: str) -> str:
    """The form of a word that is compared."""
    word = word.casefold()
    if "-" in word:
        for name, bracket in _BRACKETS.items():
            word = word.replace(name, bracket)
    return word


@lru_cache(maxsize=2**16)
def has_letter_or_digit(word: str) -> bool:
    """Whether a token has a letter or digit; names of brackets, such as ``-LRB-``, do not count."""
    return any(character.isalnum() for character in _normalised(word))


def align(
    gold: Sequence[str],
    punctuation: Sequence[bool],
    predicted: Sequence[str],
    gold_location: str = "<gold>",
    predicted_location: str = "<predicted>",
) -> Sequence[int]:
    """Return for each predicted word the position of its gold word, or `MISSING`.

    ``punctuation``: marks the gold words that are punctuation.
    ``gold_location``: where the gold sentence is, such as ``wsj.trees:12``, for messages.
    """
    if len(punctuation) != len(gold):
        raise AlignmentError(
            f"{gold_location}: {plural(len(gold), 'word')} but "
            f"{plural(len(punctuation), 'mark')} of punctuation; give one mark for each word"
        )
    gold_forms, predicted_forms = (
        [_normalised(word) for word in gold],
        [_normalised(word) for word in predicted],
    )
    if gold_forms == predicted_forms:
        return range(len(predicted_forms))
    pairs = _anchored(gold_forms, punctuation, predicted_forms)
    if pairs is None:
        pairs = _best(gold_forms, punctuation, predicted_forms)
    if pairs is None:
        i, j = _first_mismatch(gold_forms, punctuation, predicted_forms)
        raise AlignmentError(
            f"{gold_location} and {predicted_location} are not the same sentence: word {i + 1} of "
            f"the first is {_quoted(gold, i)} where word {j + 1} of the second is "
            f"{_quoted(predicted, j)}; line i of PRED must be the tree of line i of GOLD, and only "
            "punctuation may be left out or added"
        )
    gold_positions = [MISSING] * len(predicted_forms)
    for i, j in pairs:
        gold_positions[j] = i
    return gold_positions


def _anchored(
    gold: Sequence[str], punctuation: Sequence[bool], predicted: Sequence[str]
) -> list[tuple[int, int]] | None:
    """The best pairs if the words with letters or digits are the same on both sides, or None."""
    rows = [i for i, word in enumerate(gold) if has_letter_or_digit(word)]
    columns = [j for j, word in enumerate(predicted) if has_letter_or_digit(word)]
    if [gold[i] for i in rows] != [predicted[j] for j in columns]:
        return None
    pairs = list(zip(rows, columns))
    next_gold = next_predicted = 0  # where the signs before the next anchor begin
    for i, j in zip([*rows, len(gold)], [*columns, len(predicted)]):
        if next_gold < i and next_predicted < j:
            signs = (
                _best(gold[next_gold:i], punctuation[next_gold:i], predicted[next_predicted:j])
                or []
            )
            pairs += [(next_gold + row, next_predicted + column) for row, column in signs]
        next_gold, next_predicted = i + 1, j + 1
    return pairs


def _best(
    gold: Sequence[str], punctuation: Sequence[bool], predicted: Sequence[str]
) -> list[tuple[int, int]] | None:
    """The best pairs (i, j), or None if a required word is missing::

        best(i,j) = max( weight(i) + best(i+1,j+1)  if words i and j are the same,
                         best(i+1,j)                if gold word i may be missing,
                         best(i,j+1)                if predicted word j may be missing )

    with weight 1 for punctuation and, for other gold words, more than all punctuation together.
    """
    m, n = len(gold), len(predicted)
    best = [[_IMPOSSIBLE] * (n + 1) for _ in range(m + 1)]
    best[m][n] = 0.0

    def choices(i: int, j: int) -> list[tuple[float, int, int]]:
        """Each possible step from (i, j): its score and its end, in order of preference."""
        steps = []
        if i < m and j < n and gold[i] == predicted[j]:
            weight = 1 if punctuation[i] else m + 1
            steps.append((weight + best[i + 1][j + 1], i + 1, j + 1))
        if i < m and (punctuation[i] or not has_letter_or_digit(gold[i])):
            steps.append((best[i + 1][j], i + 1, j))
        if j < n and not has_letter_or_digit(predicted[j]):
            steps.append((best[i][j + 1], i, j + 1))
        return steps

    for i in range(m, -1, -1):
        for j in range(n, -1, -1):
            best[i][j] = max([best[i][j], *(score for score, _, _ in choices(i, j))])
    if best[0][0] == _IMPOSSIBLE:
        return None
    pairs = []
    i = j = 0
    while (i, j) != (m, n):
        _, next_i, next_j = max(choices(i, j), key=lambda step: step[0])  # the first of equals
        if next_i > i and next_j > j:
            pairs.append((i, j))
        i, j = next_i, next_j
    return pairs


def _first_mismatch(
    gold: Sequence[str], punctuation: Sequence[bool], predicted: Sequence[str]
) -> tuple[int, int]:
    """Where a word-by-word alignment from the left fails."""
    i = j = 0
    while True:
        if i < len(gold) and j < len(predicted) and gold[i] == predicted[j]:
            i, j = i + 1, j + 1
        elif i < len(gold) and (punctuation[i] or not has_letter_or_digit(gold[i])):
            i += 1
        elif j < len(predicted) and not has_letter_or_digit(predicted[j]):
            j += 1
        else:
            return i, j


def _quoted(words: Sequence[str], position: int) -> str:
    return repr(words[position]) if position < len(words) else "missing (the sentence ends)"


Brackets: TypeAlias = dict[tuple[int, int], tuple[str, ...]]
"""The labels of each span, topmost first; spans are in pre-order."""

TOP_LABELS = frozenset({"", "ROOT", "TOP", "S1", "VROOT"})


@dataclass(frozen=True, slots=True)
class TreePair:
    """The two trees of one sentence, over its words without punctuation."""

    words: int
    """The number of words."""
    gold: Brackets
    """The brackets of the gold tree."""
    predicted: Brackets
    """The brackets of the predicted tree."""
    gold_tags: Sequence[str]
    """The gold tag of each word, or ""."""
    predicted_tags: Sequence[str]
    """The predicted tag of each word, or ""."""


def align_trees(gold: Sentence, predicted: Sentence, punctuation: Sequence[bool]) -> TreePair:
    """Align two trees and remove punctuation.

    ``punctuation``: marks the gold words that are punctuation.
    """
    aligned = align(gold.words, punctuation, predicted.words, gold.location, predicted.location)
    gold_words = number_words(punctuation)
    words = [MISSING if leaf == MISSING else gold_words[leaf] for leaf in aligned]
    total = sum(not mark for mark in punctuation)
    gold_brackets, gold_tags = brackets(_tree(gold), gold_words)
    predicted_brackets, predicted_tags = brackets(_tree(predicted), words)
    return TreePair(
        total,
        gold_brackets,
        predicted_brackets,
        _of_words(gold.tags or gold_tags, gold_words, total),
        _of_words(predicted_tags, words, total),
    )


def number_words(punctuation: Sequence[bool]) -> list[int]:
    """Number the words that are not punctuation; punctuation is `MISSING`."""
    numbers = []
    total = 0
    for mark in punctuation:
        numbers.append(MISSING if mark else total)
        total += not mark
    return numbers


def brackets(tree: Tree, words: Sequence[int]) -> tuple[Brackets, list[str]]:
    """The brackets of a tree, and the tag of each leaf.

    ``words``: for every leaf the number of its word, or `MISSING`.
    """
    starts = [*words, max(words, default=0) + 1]  # for each leaf the first word from it on
    for leaf in range(len(words) - 1, -1, -1):
        if starts[leaf] == MISSING:
            starts[leaf] = starts[leaf + 1]
    spans: list[tuple[int, int, str]] = []
    tags: list[str] = []
    end = 0  # of the last word so far
    todo: list[Tree | str | int] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, int):  # all descendants of this span's node have been visited
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
    labels_of: Brackets = {}
    for start, end, label in spans:
        if start < end:
            labels_above = labels_of.get((start, end), ())
            only_top = label in TOP_LABELS and not labels_above and (start, end) == spans[0][:2]
            labels_of[start, end] = () if only_top else (*labels_above, label)
    return labels_of, tags


def _tree(sentence: Sentence) -> Tree:
    if sentence.tree is None:
        raise DbpcfgError(f"{sentence.location}: found words but no tree; only trees can be scored")
    return sentence.tree


def _of_words(tags: Sequence[str], words: Sequence[int], total: int) -> list[str]:
    of_words = [""] * total
    for tag, word in zip(tags, words):
        if word != MISSING:
            of_words[word] = tag
    return of_words
