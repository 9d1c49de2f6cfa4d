"""``dbpcfg reproduce`` runs a published table again, ``dbpcfg demo`` a demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbpcfg.cli import output as terminal
from dbpcfg.cli.options import Quiet, Seed, TableFormat, takes_groups
from dbpcfg.cli.output import print_tables
from dbpcfg.cli.running import RunningCells
from dbpcfg.cli.sweep import EXIT_FAILED, run_left
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.experiments.grid import Cell
    from dbpcfg.experiments.recipe import Recipe
    from dbpcfg.io.tables import Table


def demo(
    seed: Seed = 0,
    out: Annotated[str, typer.Option(help="File for the report page.")] = "dbpcfg-demo.html",
    quiet: Quiet = False,
) -> None:
    """Learn from words alone: made-up utterances, then the paper's synthetic corpora.

    Shows scores and trees, and writes a report page.
    The corpora are generated; nothing is downloaded.
    It takes a minute or two.
    """
    from dbpcfg.corpus.sentence import as_sentences
    from dbpcfg.experiments.demo import run_demo
    from dbpcfg.report.assemble import check_free, collect, write_page
    from dbpcfg.trees.printing import BOX_CHARACTERS

    page = Path(out)
    check_free(page, overwrite=False)
    language = run_demo(
        seed,
        typer.echo,
        quiet=quiet,
        width=terminal.width(),
        ascii=not terminal.can_show(BOX_CHARACTERS),
    )
    gold = language.run.match_gold(as_sentences(language.gold, "the utterances"))
    write_page(collect(language.run, page.with_suffix(""), gold, quiet), page)
    typer.echo(f"\nAll trees, the grammar and the chains are on one page: {page.resolve()}")


@takes_groups
def reproduce(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="synthetic, adam, eve, np-discovery, wsj20, wsj40, depth, large-k, or a TOML "
            "file.",
        ),
    ],
    treebank: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TREEBANK",
            help="Gold trees: files, directories or patterns; not for synthetic.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Directory for runs and results; reproduced/RECIPE if not given."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Take minutes: a sample, few seeds, few iterations."),
    ] = False,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds instead of the recipe's: 3, or 0-9.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ROW", help="Only this row of the recipe; may be repeated."),
    ] = None,
    *,
    running: RunningCells,
    permutations: Annotated[int, typer.Option(help="Permutations of each test.", min=1)] = 10_000,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Rerun a table of the paper, and print its figures beside ours.

    A recipe specifies the corpus, the systems with their settings, and the
    published figures. Finished cells are kept; the same command runs the rest.
    JSON, LaTeX and a page with figures are written to the directory. If a row
    fails, the others continue, and the exit code is 1.
    """
    from dbpcfg.experiments.recipe_cells import recipe_trees, row_grids, write_corpus
    from dbpcfg.experiments.reproduce import collect
    from dbpcfg.experiments.reproduction import reproduction_tables, scores_data
    from dbpcfg.experiments.results import read_outcomes, state_table
    from dbpcfg.report.reproduction import score_figures

    running.check()
    chosen = _recipe(recipe, quick, seeds)
    place = Path(out) if out is not None else Path("reproduced", chosen.name + "-quick" * quick)
    if place.exists() and not place.is_dir():
        raise DbpcfgError(f"{place} is a file; --out needs a directory: choose another name")
    if chosen.analysis == "depth":
        _depths(chosen, treebank or [], place, running.dry_run, format, quiet)
        return
    write_corpus(recipe_trees(chosen, treebank or []), place)
    grids = row_grids(chosen, place, only or [])
    cells = [one for grid in grids for one in grid.cells_in_file()]
    outcomes = read_outcomes([cell for cell, _ in cells])
    if running.dry_run:
        print_tables([state_table([cell for cell, _ in cells], outcomes, _name)], format)
        return
    again = _again(recipe, treebank or [], out, quick)
    code = run_left(cells, outcomes, running, quiet, again, name=_name)
    result = collect(chosen, grids, outcomes, place, permutations=permutations, quiet=quiet)
    tables, figures = reproduction_tables(result), score_figures(result)
    if not quiet:
        for group in result.failed:
            typer.echo(
                f"failed: {group.name}: {'; '.join(dict.fromkeys(group.failures.values()))}",
                err=True,
            )
    _write(chosen, tables, figures, scores_data(result), place, format, quiet)
    if code or result.failed:
        raise typer.Exit(code or EXIT_FAILED)


def _recipe(name: str, quick: bool, seeds: str | None) -> Recipe:
    from dataclasses import replace

    from dbpcfg.experiments.grid import read_seeds
    from dbpcfg.experiments.recipe import quick_version, read_recipe

    found = read_recipe(name)
    if quick:
        found = quick_version(found)
    if seeds is not None:
        found = replace(found, seeds=read_seeds([seeds]))
    return found


def _name(cell: Cell) -> str:
    """The name of a cell with that of its sweep: rows have cells of the same name."""
    return f"{Path(cell.out).name}/{cell.name}"


def _depths(
    recipe: Recipe, treebank: list[str], place: Path, dry_run: bool, format: Any, quiet: bool
) -> None:
    from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
    from dbpcfg.corpus.reading import read
    from dbpcfg.experiments.recipe_cells import recipe_trees, write_corpus
    from dbpcfg.experiments.reproduction import analyse_depths, depth_tables, depths_data
    from dbpcfg.io.tables import plural
    from dbpcfg.report.reproduction import depth_figures

    trees = recipe_trees(recipe, treebank)
    if dry_run:
        typer.echo(f"{plural(len(trees), 'gold tree')} would be analysed")
        return
    corpus = read(write_corpus(trees, place), quiet=True)
    rule = recipe.corpus.preparation.get("punctuation", "auto")
    found = analyse_depths(recipe, preprocess(corpus, Preprocessing(punctuation=rule)))
    tables, figures = depth_tables(found), depth_figures(found)
    _write(recipe, tables, figures, depths_data(found), place, format, quiet)


def _again(recipe: str, treebank: list[str], out: str | None, quick: bool) -> str:
    parts = ["dbpcfg reproduce", recipe, *treebank, *(["--quick"] if quick else [])]
    return " ".join([*parts, *(["--out", out] if out is not None else [])])


def _write(
    recipe: Recipe,
    tables: list[Table],
    figures: list[tuple[str, str]],
    data: dict[str, Any],
    place: Path,
    format: Any,
    quiet: bool,
) -> None:
    """Print tables, and write JSON, LaTeX and the page."""
    from dbpcfg.experiments.reproduction import write_reproduction
    from dbpcfg.report.reproduction import write_reproduction_page

    written = write_reproduction(recipe, tables, data, place)
    written.append(write_reproduction_page(recipe, tables, figures, place))
    print_tables(tables, format)
    if not quiet:
        for path in written:
            typer.echo(path, err=True)
