"""``dbpcfg surprisal``: a row for each word, for reading experiments."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli.inputs import (
    open_model,
    open_survivors,
    open_text,
    read_corpus,
    reads_terminal,
)
from dbpcfg.cli.measure_summary import Summary
from dbpcfg.cli.options import (
    Depth,
    Encoding,
    ExcludeSpeakers,
    InputFormat,
    Overwrite,
    Quiet,
    RunArgument,
    SkipBroken,
    Speakers,
    TextOrInput,
    Threads,
    UnknownWords,
)
from dbpcfg.cli.output import check_overwrite, open_output, standard_output
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.corpus.stimuli import Stimuli

TABLES, COLUMNS = "Tables of stimuli", "Columns"


def surprisal(
    run: RunArgument,
    text: TextOrInput = None,
    depth: Depth = None,
    beam: Annotated[
        int | None,
        typer.Option(
            help="Keep at most this many memory states at each word; 0: all. If not given: all, "
            "or 2,000 if all would take more than 32 MiB per processor.",
            min=0,
        ),
    ] = None,
    no_beam_error: Annotated[
        bool,
        typer.Option(
            "--no-beam-error",
            help="Do not measure the error of the beam, which follows at most 20 sentences with "
            "all memory states.",
        ),
    ] = False,
    no_end: Annotated[bool, typer.Option("--no-end", help="No rows for sentence ends.")] = False,
    average: Annotated[
        Literal["chain", "survivors"] | None,
        typer.Option(
            help="Means and standard deviations over the kept grammars of the selected chain, or "
            "of all chains that ran to the end.",
        ),
    ] = None,
    text_column: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="COLUMN",
            help="TEXT is a CSV or TSV table with a sentence in each row, in this column.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    word: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="TEXT is a CSV or TSV table with a word in each row, in this column.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns that are the same for all words of a text; if they name each row, the "
            "last gives the order, and sentences end at punctuation.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Position of a word in its text.", rich_help_panel=TABLES
        ),
    ] = None,
    boundary: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that is 1 or true at the last word of a sentence, or 'punctuation'.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    tokens: Annotated[
        Literal["space", "punctuation", "penn"],
        typer.Option(
            help="Split cells at white space, also from punctuation, or as the Penn Treebank.",
            rich_help_panel=TABLES,
        ),
    ] = "space",
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns of the table to repeat; all if not given.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    table: Annotated[
        Literal["csv", "tsv"] | None,
        typer.Option(help="Format of the table; by its ending.", rich_help_panel=TABLES),
    ] = None,
    no_quotes: Annotated[
        bool,
        typer.Option(
            "--no-quotes",
            help="Quotes in the table are characters like others.",
            rich_help_panel=TABLES,
        ),
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of measures; 'default', 'all', 'storage' and 'integration' are several.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    spillover: Annotated[
        int,
        typer.Option(
            help="Repeat the values of this many words before, within the sentence.",
            min=0,
            rich_help_panel=COLUMNS,
        ),
    ] = 0,
    frequency: Annotated[
        str | None,
        typer.Option(
            metavar="CORPUS",
            help="Add the log frequency of words in this corpus.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    hale: Annotated[
        bool,
        typer.Option(
            "--hale",
            help="Add the entropy of derivations and its reduction (Hale 2006), exact.",
            rich_help_panel=COLUMNS,
        ),
    ] = False,
    prefix: Annotated[
        str,
        typer.Option(help="What the names of measures begin with.", rich_help_panel=COLUMNS),
    ] = "",
    out: Annotated[
        str, typer.Option(metavar="FILE", help="File for the table; - is standard output.")
    ] = "-",
    overwrite: Overwrite = False,
    unknown: UnknownWords = None,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Print surprisal, entropies, memory, forks and joins of each word, for R or pandas.

    The table is tab-separated, with a header.
    docs/surprisal.md defines the columns.
    The last row of a sentence is its end, </s>: with it, the surprisals of the
    sentence sum to -log2 P(sentence).
    With --text or --word, TEXT is a table, and the result is one in the same
    format: its rows and columns, and the measures beside them.
    """
    from dbpcfg.corpus.stimuli import kind_of_table, read_stimuli
    from dbpcfg.io.machine import cores
    from dbpcfg.io.tables import csv_line, line
    from dbpcfg.model.incremental import BeamSample
    from dbpcfg.model.surprisal import Measurement

    check_overwrite([out], overwrite)
    is_table = text_column is not None or word is not None
    if is_table and (input_format or speaker or exclude_speaker or skip_broken):
        raise DbpcfgError(
            "--input-format, --speaker, --exclude-speaker and --skip-broken are for corpora, not "
            "for tables with --text or --word"
        )
    if not is_table and (table or no_quotes):
        raise DbpcfgError("--table and --no-quotes are for tables with --text or --word")
    if not is_table and input_format is None:
        check_no_table(text)
    model = open_model(run, depth, unknown, samples=average == "chain")
    given: Stimuli | Iterator[Sentence]
    if is_table:
        path = one_table(text)
        table = kind_of_table(path, table)
        given = read_stimuli(path, table, encoding, not no_quotes)
    else:
        given = filter(
            None,
            open_text(
                text,
                input_format,
                speaker,
                exclude_speaker,
                quiet,
                learned=model.preparation,
                skip_broken=skip_broken,
                encoding=encoding,
            ),
        )
    threads = 1 if reads_terminal(text) else threads or cores()
    measurement = Measurement(
        model,
        given,
        text=text_column,
        word=word,
        by=listed(by),
        order=order,
        boundary=boundary,
        tokens=tokens,
        keep=None if keep is None else listed(keep),
        columns=listed(columns) or None,
        average=open_survivors(run, depth, unknown) if average == "survivors" else average,
        hale=hale,
        frequency=None if frequency is None else read_corpus([frequency], quiet=quiet),
        spillover=spillover,
        prefix=prefix,
        beam=beam,
        end=not no_end,
        threads=threads,
        quiet=quiet or (not is_table and out == "-" and standard_output().isatty()),
    )
    parser = measurement.parser
    if beam is None and parser.beam and not quiet:
        typer.echo(
            f"{parser.stores:,} memory states are possible: keeping the {parser.beam:,} most "
            "probable at each word; --beam N keeps N, --beam 0 all",
            err=True,
        )
    check_beam = parser.beam and not quiet and not no_beam_error
    summary = Summary(BeamSample(measurement.readers) if check_beam else None)
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
        for note in summary.notes(parser.beam, threads):
            typer.echo(note, err=True)


def listed(names: str | None) -> list[str]:
    """Split names at commas; a name with a comma in it can be quoted."""
    if names is None:
        return []
    (found,) = csv.reader([names], skipinitialspace=True) if names.strip() else ([],)
    found = [name.strip() for name in found]
    if "" in found:
        raise DbpcfgError(f"expected names of columns with commas between them, got {names!r}")
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
