"""Sentences as they are in files, and which of their words are punctuation.

Punctuation is used for learning, but removed from gold and predicted trees for scoring.  There are
two rules to recognise it.  By *tags*: the seven punctuation tags of the Penn Treebank, ``PUNCT`` of
Universal Dependencies, those of EAGLES, ``F`` and small letters (``Fp``), of STTS (``$,``, ``$.``,
``$[``), of Alpino and CGN (``punct``, ``let``, ``LET``), of CorpusSearch treebanks (``PU`` and the
like, ``'``, ``"``), and of the Sinica treebank, which end in ``CATEGORY``.  By *characters*: words
without a letter or digit of any script, and names of brackets such as ``-LRB-``.

Currency signs, ``#``, ``%`` and ``&`` are words under both rules: they are read aloud ("three
dollars"), and in the Penn Treebank ``$`` and ``#`` are the tags of such words; without them, a
quantity such as ``$ 3`` would lose its head.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal, TypeAlias

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree, without_words

Spans: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, with the annotation in its file."""

    words: tuple[str, ...]
    """The words from left to right."""
    tags: tuple[str, ...] | None = None
    """The part of speech of each word; None if the file has none."""
    tree: Tree | None = None
    """A tree over exactly these words."""
    speaker: str | None = None
    """The speaker, by code or role."""
    source: str = "<text>"
    """The file."""
    line: int = 0
    """The line on which it begins, counted from 1."""
    xpos: tuple[str, ...] | None = None
    """Language-specific parts of speech, from CoNLL-U."""
    heads: tuple[int, ...] | None = None
    """The position of each word's head, from 0, or -1 for the root; from CoNLL-U."""
    brackets: Spans = ()
    """Known constituents, as half-open spans ``(start, end)`` from 0."""

    @classmethod
    def from_tree(cls, tree: Tree, source: str = "<text>", line: int = 0) -> Sentence:
        """Make a sentence of a tree: its words, and its tags if every word has one.

        Parameters
        ----------
        tree
            The tree.
        source
            The file that it comes from.
        line
            Its line there.
        """
        words, tags = zip(*tree.leaves())
        return cls(words, tags if all(tags) else None, tree, source=source, line=line)

    @property
    def location(self) -> str:
        """File and line, for error messages."""
        return f"{self.source}:{self.line}"

    def gold_tree(self) -> Tree:
        """The tree of the sentence.

        Raises
        ------
        DbpcfgError
            If it has none.
        """
        if self.tree is None:
            raise DbpcfgError(
                f"{self.location}: the sentence has no tree; gold trees come from a treebank, "
                "such as one in Penn brackets"
            )
        return self.tree


def as_sentences(items: Iterable[Sentence | Tree], source: str) -> list[Sentence]:
    """Turn trees into sentences.

    ``source``: the name for the source of trees in messages.
    """
    return [
        item if isinstance(item, Sentence) else Sentence.from_tree(item, source, number)
        for number, item in enumerate(items, start=1)
    ]


PENN_TAGS = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
"""The tags of punctuation in the Penn Treebank."""

UPOS_TAG = "PUNCT"
"""The tag of punctuation in Universal Dependencies."""

PunctuationRule = Literal["auto", "tags", "characters", "both"]

_CORPUSSEARCH_TAGS = frozenset({"PU", "PUL", "PUR", "PUQ", "PUNC", "'", '"'})
_TAGS = PENN_TAGS | _CORPUSSEARCH_TAGS | {UPOS_TAG, "$,", "$.", "$[", "punct", "let", "LET"}
_PATTERN = re.compile(r"F[a-z]{1,2}|[A-Z]+CATEGORY", re.ASCII)
_BRACKET = re.compile(r"-[LR][RCS]B-", re.IGNORECASE)  # also where words have been lower-cased


def by_tags(tags: Sequence[str]) -> tuple[bool, ...]:
    """Whether each tag is a punctuation tag."""
    return tuple(tag in _TAGS or _PATTERN.fullmatch(tag) is not None for tag in tags)


def by_characters(words: Sequence[str]) -> tuple[bool, ...]:
    """Whether each word is punctuation by its characters."""
    return tuple(map(_is_punctuation, words))


