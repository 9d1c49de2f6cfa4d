"""Recurrences at the end of docstrings, after ``::``, are literal blocks.

The formatter of the source takes their indentation away where nothing but the recurrence follows
the first line; here it comes back.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from sphinx.application import Sphinx


def indented(lines: list[str]) -> list[str]:
    """The lines of a docstring, with what follows ``::`` and a blank line indented."""
    result = list(lines)
    for number, line in enumerate(lines[:-2]):
        if line.rstrip().endswith("::") and not lines[number + 1].strip():
            first = number + 2
            block = list(takewhile(str.strip, lines[first:]))
            if block and not block[0].startswith(" "):
                result[first : first + len(block)] = [f"    {line}" for line in block]
    return result


def _process(
    app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]
) -> None:
    lines[:] = indented(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell autodoc of it."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
