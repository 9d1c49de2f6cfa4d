"""``dbpcfg report`` writes a page on one run, ``dbpcfg compare-runs`` a table of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import Overwrite, Quiet, TableFormat, takes_groups
from dbpcfg.cli.output import print_tables
from dbpcfg.errors import DbpcfgError, UnfinishedRunError
from dbpcfg.options import FileOptions

GoldTrees = Annotated[
    str | None,
    typer.Option(
        "--gold",
        metavar="TREEBANK",
        help="Treebank with the run's sentences; it may have others too.",
    ),
]


@takes_groups
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory of a finished run.")],
    gold: GoldTrees = None,
    comparison: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Directory of `dbpcfg compare`: adds other systems to the scores."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", help="File for the page; RUN/report.html if not given.")
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(help="Directory for the figures as PDF and SVG."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    *,
    decoding: FileOptions,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write an HTML page on a run: chains, scores, the grammar, every tree, memory.

    The page is one file, without links to others.
    """
    from dbpcfg.induction.directory import finished_run
    from dbpcfg.report.assemble import check_free, collect, write_page
    from dbpcfg.report.figures import check_folder, write_figures
    from dbpcfg.report.scores import read_comparison

    folder = Path(run)
    page = folder / "report.html" if out is None else Path(out)
    if folder.is_dir():  # if not, finished_run raises the error
        check_free(page, overwrite)
    if figures is not None:
        check_folder(Path(figures), overwrite)
    done = finished_run(folder, quiet)
    others = None if comparison is None else read_comparison(Path(comparison))
    trees = None
    if gold is not None:
        trees = done.match_gold(read_corpus([gold], decoding, quiet).sentences, gold)
    data = collect(done, folder, trees, quiet, others)
    write_page(data, page)
    typer.echo(page)
    if figures is not None:
        for path in write_figures(data, Path(figures), quiet):
            typer.echo(path)
    if open_page:
        typer.launch(page.resolve().as_uri())


@takes_groups
def compare_runs(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN", help="Directories of runs, or of a sweep.")
    ],
    gold: GoldTrees = None,
    figure: Annotated[str | None, typer.Option(help="File for a plot (.svg, .pdf, .png).")] = None,
    *,
    decoding: FileOptions,
    overwrite: Overwrite = False,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Compare runs, such as a sweep over K and D: likelihood, agreement, scores.

    Unfinished runs are left out, with a note.
    """
    from dbpcfg.induction.directory import finished_run
    from dbpcfg.report.figures import check_file
    from dbpcfg.report.sweep import RunSummary, run_tables, summarise_run, write_sweep

    if figure is not None:
        check_file(Path(figure), overwrite)
    treebank = None if gold is None else read_corpus([gold], decoding, quiet).sentences
    skipped: list[str] = []
    rows: list[RunSummary] = []
    for run in _in_sweeps(runs, quiet):
        try:
            done = finished_run(Path(run), quiet)
        except UnfinishedRunError as error:
            skipped.append(str(error))
            continue
        rows.append(summarise_run(run, done, treebank, gold or "", quiet))
    for note in skipped if rows and not quiet else []:
        typer.echo(f"left out: {note}", err=True)
    if not rows:
        raise DbpcfgError(skipped[0])
    print_tables(run_tables(rows), format)
    if figure is not None:
        write_sweep(rows, Path(figure))
        typer.echo(figure, err=True)


def _in_sweeps(runs: list[str], quiet: bool) -> list[str]:
    """The runs, those of a sweep instead of its directory; without results of other systems."""
    from dbpcfg.experiments.results import is_other_system, runs_in

    directories: list[str] = []
    for run in runs:
        sweep = runs_in(Path(run))
        if sweep is not None:
            directories += map(str, sweep)
        elif not is_other_system(Path(run)):
            directories.append(run)
        elif not quiet:
            typer.echo(f"left out: {run} is the result of another system, not a run", err=True)
    if not directories:
        raise DbpcfgError(f"there is no run of dbpcfg in {', '.join(runs)}")
    return directories
