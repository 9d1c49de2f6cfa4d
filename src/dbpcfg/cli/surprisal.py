"""``dbpcfg surprisal``: a row for each word, for reading experiments."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from dbpcfg.cli.inputs import (
    LEFT_OUT,
    open_model,
    open_survivors,
    open_text,
    read_corpus,
    reads_terminal,
)
from dbpcfg.cli.measure_summary import Summary
from dbpcfg.cli.options import (
    Depth,
    Overwrite,
    Quiet,
    RunArgument,
    TextOrInput,
    Threads,
    TokensOption,
    UnknownWords,
    takes_groups,
)
from dbpcfg.cli.output import check_overwrite, open_output, standard_output
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import Group, Reading, option

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.corpus.stimuli import Stimuli


@dataclass(frozen=True)
class Measuring(Group):
    """What is measured, and how."""

    no_end: bool = option(False, "No rows for sentence ends.")
    average: Literal["chain", "survivors"] | None = option(
        None,
        "Means and standard deviations over the kept grammars of the selected chain, or of all "
        "chains that ran to the end.",
    )


@dataclass(frozen=True)
class TableOptions(Group):
    """How a table of stimuli is read."""

    panel: ClassVar[str] = "Tables of stimuli"
    word: str | None = option(
        None,
        "TEXT is a CSV or TSV table with a word in each row, in this column.",
        metavar="COLUMN",
    )
    by: str | None = option(
        None,
        "Columns that identify a text; if they identify each row, the last gives the order, and "
        "sentences end at punctuation.",
        metavar="COLUMNS",
    )
    order: str | None = option(None, "Position of a word in its text.", metavar="COLUMN")
    boundary: str | None = option(
        None,
        "A column that is 1 or true at the last word of a sentence, or 'punctuation'.",
        metavar="COLUMN",
    )
    keep: str | None = option(
        None, "Columns of the table to repeat; all if not given.", metavar="COLUMNS"
    )
    no_quotes: bool = option(False, "Treat quotes in the table as ordinary characters.")


@dataclass(frozen=True)
class ColumnOptions(Group):
    """Which columns are written."""

    panel: ClassVar[str] = "Columns"
    columns: str | None = option(
        None,
        "Measures to print, listed by --help-columns; 'default', 'all', 'storage', 'integration' "
        "and 'stores' each name several.",
        metavar="NAMES",
    )
    spillover: int = option(
        0, "Add the values at this many preceding words of the sentence.", least=0
    )
    frequency: str | None = option(
        None, "Add the log frequency of words in this corpus.", metavar="CORPUS"
    )
    hale: bool = option(
        False, "Add the exact entropy of derivations and its reduction (Hale 2006)."
    )


@takes_groups
def surprisal(
    run: RunArgument,
    text: TextOrInput = None,
    depth: Depth = None,
    *,
    asked: Measuring,
    text_column: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="COLUMN",
            help="TEXT is a CSV or TSV table with a sentence in each row, in this column.",
            rich_help_panel=TableOptions.panel,
        ),
    ] = None,
    layout: TableOptions,
    table: Annotated[
        Literal["csv", "tsv"] | None,
        typer.Option(
            help="Format of the table; by the file's suffix if not given.",
            rich_help_panel=TableOptions.panel,
        ),
    ] = None,
    chosen: ColumnOptions,
    help_columns: Annotated[
        bool,
        typer.Option(
            "--help-columns",
            help="List the columns with their definitions.",
            callback=lambda asked: list_columns() if asked else None,
            is_eager=True,
            rich_help_panel=ColumnOptions.panel,
        ),
    ] = False,
    prefix: Annotated[
        str,
        typer.Option(
            help="Prefix for the names of the measures.", rich_help_panel=ColumnOptions.panel
        ),
    ] = "",
    out: Annotated[
        str, typer.Option(metavar="FILE", help="File for the table; - is standard output.")
    ] = "-",
    overwrite: Overwrite = False,
    unknown: UnknownWords = None,
    tokens: TokensOption = None,
    reading: Reading,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Print surprisal, entropies, memory, forks and joins of each word, for R or pandas.

    The table is tab-separated, with a header. --help-columns lists the columns.
    The last row of a sentence is its end, </s>: with it, the surprisals of the
    sentence sum to -log2 P(sentence). With --text or --word, TEXT is a table;
    the result has its columns and format, with the measures added.
    """
    from dbpcfg.corpus.stimuli import kind_of_table, read_stimuli
    from dbpcfg.io.machine import cores
    from dbpcfg.io.tables import csv_line, line
    from dbpcfg.model.surprisal import Measurement

    check_overwrite([out], overwrite)
    is_table = text_column is not None or layout.word is not None
    if is_table and reading != Reading(reading.encoding):
        raise DbpcfgError(
            "--input-format, --speaker, --exclude-speaker and --skip-broken are for corpora, not "
            "for tables with --text or --word"
        )
    if not is_table and (table or layout.no_quotes):
        raise DbpcfgError("--table and --no-quotes are for tables with --text or --word")
    if not is_table and reading.input_format is None:
        check_no_table(text)
    model = open_model(run, depth, unknown, samples=asked.average == "chain")
    given: Stimuli | Iterator[Sentence]
    if is_table:
        path = one_table(text)
        table = kind_of_table(path, table)
        given = read_stimuli(path, table, reading.encoding, not layout.no_quotes)
        if model.preparation.no_punctuation and not quiet:
            typer.echo(LEFT_OUT, err=True)
    else:
        given = filter(None, open_text(text, reading, quiet, model.preparation, tokens))
    measurement = Measurement(
        model,
        given,
        text=text_column,
        word=layout.word,
        by=listed(layout.by),
        order=layout.order,
        boundary=layout.boundary,
        tokens=tokens,
        keep=None if layout.keep is None else listed(layout.keep),
        columns=listed(chosen.columns) or None,
        average=open_survivors(run, depth, unknown)
        if asked.average == "survivors"
        else asked.average,
        hale=chosen.hale,
        frequency=None
        if chosen.frequency is None
        else read_corpus([chosen.frequency], quiet=quiet),
        spillover=chosen.spillover,
        prefix=prefix,
        end=not asked.no_end,
        threads=threads or cores(),
        quiet=quiet or (not is_table and out == "-" and standard_output().isatty()),
    )
    if reads_terminal(text):
        measurement.together = 1
    summary = Summary()
    written = csv_line if table == "csv" else line
    with open_output(out) as file:
        header = written(measurement.names)
        for block in measurement.blocks(summary.add):
            file.write(header)
            file.writelines(map(written, block))
            file.flush()
            header = ""
        file.write(header)
    if not quiet:
        for note in (*summary.notes(), *measurement.doubts()):
            typer.echo(note, err=True)


