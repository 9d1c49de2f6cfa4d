"""Docstrings and signatures for autodoc.

* A recurrence after ``::`` is a literal block. The formatter of the source takes its indentation
  away where nothing but the recurrence follows the first line; here it comes back.
* An indented block is a literal block, not a quotation.
* A default that is made anew each time, ``<factory>``, is not Python: it becomes ``...``.
* Names that stand for a type, such as ``Floats``, stay names.
* The dash between a parameter and its description is a dash.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.inspect import TypeAliasForwardRef


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


def literal(lines: list[str]) -> list[str]:
    """The lines of a docstring, with ``::`` before what is indented below a plain paragraph."""
    result: list[str] = []
    before = ""  # the last line that is not blank
    for number, line in enumerate(lines):
        begins = line.startswith("    ") and number > 0 and not lines[number - 1].strip()
        if begins and not before.startswith(" ") and not before.rstrip().endswith("::"):
            result += ["::", ""]
        result.append(line)
        before = line if line.strip() else before
    return result


def _docstring(
    app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]
) -> None:
    lines[:] = literal(indented(lines))


def _signature(
    app: Sphinx,
    what: str,
    name: str,
    item: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    return signature and signature.replace("<factory>", "..."), returned


def _dashes(app: Sphinx, page: nodes.document) -> None:
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect these to autodoc."""
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]
    app.connect("autodoc-process-docstring", _docstring, priority=400)  # before napoleon, at 500
    app.connect("autodoc-process-signature", _signature)
    app.connect("doctree-read", _dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
