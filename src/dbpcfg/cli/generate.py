"""``dbpcfg generate``: sentences sampled from a learned grammar."""

from __future__ import annotations

from typing import Annotated

import typer

from dbpcfg.cli.inputs import open_model
from dbpcfg.cli.options import Depth, Quiet, RunArgument, Seed
from dbpcfg.cli.output import standard_output


def generate(
    run: RunArgument,
    number: Annotated[int, typer.Option("-n", "--number", help="Number of sentences.", min=1)] = 10,
    trees: Annotated[
        bool, typer.Option("--trees", help="Bracketed trees instead of sentences.")
    ] = False,
    max_length: Annotated[
        int | None,
        typer.Option(help="Only sentences of at most this many words.", min=1, max=1000),
    ] = None,
    with_unknown: Annotated[
        bool,
        typer.Option("--with-unknown", help="Include <unknown>, which stands for unknown words."),
    ] = False,
    seed: Seed = 0,
    depth: Depth = None,
    quiet: Quiet = False,
) -> None:
    """Print generated sentences, one per line.

    They are sampled from the model, within its memory bound if it has one.
    The first sentences do not depend on --number.
    """
    from dbpcfg.io.progress import Progress
    from dbpcfg.model.generation import generate as make

    model = open_model(run, depth)
    made = make(model, number, seed, max_length, with_unknown)
    out = standard_output()
    with Progress("sentences", number, quiet or out.isatty()) as progress:
        for done, tree in enumerate(made, start=1):
            out.write((str(tree) if trees else " ".join(tree.words())) + "\n")
            progress.update(done)
        out.flush()
