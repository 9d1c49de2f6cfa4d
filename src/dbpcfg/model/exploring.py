"""The page of ``dbpcfg explore`` in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from dbpcfg.model.model import Model


class Exploration:
    """A page that is being served on this machine; a notebook shows it in a frame.

    It ends with the program, or by `stop`.
    """

    def __init__(self, model: Model, trees: Iterable[Tree], port: int, height: int) -> None:
        pages = import_module("dbpcfg.report.explore")  # a layer above this one
        explored = pages.Explored(model, repr(model).strip("<>"), trees)
        self._server = pages.new_server([explored], port, framed=True)
        self._server.start()
        self.height = height
        self.address: str = self._server.address
        """The address of the page, for a browser on this machine."""

    def stop(self) -> None:
        """End it; the page then says so."""
        self._server.stop()

    def __repr__(self) -> str:
        return f"<Exploration: {self.address}>"

    def _repr_html_(self) -> str:
        frame = f'<iframe src="{self.address}" width="100%" height="{self.height}"></iframe>'
        return f'{frame}<p><a href="{self.address}" target="_blank">In a tab of its own</a></p>'
