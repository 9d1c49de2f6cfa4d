"""Known constituents of sentences, from text with square brackets or from trees.

In ``[the dog] barked at [the [old cat]]`` brackets are at the edges of words; they may also be
separate tokens. From a tree all constituents are taken, whatever their labels. Trees that are
learned or parsed have all known constituents; the rest of the tree is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from dbpcfg.corpus.sentence import Sentence, Spans
from dbpcfg.errors import DbpcfgError


class BracketError(DbpcfgError):
    """Malformed or crossing brackets."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason = reason


_SKIP = "--skip-broken (in Python skip_broken=True) skips such sentences"


def add_brackets(sentence: Sentence, kind: str) -> Sentence:
    """Add the brackets in the text (``"text"``) or the tree (``"trees"``) of a sentence."""
    if kind == "text":
        return _from_text(sentence)
    if sentence.tree is None:
        raise DbpcfgError(
            f"{sentence.location}: brackets = trees needs trees, and this sentence has none; a "
            f"flat tree, such as (S the dog barked), leaves everything open"
        )
    return replace(sentence, brackets=tuple((i, j) for i, j, _ in sentence.tree.spans()))


def _from_text(sentence: Sentence) -> Sentence:
    if sentence.tree is not None or sentence.tags is not None:
        raise DbpcfgError(
            f"{sentence.location}: brackets = text is for plain text, and this sentence has "
            "tags or a tree; brackets = trees takes those of trees"
        )

    def broken(problem: str) -> BracketError:
        return BracketError(f"{sentence.location}: found {problem}", _SKIP)

    words: list[str] = []
    spans: list[tuple[int, int]] = []
    starts: list[int] = []
    for token in sentence.words:
        remaining = token.lstrip("[")
        word = remaining.rstrip("]")
        if "[" in word or "]" in word:
            raise broken(
                f"a square bracket within {token!r}, expected brackets at the edges of words; put "
                "spaces around it, or write -LSB- or -RSB- for a bracket that is a word"
            )
        starts += [len(words)] * (len(token) - len(remaining))
        words += [word] * bool(word)
        for _ in range(len(remaining) - len(word)):
            if not starts:
                raise broken(
                    f"{token!r}, which closes a bracket that was not opened, expected a [ before it"
                )
            spans.append((starts.pop(), len(words)))
            if spans[-1][0] == len(words):
                raise broken("[], a bracket over no word, expected words in it")
    if starts:
        remaining = " ".join(words[starts[-1] :])
        raise broken(f"'[{remaining}', a bracket that is not closed, expected a ] after it")
    return replace(sentence, words=tuple(words), brackets=tuple(spans))


def add_punctuation_brackets(sentence: Sentence, punctuation: Sequence[bool]) -> Sentence:
    """Add a bracket around the words between each two punctuation marks.

    So no constituent crosses a punctuation mark unless it covers whole stretches between marks. A
    bracket that would cross an existing one is not added. Brackets of one word show where the marks
    were.

    ``punctuation``: whether each word is a punctuation mark.
    """
    edges = [-1, *(n for n, mark in enumerate(punctuation) if mark), len(punctuation)]
    stretches = [(i + 1, j) for i, j in pairwise(edges) if j - i > 1]
    existing = set(sentence.brackets)
    added = [
        (i, j)
        for i, j in stretches
        if (i, j) not in existing and not any(a < i < b < j or i < a < j < b for a, b in existing)
    ]
    return replace(sentence, brackets=(*sentence.brackets, *added)) if added else sentence


def check_brackets(sentence: Sentence) -> Sentence:
    """Return the sentence, or raise an error if its brackets cross or are out of range."""
    spans = sorted(sentence.brackets, key=lambda span: (span[0], -span[1]))
    around: list[tuple[int, int]] = []
    for start, end in spans:
        if not 0 <= start < end <= len(sentence.words):
            raise BracketError(
                f"{sentence.location}: found the bracket ({start}, {end}), which is over words "
                f"that are not there: the sentence has {len(sentence.words):,}"
            )
        while around and around[-1][1] <= start:
            around.pop()
        if around and around[-1][1] < end:
            pair = show_brackets(sentence, [around[-1], (start, end)])
            raise BracketError(f"{sentence.location}: the brackets {pair} cross; no tree has both")
        around.append((start, end))
    return sentence


def show_brackets(
    sentence: Sentence, brackets: Spans | Sequence[tuple[int, int]] | None = None
) -> str:
    """Brackets as text for messages; by default those of the sentence."""
    spans = sentence.brackets if brackets is None else brackets
    return " ".join(f"[{' '.join(sentence.words[i:j])}]" for i, j in spans)
