"""What the terminal can show."""

from __future__ import annotations

import os
import shutil
import sys


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
