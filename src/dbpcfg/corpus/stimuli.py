"""Tables of stimuli: items, conditions and regions beside sentences or words.

A table is a CSV file (with commas or semicolons), a TSV file, a data frame of pandas or polars
(neither library is imported), or a list of dicts. The cells of files stay text, so they are written
as they were read. Malformed tables are errors that name file and line.

**A sentence in a cell.** Each row is a sentence.

**A word in a row.** Rows with the same values in the columns ``by`` are a text. Its words are in
the order of the rows, or of the column ``order``; then the rows of a text can be anywhere in the
table. A text is one sentence, unless there is a ``boundary``: ``"punctuation"``, or a column that
is true at the last word of each sentence. If ``by`` identifies rows and not texts (fewer than two
rows for each value, on average), its last column is the order, and sentences end at punctuation if
there is no ``boundary``.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any, NamedTuple

from dbpcfg.corpus.encodings import guess_notes
from dbpcfg.corpus.loading import display_name, load_text
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.readers.table import (
    TableKind,
    cell_count,
    check_names,
    kind_by_ending,
    no_column,
    table_rows,
)
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.tokens import ends_sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.log import note

_WHICH_KIND = "; is it CSV (--table csv) or TSV (--table tsv)?"


@dataclass(frozen=True, repr=False)
class Stimuli:
    """A table of stimuli."""

    names: tuple[str, ...]
    """The names of the columns."""
    rows: list[tuple[Any, ...]]
    """The cells of each row."""
    source: str
    """The name of the file for messages."""
    lines: tuple[int, ...] | None = None
    """The first line of each row; None if the table is not from a file."""

    def location(self, row: int) -> str:
        """The location of a row, for error messages."""
        if self.lines is None:
            return f"{self.source}, row {row + 1}"
        return f"{self.source}:{self.lines[row]}"

    def error(self, row: int, message: str) -> DbpcfgError:
        """An error about a row."""
        return DbpcfgError(f"{self.location(row)}: {message}")

    def number(self, name: str, option: str) -> int:
        """The number of a column; ``option`` is the option that names it, for messages."""
        if name in self.names:
            return self.names.index(name)
        error = no_column(name, self.names, self.source, option)
        raise DbpcfgError(f"{error}{_WHICH_KIND if len(self.names) == 1 else ''}")

    def column(self, name: str, option: str) -> list[Any]:
        """The cells of a column."""
        number = self.number(name, option)
        return [row[number] for row in self.rows]


def is_missing(value: object, na: bool = False) -> bool:
    """Whether a cell has no value.

    ``na``: whether ``NA`` means a missing value; it can also be a word.
    """
    if isinstance(value, str):
        return not value.strip() or (na and value.strip() == "NA")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def kind_of_table(path: str, kind: TableKind | None = None) -> TableKind:
    """The kind of a file: ``kind``, or by the ending of its name if not given."""
    kind = kind or kind_by_ending(path)
    if kind is None:
        raise DbpcfgError(
            f"{display_name(path)}: the name ends in neither .csv nor .tsv, so give --table csv or "
            "--table tsv"
        )
    return kind


def read_stimuli(
    path: str,
    kind: TableKind | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    on_note: Callable[[str], None] = note,
) -> Stimuli:
    """Read a table.

    ``path``: a file, plain or compressed with gzip, or ``-`` for standard input.
    ``encoding``: if not given, UTF-8, or Latin-1 if the file looks like it.
    ``quotes``: whether cells may be quoted; if not, quotes are ordinary characters.
    ``on_note``: called with a note if the file is not UTF-8 and no encoding was given.
    """
    kind, source = kind_of_table(path, kind), display_name(path)
    guessed: dict[str, str] = {}
    text = load_text(path, encoding, guessed.__setitem__).rstrip("\n")
    for guess in guess_notes(guessed):
        on_note(guess)
    rows = list(table_rows(io.StringIO(text, newline="\n"), kind, quotes))
    names = tuple(rows[0].cells)
    for number, row in enumerate(rows):
        if row.error:
            raise DbpcfgError(
                f"{source}:{row.line}: {row.error}: a quote that begins here is not closed; if "
                "quotes are part of words, give --no-quotes"
            )
        if not number:
            check_names(names, source)
        elif wrong := cell_count(row.cells, names):
            which = _WHICH_KIND if len(names) == 1 else ""
            raise DbpcfgError(f"{source}:{row.line}: {wrong}{which}")
    lines = tuple(row.line for row in rows[1:])
    return Stimuli(names, [tuple(row.cells) for row in rows[1:]], source, lines)


def is_frame(data: object) -> bool:
    """Whether an object is a data frame of pandas or polars."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "hstack"))


