"""``dbpcfg generate``: sentences drawn from a learned grammar."""

from __future__ import annotations

from typing import Annotated

import typer

from dbpcfg.cli.inputs import open_model
from dbpcfg.cli.options import Depth, Quiet, RunArgument, Seed
from dbpcfg.cli.output import standard_output


def generate(
    run: RunArgument,
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
    out = standard_output()
    with Progress("sentences", number, quiet or out.isatty()) as progress:
        for done, tree in enumerate(made, start=1):
            out.write((str(tree) if trees else " ".join(tree.words())) + "\n")
            progress.update(done)
        out.flush()
