"""Tagged text in three formats.

==========  ======================================================================================
text        one sentence a line, ``the/3 dog/1``; the last slash of a token separates word and
            tag, so ``1/2/7`` is the word ``1/2``
tsv         one word a line, a tab, its tag; a blank line after each sentence
conllu      CoNLL-U, the tag in column XPOS; where that is ``_`` in all of a sentence, UPOS is read
==========  ======================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from dbpcfg.corpus.loading import STDIN, display_name, load_text, standard_input
from dbpcfg.corpus.readers import HEAD, Source, format_by_content, formats_by_extension
from dbpcfg.corpus.readers.conllu import CONLLU
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError

TaggedFormat = Literal["text", "conllu", "tsv"]


def tagged_lines(
    words: Sequence[str], tags: Sequence[str], format: TaggedFormat = "text"
) -> Iterator[str]:
    """The lines of one sentence."""
    if format == "text":
        yield " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))
        return
    for number, (word, tag) in enumerate(zip(words, tags, strict=True), start=1):
        blank = "\t".join("_" * 5)
        yield f"{word}\t{tag}" if format == "tsv" else f"{number}\t{word}\t_\t_\t{tag}\t{blank}"
    yield ""


def tagged_format(path: str) -> TaggedFormat | None:
    """The format of tagged text, by the beginning of a file; None for other or unreadable files.

    ``path``: a file, or ``-`` for standard input, which is not consumed.
    """
    if path == STDIN:
        peek = getattr(standard_input(), "peek", lambda size: b"")
        text = peek(HEAD).decode("utf-8", "replace")
    elif not os.path.isfile(path):
        return None
    else:
        try:
            text = load_text(path, "utf-8")
        except DbpcfgError:
            return None
    formats = formats_by_extension(path)
    if formats == ("conllu",) or format_by_content(text) == "conllu":
        return "conllu"
    if (formats and formats not in (("text",), ("table",))) or format_by_content(text) != "text":
        return None
    first = next((line for line in text.split("\n") if line.strip()), "")
    if first.count("\t") == 1 and all(map(str.strip, first.split("\t"))):
        return "tsv"
    return "text" if first.split() and all(map(_is_tagged, first.split())) else None


def read_tagged(path: str, format: TaggedFormat) -> list[Sentence]:
    """Read tagged text."""
    text, source = load_text(path, "utf-8"), display_name(path)
    if format == "conllu":
        return [_with_xpos(sentence) for sentence in CONLLU.read(text, Source(source))]
    lines = list(enumerate(text.split("\n"), start=1))
    if format == "text":
        return [
            _sentence(
                [_split_token(token, source, number) for token in line.split()], source, number
            )
            for number, line in lines
            if line.strip()
        ]
    blocks = [list(block) for filled, block in groupby(lines, _is_not_blank) if filled]
    return [
        _sentence([_columns(line, source, n) for n, line in block], source, block[0][0])
        for block in blocks
    ]


def _with_xpos(sentence: Sentence) -> Sentence:
    tags = sentence.xpos or sentence.tags
    if tags is None:
        raise DbpcfgError(f"{sentence.location}: the sentence has no tags, neither XPOS nor UPOS")
    return replace(sentence, tags=tags)


def _is_not_blank(line: tuple[int, str]) -> bool:
    return bool(line[1].strip())


def _sentence(pairs: Iterable[tuple[str, str]], source: str, line: int) -> Sentence:
    words, tags = zip(*pairs)
    return Sentence(words, tags, source=source, line=line)


def _is_tagged(token: str) -> bool:
    word, _, tag = token.rpartition("/")
    return bool(word and tag)


def _split_token(token: str, source: str, line: int) -> tuple[str, str]:
    if not _is_tagged(token):
        raise DbpcfgError(
            f"{source}:{line}: found {token[:40]!r}, expected a word, a slash and its tag"
        )
    word, _, tag = token.rpartition("/")
    return word, tag


def _columns(text: str, source: str, line: int) -> tuple[str, str]:
    columns = [column.strip() for column in text.split("\t")]
    if len(columns) != 2 or not all(columns):
        raise DbpcfgError(
            f"{source}:{line}: found {text[:40]!r}, expected a word, a tab and its tag"
        )
    return columns[0], columns[1]