def stimuli_of(data: Any) -> Stimuli:
    """The table in a data frame, a list of dicts, or the file at a path."""
    if isinstance(data, Stimuli):
        return data
    if isinstance(data, str | os.PathLike):
        return read_stimuli(os.fspath(data))
    if is_frame(data):
        names = tuple(map(str, data.columns))
        if len(set(names)) < len(names):
            raise DbpcfgError("two columns of the data frame have the same name; rename one")
        columns = [list(data[name]) for name in data.columns]
        return Stimuli(names, list(zip(*columns)), "the data frame")
    if not isinstance(data, Sequence) or not all(isinstance(row, Mapping) for row in data):
        raise DbpcfgError(
            "a table must be a data frame of pandas or polars, a list of dicts with the same keys, "
            f"or a path, not of type {type(data).__name__}"
        )
    if not data:
        raise DbpcfgError("the list of rows is empty, so its columns are not known")
    keys = tuple(data[0])
    for number, row in enumerate(data, start=1):
        if set(row) != set(keys):
            odd = sorted(map(str, set(row) ^ set(keys)))
            raise DbpcfgError(
                f"the list, row {number}: the keys differ from those of row 1 in {', '.join(odd)}"
            )
    rows = [tuple(row[key] for key in keys) for row in data]
    return Stimuli(tuple(map(str, keys)), rows, "the list")


END = "</s>"
"""The end of a sentence."""
PUNCTUATION = "punctuation"
"""The boundary rule: a sentence ends after a word with . ! or ?."""

_TRUE, _FALSE = ("1", "true", "t", "yes", "1.0"), ("", "0", "false", "f", "no", "na", "0.0", "nan")


class SentenceRows(NamedTuple):
    """A sentence, and how its tokens are divided into rows of the result."""

    sentence: Sentence
    spans: Sequence[tuple[int, int]]
    """The half-open span of tokens of each row; the end of the sentence is a token too."""
    texts: Sequence[str]
    """The text of each row."""
    numbers: Sequence[int] = ()
    """The number of each row in the table, from 0."""

    @classmethod
    def of_tokens(cls, sentence: Sentence, end: bool = True, row: int = 0) -> SentenceRows:
        """Make a row for each token, and for the end of the sentence if ``end``."""
        if not sentence.words:
            raise DbpcfgError(
                f"{sentence.location}: a sentence without words; leave empty ones out"
            )
        texts = (*sentence.words, END) if end else sentence.words
        return cls(sentence, list(pairwise(range(len(texts) + 1))), texts, [row] * len(texts))


