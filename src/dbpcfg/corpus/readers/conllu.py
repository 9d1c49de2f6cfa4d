"""CoNLL-U: a word a line in ten tab-separated columns, a blank line after each sentence.

Words are *syntactic* words, the lines with plain numbers, because tags belong to these, and because
Penn treebanks have them too (*do n't*).  The surface tokens of ranges such as ``1-2`` are skipped.
Empty nodes such as ``1.1`` are skipped and counted.  White space inside a word, which the format
allows, becomes ``_``.  Tags are the UPOS column, unless all tags of a sentence are ``_``; the XPOS
column is kept too, and so is HEAD if all heads are numbers.  Sentences whose words are all ``_``,
from treebanks that withhold their text, are dropped and counted.

The speaker is given by comments such as ``# speaker_role = Mother``.  By default all speakers are
read; without ``Target_Child``, a CHILDES treebank is speech to the child.

Reading is strict: ten columns, none empty, words numbered 1, 2, 3, …; anything else is an error
with its line.  Broken sentences can be skipped, up to the next blank line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dbpcfg.corpus.readers import CorpusReader, Malformed, Source
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.io.tables import plural

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
"""The names of the ten columns."""

_ID = re.compile(r"([0-9]{1,6})(?:(?P<mark>[-.])([0-9]{1,6}))?")
_NUMBER = re.compile(r"[0-9]{1,6}")
_SPEAKER = re.compile(r"# *(speaker(?:_(?:role|id|code|name))?) *= *(.*)")
_PREFERRED = ("speaker_role", "speaker", "speaker_id", "speaker_code", "speaker_name")


@dataclass(slots=True)
class _Block:
    """The part of a sentence that has been read."""

    speaker: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    xpos: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    covered: int = 0  # the last word of the last range
    nodes: int = 0  # empty nodes since the last word
    empty: int = 0  # all empty nodes


def _read(text: str, source: Source) -> Iterator[Sentence]:
    for rows in _blocks(text):
        first, last = rows[0][0], rows[-1][0]
        block = _Block()
        try:
            for number, line in rows:
                if line.startswith("#"):
                    _add_comment(block, line, number)
                else:
                    _add_word(block, line.rstrip("\r"), number)
            if block.covered > len(block.words) or (block.nodes and not block.words):
                raise Malformed(
                    last + 1,
                    f"found the end of a sentence after {plural(len(block.words), 'word')}, "
                    f"expected word {len(block.words) + 1}; is the file cut off?",
                )
        except Malformed as fault:
            source.skip_or_raise(fault, first, last)
            continue
        if block.words:  # and not comments on their own
            yield from _chosen(block, source, first)


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Lines with their numbers, from one blank line to the next."""
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if "\t" in line or line.strip():
            rows.append((number, line))
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows


def _add_comment(block: _Block, line: str, number: int) -> None:
    if block.words:
        raise Malformed(
            number,
            "found a comment inside a sentence, expected comments before it; "
            "is a blank line missing between two sentences?",
        )
    metadata = _SPEAKER.match(line)
    if metadata is not None and metadata[2].strip():
        block.speaker[metadata[1]] = metadata[2].strip()


def _add_word(block: _Block, line: str, number: int) -> None:
    columns = line.split("\t")
    if len(columns) != len(COLUMNS):
        raise Malformed(
            number,
            f"found {plural(len(columns), 'tab-separated column')} in "
            f"{line[:40]!r}, expected 10; CoNLL-U has "
            f"{' '.join(COLUMNS)}, and a blank line after each sentence",
        )
    for name, column in zip(COLUMNS, columns):
        if not column.strip():
            raise Malformed(number, f"found nothing in column {name}, expected at least '_'")
    identifier = _ID.fullmatch(columns[0])
    expected = len(block.words) + 1
    if identifier is None:
        raise Malformed(
            number, f"found the ID {columns[0][:20]!r}, expected a number, like {expected}"
        )
    first, last = int(identifier[1]), int(identifier[3] or 0)
    if identifier["mark"] is None:
        good = first == expected
        block.words.append("_".join(columns[1].split()))
        block.tags.append(columns[3])
        block.xpos.append(columns[4])
        block.heads.append(columns[6])
        block.nodes = 0
    elif identifier["mark"] == "-":
        good = block.covered < expected == first <= last
        block.covered = last
    else:
        block.nodes += 1
        block.empty += 1
        good = (first, last) == (expected - 1, block.nodes)
    if not good:
        raise Malformed(
            number,
            f"found the ID {columns[0]}, expected the word {expected} (or a range or an empty node "
            "at this place); is a line missing, or the blank line between two sentences?",
        )


def _chosen(block: _Block, source: Source, line: int) -> Iterator[Sentence]:
    """The sentence, unless its speaker was not chosen or its words are withheld."""
    speaker = next((block.speaker[key] for key in _PREFERRED if key in block.speaker), None)
    if not source.speakers.includes(block.speaker.values()):
        source.removed[f"sentences of {speaker or 'an unknown speaker'}"] += 1
    elif len(block.words) > 1 and set(block.words) == {"_"}:
        source.removed["sentences with their words withheld (_)"] += 1
    else:
        if block.empty:
            source.removed["empty nodes"] += block.empty
        yield Sentence(
            tuple(block.words),
            _given(block.tags),
            speaker=speaker,
            source=source.name,
            line=line,
            xpos=_given(block.xpos),
            heads=_heads(block.heads),
        )


def _given(column: list[str]) -> tuple[str, ...] | None:
    return None if set(column) == {"_"} else tuple(column)


def _heads(column: list[str]) -> tuple[int, ...] | None:
    """Positions from 0; None unless all heads are numbers of words, or 0."""
    if not all(_NUMBER.fullmatch(head) and int(head) <= len(column) for head in column):
        return None
    return tuple(int(head) - 1 for head in column)


CONLLU = CorpusReader(
    _read,
    (".conllu", ".conll"),
    re.compile(
        r"""\s*(?: \#\ *(?:sent_id|text|global\.columns)\ *= | \#\ *new(?:doc|par)\b
                | (?:\#.*\n)* [0-9]\S*\t (?:[^\t\n]*\t){7} )""",
        re.VERBOSE,
    ).match,
    has_speakers=True,
)
"""Recognised by comments such as ``# sent_id = 1``, or a numbered line of many columns."""