def punctuation_mask(sentence: Sentence, rule: PunctuationRule = "auto") -> tuple[bool, ...]:
    """Whether each word of a sentence is punctuation.

    ``rule``: ``"tags"``; ``"characters"``; ``"auto"``: by tags if the sentence has them, and by
    characters otherwise; or ``"both"``: punctuation by either rule.
    """
    if rule not in ("auto", "tags", "characters", "both"):
        raise DbpcfgError(
            f"there is no punctuation rule {rule!r}; choose auto, tags, characters or both"
        )
    if rule == "characters" or (rule == "auto" and sentence.tags is None):
        return by_characters(sentence.words)
    if sentence.tags is None:
        raise DbpcfgError(
            f"{sentence.location}: the sentence has no tags to recognise punctuation by; "
            "use the rule 'characters' or 'auto'"
        )
    tagged = tuple(
        mark or (word == tag and _is_punctuation(word))
        for mark, word, tag in zip(by_tags(sentence.tags), sentence.words, sentence.tags)
    )
    if rule == "both":
        return tuple(map(max, tagged, by_characters(sentence.words)))
    return tagged


def without_punctuation(sentence: Sentence, rule: PunctuationRule = "auto") -> Sentence:
    """Remove the punctuation of a sentence, unless it has nothing else."""
    marks = punctuation_mask(sentence, rule)
    if all(marks) or not any(marks):
        return sentence

    def kept(values: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if values is None else tuple(v for v, mark in zip(values, marks) if not mark)

    tree = None if sentence.tree is None else without_words(sentence.tree, marks)
    words, tags, xpos = map(kept, (sentence.words, sentence.tags, sentence.xpos))
    assert words is not None
    brackets = remap_brackets(sentence.brackets, [not mark for mark in marks])
    return replace(
        sentence, words=words, tags=tags, tree=tree, xpos=xpos, heads=None, brackets=brackets
    )


def remap_brackets(brackets: Spans, sizes: Sequence[int]) -> Spans:
    """Adapt brackets after each word has been replaced by ``sizes[i]`` words, which may be 0."""
    to = [0, *accumulate(sizes)]
    return tuple((to[i], to[j]) for i, j in brackets if to[i] < to[j])


def rule_name(sentences: Sequence[Sentence], rule: PunctuationRule) -> str:
    """The name of a rule in the signature of a score.

    ``sentences``: the gold sentences; the first decides what ``"auto"`` means.
    """
    if rule == "auto":
        return "tags" if sentences and sentences[0].tags is not None else "characters"
    return "tags-and-characters" if rule == "both" else rule


_EMPTY = re.compile(r"\*+(?:[^*]+\*+)?(?:[-=][0-9]+)?")  # *, *T*-1, *pro*, *-1
_SIGNS = frozenset({"", "SYM", "NFP"})  # tags of stars that are words; "" is no tag
_SILENT_TAGS = re.compile(r"C|W.*|(?!NN).*P")  # complementisers, wh-words and phrases
_NUMBERED = re.compile(r"[^,;]*\.[0-9]+")
_IDENTIFIER = re.compile(r"[0-9]+_[^;]+;[A-Z]{2}")


def looks_empty(word: str, tag: str) -> bool:
    """Whether a word looks like an empty element of a treebank; ``tag`` may be empty."""
    if word == "0":
        return _SILENT_TAGS.fullmatch(tag) is not None
    if not word.startswith("*") or _EMPTY.fullmatch(word) is None:
        return False
    return bool(word.strip("*")) or not (tag in _SIGNS or by_tags([tag])[0])


def looks_like_identifier(word: str, tag: str) -> bool:
    """Whether a word looks like the identifier of a tree, such as ``CMMALORY,2.3``."""
    text, comma, number = word.partition(",")
    numbered = comma and any(map(str.isalpha, text)) and _NUMBERED.fullmatch(number)
    return tag == "ID" or bool(numbered) or _IDENTIFIER.fullmatch(word) is not None


@lru_cache(maxsize=1 << 16)
def _is_punctuation(word: str) -> bool:
    return not any(map(_is_pronounced, word)) or _BRACKET.fullmatch(word) is not None


def _is_pronounced(character: str) -> bool:
    return character.isalnum() or character in "#%&" or unicodedata.category(character) == "Sc"
