"""Standard output and files that commands write, and what the terminal can show."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.io.tables import Table, TableFormat

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_OWN = re.compile(r"(\x1b\[[01]m)")
"""What is written for bold, and after it."""


def harmless(text: str) -> str:
    """A text with its control characters made visible, ``\\x1b`` for escape: for a terminal."""
    return _CONTROLS.sub(lambda match: ascii(match.group())[1:-1], text)


class TerminalOutput:
    """A stream to a terminal: control characters of words and names are shown, not obeyed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def obeyed(self) -> TextIO:
        """The stream itself, for those who move the cursor and write nothing of the user's."""
        return self._stream

    def write(self, text: str) -> int:
        """Write a text; only bold is left as it is."""
        parts = _OWN.split(text)
        self._stream.write(
            "".join(part if n % 2 else harmless(part) for n, part in enumerate(parts))
        )
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # which would be a way around this
            raise AttributeError(name)
        return getattr(self._stream, name)


@contextlib.contextmanager
def controls_shown() -> Iterator[None]:
    """Show control characters in whatever is written to standard output and error.

    Only on a terminal: files and pipes get every byte.
    """
    before = sys.stdout, sys.stderr
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream.isatty():
            setattr(sys, name, TerminalOutput(stream))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def width() -> int:
    """Return the columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size().columns


def can_show(characters: str) -> bool:
    """Whether the encoding of standard output has these characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def coloured() -> bool:
    """Whether output may be in bold and colour: on a terminal, unless NO_COLOR is set."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


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
    from dbpcfg.io.files import atomic_write, write_errors

    if target == "-":
        out = standard_output()
        yield out
        out.flush()
        return
    with write_errors(target), atomic_write(Path(target)) as file:
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

    columns = width() if sys.stdout.isatty() else None
    text = render(tables, format, columns) + "\n"
    write("-", text.encode(errors="backslashreplace").decode())  # a damaged file can have anything


SECONDS = 2.0
"""Without a terminal, a line about compiling at most this often."""


class CompilingNotice:
    """Says on standard error that kernels are being compiled, which, and how many so far."""

    def __init__(self) -> None:
        self.compiled, self.said, self.width = 0, -SECONDS, 0
        self.stream = sys.stderr  # as it is now: later, on a terminal, it does not obey controls
        self.terminal = self.stream is not None and self.stream.isatty()

    def begin(self, name: str) -> None:
        """A kernel is going to be compiled."""
        now = time.monotonic()
        if not self.terminal and now - self.said < SECONDS:
            return
        short = name.rpartition(".")[2]
        text = f"compiling kernels, once on this machine: {self.compiled} done, now {short}"
        if self.terminal:
            print(f"\r{text.ljust(self.width)}", end="", file=self.stream, flush=True)
            self.width = len(text)
        else:
            print(text, file=self.stream, flush=True)
        self.said = now

    def end(self, name: str) -> None:
        """A kernel was compiled."""
        self.compiled += 1
        if self.terminal:
            print(f"\r{' ' * self.width}\r", end="", file=self.stream, flush=True)


@contextlib.contextmanager
def compiling_announced() -> Iterator[None]:
    """Let the program say meanwhile when it compiles, unless it is to be quiet."""
    from dbpcfg.numerics import compiling

    if {"-q", "--quiet"} & set(sys.argv):
        yield
        return
    notice = CompilingNotice()
    compiling.on_begin.append(notice.begin)
    compiling.on_end.append(notice.end)
    try:
        yield
    finally:
        compiling.on_begin.remove(notice.begin)
        compiling.on_end.remove(notice.end)
