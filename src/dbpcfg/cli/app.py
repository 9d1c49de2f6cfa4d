"""The program ``dbpcfg``. A command is imported when it runs, and what it needs: all is instant."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from dbpcfg.cli.help import Program
from dbpcfg.cli.output import (
    compiling_announced,
    controls_shown,
    drop_standard_output,
    harmless,
    occupy_standard_streams,
)
from dbpcfg.errors import DbpcfgError
from dbpcfg.version import __version__

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130

LONGEST_MESSAGE = 800
"""Characters of an error message; a longer one is cut in the middle."""

app = typer.Typer(
    name="dbpcfg",
    help="Learn a phrase-structure grammar from raw text, under a human memory bound.",
    no_args_is_help=True,
    cls=Program,
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


def main() -> None:
    """Run the program; a user error is one line and exit code 2, never a traceback."""
    occupy_standard_streams()
    with compiling_announced(), controls_shown():
        _main()


def _main() -> None:
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # here, where an error can still be a message
                sys.stdout.flush()
    except DbpcfgError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"memory ran out{f': {error}' if str(error) else ''}; choose smaller numbers")
    except BrokenPipeError:
        # The reader has closed the pipe, as `| head` does: no message of Python's at exit.
        drop_standard_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None:  # only standard output is written to without a name
            drop_standard_output()
            _fail(f"standard output cannot be written: {error.strerror or error}")
        _fail(f"{error.filename}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _fail(message: str) -> NoReturn:
    if len(message) > LONGEST_MESSAGE:  # it quotes a very long word
        message = f"{message[: LONGEST_MESSAGE - 100]} … {message[-95:]}"
    shown = harmless(message).encode("utf-8", "backslashreplace").decode()
    typer.echo(f"dbpcfg: {shown}", err=True)
    sys.exit(EXIT_USER_ERROR)
