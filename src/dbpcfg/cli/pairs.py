"""``dbpcfg pairs`` tests models with minimal pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbpcfg.cli.inputs import noting, open_model
from dbpcfg.cli.options import (
    Depth,
    Overwrite,
    Quiet,
    TableFormat,
    Threads,
    TokensOption,
    UnknownWords,
)
from dbpcfg.cli.output import open_output, print_tables
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import FileOptions


def pairs(
    runs_and_files: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... FILE...",
            help="Run directories, model files (.npz) or a rule table; then files of pairs.",
        ),
    ],
    good: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of a table with grammatical sentences."),
    ] = None,
    bad: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of a table with ungrammatical sentences."),
    ] = None,
    paradigm: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the paradigm. Default: UID, or the name of the file.",
        ),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Tab-separated table with a row for each pair.")
    ] = False,
    figure: Annotated[str | None, typer.Option(help="File for a plot (.svg, .pdf, .png).")] = None,
    depth: Depth = None,
    unknown: UnknownWords = None,
    tokens: TokensOption = None,
    encoding: Annotated[
        str | None, typer.Option(help=FileOptions.options()["encoding"].help)
    ] = None,
    threads: Threads = None,
    overwrite: Overwrite = False,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Test models with minimal pairs: how often the grammatical sentence is more probable.

    Files are JSON lines as of BLiMP (sentence_good, sentence_bad, UID), text
    as of Zorro (lines in turn, the ungrammatical sentence first), or tables
    with --good and --bad. The first argument is a model, and so is each further
    one that is a run or ends in .npz. Accuracies are by log P, by log P per
    word, and by surprisal at the first word that differs.
    """
    from dbpcfg.corpus.pairs import read_pairs
    from dbpcfg.io.machine import cores
    from dbpcfg.io.tables import line
    from dbpcfg.model.pairs import minimal_pairs
    from dbpcfg.report.figures import check_file
    from dbpcfg.report.pairs import write_pairs

    if figure is not None:
        check_file(Path(figure), overwrite)
    models = [path for n, path in enumerate(runs_and_files) if n == 0 or _is_model(path)]
    files = [path for path in runs_and_files[1:] if not _is_model(path)]
    if not files:
        raise DbpcfgError("give files of minimal pairs after the models")
    if len(set(models)) < len(models):
        raise DbpcfgError("a model is given twice; give each once")
    opened = {run: open_model(run, depth, unknown) for run in models}
    read = read_pairs(files, good, bad, paradigm, encoding, noting(quiet))
    found = minimal_pairs(
        opened,
        read,
        tokens=tokens,
        threads=threads or cores(),
        quiet=quiet,
        on_note=noting(quiet),
    )
    if each:
        with open_output("-") as out:
            for number, row in enumerate(found.rows()):
                if not number:
                    out.write(line(row))
                out.write(line(row.values()))
    else:
        print_tables(found.tables(), format)
    if figure is not None:
        write_pairs(found, Path(figure))
        typer.echo(figure, err=True)


def _is_model(path: str) -> bool:
    """Whether a path is a run or a model file, and not a file of pairs."""
    folder = Path(path)
    return path.endswith(".npz") or any(
        (folder / name).exists() for name in ("model.npz", "config.toml")
    )
