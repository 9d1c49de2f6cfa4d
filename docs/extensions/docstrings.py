"""Signatures and parameters for autodoc.

* A default that is made anew each time, ``<factory>``, or a function without a name is not Python:
  it becomes ``...``. (`autodoc_preserve_defaults` would read it from the source, but fails for
  `dbpcfg.induce`, whose keywords are not all there.)
* Names that stand for a type, such as ``Floats``, stay names.
* The dash between a parameter and its description is a dash.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.inspect import TypeAliasForwardRef


def _signature(
    app: Sphinx,
    what: str,
    name: str,
    item: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    return signature and re.sub("<factory>|<function <lambda>>", "...", signature), returned


def _dashes(app: Sphinx, page: nodes.document) -> None:
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect these to autodoc."""
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]
    app.connect("autodoc-process-signature", _signature)
    app.connect("doctree-read", _dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
