"""``dbpcfg sweep`` runs a grid over corpora, K, D, β, seeds and systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dbpcfg.cli.clusters import check_cluster, on_cluster
from dbpcfg.cli.options import Quiet, Threads
from dbpcfg.cli.output import print_tables, write
from dbpcfg.cli.terminal import harmless
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dbpcfg.io.tables import Table
    from dbpcfg.sweep.cells import GridCell
    from dbpcfg.sweep.record import CellOutcome

EXIT_FAILED = 1
"""If cells have failed."""


def sweep(
    grid: Annotated[
        str,
        typer.Argument(metavar="GRID", help="TOML file: corpus, K, D, beta, seeds, systems, out."),
    ],
    cell: Annotated[
        int | None, typer.Option(help="Run only this cell, by its number.", min=1)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells and what is done; run nothing.")
    ] = False,
    slurm_array: Annotated[
        bool,
        typer.Option(
            "--slurm-array",
            help="Print a script that runs the cells that are not finished as a SLURM array.",
        ),
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
    format: Annotated[
        Literal["text", "tsv", "json", "latex"],
        typer.Option(help="Format of tables; tsv has the cells only."),
    ] = "text",
    quiet: Quiet = False,
) -> None:
    """Run a grid of cells: systems on corpora, with all K, D, beta and seeds.

    Finished cells are kept; after Ctrl-C or a crash the same command
    runs the rest.
    Cells that fail are listed with the reason, and the others go on;
    the exit code is then 1.
    """
    from dbpcfg.sweep.gridfile import read_grid
    from dbpcfg.sweep.slurm import array_script
    from dbpcfg.sweep.tables import state_table, sweep_tables

    if (cell is not None) + dry_run + slurm_array > 1:
        raise DbpcfgError("give one of --cell, --dry-run and --slurm-array")
    if cluster is not None and jobs > 1:
        raise DbpcfgError("--jobs is for this machine; a cluster has as many as it has workers")
    check_cluster(cluster, None)
    path = Path(grid)
    found = read_grid(path)
    if found.out.exists() and not found.out.is_dir():
        raise DbpcfgError(f"{found.out} is a file; out needs a directory: choose another name")
    cells = found.cells()
    if cell is not None:
        if cell > len(cells):
            raise DbpcfgError(
                f"{grid} has {len(cells):,} cells, so there is no cell {cell}; "
                "`dbpcfg sweep --dry-run` lists them"
            )
        cells = [cells[cell - 1]]
    outcomes = found_outcomes(cells)
    if dry_run:
        print_cells([state_table(cells, outcomes)], format)
        return
    if slurm_array:
        left = [one.number for one in cells if outcomes[one.number].state != "finished"]
        if not left:
            raise DbpcfgError(f"all {len(cells):,} cells of {grid} are finished")
        write("-", array_script(path, left))
        return
    again = f"dbpcfg sweep {grid}" + ("" if cell is None else f" --cell {cell}")
    if cluster is not None:
        again += f" --cluster {cluster}"

    def run_all(left: list[GridCell], **shown: Any) -> dict[int, CellOutcome]:
        from dbpcfg.sweep.pool import run_cells

        with on_cluster(cluster, None, quiet, rest_hint(again)) as there:
            if there is None:
                return run_cells(left, jobs=jobs, threads=threads, **shown)
            from dbpcfg.sweep.on_cluster import run_cells_on

            return run_cells_on(there.client, path, left, threads=threads, **shown)

    code = run_left(cells, outcomes, run_all, quiet, again)
    print_cells(sweep_tables(cells, outcomes), format)
    failed = [one for one in cells if outcomes[one.number].state == "failed"]
    if not quiet:
        for one in failed:
            typer.echo(f"failed: {one.name}: {outcomes[one.number].reason}", err=True)
    if code or failed:
        raise typer.Exit(code or EXIT_FAILED)


def found_outcomes(cells: list[GridCell]) -> dict[int, CellOutcome]:
    """What is done, checked before anything runs: an error should not come after an hour."""
    from dbpcfg.sweep.corpora import digest_if_readable
    from dbpcfg.sweep.record import CellRecord

    return {cell.number: CellRecord(cell).found(digest_if_readable(cell.corpus)) for cell in cells}


def run_left(
    cells: list[GridCell],
    outcomes: dict[int, CellOutcome],
    run_all: Callable[..., dict[int, CellOutcome]],
    quiet: bool,
    again: str,
    **named: Any,
) -> int:
    """Run what is not finished; the exit code of the signal that stopped it, or 0.

    ``outcomes``: how far they are, by number; changed to what they are afterwards.
    ``**named``: ``name``: what progress calls a cell, if it is not its own name.
    """
    from dbpcfg.cli.interruption import stop_on_signal
    from dbpcfg.cli.sweep_progress import SweepProgress

    left = [cell for cell in cells if outcomes[cell.number].state != "finished"]
    kept = len(cells) - len(left)
    if kept and not quiet:
        typer.echo(f"{kept:,} of {len(cells):,} cells were finished before", err=True)
    hint = rest_hint(again)
    shown = SweepProgress(len(cells), kept, quiet, **named)
    with stop_on_signal(hint=hint) as stop, shown as progress:
        outcomes |= run_all(left, watcher=progress, stopping=stop)
    if not stop():
        return 0
    typer.echo(hint, err=True)
    return stop.exit_code


def rest_hint(again: str) -> str:
    """What is said when a command stops, and the command that runs the rest."""
    return f"stopped; the same command runs the rest: {harmless(again)}"


def print_cells(tables: list[Table], format: Literal["text", "tsv", "json", "latex"]) -> None:
    """Print tables of cells."""
    from dbpcfg.io import tables as tsv

    if format != "tsv":
        print_tables(tables, format)
        return
    table = tables[0]
    head = tsv.line(column.json_key for column in table.columns)
    rows = [tsv.line("" if cell is None else cell for cell in row) for row in table.rows]
    write("-", head + "".join(rows))
