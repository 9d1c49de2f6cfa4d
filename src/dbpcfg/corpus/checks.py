"""Check whether a text is ready to learn from or to parse, and give the most important warning.

A text for a model is compared with the words that the model knows. The warnings, in this order:

1. Most sentences are one long word, or have very long words in a script without spaces.
2. Square brackets enclose several words.  There is no warning about single words, such as
   ``[laughs]``, and codes such as ``[= the dog]``, which may be words of the text.
3. English contractions are whole, but the model knows them split (*that 's*), or the reverse.
4. Punctuation is attached to words.  Apostrophes, hyphens and brackets do not count, as they belong
   to words in many texts: ``'ohana``, ``dogs'``, ``-ed``, ``<unk>``.
5. Hardly any word is repeated; or the model does not know most words.

Warnings 1 to 4 are for plain text only, as treebanks are tokenised.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from dbpcfg.corpus.brackets import BracketError, add_brackets
from dbpcfg.corpus.sentence import Sentence, by_characters
from dbpcfg.corpus.tokens import is_clitic, is_contraction, split_tokens
from dbpcfg.io.tables import plural

BATCH_SIZE = 256
"""Sentences that are checked before the first is used."""
LONG, LONG_UNSPACED = 10, 5
"""Letters of a word that may be a sentence; the mean over words in scripts without spaces."""
FEW_SENTENCES, FEW_ATTACHED, FEW_WORDS = 5, 3, 100
"""The least numbers of sentences, of words with punctuation, and of words for a warning."""
MANY_WORDS = 200
"""In most texts of this many words, many are repeated."""

CACHE_SIZE = 1 << 16
"""Size of caches of words."""

Item = TypeVar("Item")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"  # kana, Han
)
_IN_WORDS = frozenset("'’‘*@/\\[]{}")
_CODES = frozenset("=%*+/?!:<>^#$&@-")


class TextCheck:
    """Counts over the sentences of a text, and the warning that follows from them.

    ``kind``: returns ``"word"``, ``"class"`` or ``"unknown"`` for a word, by what the model knows;
    None for a text to learn from.
    """

    def __init__(self, kind: Callable[[str], str] | None = None) -> None:
        self.kind = kind
        self.counts = Counter[str]()
        self.examples: dict[str, str] = {}
        """The first example of each count."""
        self.forms: set[str] = set()
        """The distinct words, in lower case, of a text to learn from."""

    def update(self, sentences: Iterable[Sentence]) -> str | None:
        """Count more sentences; return the warning, if there is one."""
        for sentence in sentences:
            self._add(sentence)
        last = self._unrepeated if self.kind is None else self._unknown
        checks = (self._unsplit, self._bracketed, self._contracted, self._attached, last)
        notes = (check() for check in checks)
        return next(filter(None, notes), None)

    def _add(self, sentence: Sentence) -> None:
        words = sentence.words
        self.counts["words"] += len(words)
        if self.kind is None:
            kinds = [""] * len(words)
            self.forms.update(map(str.lower, words))
        else:
            kinds = list(map(self.kind, words))
            self._count("unknown", (w for w, kind in zip(words, kinds) if kind == "unknown"))
            self._count("split", self._split(words, kinds))
        if sentence.tags is not None or sentence.tree is not None:
            return
        self.counts["sentences"] += 1
        self.counts["unsplit"] += "word" not in kinds and _may_be_unsplit(words)
        self.counts["marks"] += sum(by_characters(words))
        strange = [w for w, kind in zip(words, kinds) if kind != "word"]
        if self.kind is None:  # a full stop within a sentence belongs to an abbreviation
            strange[:-1] = [word.removesuffix(".") for word in strange[:-1]]
        self._count("attached", filter(self._is_attached, strange))
        self._count("whole", filter(self._is_whole, strange))
        if any("[" in word or "]" in word for word in words):
            self._count(*_brackets(sentence))

    def _count(self, name: str, examples: Iterable[str]) -> None:
        for example in examples:
            self.counts[name] += 1
            self.examples.setdefault(name, example)

    def _is_attached(self, word: str) -> bool:
        """Whether punctuation is attached to a word whose parts the model, if any, knows."""
        kind = self.kind
        return has_attached_punctuation(word) and (
            kind is None or any(kind(part) == "word" for part in split_tokens(word, "punctuation"))
        )

    def _is_whole(self, word: str) -> bool:
        """Whether a word is a contraction that the model knows split."""
        kind = self.kind
        if kind is None or not any(map(is_contraction, split_tokens(word, "punctuation"))):
            return False
        parts = split_tokens(word, "penn")
        return all(kind(part) == "word" for part in parts if is_clitic(part) or part.isalnum())

    def _split(self, words: Sequence[str], kinds: Sequence[str]) -> Iterator[str]:
        """The split contractions that the model knows whole."""
        for previous, (word, kind) in zip(words, list(zip(words, kinds))[1:]):
            is_unknown_clitic = kind != "word" and is_clitic(word)
            if is_unknown_clitic and self.kind is not None and self.kind(previous + word) == "word":
                yield f"{previous} {word}"

    def _contracted(self) -> str | None:
        whole_count, split_count, words = (
            self.counts["whole"],
            self.counts["split"],
            self.counts["words"],
        )
        if max(whole_count, split_count) <= words / 100:
            return None
        if whole_count >= split_count:
            return (
                f"{whole_count:,} of {plural(words, 'word')} are contracted forms, such as "
                f"{self.examples['whole']!r}, which the model knows split: give --tokens penn (in "
                "Python tokens='penn')"
            )
        return (
            f"{split_count:,} of {plural(words, 'word')} are split contracted forms, such as "
            f"{self.examples['split']!r}, which the model knows as one word: a model of text that "
            "was split with induce --tokens penn (in Python tokens='penn') fits this text"
        )

    def _unsplit(self) -> str | None:
        number, sentences = self.counts["unsplit"], self.counts["sentences"]
        if sentences < FEW_SENTENCES or number <= sentences / 2:
            return None
        return (
            f"{number:,} of {sentences:,} sentences look like a single long word: is the text "
            "split into words? There is nothing to learn within a word. A word segmenter helps: "
            "fugashi or sudachipy for Japanese, jieba or pkuseg for Chinese, pythainlp for Thai"
        )

    def _bracketed(self) -> str | None:
        number, sentences = self.counts["brackets"], self.counts["sentences"]
        if number <= max(self.counts["broken"], sentences / 20):
            return None
        return (
            f"square brackets are around several words in {number:,} of "
            f"{plural(sentences, 'sentence')}, such as {self.examples['brackets']!r}, and are read "
            "as parts of words: if they are constituents, give --brackets text to induce or parse "
            "(in Python brackets='text'); else remove them"
        )

    def _attached(self) -> str | None:
        number, words = self.counts["attached"], self.counts["words"]
        if number <= words / 50:
            return None
        remedy = (
            f"such as {self.examples['attached']!r}: set it apart with --tokens punctuation (in "
            "Python tokens='punctuation')"
        )
        if self.kind is not None:
            return (
                f"the model does not know {number:,} of {plural(words, 'word')} because "
                f"punctuation is attached, {remedy}"
            )
        if number <= max(FEW_ATTACHED - 1, self.counts["marks"]):
            return None
        return (
            f"{number:,} of {words:,} words have punctuation attached, {remedy}, or with penn, "
            "which splits English clitics too"
        )

    def _unrepeated(self) -> str | None:
        number, words = len(self.forms), self.counts["words"]
        if words < FEW_WORDS or number <= (0.7 if words >= MANY_WORDS else 0.9) * words:
            return None
        return (
            f"{number:,} of {words:,} words are different: hardly any is repeated, and what occurs "
            "once teaches little. More text helps, and so may --rare 1 (in Python rare=1)"
        )

    def _unknown(self) -> str | None:
        number, words = self.counts["unknown"], self.counts["words"]
        if 2 * number <= words:
            return None
        return (
            f"the model does not know {number:,} of {plural(words, 'word')}, such as "
            f"{self.examples['unknown']!r}: results are guesses. Did it learn from the same "
            "language and spelling?"
        )


def check_text(
    text: Iterable[Item],
    kind: Callable[[str], str],
    on_note: Callable[[str], None],
    batch_size: int = BATCH_SIZE,
    sentence_of: Callable[[Item], Any] = lambda item: item,
) -> Iterator[Item]:
    """Yield the items of a text, and call ``on_note`` once with a warning, if there is one.

    ``kind``: see `TextCheck`.
    ``batch_size``: the number of items that are checked before the first is yielded.
    ``sentence_of``: returns the sentence of an item, or None.
    """
    check, items, note = TextCheck(lru_cache(CACHE_SIZE)(kind)), iter(text), None
    while block := list(islice(items, batch_size)):
        if note is None and (note := check.update(filter(None, map(sentence_of, block)))):
            on_note(note)
        yield from block


@lru_cache(CACHE_SIZE)
def has_attached_punctuation(word: str) -> bool:
    """Whether a word has separate punctuation attached to its ends."""
    pieces = split_tokens(word, "punctuation")
    if len(pieces) == 1:
        return False
    ends = (piece for piece, silent in zip(pieces, by_characters(pieces)) if silent)
    return any(_is_separate_punctuation(character) for piece in ends for character in piece)


def _is_separate_punctuation(character: str) -> bool:
    """Whether a character is punctuation that is rarely part of a word."""
    kind = unicodedata.category(character)
    return kind in ("Po", "Ps", "Pe", "Pi", "Pf") and character not in _IN_WORDS


def _brackets(sentence: Sentence) -> tuple[str, list[str]]:
    """Whether square brackets are broken or enclose several words, with an example."""
    try:
        sentence = add_brackets(sentence, "text")
    except BracketError:
        return "broken", [" ".join(sentence.words)]
    phrases = [sentence.words[i:j] for i, j in sentence.brackets if j > i + 1]
    shown = [f"[{' '.join(words)}]" for words in phrases if words[0][0] not in _CODES]
    return "brackets", shown[:1]


def _may_be_unsplit(words: Sequence[str]) -> bool:
    """Whether words are so long that they may have to be split."""
    letters = [sum(map(str.isalpha, word)) for word in words]
    number = len(letters) - letters.count(0)
    if number == 1 and sum(letters) >= LONG:
        return True
    unspaced = sum(map(str.isalpha, _UNSPACED.findall("".join(words))))
    return 0 < LONG_UNSPACED * number <= unspaced
