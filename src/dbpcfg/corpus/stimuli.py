"""Tables of stimuli: items, conditions and regions beside sentences or words.

A table is a CSV file, with commas or semicolons, or a TSV file, a data frame of pandas or polars
(neither library is imported: a frame comes with its own), or a list of dicts. The cells of a file
stay the texts that they are, so that
they come back as they were. What is wrong with a table is an error with file and line: a row with
more or fewer cells than the header, a name that occurs twice, a quote that never ends, an empty
cell where a value is needed.

**A sentence in a cell.** Each row is a sentence.

**A word in a row.** Rows that agree in the columns ``by`` are a text. Its words stand in the order
of the rows, or in that of a column ``order``; then rows of a text can be anywhere in the table. A
text is one sentence, unless there is a ``boundary``: ``"punctuation"``, or a column that is true
at the last word of each sentence. If ``by`` has a value of its own for nearly every row (fewer than
two rows each, on average), it names rows, not texts: then its last column is the order, and a
sentence ends at punctuation if nothing else is said.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any, Literal, NamedTuple, TypeAlias

from dbpcfg.corpus.loading import load_text, name_of
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.tokens import ends_sentence
from dbpcfg.errors import DbpcfgError

TableKind: TypeAlias = Literal["csv", "tsv"]

_DELIMITERS: dict[TableKind, str] = {"csv": ",", "tsv": "\t"}
_ENDINGS: dict[str, TableKind] = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_SHOWN = 20
"""Names of columns that a message lists."""
_WHICH = "; is it CSV (--table csv) or TSV (--table tsv)?"


@dataclass(frozen=True, repr=False)
class Stimuli:
    """A table of stimuli."""

    names: tuple[str, ...]
    """The names of the columns."""
    rows: list[tuple[Any, ...]]
    """The cells of each row."""
    source: str
    """The file, as messages name it."""
    lines: tuple[int, ...] | None = None
    """The line on which each row begins; None if it is not from a file."""

    def place(self, row: int) -> str:
        """Where a row is, as error messages name it."""
        if self.lines is None:
            return f"{self.source}, row {row + 1}"
        return f"{self.source}:{self.lines[row]}"

    def number(self, name: str, option: str) -> int:
        """The number of a column."""
        if name in self.names:
            return self.names.index(name)
        shown = ", ".join(repr(known) for known in self.names[:_SHOWN])
        more = f" and {len(self.names) - _SHOWN:,} more" * (len(self.names) > _SHOWN)
        raise DbpcfgError(
            f"{self.source} has no column {name!r}, which {option} names; its columns are "
            f"{shown}{more}{_WHICH if len(self.names) == 1 else ''}"
        )

    def column(self, name: str, option: str) -> list[Any]:
        """The cells of a column; see `number`."""
        number = self.number(name, option)
        return [row[number] for row in self.rows]


def is_missing(value: object, na: bool = False) -> bool:
    """Whether a cell has no value.

    ``na``: whether the text ``NA``, which can be a word, is no value either.
    """
    if isinstance(value, str):
        return not value.strip() or (na and value.strip() == "NA")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def kind_of_table(path: str, kind: TableKind | None = None) -> TableKind:
    """Whether a file is CSV or TSV.

    ``kind``: what the user says; by the ending of the file's name if not given.
    """
    ending = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    found = kind or _ENDINGS.get(ending)
    if found is None:
        raise DbpcfgError(
            f"{name_of(path)}: the name ends in neither .csv nor .tsv, so give --table csv or "
            "--table tsv"
        )
    return found


def read_stimuli(
    path: str, kind: TableKind | None = None, encoding: str | None = None, quotes: bool = True
) -> Stimuli:
    """Read a table.

    ``path``: A file, plain or packed with gzip, or ``-`` for standard input.
    ``kind``: ``"csv"`` or ``"tsv"``; by the ending of the file's name if not given.
    ``encoding``: its encoding; UTF-8, with or without a byte-order mark, if not given.
    ``quotes``: whether a cell can be quoted with ``"``; if not, quotes are characters like others.
    """
    delimiter, source = _DELIMITERS[kind_of_table(path, kind)], name_of(path)
    text = load_text(path, encoding).rstrip("\n")
    header = text.partition("\n")[0]
    if delimiter == "," and ";" in header and "," not in header:
        delimiter = ";"
    reader = csv.reader(
        io.StringIO(text, newline="\n"),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    found: list[tuple[str, ...]] = []
    lines: list[int] = []
    try:
        while True:
            line = reader.line_num + 1
            found.append(tuple(next(reader)))
            lines.append(line)
    except StopIteration:
        pass
    except csv.Error as error:
        raise DbpcfgError(
            f"{source}:{line}: {error}: a quote that begins here is not closed; if quotes are part "
            f"of words, give --no-quotes"
        ) from None
    names = found[0]
    _check(names, found[1:], lines[1:], source)
    return Stimuli(names, list(found[1:]), source, tuple(lines[1:]))


def _check(
    names: tuple[str, ...], rows: Sequence[tuple[str, ...]], lines: Sequence[int], source: str
) -> None:
    twice = [name for n, name in enumerate(names) if name in names[:n]]
    if twice:
        raise DbpcfgError(f"{source}:1: two columns have the name {twice[0]!r}; rename one")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            count = "a blank line" if not row else f"{len(row)} cells"
            raise DbpcfgError(
                f"{source}:{line}: found {count}, expected {len(names)}, as the header has"
                f"{_WHICH if len(names) == 1 else ''}"
            )


def is_frame(given: object) -> bool:
    """Whether something is a data frame of pandas or polars."""
    return hasattr(given, "columns") and (hasattr(given, "iloc") or hasattr(given, "hstack"))


def stimuli_of(given: Any) -> Stimuli:
    """The table in a data frame, a list of dicts, or the file at a path."""
    if isinstance(given, Stimuli):
        return given
    if isinstance(given, str | os.PathLike):
        return read_stimuli(os.fspath(given))
    if is_frame(given):
        names = tuple(map(str, given.columns))
        if len(set(names)) < len(names):
            raise DbpcfgError("two columns of the data frame have the same name; rename one")
        columns = [list(given[name]) for name in given.columns]
        return Stimuli(names, list(zip(*columns)), "the data frame")
    if not isinstance(given, Sequence) or not all(isinstance(row, Mapping) for row in given):
        raise DbpcfgError(
            "a table must be a data frame of pandas or polars, a list of dicts with the same keys, "
            f"or a path, not of type {type(given).__name__}"
        )
    if not given:
        raise DbpcfgError("the list of rows is empty, so its columns are not known")
    keys = tuple(given[0])
    for number, row in enumerate(given, start=1):
        if set(row) != set(keys):
            odd = sorted(map(str, set(row) ^ set(keys)))
            raise DbpcfgError(
                f"the list, row {number}: the keys differ from those of row 1 in {', '.join(odd)}"
            )
    rows = [tuple(row[key] for key in keys) for row in given]
    return Stimuli(tuple(map(str, keys)), rows, "the list")


END = "</s>"
"""How the end of a sentence is written."""
PUNCTUATION = "punctuation"
"""The boundary rule: a sentence ends after a word with . ! or ?."""

_TRUE, _FALSE = ("1", "true", "t", "yes", "1.0"), ("", "0", "false", "f", "no", "na", "0.0", "nan")


class SentenceRows(NamedTuple):
    """A sentence, and which of its tokens are a row of the result together."""

    sentence: Sentence
    spans: Sequence[tuple[int, int]]
    """The first token of each row, and the one after its last; the end is a token too."""
    texts: Sequence[str]
    """The text of each row."""
    numbers: Sequence[int] = ()
    """The row of the table that each belongs to, from 0."""

    @classmethod
    def of_tokens(cls, sentence: Sentence, end: bool = True, row: int = 0) -> SentenceRows:
        """Each token, and the end if wanted, in a row of its own."""
        if not sentence.words:
            raise DbpcfgError(f"{sentence.place}: a sentence without words; leave empty ones out")
        texts = (*sentence.words, END) if end else sentence.words
        return cls(sentence, list(pairwise(range(len(texts) + 1))), texts, [row] * len(texts))


@dataclass(frozen=True)
class TableLayout:
    """Where a table has its sentences: in the cells of ``text``, or word by word in ``word``."""

    text: str | None = None
    word: str | None = None
    by: Sequence[str] = ()
    """Columns that are the same for all words of a text, or that name each row."""
    order: str | None = None
    """The column with the position of each word in its text."""
    boundary: str | None = None
    """``"punctuation"``, or a column that is true at the end of each sentence."""
    preparation: Preparation = field(default_factory=Preparation)
    """How cells are split into tokens, and whether without punctuation."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.word is None):
            raise DbpcfgError(
                "a table needs either --text, the column of sentences, or --word, that of words "
                "(in Python text= or word=)"
            )
        if self.text is not None and (self.by or self.order or self.boundary):
            raise DbpcfgError("--by, --order and --boundary are for tables with --word")

    def sentences(self, table: Stimuli, end: bool = True) -> list[SentenceRows]:
        """The sentences of a table; those in cells have rows for their ends if ``end``."""
        if self.word is not None:
            return self._of_words(table, self.word)
        assert self.text is not None
        cells = _texts(table, self.text, "--text")
        placed = [_placed(table, [row], [cell], self.preparation) for row, cell in enumerate(cells)]
        return [SentenceRows.of_tokens(one.sentence, end, one.numbers[0]) for one in placed]

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
        found = []
        for rows in _in_order(table, keys, by, order):
            sentence: list[int] = []
            for row in rows:
                sentence.append(row)
                if ends[row] or row == rows[-1]:
                    texts = [words[r] for r in sentence]
                    found.append(_placed(table, sentence, texts, self.preparation))
                    sentence = []
        return sorted(found, key=lambda one: min(one.numbers))


