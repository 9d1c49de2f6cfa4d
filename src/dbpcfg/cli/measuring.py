"""How `dbpcfg surprisal` measures text and tables, and writes the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TextIO

import typer

from dbpcfg.cli.measure_summary import Summary
from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import Stimuli, TableKind
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import csv_line, line
from dbpcfg.model.columns import ColumnChoice
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.model.measures import WordMeasures
from dbpcfg.model.stimuli import TableLayout, check_names, measure_stimuli
from dbpcfg.model.tabulation import SentenceRows, Tabulated, Tabulator


def table_layout(
    text: str | None,
    word: str | None,
    by: Sequence[str],
    order: str | None,
    boundary: str | None,
    tokens: Tokens,
    corpora: Sequence[object],
    others: Sequence[object],
) -> TableLayout | None:
    """Where a table has its sentences; None if the text is no table.

    ``corpora``: values of options for corpora, which must not be given with a table.
    ``others``: values of other options for tables, which must not be given without one.
    """
    if text is None and word is None:
        if by or order or boundary or any(others):
            raise DbpcfgError(
                "--by, --order, --boundary, --tokens, --keep, --table and --no-quotes are for "
                "tables: name the column of sentences with --text, or that of words with --word"
            )
        return None
    if any(corpora):
        raise DbpcfgError(
            "--input-format, --speaker, --exclude-speaker and --skip-broken are for corpora, not "
            "for tables with --text or --word"
        )
    return TableLayout(text, word, by, order, boundary, tokens)


def frequencies(corpus: Corpus | None, model: LearnedGrammar) -> LogFrequencies | None:
    """Count the words of a corpus in the letters of a model."""
    return None if corpus is None else LogFrequencies(corpus, model.preparation.lowercase)


def make_tabulator(
    models: Sequence[LearnedGrammar],
    choice: ColumnChoice,
    layout: TableLayout | None,
    averaged: bool,
    beam: int | None,
    quiet: bool,
) -> Tabulator:
    """Make what measures, with a note if not all memory states are kept."""
    default = WordMeasures._fields if layout is None else layout.default
    tabulator = Tabulator(models, choice, default, averaged=averaged, beam=beam)
    parser = tabulator.parsers[0]
    if beam is None and parser.beam and not quiet:
        typer.echo(
            f"{parser.stores:,} memory states are possible: keeping the {parser.beam:,} most "
            "probable at each word; --beam N keeps N, --beam 0 all",
            err=True,
        )
    return tabulator


def measure_text(
    tabulator: Tabulator,
    lines: Iterable[Sentence | None],
    out: TextIO,
    end: bool,
    threads: int,
    summary: Summary,
    quiet: bool,
) -> None:
    """Write the rows of sentences as they are measured."""
    given = (SentenceRows.of_tokens(one, end) for one in lines if one is not None)
    with Progress("sentences", None, quiet or out.isatty()) as progress:
        for number, one in enumerate(tabulator.tabulate(given, threads), start=1):
            if number == 1:
                out.write(line(tabulator.names))
            out.writelines(map(line, one.rows))
            out.flush()
            summary.add(one)
            progress.update(number)
    if not summary.words:
        out.write(line(tabulator.names))


def measure_table(
    table: Stimuli,
    layout: TableLayout,
    tabulator: Tabulator,
    keep: Sequence[str] | None,
    end: bool,
    threads: int,
    kind: TableKind,
    summary: Summary,
    quiet: bool,
) -> Iterator[str]:
    """Measure a table; return the lines of the result, in the format of the table."""
    kept = check_names(table, keep, tabulator.names)

    def watch(found: Iterable[Tabulated], total: int) -> Iterator[Tabulated]:
        with Progress("sentences", total, quiet) as progress:
            for number, one in enumerate(found, start=1):
                summary.add(one)
                yield one
                progress.update(number)

    numbers, rows = measure_stimuli(table, layout, tabulator, end, threads, watch)
    columns = [table.names.index(name) for name in kept]
    written = csv_line if kind == "csv" else line
    cells = (
        [*(table.rows[number][n] for n in columns), *row]
        for number, row in zip(numbers, rows, strict=True)
    )
    return map(written, chain([[*kept, *tabulator.names]], cells))
