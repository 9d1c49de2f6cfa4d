"""Equations as MathML, which browsers draw themselves: pages need no script and no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from latex2mathml.converter import convert
from sphinx.util import logging

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def _mathml(node: nodes.Element, display: str) -> str:
    source = node.astext()
    try:
        # It knows align* only, which is the same on a page of its own.
        drawn = str(convert(source.replace("{aligned}", "{align*}"), display=display))
    except Exception as error:  # whatever it is, the page should say so and the build should fail
        drawn = f"\\ {error}"
    if "\\" in drawn:  # a command that it does not know stays as it is
        logger.warning("this equation cannot be drawn: %s", source, location=node)
        return f"<code>{escape(source)}</code>"
    return drawn


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(_mathml(node, "inline"))
    raise SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(f'<div class="equation">{_mathml(node, "block")}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