def _texts(table: Stimuli, name: str, option: str) -> list[str]:
    """The cells of a column as texts."""
    found = []
    for row, cell in enumerate(table.column(name, option)):
        if is_missing(cell):
            raise DbpcfgError(
                f"{table.place(row)}: the cell of {name!r} is empty; every row needs a text there"
            )
        if not isinstance(cell, str | Integral) or isinstance(cell, bool):
            raise DbpcfgError(
                f"{table.place(row)}: {name!r} must be text, got {cell!r:.40}; read that column as "
                "text"
            )
        found.append(str(cell))
    return found


def _keys(table: Stimuli, by: Sequence[str]) -> list[tuple[Hashable, ...]]:
    """The values of the columns ``by`` in each row."""
    columns = [table.column(name, "--by") for name in by]
    for name, column in zip(by, columns, strict=True):
        for row, cell in enumerate(column):
            if is_missing(cell, na=True):
                raise DbpcfgError(
                    f"{table.place(row)}: {name!r}, a column of --by, has no value here"
                )
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
            for before, row in pairwise(rows):
                if row != before + 1:
                    raise DbpcfgError(
                        f"{table.place(row)}: other rows lie between this row and the previous one "
                        f"of {_named(by, key)}, {table.place(before)}; sort the table, give "
                        "--order with the position of each word, or give --by more columns, such "
                        f"as {','.join(['subject', *by])} if each subject read the texts"
                    )
        return list(texts.values())
    cells = table.column(order, "--order")
    places = [_position(table, row, cell, order) for row, cell in enumerate(cells)]
    for key, rows in texts.items():
        rows.sort(key=lambda row: (places[row], row))
        for before, row in pairwise(rows):
            if places[before] == places[row]:
                raise DbpcfgError(
                    f"{table.place(row)}: this row and {table.place(before)} both are "
                    f"{_named([*by, order], (*key, cells[row]))}; "
                    "each word needs its own position. If each subject read the texts, give "
                    f"--by {','.join(['subject', *by])}"
                )
    return list(texts.values())


