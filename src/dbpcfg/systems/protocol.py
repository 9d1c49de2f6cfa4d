"""What every system that gives trees to sentences has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from dbpcfg.runtime.progress import Progress
from dbpcfg.trees.tree import Tree


class System(Protocol):
    """A way to get trees from words alone: learn from sentences, then give each of them a tree.

    A system is made with its settings (and a seed, if it draws random numbers), sees the sentences
    once in ``fit``, and has their trees in ``trees``. Which words a tree has is the system's own
    matter: some leave punctuation out.
    """

    name: str
    """What it is called in tables."""
    stochastic: bool
    """Whether another seed gives other trees."""

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences, punctuation included; the order may matter."""

    def trees(self) -> list[Tree]:
        """A tree for every sentence that was learnt from, in order."""
