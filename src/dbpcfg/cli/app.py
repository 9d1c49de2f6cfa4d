"""The program ``dbpcfg``. Commands import what they need when they run: ``--help`` is instant."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from dbpcfg.cli.bound import bound
from dbpcfg.cli.compare import baseline, compare
from dbpcfg.cli.convert import convert, synth
from dbpcfg.cli.demo import demo
from dbpcfg.cli.draw import draw
from dbpcfg.cli.evaluate import evaluate
from dbpcfg.cli.export import export
from dbpcfg.cli.generate import generate
from dbpcfg.cli.help import Command, Group
from dbpcfg.cli.induce import induce, resume
from dbpcfg.cli.parse import parse
from dbpcfg.cli.probability import probability
from dbpcfg.cli.report import compare_runs, report
from dbpcfg.cli.show import show
from dbpcfg.cli.surprisal import surprisal
from dbpcfg.errors import DbpcfgError
from dbpcfg.version import __version__

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="dbpcfg",
    help="Learn a phrase-structure grammar from raw text, under a human memory bound.",
    no_args_is_help=True,
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dbpcfg {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


for command in (
    demo,
    induce,
    resume,
    show,
    report,
    compare_runs,
    parse,
    generate,
    probability,
    surprisal,
    evaluate,
    baseline,
    compare,
    convert,
    synth,
    export,
    draw,
    bound,
):
    app.command(cls=Command)(command)


def main() -> None:
    """Run the program; a user error is one line and exit code 2, never a traceback."""
    try:
        app()
    except DbpcfgError as error:
        typer.echo(f"dbpcfg: {error}", err=True)
        sys.exit(EXIT_USER_ERROR)
    except BrokenPipeError:
        # The reader has closed the pipe, as `| head` does: no message of Python's at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