def _position(table: Stimuli, row: int, cell: Any, name: str) -> float:
    try:
        place = math.nan if is_missing(cell, na=True) else float(cell)
    except (TypeError, ValueError):
        place = math.nan
    if not math.isfinite(place):
        raise DbpcfgError(
            f"{table.place(row)}: {name!r}, the order of the words, must be a number, got "
            f"{cell!r:.40}"
        )
    return place


def _ends(table: Stimuli, words: list[str], boundary: str | None) -> list[bool]:
    """Whether a sentence ends after each row, by the boundary."""
    if boundary is None:
        return [False] * len(words)
    if boundary == PUNCTUATION and PUNCTUATION not in table.names:
        return [ends_sentence(word) for word in words]
    found = []
    for row, cell in enumerate(table.column(boundary, "--boundary")):
        value = "" if is_missing(cell) else str(cell).strip().lower()
        if value not in _TRUE and value not in _FALSE:
            raise DbpcfgError(
                f"{table.place(row)}: {boundary!r}, the boundary of sentences, must be 1 or true "
                f"at the last word of a sentence and 0, false or empty elsewhere, got {cell!r:.40}"
            )
        found.append(value in _TRUE)
    return found


def _placed(
    table: Stimuli, rows: list[int], texts: list[str], preparation: Preparation
) -> SentenceRows:
    """The sentence of some rows of a table."""
    if len(texts) > MAX_WORDS:
        raise DbpcfgError(
            f"{table.place(rows[0])}: found a sentence of {len(texts):,} words, expected at most "
            f"{MAX_WORDS:,}; where do sentences end? --boundary punctuation, or a column of --by "
            "for the sentence"
        )
    split = [preparation.seen(Sentence(tuple(text.split()))).words for text in texts]
    words = tuple(token for some in split for token in some)
    line = rows[0] + 1 if table.lines is None else table.lines[rows[0]]
    sentence = Sentence(words, source=table.source, line=line)
    return SentenceRows(
        sentence, list(pairwise(accumulate(map(len, split), initial=0))), texts, rows
    )


def _named(names: Sequence[str], values: Sequence[object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values)) or "the table"
