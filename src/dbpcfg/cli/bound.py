"""``dbpcfg bound``: a grammar under memory bounds."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dbpcfg.cli.options import RunArgument, TableFormat
from dbpcfg.cli.output import print_tables
from dbpcfg.errors import DbpcfgError


def bound(
    run: RunArgument,
    depths: Annotated[str, typer.Option(help="Memory bounds, separated by commas.")] = "1,2,3",
    show: Annotated[
        Literal["mass", "h", "grammar"],
        typer.Option(help="Probability mass within each bound; h(s,d,c); or the rules G(s,d)."),
    ] = "mass",
    top: Annotated[
        int, typer.Option(help="Show at most this many rules of each category; 0: all.", min=0)
    ] = 10,
    format: TableFormat = "text",
) -> None:
    """Show a grammar under memory bounds: competence and performance.

    In the tables, L2 stands for left nodes at depth 2, R2 for right nodes.
    """
    numbers = _depths(depths)

    from dbpcfg.grammar.bounded import bounded_table, containment_table, mass_table
    from dbpcfg.model.files import load

    grammar = load(run).grammar
    if show == "mass":
        tables = [mass_table(grammar, numbers)]
    elif show == "h":
        tables = [containment_table(grammar, depth) for depth in numbers]
    else:
        tables = [bounded_table(grammar, depth, top or None) for depth in numbers]
    print_tables(tables, format)


def _depths(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise DbpcfgError(f"--depths must be whole numbers separated by commas, as 1,2,3: {text!r}")
    return [int(part) for part in parts]
