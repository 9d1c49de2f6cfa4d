"""Recognising punctuation: it stays in for learning, and is removed on both sides for scoring.

Two rules.  By *tags*: the seven punctuation tags of the Penn Treebank, ``PUNCT`` of Universal
Dependencies, those of EAGLES, ``F`` and small letters (``Fp``), of STTS (``$,``, ``$.``, ``$[``),
of Alpino and CGN (``punct``, ``let``, ``LET``), or of the Sinica treebank, which end in
``CATEGORY``.  By *characters*: a word without a letter or digit of any script, or one that stands
for a bracket, such as ``-LRB-``.

Currency signs, ``#``, ``%`` and ``&`` are words under both rules.  They are read aloud ("three
dollars"), they fill a place in a phrase, and in the Penn Treebank ``$`` and ``#`` are the tags of
such words: without them a quantity like ``$ 3`` would lose its head.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import without_words

PENN_TAGS = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
"""The tags of punctuation in the Penn Treebank."""

UPOS_TAG = "PUNCT"
"""The tag of punctuation in Universal Dependencies."""

PunctuationRule = Literal["auto", "tags", "characters", "both"]

_TAGS = PENN_TAGS | {UPOS_TAG, "$,", "$.", "$[", "punct", "let", "LET"}
_PATTERN = re.compile(r"F[a-z]{1,2}|[A-Z]+CATEGORY", re.ASCII)
_BRACKET = re.compile(r"-[LR][RCS]B-", re.IGNORECASE)  # also where words have been lower-cased


def by_tags(tags: Sequence[str]) -> tuple[bool, ...]:
    """For each tag whether it is one of punctuation."""
    return tuple(tag in _TAGS or _PATTERN.fullmatch(tag) is not None for tag in tags)


def by_characters(words: Sequence[str]) -> tuple[bool, ...]:
    """For each word whether it is punctuation by its characters."""
    return tuple(map(_silent, words))


def punctuation_mask(sentence: Sentence, rule: PunctuationRule = "auto") -> tuple[bool, ...]:
    """For each word of a sentence whether it is punctuation.

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
            f"{sentence.place}: the sentence has no tags to recognise punctuation by; "
            "use the rule 'characters' or 'auto'"
        )
    tagged = by_tags(sentence.tags)
    if rule == "both":
        return tuple(map(max, tagged, by_characters(sentence.words)))
    return tagged


def without_punctuation(sentence: Sentence, rule: PunctuationRule = "auto") -> Sentence:
    """A sentence without its punctuation; as it is, if there is nothing else."""
    gone = punctuation_mask(sentence, rule)
    if all(gone) or not any(gone):
        return sentence

    def kept(values: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if values is None else tuple(v for v, drop in zip(values, gone) if not drop)

    tree = None if sentence.tree is None else without_words(sentence.tree, gone)
    words, tags, xpos = map(kept, (sentence.words, sentence.tags, sentence.xpos))
    assert words is not None
    return replace(sentence, words=words, tags=tags, tree=tree, xpos=xpos, heads=None)


def recognised_by(sentences: Sequence[Sentence], rule: PunctuationRule) -> str:
    """The name of a rule in the signature of a score.

    ``sentences``: the gold sentences; the first decides what ``"auto"`` is.
    """
    if rule == "auto":
        return "tags" if sentences and sentences[0].tags is not None else "characters"
    return "tags-and-characters" if rule == "both" else rule


@lru_cache(maxsize=1 << 16)
def _silent(word: str) -> bool:
    return not any(map(_aloud, word)) or _BRACKET.fullmatch(word) is not None


def _aloud(character: str) -> bool:
    return character.isalnum() or character in "#%&" or unicodedata.category(character) == "Sc"
