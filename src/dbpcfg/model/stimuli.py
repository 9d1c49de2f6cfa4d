"""Tables in, tables out: the measures of every row of a table of stimuli.

With ``text`` a row has a sentence, and the result has a row for each of its words; with ``word`` it
has a word, and gets the measures of that word in its sentence. All columns of the table come first,
as they were, then those of the measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dbpcfg.corpus.stimuli import Stimuli, StimulusSentence, sentences_in_cells, sentences_of_rows
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.errors import DbpcfgError
from dbpcfg.model.measures import WordMeasures
from dbpcfg.model.tabulation import SentenceRows, Tabulated, Tabulator


@dataclass(frozen=True)
class TableLayout:
    """Where a table has its sentences."""

    text: str | None = None
    """The column of sentences."""
    word: str | None = None
    """The column of words, if there is a word in each row."""
    by: Sequence[str] = ()
    """Columns that are the same for all words of a text, or that name each row."""
    order: str | None = None
    """The column with the position of each word in its text."""
    boundary: str | None = None
    """``"punctuation"``, or a column that is true at the end of each sentence."""
    tokens: Tokens = "space"
    """How cells are split into tokens."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.word is None):
            raise DbpcfgError(
                "a table needs either --text, the column of sentences, or --word, that of words "
                "(in Python text= or word=)"
            )
        if self.text is not None and (self.by or self.order or self.boundary):
            raise DbpcfgError("--by, --order and --boundary are for tables with --word")

    @property
    def default(self) -> tuple[str, ...]:
        """The columns of measures if none are chosen."""
        measures = WordMeasures._fields[WordMeasures._fields.index("form") :]
        if self.text is not None:
            return ("token", "word", *measures)
        return ("position", *measures, "end_surprisal")

    def sentences(self, table: Stimuli) -> list[StimulusSentence]:
        """The sentences of a table."""
        if self.text is not None:
            return sentences_in_cells(table, self.text, self.tokens)
        assert self.word is not None
        return sentences_of_rows(table, self.word, self.by, self.order, self.boundary, self.tokens)


class MeasuredRows(NamedTuple):
    """The rows of a result."""

    numbers: list[int]
    """The row of the table that each belongs to, ascending."""
    rows: list[tuple[Any, ...]]
    """Their measures."""


def check_names(
    table: Stimuli, keep: Sequence[str] | None, names: Sequence[str]
) -> tuple[str, ...]:
    """The columns of a table that are repeated, checked to have other names than the measures.

    ``keep``: their names; all if not given.
    """
    kept = table.names if keep is None else tuple(dict.fromkeys(keep))
    for name in kept:
        table.number(name, "--keep")
    clash = [name for name in kept if name in names]
    if clash:
        raise DbpcfgError(
            f"{table.source} has a column {clash[0]!r}, and so have the measures; give these other "
            "names with --prefix, such as --prefix m_, or leave a column out with --keep or "
            "--columns (in Python prefix=, keep=, columns=)"
        )
    return kept


def measure_stimuli(
    table: Stimuli,
    layout: TableLayout,
    tabulator: Tabulator,
    end: bool = True,
    threads: int = 1,
    watch: Callable[[Iterable[Tabulated], int], Iterable[Tabulated]] = lambda found, _: found,
) -> MeasuredRows:
    """Measure the words of a table.

    ``end``: whether sentences in cells have a row for their end.
    ``watch``: called with the sentences as they are measured and their number; returns them.
    """
    placed = layout.sentences(table)
    words = layout.word is not None
    given = [
        SentenceRows.of_words(one) if words else SentenceRows.of_tokens(one.sentence, end)
        for one in placed
    ]
    results: list[list[tuple[Any, ...]]] = [[] for _ in table.rows]
    found = watch(tabulator.tabulate(given, threads), len(given))
    for one, tabulated in zip(placed, found, strict=True):
        if words:
            for row, cells in zip(dict.fromkeys(one.rows), tabulated.rows, strict=True):
                results[row].append(cells)
        else:
            results[one.rows[0]] += tabulated.rows
    numbers = [number for number, rows in enumerate(results) for _ in rows]
    return MeasuredRows(numbers, [cells for rows in results for cells in rows])
