"""What the terminal can show."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_OWN = re.compile(r"(\x1b\[[01]m)")
"""What is written for bold, and after it."""


def harmless(text: str) -> str:
    """A text with its control characters made visible, ``\\x1b`` for escape: for a terminal."""
    return _CONTROLS.sub(lambda found: ascii(found.group())[1:-1], text)


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