@dataclass(frozen=True)
class TableLayout:
    """The columns of a table: with a sentence (``text``) or a word (``word``) in each cell."""

    text: str | None = None
    word: str | None = None
    by: Sequence[str] = ()
    """Columns that identify a text, or a row."""
    order: str | None = None
    """The column with the position of each word in its text."""
    boundary: str | None = None
    """``"punctuation"``, or a column that is true at the end of each sentence."""
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    """How cells are split into tokens, and whether punctuation is removed."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.word is None):
            raise DbpcfgError(
                "a table needs either --text, the column of sentences, or --word, that of words "
                "(in Python text= or word=)"
            )
        if self.text is not None and (self.by or self.order or self.boundary):
            raise DbpcfgError("--by, --order and --boundary are for tables with --word")

    def sentences(self, table: Stimuli, end: bool = True) -> list[SentenceRows]:
        """The sentences of a table; with ``end``, those in cells have a row for their end."""
        if self.word is not None:
            return self._of_words(table, self.word)
        assert self.text is not None
        sentences = []
        for row, cell in enumerate(_texts(table, self.text, "--text")):
            sentence = _sentence(table, [row], [cell], self.preprocessing).sentence
            sentences.append(SentenceRows.of_tokens(sentence, end, row))
        return sentences

    def _of_words(self, table: Stimuli, word: str) -> list[SentenceRows]:
        by, order, boundary = self.by, self.order, self.boundary
        if not by and boundary is None:
            raise DbpcfgError(
                "the sentences are not marked: give --by with the columns that identify a "
                "sentence, or --boundary (in Python by=, boundary=)"
            )
        words = _texts(table, word, "--word")
        keys = _keys(table, by)
        if order is None and by and 1 < len(words) < 2 * len(set(keys)):
            *by, order = by
            keys, boundary = _keys(table, by), boundary or PUNCTUATION
        ends = _ends(table, words, boundary)
        sentences = []
        for rows in _in_order(table, keys, by, order):
            part: list[int] = []
            for row in rows:
                part.append(row)
                if ends[row] or row == rows[-1]:
                    texts = [words[r] for r in part]
                    sentences.append(_sentence(table, part, texts, self.preprocessing))
                    part = []
        return sorted(sentences, key=lambda sentence_rows: min(sentence_rows.numbers))


def _texts(table: Stimuli, name: str, option: str) -> list[str]:
    """The cells of a column as texts."""
    texts = []
    for row, cell in enumerate(table.column(name, option)):
        if is_missing(cell):
            raise table.error(row, f"the cell of {name!r} is empty; every row needs a text there")
        if not isinstance(cell, str | Integral) or isinstance(cell, bool):
            raise table.error(
                row, f"{name!r} must be text, got {cell!r:.40}; read that column as text"
            )
        texts.append(str(cell))
    return texts


def _keys(table: Stimuli, by: Sequence[str]) -> list[tuple[Hashable, ...]]:
    """The values of the columns ``by`` in each row."""
    columns = [table.column(name, "--by") for name in by]
    for name, column in zip(by, columns, strict=True):
        for row, cell in enumerate(column):
            if is_missing(cell, na=True):
                raise table.error(row, f"{name!r}, a column of --by, has no value here")
    return list(zip(*columns)) if columns else [()] * len(table.rows)


def _in_order(
    table: Stimuli, keys: list[tuple[Hashable, ...]], by: Sequence[str], order: str | None
) -> list[list[int]]:
    """The rows of each text, in order."""
    texts: dict[tuple[Hashable, ...], list[int]] = {}
    for row, key in enumerate(keys):
        texts.setdefault(key, []).append(row)
    if order is None:
        for key, rows in texts.items():
            for previous, row in pairwise(rows):
                if row != previous + 1:
                    raise table.error(
                        row,
                        f"other rows lie between this row and the previous one "
                        f"of {_values_of(by, key)}, {table.location(previous)}; sort the table, "
                        "give --order with the position of each word, or give --by more columns, "
                        f"such as {','.join(['subject', *by])} if each subject read the texts",
                    )
        return list(texts.values())
    cells = table.column(order, "--order")
    positions = [_position(table, row, cell, order) for row, cell in enumerate(cells)]
    for key, rows in texts.items():
        rows.sort(key=lambda row: (positions[row], row))
        for previous, row in pairwise(rows):
            if positions[previous] == positions[row]:
                raise table.error(
                    row,
                    f"this row and {table.location(previous)} both are "
                    f"{_values_of([*by, order], (*key, cells[row]))}; "
                    "each word needs its own position. If each subject read the texts, give "
                    f"--by {','.join(['subject', *by])}",
                )
    return list(texts.values())


def _position(table: Stimuli, row: int, cell: Any, name: str) -> float:
    try:
        position = math.nan if is_missing(cell, na=True) else float(cell)
    except (TypeError, ValueError):
        position = math.nan
    if not math.isfinite(position):
        raise table.error(
            row, f"{name!r}, the order of the words, must be a number, got {cell!r:.40}"
        )
    return position


def _ends(table: Stimuli, words: list[str], boundary: str | None) -> list[bool]:
    """Whether a sentence ends after each row, by the boundary."""
    if boundary is None:
        return [False] * len(words)
    if boundary == PUNCTUATION and PUNCTUATION not in table.names:
        return [ends_sentence(word) for word in words]
    ends = []
    for row, cell in enumerate(table.column(boundary, "--boundary")):
        value = "" if is_missing(cell) else str(cell).strip().lower()
        if value not in _TRUE and value not in _FALSE:
            raise table.error(
                row,
                f"{boundary!r}, the boundary of sentences, must be 1 or true "
                f"at the last word of a sentence and 0, false or empty elsewhere, got {cell!r:.40}",
            )
        ends.append(value in _TRUE)
    return ends


def _sentence(
    table: Stimuli, rows: list[int], texts: list[str], preprocessing: Preprocessing
) -> SentenceRows:
    """Make a sentence of some rows of a table."""
    if len(texts) > MAX_WORDS:
        raise table.error(
            rows[0],
            f"found a sentence of {len(texts):,} words, expected at most "
            f"{MAX_WORDS:,}; where do sentences end? --boundary punctuation, or a column of --by "
            "for the sentence",
        )
    tokens_of_texts = [preprocessing.apply(Sentence(tuple(text.split()))).words for text in texts]
    words = tuple(token for tokens in tokens_of_texts for token in tokens)
    line = rows[0] + 1 if table.lines is None else table.lines[rows[0]]
    sentence = Sentence(words, source=table.source, line=line)
    return SentenceRows(
        sentence, list(pairwise(accumulate(map(len, tokens_of_texts), initial=0))), texts, rows
    )


def _values_of(names: Sequence[str], values: Sequence[object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values)) or "the table"
