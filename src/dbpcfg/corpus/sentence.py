"""A sentence as it stands in a file, and which of its words are punctuation.

Punctuation stays in for learning, and is removed on both sides for scoring.  There are two rules.
By *tags*: the seven punctuation tags of the Penn Treebank, ``PUNCT`` of Universal Dependencies,
those of EAGLES, ``F`` and small letters (``Fp``), of STTS (``$,``, ``$.``, ``$[``), of Alpino and
CGN (``punct``, ``let``, ``LET``), of CorpusSearch treebanks (``PU`` and the like, ``'``, ``"``), or
of the Sinica treebank, which end in ``CATEGORY``.  By *characters*: a word without a letter or
digit of any script, or one that stands for a bracket, such as ``-LRB-``.

Currency signs, ``#``, ``%`` and ``&`` are words under both rules.  They are read aloud ("three
dollars"), they fill a place in a phrase, and in the Penn Treebank ``$`` and ``#`` are the tags of
such words: without them a quantity like ``$ 3`` would lose its head.
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
    """A sentence, with what its file says about it."""

    words: tuple[str, ...]
    """The words from left to right."""
    tags: tuple[str, ...] | None = None
    """Parts of speech, one a word; None if the file has none."""
    tree: Tree | None = None
    """A tree over exactly these words."""
    speaker: str | None = None
    """Who said it, by code or role."""
    source: str = "<text>"
    """The file."""
    line: int = 0
    """The line on which it begins, counted from 1."""
    xpos: tuple[str, ...] | None = None
    """Parts of speech of the treebank's own, beside universal ones; CoNLL-U has both."""
    heads: tuple[int, ...] | None = None
    """The position of each word's head, from 0, and -1 for the root; only CoNLL-U has them."""
    brackets: Spans = ()
    """Constituents that are known, as ``(start, end)`` from 0, without the word at ``end``."""

    @classmethod
    def from_tree(cls, tree: Tree, source: str = "<text>", line: int = 0) -> Sentence:
        """The words of a tree, and its tags if every word has one.

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
        """Where the sentence is, as error messages name it."""
        return f"{self.source}:{self.line}"

    def gold_tree(self) -> Tree:
        """Its tree.

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
    """Make sentences of trees.

    ``source``: the name of the text that trees are lines of.
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
            f"{sentence.location}: the sentence has no tags to recognise punctuation by; "
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
    known = remap_brackets(sentence.brackets, [not drop for drop in gone])
    return replace(
        sentence, words=words, tags=tags, tree=tree, xpos=xpos, heads=None, brackets=known
    )


def remap_brackets(brackets: Spans, sizes: Sequence[int]) -> Spans:
    """Brackets over what became of words, which are so many now: none, one, or several each."""
    to = [0, *accumulate(sizes)]
    return tuple((to[i], to[j]) for i, j in brackets if to[i] < to[j])


def rule_name(sentences: Sequence[Sentence], rule: PunctuationRule) -> str:
    """The name of a rule in the signature of a score.

    ``sentences``: the gold sentences; the first decides what ``"auto"`` is.
    """
    if rule == "auto":
        return "tags" if sentences and sentences[0].tags is not None else "characters"
    return "tags-and-characters" if rule == "both" else rule


_EMPTY = re.compile(r"\*+(?:[^*]+\*+)?(?:[-=][0-9]+)?")  # *, *T*-1, *pro*, *-1
_SIGNS = frozenset({"", "SYM", "NFP"})  # tags under which a star may be a star; "" is none
_UNSAID = re.compile(r"C|W.*|(?!NN).*P")  # complementisers, wh-words and phrases
_NUMBERED = re.compile(r"[^,;]*\.[0-9]+")
_IDENTIFIER = re.compile(r"[0-9]+_[^;]+;[A-Z]{2}")


def looks_empty(word: str, tag: str) -> bool:
    """Whether a word looks like an empty element of a treebank; ``tag`` may be empty."""
    if word == "0":
        return _UNSAID.fullmatch(tag) is not None
    if not word.startswith("*") or _EMPTY.fullmatch(word) is None:
        return False
    return bool(word.strip("*")) or not (tag in _SIGNS or by_tags([tag])[0])


def looks_like_identifier(word: str, tag: str) -> bool:
    """Whether a word looks like the identifier of a tree, such as ``CMMALORY,2.3``."""
    text, comma, number = word.partition(",")
    numbered = comma and any(map(str.isalpha, text)) and _NUMBERED.fullmatch(number)
    return tag == "ID" or bool(numbered) or _IDENTIFIER.fullmatch(word) is not None


@lru_cache(maxsize=1 << 16)
def _silent(word: str) -> bool:
    return not any(map(_aloud, word)) or _BRACKET.fullmatch(word) is not None


def _aloud(character: str) -> bool:
    return character.isalnum() or character in "#%&" or unicodedata.category(character) == "Sc"
