"""The command line. Each command imports what it needs when it runs: ``--help`` stays instant."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from dbpcfg import __version__
from dbpcfg.cli import (
    comparing,
    corpora,
    describing,
    exchanging,
    inducing,
    measuring,
    reporting,
    scoring,
    terminal,
    using,
)
from dbpcfg.cli.options import Quiet, Seed
from dbpcfg.errors import DbpcfgError

EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="dbpcfg",
    help="Learn a phrase-structure grammar from raw text, under a human memory bound.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"dbpcfg {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(seed: Seed = 0, quiet: Quiet = False) -> None:
    """Repeat the paper's experiments with synthetic text: learn from words alone, show the trees.

    The corpora are made on the spot. It takes less than a minute, and nothing is written.
    """
    from dbpcfg.demo import run_demo
    from dbpcfg.drawing import BOX_CHARACTERS

    run_demo(
        seed,
        typer.echo,
        quiet=quiet,
        width=terminal.width(),
        ascii=not terminal.takes(BOX_CHARACTERS),
    )


for command in (
    inducing.induce,
    inducing.resume,
    describing.show,
    reporting.report,
    reporting.compare_runs,
    using.parse,
    using.generate,
    describing.probability,
    measuring.surprisal,
    scoring.evaluate,
    comparing.baseline,
    comparing.compare,
    corpora.convert,
    corpora.synth,
    exchanging.export,
    exchanging.draw,
    exchanging.bound,
):
    app.command()(command)


def main() -> None:
    """Run the command line: a user's mistake is one line and exit code 2, never a traceback."""
    try:
        app()
    except DbpcfgError as error:
        typer.echo(f"dbpcfg: {error}", err=True)
        sys.exit(EXIT_MISTAKE)
    except BrokenPipeError:
        # The reader has gone (as with `| head`); keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
