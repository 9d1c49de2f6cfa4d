"""Plain text: one sentence a line, its words set apart by white space.

White space is what Unicode says it is.  Nothing else is done to the words: no lower case, no
tokenisation.  Blank lines are dropped and counted.  A line of over a thousand words, or a word of
over a thousand characters, is a text that has not been split into sentences or words, and an
error: a parser's work grows with the cube of the length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError

MAX_WORDS = 1000
"""Words in a line, at most."""

MAX_CHARACTERS = 1000
"""Characters in a word, at most."""


def read_text(
    text: str, source: str = "<text>", dropped: Counter[str] | None = None
) -> Iterator[Sentence]:
    """Read plain text, one sentence a line."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        words = tuple(line.split())
        if not words:
            if dropped is not None:
                dropped["blank lines"] += 1
            continue
        if len(words) > MAX_WORDS:
            raise DbpcfgError(
                f"{source}:{number}: found a line of {len(words):,} words, expected one sentence "
                f"a line, of at most {MAX_WORDS:,} words; split the text into sentences first"
            )
        if len(line) > MAX_CHARACTERS and max(map(len, words)) > MAX_CHARACTERS:
            word = max(words, key=len)
            raise DbpcfgError(
                f"{source}:{number}: found a word of {len(word):,} characters, {word[:20]!r}…, "
                f"expected words of at most {MAX_CHARACTERS:,}, set apart by white space; "
                "split the text into words first"
            )
        yield Sentence(words, source=source, line=number)
