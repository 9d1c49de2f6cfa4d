"""Options of commands that use a learned grammar, and what they ask for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli.options import depth_of
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.model.model import Model

RunPath = Annotated[
    str, typer.Argument(metavar="RUN", help="Directory of a run, model file or rule table.")
]
Text = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT...",
        help="Files, directories, patterns or -; standard input if not given.",
        show_default=False,
    ),
]
Depth = Annotated[
    str | None,
    typer.Option(
        "-D", "--depth", help="Most fragments in memory, if not the model's; 'none': no bound."
    ),
]
UnknownWords = Annotated[
    float | None,
    typer.Option(
        "--unknown",
        help="Probability of unknown words under each category, if not the model's own: a rule "
        "table has none.",
    ),
]


def open_model(
    run: str, depth: str | None = None, unknown: float | None = None, samples: bool = False
) -> Model:
    """The model of a run, with another bound or other probabilities of unknown words if asked."""
    import numpy as np

    from dbpcfg.model.model import load

    model = load(run, samples)
    if unknown is not None:
        if not 0 <= unknown < 1:
            raise DbpcfgError(f"--unknown must be a probability below 1, got {unknown}")
        model = replace(model, unknown=np.full(model.grammar.categories, unknown))
    return model if depth is None else replace(model, depth=depth_of(depth))


def open_text(
    text: list[str] | None,
    input_format: str | None,
    speakers: list[str] | None,
    exclude_speakers: list[str] | None,
    quiet: bool,
) -> Iterator[Sentence | None]:
    """The sentences as they come; None is a blank line."""
    from dbpcfg.corpus.streaming import stream

    if at_terminal(text) and not quiet:
        typer.echo("reading sentences from the terminal, one a line; Ctrl-D ends", err=True)

    def report(remark: str) -> None:
        if not quiet:
            typer.echo(remark, err=True)

    return stream(text or ["-"], input_format, speakers or None, exclude_speakers or None, report)


def at_terminal(text: list[str] | None) -> bool:
    """Whether someone types the sentences."""
    return (not text or text == ["-"]) and sys.stdin is not None and sys.stdin.isatty()
