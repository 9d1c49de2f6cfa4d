"""Tables of tab-separated values, as R, pandas and csv read them with their defaults.

Text with a tab, a line end, a quote or ``#`` in it goes between double quotes, and a double quote
within is doubled: R's read.table takes ' for a quote as well, and # for a comment. Numbers have 12
digits; infinity is ``Inf``, and what is not a number is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

__all__ = ["cell", "line"]

_SPECIAL = re.compile("[\t\n\r\"'#]")


def line(cells: Iterable[object]) -> str:
    """A line of a table, with its end."""
    return "\t".join(map(cell, cells)) + "\n"


def cell(value: object) -> str:
    """A cell of a table: text or a number."""
    if isinstance(value, float):
        return _number(value)
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value + 0.0:.12g}"  # −0 becomes 0
