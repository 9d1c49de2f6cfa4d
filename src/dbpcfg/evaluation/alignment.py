"""A gold and a predicted tree over the same words: which word is which, and the spans of both.

Systems take punctuation out, or leave some of it in, and lower-case words; the rest must be the
same.  Two words are the same if they are equal without regard to case and to how brackets are
spelt: ``(`` is ``-LRB-``, ``[`` is ``-LSB-``, ``{`` is ``-LCB-``, and so on.

* A gold word may be missing from the prediction if it is punctuation, as the caller's mask says,
  or has no letter and no digit.
* A predicted word may be missing from the gold sentence if it has no letter and no digit.
* Of all such alignments the one taken pairs the most gold words that are not punctuation, then the
  most words, then the first of equal gold words.

Words with a letter or digit decide nearly everything: if both sides have the same ones in the same
order, they pair in that order, for each predicted one has to pair.  What lies between two of them
is a few signs, aligned by the dynamic program of `_best`; only if a gold word with letters is
missing, as the mask allows, does the program see the whole sentence.

Then punctuation is taken out of both trees.  The *words* of a sentence are the gold words that are
not punctuation, numbered from 0, and every node of either tree becomes a half-open span of them:

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
from functools import lru_cache
from typing import TypeAlias

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural
from dbpcfg.trees.tree import Tree

MISSING = -1
"""What a predicted word is aligned with if the gold sentence does not have it."""

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_IMPOSSIBLE = float("-inf")


class AlignmentError(DbpcfgError):
    """A predicted tree that is not over the words of its gold sentence."""


@lru_cache(maxsize=2**16)
def _normalised(word: str) -> str:
    """A word in the form that is compared."""
    word = word.casefold()
    if "-" in word:
        for name, bracket in _BRACKETS.items():
            word = word.replace(name, bracket)
    return word


@lru_cache(maxsize=2**16)
def has_letter_or_digit(word: str) -> bool:
    """Whether a token is more than signs; the names of brackets, such as ``-LRB-``, are signs."""
    return any(character.isalnum() for character in _normalised(word))


def align(
    gold: Sequence[str],
    punctuation: Sequence[bool],
    predicted: Sequence[str],
    gold_place: str = "<gold>",
    predicted_place: str = "<predicted>",
) -> Sequence[int]:
    """Align the words of a predicted tree with those of the gold sentence.

    ``punctuation``: marks the words of the gold sentence that are punctuation.
    ``gold_place``: where the gold sentence is, such as ``wsj.trees:12``, for messages.
    Returns for every predicted word the position of its gold word, ascending, or `MISSING`.
    """
    if len(punctuation) != len(gold):
        raise AlignmentError(
            f"{gold_place}: {plural(len(gold), 'word')} but "
            f"{plural(len(punctuation), 'mark')} of punctuation; give one mark for each word"
        )
    theirs, ours = [_normalised(word) for word in gold], [_normalised(word) for word in predicted]
    if theirs == ours:
        return range(len(ours))
    pairs = _anchored(theirs, punctuation, ours)
    if pairs is None:
        pairs = _best(theirs, punctuation, ours)
    if pairs is None:
        i, j = _first_mismatch(theirs, punctuation, ours)
        raise AlignmentError(
            f"{gold_place} and {predicted_place} are not the same sentence: word {i + 1} of the "
            f"first is {_quoted(gold, i)} where word {j + 1} of the second is "
            f"{_quoted(predicted, j)}; line i of PRED must be the tree of line i of GOLD, and only "
            "punctuation may be left out or added"
        )
    where = [MISSING] * len(ours)
    for i, j in pairs:
        where[j] = i
    return where


def _anchored(
    gold: Sequence[str], punctuation: Sequence[bool], predicted: Sequence[str]
) -> list[tuple[int, int]] | None:
    """The best pairs if the words with letters or digits are the same on both sides, or None."""
    rows = [i for i, word in enumerate(gold) if has_letter_or_digit(word)]
    columns = [j for j, word in enumerate(predicted) if has_letter_or_digit(word)]
    if [gold[i] for i in rows] != [predicted[j] for j in columns]:
        return None
    pairs = list(zip(rows, columns))
    x = y = 0  # where the signs before the next anchor begin
    for i, j in zip([*rows, len(gold)], [*columns, len(predicted)]):
        if x < i and y < j:
            signs = _best(gold[x:i], punctuation[x:i], predicted[y:j]) or []
            pairs += [(x + row, y + column) for row, column in signs]
        x, y = i + 1, j + 1
    return pairs


def _best(
    gold: Sequence[str], punctuation: Sequence[bool], predicted: Sequence[str]
) -> list[tuple[int, int]] | None:
    """The best pairs (i, j), or None if a word is missing that may not be::

        best(i,j) = max( weight(i) + best(i+1,j+1)  if words i and j are the same,
                         best(i+1,j)                if gold word i may be missing,
                         best(i,j+1)                if predicted word j may be missing )

    with weight 1 for punctuation and, for other gold words, more than all punctuation together.
    """
    m, n = len(gold), len(predicted)
    best = [[_IMPOSSIBLE] * (n + 1) for _ in range(m + 1)]
    best[m][n] = 0.0

    def choices(i: int, j: int) -> list[tuple[float, int, int]]:
        """Each next step: its score and where it leads, preferred ones first."""
        ways = []
        if i < m and j < n and gold[i] == predicted[j]:
            weight = 1 if punctuation[i] else m + 1
            ways.append((weight + best[i + 1][j + 1], i + 1, j + 1))
        if i < m and (punctuation[i] or not has_letter_or_digit(gold[i])):
            ways.append((best[i + 1][j], i + 1, j))
        if j < n and not has_letter_or_digit(predicted[j]):
            ways.append((best[i][j + 1], i, j + 1))
        return ways

    for i in range(m, -1, -1):
        for j in range(n, -1, -1):
            best[i][j] = max([best[i][j], *(score for score, _, _ in choices(i, j))])
    if best[0][0] == _IMPOSSIBLE:
        return None
    pairs = []
    i = j = 0
    while (i, j) != (m, n):
        _, next_i, next_j = max(choices(i, j), key=lambda way: way[0])  # the first of equals
        if next_i > i and next_j > j:
            pairs.append((i, j))
        i, j = next_i, next_j
    return pairs


def _first_mismatch(
    gold: Sequence[str], punctuation: Sequence[bool], predicted: Sequence[str]
) -> tuple[int, int]:
    """Where an alignment from the left, word by word, ends: no alignment is possible."""
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
"""From spans, in pre-order, to the labels over them, the topmost first."""

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
    """The gold tag of each word, "" where there is none."""
    predicted_tags: Sequence[str]
    """The same in the predicted tree."""


def align_trees(gold: Sentence, predicted: Sentence, punctuation: Sequence[bool]) -> TreePair:
    """Align two trees and take the punctuation out.

    ``punctuation``: marks the words of the gold sentence that are punctuation.
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
    labels_of: Brackets = {}
    for start, end, label in spans:
        if start < end:
            above = labels_of.get((start, end), ())
            only_top = label in TOP_LABELS and not above and (start, end) == spans[0][:2]
            labels_of[start, end] = () if only_top else (*above, label)
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
