"""``dbpcfg reproduce`` runs a published table again, and prints its figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbpcfg.cli.clusters import check_cluster, on_cluster
from dbpcfg.cli.options import Quiet, TableFormat, Threads
from dbpcfg.cli.output import print_tables
from dbpcfg.cli.sweep import EXIT_FAILED, found_outcomes, rest_hint, run_left
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.reproduce.grids import RowGrid
    from dbpcfg.reproduce.recipe import Recipe
    from dbpcfg.sweep.cells import GridCell
    from dbpcfg.sweep.record import CellOutcome


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
        typer.Option("--quick", help="Minutes: a sample, few seeds and iterations."),
    ] = False,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds instead of the recipe's: 3, or 0-9.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ROW", help="Only this row of the recipe; may be repeated."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells and what is done; run nothing.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(help="Cells that run side by side; they share --threads.", min=1)
    ] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Run cells on a Dask cluster: local:N, tcp://HOST:PORT, or a TOML file. Workers "
            "must see the same files.",
        ),
    ] = None,
    threads: Threads = None,
    permutations: Annotated[int, typer.Option(help="Permutations of each test.", min=1)] = 10_000,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Run a table of the paper again, and print its figures beside ours.

    A recipe has the corpus, the systems and their settings, and the
    published figures. Finished cells are kept; the same command runs
    the rest.
    JSON, LaTeX and a page with figures are written to the directory.
    If rows fail, the others go on, and the exit code is 1.
    """
    from dbpcfg.reproduce.output import write_reproduction
    from dbpcfg.reproduce.result import collect
    from dbpcfg.sweep.tables import state_table

    if cluster is not None and jobs > 1:
        raise DbpcfgError("--jobs is for this machine; a cluster has as many as it has workers")
    check_cluster(cluster, None)
    chosen = _recipe(recipe, quick, seeds)
    place = Path(out) if out is not None else Path("reproduced", chosen.name + "-quick" * quick)
    if place.exists() and not place.is_dir():
        raise DbpcfgError(f"{place} is a file; --out needs a directory: choose another name")
    if chosen.analysis == "depth":
        _depths(chosen, treebank or [], place, dry_run, format, quiet)
        return
    grids = _grids(chosen, treebank or [], place, only or [])
    cells = [cell for grid in grids for cell in grid.cells]
    outcomes = found_outcomes(cells)
    if dry_run:
        print_tables([state_table(_named(cells), outcomes)], format)
        return
    again = _again(recipe, treebank or [], out, quick)

    def run_all(left: list[GridCell], **shown: Any) -> dict[int, CellOutcome]:
        from dbpcfg.sweep.pool import run_cells

        with on_cluster(cluster, None, quiet, rest_hint(again)) as there:
            if there is None:
                return run_cells(left, jobs=jobs, threads=threads, **shown)
            from dbpcfg.sweep.on_cluster import run_cells_on

            places = {number: one for grid in grids for number, one in grid.places().items()}
            return run_cells_on(there.client, places, left, threads=threads, **shown)

    code = run_left(cells, outcomes, run_all, quiet, again, name=_name)
    result = collect(chosen, grids, outcomes, place, permutations=permutations, quiet=quiet)
    print_tables(write_reproduction(result, place), format)
    _written(place, quiet)
    if not quiet:
        for group in result.failed:
            typer.echo(f"failed: {group.name}: {'; '.join(set(group.failures))}", err=True)
    if code or result.failed:
        raise typer.Exit(code or EXIT_FAILED)


def _recipe(name: str, quick: bool, seeds: str | None) -> Recipe:
    from dataclasses import replace

    from dbpcfg.reproduce.recipefile import quick_version, read_recipe
    from dbpcfg.sweep.gridtext import GridText
    from dbpcfg.sweep.keys import SEED

    found = read_recipe(name)
    if quick:
        found = quick_version(found)
    if seeds is not None:
        given: Any = int(seeds) if seeds.isdecimal() and len(seeds) < 19 else seeds
        numbers = GridText(Path("--seeds"), "").values({"seeds": given}, "seeds", SEED)
        found = replace(found, seeds=tuple(numbers))
    return found


def _grids(recipe: Recipe, treebank: list[str], place: Path, only: list[str]) -> list[RowGrid]:
    from dbpcfg.reproduce.grids import row_grids
    from dbpcfg.reproduce.treebank import recipe_trees, write_corpus

    write_corpus(recipe_trees(recipe, treebank), place)
    return row_grids(recipe, place, only)


def _name(cell: GridCell) -> str:
    """The name of a cell with that of its sweep: rows have cells of the same name."""
    return f"{Path(cell.out).name}/{cell.name}"


def _named(cells: list[GridCell]) -> list[GridCell]:
    """The cells under these names, for a table."""
    from dataclasses import replace

    return [
        replace(cell, corpus=replace(cell.corpus, name=f"{Path(cell.out).name}/{cell.corpus.name}"))
        for cell in cells
    ]


def _depths(
    recipe: Recipe, treebank: list[str], place: Path, dry_run: bool, format: Any, quiet: bool
) -> None:
    from dbpcfg.corpus.preparation import Preparation, prepare
    from dbpcfg.corpus.reading import read
    from dbpcfg.reproduce.depth import analyse_depths
    from dbpcfg.reproduce.output import write_depths
    from dbpcfg.reproduce.treebank import recipe_trees, write_corpus

    trees = recipe_trees(recipe, treebank)
    if dry_run:
        typer.echo(f"{len(trees):,} gold trees would be analysed")
        return
    corpus = read(write_corpus(trees, place), quiet=True)
    rule = recipe.corpus.preparation.get("punctuation", "auto")
    prepared = prepare(corpus, Preparation(punctuation=rule))
    print_tables(write_depths(analyse_depths(recipe, prepared), place), format)
    _written(place, quiet)


def _again(recipe: str, treebank: list[str], out: str | None, quick: bool) -> str:
    parts = ["dbpcfg reproduce", recipe, *treebank, *(["--quick"] if quick else [])]
    return " ".join([*parts, *(["--out", out] if out is not None else [])])


def _written(place: Path, quiet: bool) -> None:
    from dbpcfg.reproduce.output import FILES

    if not quiet:
        for name in FILES:
            typer.echo(place / name, err=True)
