"""``dbpcfg generate``: sentences drawn from a learned grammar."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli import terminal
from dbpcfg.cli.model_options import (
    Depth,
    RunPath,
    open_model,
)
from dbpcfg.cli.options import Quiet, Seed

if TYPE_CHECKING:
    pass


def generate(
    run: RunPath,
    number: Annotated[int, typer.Option("-n", "--number", help="How many.", min=1)] = 10,
    trees: Annotated[bool, typer.Option("--trees", help="With their trees, in brackets.")] = False,
    max_length: Annotated[
        int | None,
        typer.Option(help="Only sentences of at most so many words.", min=1, max=1000),
    ] = None,
    with_unknown: Annotated[
        bool, typer.Option("--with-unknown", help="Allow <unknown>, the word for unknown ones.")
    ] = False,
    seed: Seed = 0,
    depth: Depth = None,
    quiet: Quiet = False,
) -> None:
    """Print sentences that the grammar makes up, one a line.

    They are drawn from the model: within its bound, if it has one.
    With --max-length, from its sentences that are no longer.
    The first ten of a hundred are the ten of ten.
    """
    from dbpcfg.model.generation import generate as make
    from dbpcfg.runtime.progress import Progress

    model = open_model(run, depth)
    made = make(model, number, seed, max_length=max_length, unknown=with_unknown)
    terminal.write_utf8()
    with Progress("sentences", number, quiet or sys.stdout.isatty()) as progress:
        for done, tree in enumerate(made, start=1):
            sys.stdout.write((str(tree) if trees else " ".join(tree.words())) + "\n")
            progress.update(done)
        sys.stdout.flush()
