"""Constituents of sentences that are known: from text with square brackets, or from trees.

``[the dog] barked at [the [old cat]]`` has brackets at the edges of words, or as words of their
own. Of a tree, whatever its labels, every constituent is one. Trees that are
learned or parsed then have all of them; the rest of the tree is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from dbpcfg.corpus.sentence import Sentence, Spans
from dbpcfg.errors import DbpcfgError


class BracketError(DbpcfgError):
    """Malformed brackets, or brackets that no tree can have."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason = reason


_SKIP = "--skip-broken (in Python skip_broken=True) skips such sentences"


def add_brackets(sentence: Sentence, kind: str) -> Sentence:
    """A sentence with the brackets that its text (``"text"``) or its tree (``"trees"``) has."""
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

    def broken(what: str) -> BracketError:
        return BracketError(f"{sentence.location}: found {what}", _SKIP)

    words: list[str] = []
    spans: list[tuple[int, int]] = []
    starts: list[int] = []
    for token in sentence.words:
        rest = token.lstrip("[")
        word = rest.rstrip("]")
        if "[" in word or "]" in word:
            raise broken(
                f"a square bracket within {token!r}, expected brackets at the edges of words; put "
                "spaces around it, or write -LSB- or -RSB- for a bracket that is a word"
            )
        starts += [len(words)] * (len(token) - len(rest))
        words += [word] * bool(word)
        for _ in range(len(rest) - len(word)):
            if not starts:
                raise broken(
                    f"{token!r}, which closes a bracket that was not opened, expected a [ before it"
                )
            spans.append((starts.pop(), len(words)))
            if spans[-1][0] == len(words):
                raise broken("[], a bracket over no word, expected words in it")
    if starts:
        rest = " ".join(words[starts[-1] :])
        raise broken(f"'[{rest}', a bracket that is not closed, expected a ] after it")
    return replace(sentence, words=tuple(words), brackets=tuple(spans))


def add_punctuation_brackets(sentence: Sentence, punctuation: Sequence[bool]) -> Sentence:
    """A sentence with a bracket around each stretch of words between two punctuation marks.

    A tree with these brackets may join whole stretches, but no constituent ends within one and
    reaches beyond it. Stretches that cross brackets which are known already get none. Those of one
    word say where the marks were.

    ``punctuation``: for each word whether it is a mark.
    """
    edges = [-1, *(n for n, mark in enumerate(punctuation) if mark), len(punctuation)]
    stretches = [(i + 1, j) for i, j in pairwise(edges) if j - i > 1]
    known = set(sentence.brackets)
    new = [
        (i, j)
        for i, j in stretches
        if (i, j) not in known and not any(a < i < b < j or i < a < j < b for a, b in known)
    ]
    return replace(sentence, brackets=(*sentence.brackets, *new)) if new else sentence


def check_brackets(sentence: Sentence) -> Sentence:
    """The sentence, or an error if its brackets cross or go beyond its words."""
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
    """Write brackets as messages show them; those of the sentence if none are given."""
    some = sentence.brackets if brackets is None else brackets
    return " ".join(f"[{' '.join(sentence.words[i:j])}]" for i, j in some)
