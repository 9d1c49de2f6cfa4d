"""Plain text: one sentence per line, with words separated by (Unicode) white space.

Words are not changed.  Blank lines are removed and counted.  A line of over a thousand words, or a
word of over a thousand characters, is an error, because the text has probably not been split into
sentences or words, and parsing takes cubic time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dbpcfg.corpus.readers import CorpusReader, Source
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError

MAX_WORDS = 1000
"""Words in a line, at most."""

MAX_CHARACTERS = 1000
"""Characters in a word, at most."""


def _read(text: str, source: Source) -> Iterator[Sentence]:
    for number, line in enumerate(lines_of(text), start=1):
        if words := split_words(line, f"{source.name}:{number}"):
            yield Sentence(words, source=source.name, line=number)
        else:
            source.removed["blank lines"] += 1


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text without copying all of it."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def split_words(line: str, location: str) -> tuple[str, ...]:
    """The words of a line, checked for length; equal words are the same object."""
    words = tuple(map(sys.intern, line.split()))
    if len(words) > MAX_WORDS:
        raise DbpcfgError(
            f"{location}: found a line of {len(words):,} words, expected one sentence per line, "
            f"of at most {MAX_WORDS:,} words; split the text into sentences first"
        )
    if len(line) > MAX_CHARACTERS and words and max(map(len, words)) > MAX_CHARACTERS:
        word = max(words, key=len)
        raise DbpcfgError(
            f"{location}: found a word of {len(word):,} characters, {word[:20]!r}…, expected "
            f"words of at most {MAX_CHARACTERS:,}, separated by white space; split the text "
            "into words first"
        )
    return words


TEXT = CorpusReader(_read, (".txt", ".train", ".dev", ".test"))
"""The format of text that no other reader recognises."""
