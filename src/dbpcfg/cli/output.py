"""Where commands write: a file, whole or not at all, or standard output; always in UTF-8."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dbpcfg.cli import terminal
from dbpcfg.cli.terminal import TerminalOutput
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.io.tables import Table, TableFormat


def check_overwrite(files: list[str], overwrite: bool) -> None:
    """Raise an error if a file exists and may not be replaced."""
    for file in files:
        if file != "-" and Path(file).exists() and not overwrite:
            raise DbpcfgError(f"{file} exists; --overwrite replaces it")


def standard_output() -> TextIO:
    """Return standard output, set to UTF-8: words are written in the encoding they are read in."""
    if sys.stdout is None:
        raise DbpcfgError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper | TerminalOutput):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    return sys.stdout


def occupy_standard_streams() -> None:
    """Open what is closed of standard input, output and error, or a file would get its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def drop_standard_output() -> None:
    """Throw away what could not be written, or Python would try again at exit, and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def open_output(target: str) -> Iterator[TextIO]:
    """Open a file that is written whole or not at all, or standard output for ``-``."""
    from dbpcfg.io.files import writing, written_whole

    if target == "-":
        out = standard_output()
        yield out
        out.flush()
        return
    with writing(target), written_whole(Path(target)) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.detach()  # which flushes, and leaves the file open


def write(target: str, text: str) -> None:
    """Write a text to a file, or to standard output for ``-``."""
    with open_output(target) as file:
        file.write(text)


def print_tables(tables: Sequence[Table], format: TableFormat) -> None:
    """Print tables to standard output, on a terminal not wider than it is."""
    from dbpcfg.io.tables import render

    width = terminal.width() if sys.stdout.isatty() else None
    write("-", render(tables, format, width) + "\n")
