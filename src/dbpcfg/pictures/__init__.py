"""Trees as pictures: SVG for pages and notebooks, LaTeX for papers."""

from dbpcfg.pictures.latex import forest, latex_document, qtree
from dbpcfg.pictures.svg import tree_svg

__all__ = ["forest", "latex_document", "qtree", "tree_svg"]
