"""``dbpcfg export``: a grammar for other programs."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dbpcfg.cli.options import Overwrite, Quiet, RunArgument
from dbpcfg.cli.output import check_overwrite, write


def export(
    run: RunArgument,
    target: Annotated[str, typer.Argument(metavar="OUT", help="File, or - for standard output.")],
    format: Annotated[
        Literal["tsv", "json", "nltk"] | None,
        typer.Option(
            "--as",
            help="Rule table, JSON or NLTK's PCFG notation. By the suffix of OUT (.tsv, .json, "
            ".pcfg) if not given; tsv for -.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Prune rules less probable than this, and renormalise; all rules if not given."
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "-D",
            "--depth",
            min=1,
            help="Write the grammar under this memory bound as an unbounded one; its categories "
            "have a side and depth, such as X1/L2.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a learned grammar for other programs: rule table, JSON, or NLTK's PCFG.

    Probabilities have all their digits.
    The file can be used wherever a RUN is expected.
    """
    check_overwrite([target], overwrite)

    from dbpcfg.grammar.bounded import bounded_pcfg
    from dbpcfg.grammar.exchange import format_of, pruned, to_text
    from dbpcfg.model.files import load

    kind = format or ("tsv" if target == "-" else format_of(target))
    model = load(run)
    grammar, notes = model.grammar, []
    if depth is not None:
        grammar = bounded_pcfg(grammar, depth)
        notes.append(f"The grammar under a memory bound of {depth}, written out.")
    elif model.depth is not None:
        notes.append(
            f"Learned under a memory bound of {model.depth}, which these rules do not have."
        )
    if threshold is not None:
        shorter = pruned(grammar, threshold)
        grammar = shorter.grammar
        notes.append(str(shorter))
    write(target, to_text(grammar, kind, notes))
    if not quiet:
        for note in notes:
            typer.echo(note, err=True)
