"""CoNLL-U: a word a line in ten tab-separated columns, a blank line after each sentence.

Words are the *syntactic* words, the lines with plain numbers, because these are what tags belong
to, and what Penn treebanks have (*do n't*): the surface tokens of ranges such as ``1-2`` are
skipped, and so are empty nodes such as ``1.1``, which were not said.  White space inside a word,
which the format allows, becomes ``_``.  Tags are the UPOS column, unless all of a sentence's are
``_``; the XPOS column is kept beside it, and so is HEAD if all of it are numbers.  Sentences with
every word ``_`` are those of treebanks that withhold their text: dropped and counted.

The speaker is what a comment such as ``# speaker_role = Mother`` says.  Everyone's sentences are
read by default; without ``Target_Child`` those of a CHILDES treebank are speech to the child.

Reading is strict: ten columns, none empty, words numbered 1, 2, 3, …; anything else is an error
with its line, since a mistake here shifts every word after it.  Broken sentences can be skipped, up
to the next blank line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from dbpcfg.corpus.readers.chat import Speakers
from dbpcfg.corpus.sentence import SKIP_HINT, Broken, Notes, Sentence, SkippedPart
from dbpcfg.errors import DbpcfgError

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
"""The names of the ten columns."""

_ID = re.compile(r"([0-9]{1,6})(?:(?P<mark>[-.])([0-9]{1,6}))?")
_NUMBER = re.compile(r"[0-9]{1,6}")
_SPEAKER = re.compile(r"# *(speaker(?:_(?:role|id|code|name))?) *= *(.*)")
_PREFERRED = ("speaker_role", "speaker", "speaker_id", "speaker_code", "speaker_name")


@dataclass(slots=True)
class _Block:
    """A sentence as far as it has been read."""

    line: int = 0
    speaker: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    xpos: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    covered: int = 0  # the last word of the last range
    nodes: int = 0  # empty nodes since the last word


def read_conllu(
    text: str,
    source: str = "<text>",
    dropped: Counter[str] | None = None,
    speakers: Speakers | None = None,
    *,
    broken: Broken = "error",
    notes: Notes | None = None,
) -> Iterator[Sentence]:
    """Read CoNLL-U.

    ``dropped``: counts what is left out, by reason; without it, `notes` does.
    ``speakers``: whose sentences to read; by default everyone's.
    """
    notes = Notes(Counter() if dropped is None else dropped) if notes is None else notes
    speakers = Speakers() if speakers is None else speakers
    block, fault = _Block(), ""
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate([*lines, ""], start=1):
        try:
            if fault and line.strip():
                continue
            if fault:
                notes.skip("broken sentences", SkippedPart(source, block.line, number - 1, fault))
                block, fault = _Block(), ""
                continue
            if line.startswith("#"):
                _add_comment(block, line)
            elif "\t" in line or line.strip():
                _add_word(block, line.rstrip("\r"))
            else:
                sentence = _finished(block, source, notes.dropped, speakers)
                block = _Block()
                if sentence is not None:
                    yield sentence
                continue
        except _Malformed as error:
            fault = f"{source}:{number}: {error}"
            if broken == "error":
                raise DbpcfgError(f"{fault}; {SKIP_HINT}") from None
            if not line.strip():  # the sentence is over already
                notes.skip("broken sentences", SkippedPart(source, block.line, number - 1, fault))
                block, fault = _Block(), ""
                continue
        block.line = block.line or number


class _Malformed(Exception):
    """What is wrong with a line."""


def _add_comment(block: _Block, line: str) -> None:
    if block.words:
        raise _Malformed(
            "found a comment inside a sentence, expected comments before it; "
            "is a blank line missing between two sentences?"
        )
    metadata = _SPEAKER.match(line)
    if metadata is not None and metadata[2].strip():
        block.speaker[metadata[1]] = metadata[2].strip()


def _add_word(block: _Block, line: str) -> None:
    columns = line.split("\t")
    if len(columns) != len(COLUMNS):
        raise _Malformed(
            f"found {len(columns)} tab-separated column{'s' * (len(columns) != 1)} in "
            f"{line[:40]!r}, expected 10; CoNLL-U has "
            f"{' '.join(COLUMNS)}, and a blank line after each sentence"
        )
    for name, column in zip(COLUMNS, columns):
        if not column.strip():
            raise _Malformed(f"found nothing in column {name}, expected at least '_'")
    identifier = _ID.fullmatch(columns[0])
    expected = len(block.words) + 1
    if identifier is None:
        raise _Malformed(f"found the ID {columns[0][:20]!r}, expected a number, like {expected}")
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
        good = (first, last) == (expected - 1, block.nodes)
    if not good:
        raise _Malformed(
            f"found the ID {columns[0]}, expected the word {expected} (or a range or an empty node "
            "at this place); is a line missing, or the blank line between two sentences?"
        )


def _finished(
    block: _Block, source: str, dropped: Counter[str], speakers: Speakers
) -> Sentence | None:
    if not block.words and not block.covered and not block.nodes:
        return None  # a stray blank line, or comments on their own
    if block.covered > len(block.words) or not block.words:
        raise _Malformed(
            f"found the end of a sentence after {len(block.words)} words, "
            f"expected word {len(block.words) + 1}; is the file cut off?"
        )
    speaker = next((block.speaker[key] for key in _PREFERRED if key in block.speaker), None)
    if not speakers.take(block.speaker.values()):
        dropped[f"sentences of {speaker or 'an unknown speaker'}"] += 1
        return None
    if len(block.words) > 1 and set(block.words) == {"_"}:
        dropped["sentences with their words withheld (_)"] += 1
        return None
    return Sentence(
        tuple(block.words),
        _given(block.tags),
        speaker=speaker,
        source=source,
        line=block.line,
        xpos=_given(block.xpos),
        heads=_heads(block.heads),
    )


def _given(column: list[str]) -> tuple[str, ...] | None:
    return None if set(column) == {"_"} else tuple(column)


def _heads(column: list[str]) -> tuple[int, ...] | None:
    """Positions from 0; None unless all are numbers of words, or 0."""
    if not all(_NUMBER.fullmatch(head) and int(head) <= len(column) for head in column):
        return None
    return tuple(int(head) - 1 for head in column)
