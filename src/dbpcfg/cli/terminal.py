"""What the place where output goes can show."""

from __future__ import annotations

import io
import os
import shutil
import sys


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size().columns


def takes(characters: str) -> bool:
    """Whether standard output can hold these characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def coloured() -> bool:
    """Whether output may be in bold and colour: on a terminal, unless NO_COLOR says no."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


def write_utf8() -> None:
    """Write in UTF-8 wherever output goes: words come back in the encoding they are read in."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