def list_columns() -> None:
    """Print the columns, and end."""
    from dbpcfg.model.columns import COLUMNS, DEFAULT

    wide = max(map(len, COLUMNS.names())) + 4
    for name in COLUMNS.names():
        column = COLUMNS[name]
        shown = f"{name}_d1 …" if column.by_depth else name
        typer.echo(f"{'*' if name in DEFAULT else ' '} {shown.ljust(wide)}{column.help}")
    typer.echo("* default")
    raise typer.Exit


def listed(names: str | None) -> list[str]:
    """Split names at commas; a name with a comma in it can be quoted."""
    if names is None:
        return []
    (found,) = csv.reader([names], skipinitialspace=True) if names.strip() else ([],)
    found = [name.strip() for name in found]
    if "" in found:
        raise DbpcfgError(f"expected column names separated by commas, got {names!r}")
    return found


def one_table(text: list[str] | None) -> str:
    """Return the path of the table."""
    if text and len(text) > 1:
        raise DbpcfgError(f"a table is one file, got {len(text)}: {', '.join(text[:3])}")
    return text[0] if text else "-"


def check_no_table(text: list[str] | None) -> None:
    """Raise an error that names the options for tables if a file is one."""
    from dbpcfg.corpus.readers import HEAD, recognised

    for path in text or []:
        if not path.lower().endswith((".csv", ".tsv")):
            continue
        try:
            with open(path, "rb") as file:
                head = file.read(HEAD).decode("utf-8", "ignore")
        except OSError:
            continue  # which reading it reports
        if recognised(path, head.removeprefix("\ufeff")) == "text":
            raise DbpcfgError(
                f"{path} is a table: name its column of sentences with --text, or that of words "
                "with --word; if its lines are sentences all the same, give --input-format text"
            )
