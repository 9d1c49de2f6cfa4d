"""The interface of every system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from dbpcfg.runtime.progress import Progress
from dbpcfg.trees.tree import Tree


class System(Protocol):
    """Learns from sentences, then gives each of them a tree.

    A system is made with its settings (and a seed, if it draws random numbers). Its trees may be
    without some of the punctuation.
    """

    name: str
    """Its name in tables."""
    stochastic: bool
    """Whether another seed gives other trees."""

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``sentences``: the words of each sentence, punctuation included. Their order may matter.
        """

    def trees(self) -> list[Tree]:
        """The trees of these sentences, in order."""
