"""Tables (CSV, TSV) with an utterance or sentence in each row, such as those of childes-db.

Cells are separated by commas, semicolons or tabs; quoted cells may have line breaks.  The sentences
are in the column named by ``--text``, or in ``gloss``, the column of childes-db.  Glosses are
cleaned like the main lines of CHAT (`dbpcfg.corpus.readers.chat`); cells of other columns are split
at white space, like plain text.

If a table has one of the columns ``speaker_code``, ``speaker_role`` and ``speaker_name``, speakers
are chosen as in CHAT: by default everyone but the target child.  This is the speaker with the role
``Target_Child``, or ``CHI`` if the row names no target child (``target_child_id``,
``target_child_name``).  Ages are in ``target_child_age``: in days if any age is above 240,
otherwise in months.

Rows of other speakers, empty cells, cells without words and blank lines are counted.  A row with
more or fewer cells than the header, or with an unclosed quote, is an error, or skipped.  Rows are
read one by one, so only the sentences are in memory.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from dbpcfg.corpus.readers import (
    DAYS_PER_MONTH,
    AgeRange,
    CorpusReader,
    Malformed,
    Source,
    parse_age,
)
from dbpcfg.corpus.readers.chat import LEFT_OUT, clean_utterance
from dbpcfg.corpus.readers.text import lines_of, split_words
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural

TableKind: TypeAlias = Literal["csv", "tsv"]

ENDINGS: dict[str, TableKind] = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
GLOSS = "gloss"
"""The column of utterances in childes-db."""
_SPEAKER = ("speaker_code", "speaker_role", "speaker_name")
_TARGET = ("target_child_id", "target_child_name")
_AGE = "target_child_age"
_TARGET_ROLE, _TARGET_CODE = "Target_Child", "CHI"
_OLDEST = 240
"""Larger ages are in days, not in months."""
_SHOWN = 20
"""The most column names in a message."""


class TableRow(NamedTuple):
    """A row of a table, or an error."""

    line: int
    """Its first line, from 1."""
    last_line: int
    cells: list[str]
    error: str = ""
    """Why the row could not be read."""


def delimiter_of(header: str, kind: TableKind | None) -> str:
    """The delimiter of a table: tab, semicolon or comma."""
    if kind == "tsv" or (kind is None and "\t" in header):
        return "\t"
    return ";" if ";" in header and "," not in header else ","


def kind_by_ending(path: str) -> TableKind | None:
    """The kind of a table by the ending of its name; None if that does not say."""
    return ENDINGS.get(os.path.splitext(path.lower().removesuffix(".gz"))[1])


def table_rows(
    lines: Iterable[str], kind: TableKind | None = None, quotes: bool = True
) -> Iterator[TableRow]:
    """Yield the rows of a table, the header first.

    ``kind``: CSV or TSV; recognised by the header if not given.
    ``quotes``: whether cells may be quoted.
    """
    remaining = iter(lines)
    header = next(remaining, "")
    reader = csv.reader(
        _again(header, remaining),
        delimiter=delimiter_of(header, kind),
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield TableRow(line, reader.line_num, [], str(error))
        else:
            yield TableRow(line, reader.line_num, cells)


def _again(first: str, remaining: Iterator[str]) -> Iterator[str]:
    yield first
    yield from remaining


def check_names(names: Sequence[str], source: str) -> None:
    """Raise an error if two columns have the same name."""
    twice = [name for n, name in enumerate(names) if name in names[:n]]
    if twice:
        raise DbpcfgError(f"{source}:1: two columns have the name {twice[0]!r:.60}; rename one")


def cell_count(cells: Sequence[str], names: Sequence[str]) -> str:
    """An error message if a row and the header differ in their number of cells; else empty."""
    if len(cells) == len(names):
        return ""
    what = plural(len(cells), "cell") if cells else "a blank line"
    return f"found {what}, expected {len(names)}, as the header has"


def no_column(name: str, names: Sequence[str], source: str, option: str) -> DbpcfgError:
    """The error about a missing column."""
    return DbpcfgError(
        f"{source} has no column {name!r}, which {option} names; its columns are {_listed(names)}"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in names[:_SHOWN])
    return shown + f" and {len(names) - _SHOWN:,} more" * (len(names) > _SHOWN)


class _Utterance(NamedTuple):
    """The cell of a sentence, with its speaker and the age of the target child."""

    line: int
    cell: str
    speaker: str | None
    age: float | None


def _read_lines(lines: Iterable[str], source: Source) -> Iterator[Sentence]:
    rows = table_rows(lines, kind_by_ending(source.name))
    header = next(rows, TableRow(1, 1, []))
    names = header.cells
    if header.error or not any(map(str.strip, names)):
        wrong = header.error or "a blank line"
        raise DbpcfgError(f"{source.name}:1: found {wrong}, expected the names of columns")
    check_names(names, source.name)
    column = _column(names, source)
    of_gloss = names[column] == GLOSS
    utterances = _chosen(rows, names, column, source)
    if source.ages is not None:
        if _AGE not in names:
            raise no_column(_AGE, names, source.name, "--age")
        utterances = _aged(list(utterances), source.ages, source)
    for line, cell, speaker, _ in utterances:
        if not cell.strip():
            source.removed["rows with an empty cell"] += 1
            continue
        if "\n" in cell.strip():
            source.modified["cells of several lines, each one sentence"] += 1
        if of_gloss:
            words, why_empty, left_out = clean_utterance(" ".join(cell.split()))
            if left_out:
                source.removed[LEFT_OUT] += left_out
            if not words:
                source.removed[why_empty] += 1
                continue
        else:
            words = split_words(cell, f"{source.name}:{line}")
        yield Sentence(words, speaker=speaker, source=source.name, line=line)


def _column(names: Sequence[str], source: Source) -> int:
    """The number of the column with the sentences."""
    if source.text is not None:
        if source.text not in names:
            raise no_column(source.text, names, source.name, "--text")
        return names.index(source.text)
    if GLOSS in names:
        return names.index(GLOSS)
    raise DbpcfgError(
        f"{source.name} is a table without a column {GLOSS!r}: name the column of its sentences "
        f"with --text (in Python text=); its columns are {_listed(names)}; if it is no table, give "
        "--input-format text"
    )


def _chosen(
    rows: Iterable[TableRow], names: Sequence[str], column: int, source: Source
) -> Iterator[_Utterance]:
    """The utterances of the chosen speakers."""
    number = {name: n for n, name in enumerate(names)}
    speaking = [number[name] for name in _SPEAKER if name in number]
    targets = [number[name] for name in _TARGET if name in number]
    code, role = number.get(_SPEAKER[0]), number.get(_SPEAKER[1])
    age = number.get(_AGE)
    speakers = source.speakers
    if not speaking and not speakers.is_default:
        raise no_column(_SPEAKER[0], names, source.name, "--speaker or --exclude-speaker")
    for line, last_line, cells, error in rows:
        if not cells and not error and len(names) > 1:
            source.removed["blank lines"] += 1
            continue
        if wrong := error or cell_count(cells, names):
            quote = "is a quote not closed, or not doubled inside a cell?" if error else ""
            source.skip_or_raise(Malformed(line, wrong, quote), line, last_line, "broken rows")
            continue
        speaker = None
        if speaking:
            names_of_speaker = [cells[n] for n in speaking if not _missing(cells[n])]
            speaker = names_of_speaker[0] if names_of_speaker else None
            is_target = (role is not None and cells[role] == _TARGET_ROLE) or (
                code is not None
                and cells[code] == _TARGET_CODE
                and all(_missing(cells[n]) for n in targets)
            )
            if not speakers.includes(names_of_speaker) or (speakers.is_default and is_target):
                source.removed[f"utterances of {speaker or 'nobody in particular'}"] += 1
                continue
        months_old = None if age is None else parse_age(cells[age])
        yield _Utterance(line, cells[column], speaker, months_old)


def _aged(utterances: list[_Utterance], ages: AgeRange, source: Source) -> Iterator[_Utterance]:
    """The utterances in a range of ages."""
    oldest = max(
        (utterance.age for utterance in utterances if utterance.age is not None), default=0
    )
    unit = DAYS_PER_MONTH if oldest > _OLDEST else 1
    for utterance in utterances:
        if why := ages.reason_to_skip(None if utterance.age is None else utterance.age / unit):
            source.removed[why] += 1
        else:
            yield utterance


def _missing(cell: str) -> bool:
    return cell.strip() in ("", "NA")


def _read(text: str, source: Source) -> Iterator[Sentence]:
    return _read_lines(lines_of(text), source)


def is_childes_db(text: str) -> bool:
    """Whether a text begins like a table of childes-db."""
    header = text.removeprefix("\ufeff").lstrip("\n").partition("\n")[0]
    if GLOSS not in header:
        return False
    names = next(table_rows([header])).cells
    return GLOSS in names and any(name in names for name in (*_SPEAKER, _AGE, "transcript_id"))


TABLE = CorpusReader(
    _read,
    tuple(ENDINGS),
    is_childes_db,
    has_speakers=True,
    has_ages=True,
    has_columns=True,
    read_lines=_read_lines,
)
