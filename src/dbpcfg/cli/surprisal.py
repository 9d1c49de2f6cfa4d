"""``dbpcfg surprisal``: a row for each word, for reading experiments."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from dbpcfg.cli.inputs import (
    LEFT_OUT,
    noting,
    open_model,
    open_survivors,
    open_text,
    read_corpus,
    reads_terminal,
)
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
from dbpcfg.options import Group, ReadingOptions, option

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.corpus.stimuli import Stimuli
    from dbpcfg.model.surprisal import MeasuredSentence


@dataclass(frozen=True)
class Measuring(Group):
    """Options of measures."""

    no_end: bool = option(False, "No rows for sentence ends.")
    average: Literal["chain", "survivors"] | None = option(
        None,
        "Means and standard deviations over the kept grammars of the selected chain, or of all "
        "chains that ran to the end.",
    )


@dataclass(frozen=True)
class TableOptions(Group):
    """Options of tables of stimuli."""

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
    """Options of columns."""

    panel: ClassVar[str] = "Columns"
    columns: str | None = option(
        None,
        "Measures to print, listed by --help-columns; 'default', 'all', 'storage', 'integration' "
        "and 'stores' each name several.",
        metavar="NAMES",
    )
    spillover: int = option(
        0, "Add the values at this many preceding words of the sentence.", minimum=0
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
    options: Measuring,
    table_options: TableOptions,
    table: Annotated[
        Literal["csv", "tsv"] | None,
        typer.Option(
            help="Format of the table; by the file's suffix if not given.",
            rich_help_panel=TableOptions.panel,
        ),
    ] = None,
    column_options: ColumnOptions,
    help_columns: Annotated[
        bool,
        typer.Option(
            "--help-columns",
            help="List the columns with their definitions.",
            callback=lambda wanted: list_columns() if wanted else None,
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
    reading: ReadingOptions,
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
    from dbpcfg.model.surprisal import BATCH_SIZE, Measurement

    check_overwrite([out], overwrite)
    is_table = reading.column is not None or table_options.word is not None
    if is_table and reading != ReadingOptions(reading.encoding, column=reading.column):
        raise DbpcfgError(
            "--input-format, --speaker, --exclude-speaker, --age and --skip-broken are for "
            "corpora, not for tables with --text or --word"
        )
    if not is_table and (table or table_options.no_quotes):
        raise DbpcfgError("--table and --no-quotes are for tables with --text or --word")
    if not is_table and reading.input_format is None:
        check_no_table(text)
    model = open_model(run, depth, unknown, samples=options.average == "chain")
    sentences: Stimuli | Iterator[Sentence]
    if is_table:
        path = one_table(text)
        table = kind_of_table(path, table)
        quotes = not table_options.no_quotes
        sentences = read_stimuli(path, table, reading.encoding, quotes, noting(quiet))
        if model.preprocessing.no_punctuation and not quiet:
            typer.echo(LEFT_OUT, err=True)
    else:
        sentences = filter(None, open_text(text, reading, quiet, model.preprocessing, tokens))
    summary = Summary()
    measurement = Measurement(
        model,
        sentences,
        text=reading.column,
        word=table_options.word,
        by=listed(table_options.by),
        order=table_options.order,
        boundary=table_options.boundary,
        tokens=tokens,
        keep=None if table_options.keep is None else listed(table_options.keep),
        columns=listed(column_options.columns) or None,
        average=open_survivors(run, depth, unknown)
        if options.average == "survivors"
        else options.average,
        hale=column_options.hale,
        frequency=None
        if column_options.frequency is None
        else read_corpus([column_options.frequency], quiet=quiet),
        spillover=column_options.spillover,
        prefix=prefix,
        end=not options.no_end,
        threads=threads or cores(),
        quiet=quiet or (not is_table and out == "-" and standard_output().isatty()),
        on_note=noting(quiet),
        on_sentence=summary.add,
        batch_size=1 if reads_terminal(text) else BATCH_SIZE,
    )
    as_line = csv_line if table == "csv" else line
    with open_output(out) as file:
        header = as_line(measurement.names)
        for rows in measurement.blocks():
            if is_table and not quiet:  # everything has been measured
                summary.write_notes()
            file.write(header)
            file.writelines(map(as_line, rows))
            file.flush()
            header = ""
        file.write(header)
    if not is_table and not quiet:
        summary.write_notes()


def list_columns() -> None:
    """Print the columns and exit."""
    from dbpcfg.model.columns import COLUMNS, DEFAULT

    width = max(map(len, COLUMNS.names())) + 4
    for name in COLUMNS.names():
        column = COLUMNS[name]
        label = f"{name}_d1 …" if column.by_depth else name
        typer.echo(f"{'*' if name in DEFAULT else ' '} {label.ljust(width)}{column.help}")
    typer.echo("* default")
    raise typer.Exit


def listed(names: str | None) -> list[str]:
    """Split names at commas; a name with a comma in it can be quoted."""
    if names is None:
        return []
    (fields,) = csv.reader([names], skipinitialspace=True) if names.strip() else ([],)
    fields = [name.strip() for name in fields]
    if "" in fields:
        raise DbpcfgError(f"expected column names separated by commas, got {names!r}")
    return fields


def one_table(text: list[str] | None) -> str:
    """The path of the table."""
    if text and len(text) > 1:
        raise DbpcfgError(f"a table is one file, got {len(text)}: {', '.join(text[:3])}")
    return text[0] if text else "-"


def check_no_table(text: list[str] | None) -> None:
    """Raise an error that names the options for tables if a file is one."""
    from dbpcfg.corpus.readers import HEAD, detect_format
    from dbpcfg.corpus.readers.table import is_childes_db

    for path in text or []:
        if not path.lower().endswith((".csv", ".tsv")):
            continue
        try:
            with open(path, "rb") as file:
                head = file.read(HEAD).decode("utf-8", "ignore")
        except OSError:
            continue  # which reading it reports
        head = head.removeprefix("\ufeff")
        if detect_format(path, head) == "table" and not is_childes_db(head):
            raise DbpcfgError(
                f"{path} is a table: name its column of sentences with --text, or that of words "
                "with --word; if its lines are sentences all the same, give --input-format text"
            )


@dataclass
class Summary:
    """Counts over the sentences of a text, for notes to the user."""

    words: int = 0
    grammars: int = 1
    """Over which measures are averaged."""
    classes: int = 0
    """Words that the model sees as classes."""
    unknown: int = 0
    impossible: int = 0
    """Sentences with an impossible word, or end."""
    first_impossible: str = ""
    """The location of the first impossible word."""

    def add(self, measured: Sequence[MeasuredSentence]) -> None:
        """Add a sentence, measured under each grammar."""
        kinds = [form.kind for form in measured[0].forms]
        self.grammars = len(measured)
        self.words += len(kinds)
        self.classes += kinds.count("class")
        self.unknown += kinds.count("unknown")
        for one in measured:
            if not math.isfinite(one.surprisal[-1]):
                if not self.impossible:
                    token = one.surprisal.tolist().index(math.inf)
                    word = (*one.sentence.words, "</s>")[token]
                    self.first_impossible = f"{one.sentence.location}, token {token + 1}, {word!r}"
                self.impossible += 1
                break

    def write_notes(self) -> None:
        """Write notes to standard error, one line each."""
        from dbpcfg.io.tables import plural

        notes = [
            f"{plural(self.words, 'word')}; {self.unknown:,} unknown to the model, "
            f"{self.classes:,} replaced by classes"
        ]
        if self.grammars > 1:
            notes.append(f"means and standard deviations over {self.grammars:,} grammars")
        if self.impossible:
            number = plural(self.impossible, "sentence has", "sentences have")
            notes.append(
                f"{number} probability zero: surprisal is Inf at the impossible word, cells are "
                f"empty afterwards; first {self.first_impossible}"
            )
        for note in notes:
            typer.echo(note, err=True)
