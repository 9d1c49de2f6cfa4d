"""Lines of comma-separated values, as R, pandas and csv read them with their defaults.

Numbers are written as in `dbpcfg.files.tsv`; a text with a comma, a double quote or a line end in
it goes between double quotes, and a double quote within is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbpcfg.files.tsv import cell

__all__ = ["csv_line"]

_SPECIAL = re.compile('[,\n\r"]|^[ \t]|[ \t]$')


def csv_line(cells: Iterable[object]) -> str:
    """A line of a table, with its end."""
    return ",".join(_text(c) if isinstance(c, str) else cell(c) for c in cells) + "\n"


def _text(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
