"""Constituents of sentences that are known: from text with square brackets, or from trees.

``[the dog] barked at [the [old cat]]`` has brackets at the edges of words, or as words of their
own. Of a tree, whatever its labels, every constituent is one. A tree that is learned or found then
has all of them; what is not in brackets is left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbpcfg.corpus.sentence import Sentence, Spans
from dbpcfg.errors import DbpcfgError


class BracketError(DbpcfgError):
    """Brackets that are broken, or that no tree can have."""


def bracketed(sentence: Sentence, kind: str) -> Sentence:
    """A sentence with the brackets that its text (``"text"``) or its tree (``"trees"``) has."""
    if kind == "text":
        return _from_text(sentence)
    if sentence.tree is None:
        raise DbpcfgError(
            f"{sentence.place}: brackets = trees needs trees, and this sentence has none; a flat "
            f"tree, such as (S the dog barked), leaves everything open"
        )
    return replace(sentence, brackets=tuple((i, j) for i, j, _ in sentence.tree.spans()))


def _from_text(sentence: Sentence) -> Sentence:
    if sentence.tree is not None or sentence.tags is not None:
        raise DbpcfgError(
            f"{sentence.place}: brackets = text is for plain text, and this sentence has tags or a "
            "tree; brackets = trees takes those of trees"
        )
    words: list[str] = []
    found: list[tuple[int, int]] = []
    open_ones: list[int] = []
    for token in sentence.words:
        rest = token.lstrip("[")
        word = rest.rstrip("]")
        if "[" in word or "]" in word:
            raise BracketError(
                f"{sentence.place}: found a square bracket within {token!r}, expected brackets at "
                "the edges of words; put spaces around it, or write -LSB- or -RSB- for a bracket "
                "that is a word"
            )
        open_ones += [len(words)] * (len(token) - len(rest))
        words += [word] * bool(word)
        for _ in range(len(rest) - len(word)):
            if not open_ones:
                raise BracketError(
                    f"{sentence.place}: found {token!r}, which closes a bracket that was not opened"
                )
            found.append((open_ones.pop(), len(words)))
            if found[-1][0] == len(words):
                raise BracketError(f"{sentence.place}: found [], a bracket over no word")
    if open_ones:
        rest = " ".join(words[open_ones[-1] :])
        raise BracketError(f"{sentence.place}: found '[{rest}', a bracket that is not closed")
    return replace(sentence, words=tuple(words), brackets=tuple(found))


def checked(sentence: Sentence) -> Sentence:
    """A sentence whose brackets, whoever gave them, are over its words and do not cross."""
    spans = sorted(sentence.brackets, key=lambda span: (span[0], -span[1]))
    around: list[tuple[int, int]] = []
    for start, end in spans:
        if not 0 <= start < end <= len(sentence.words):
            raise BracketError(
                f"{sentence.place}: found the bracket ({start}, {end}), which is over words that "
                f"are not there: the sentence has {len(sentence.words):,}"
            )
        while around and around[-1][1] <= start:
            around.pop()
        if around and around[-1][1] < end:
            pair = shown(sentence, [around[-1], (start, end)])
            raise BracketError(f"{sentence.place}: the brackets {pair} cross; no tree has both")
        around.append((start, end))
    return sentence


def shown(sentence: Sentence, brackets: Spans | Sequence[tuple[int, int]] | None = None) -> str:
    """Brackets as messages name them; those of the sentence if none are given."""
    some = sentence.brackets if brackets is None else brackets
    return " ".join(f"[{' '.join(sentence.words[i:j])}]" for i, j in some)
