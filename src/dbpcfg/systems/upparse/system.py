"""UPPARSE as a system that learns from sentences and gives them trees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Self, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.upparse.cascade import Cascade, find_chunks
from dbpcfg.systems.upparse.models import ChunkModel
from dbpcfg.systems.upparse.segments import STOPS, Text, read
from dbpcfg.systems.upparse.training import Trainer
from dbpcfg.systems.upparse.trees import build_trees
from dbpcfg.trees.tree import Tree


class Upparse:
    """Cascaded chunkers (Ponvert, Baldridge and Erk 2011), with the PRLG or the HMM.

    ``smoothing`` is λ, ``tolerance`` the relative fall of perplexity at which EM stops, and
    ``stops`` is the stopping punctuation, which is missing from the trees (except where it is kept
    as a word, see `segments.segments`). Words are taken as they are: lower-case them first.
    """

    stochastic = False

    def __init__(
        self,
        model: ChunkModel = "prlg",
        smoothing: float = 0.1,
        tolerance: float = 1e-4,
        stops: Iterable[str] = STOPS,
    ) -> None:
        if model not in get_args(ChunkModel):
            raise DbpcfgError(
                f"no model {model!r}; choose one of {', '.join(get_args(ChunkModel))}"
            )
        for name, value in (("smoothing", smoothing), ("tolerance", tolerance)):
            if not 0 < value < math.inf:
                raise DbpcfgError(f"{name} must be a number above 0, not {value!r}")
        self.name = f"upparse-{model}"
        self.stops = frozenset(stops)
        self._trainer = Trainer(model, smoothing, tolerance)
        self._learnt: tuple[Text, Cascade] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences, punctuation included; progress is told the iterations of EM."""
        text = read(sentences, self.stops)
        iterations = count(1)

        def tell() -> None:
            if progress is not None:
                progress.update(next(iterations))

        found = find_chunks(
            text.symbols,
            len(text.vocabulary),
            lambda symbols, number: self._trainer.train(symbols, number, tell),
            separator=text.vocabulary.get(";", -1),
        )
        self._learnt = text, found
        return self

    @property
    def cascade(self) -> Cascade:
        """The chunks, the number of levels, and why there were no more."""
        return self._after_fit()[1]

    def trees(self) -> list[Tree]:
        """A tree for every sentence that was learnt from, in order."""
        text, found = self._after_fit()
        return build_trees(text.sentences, text.symbols, found.brackets)

    def _after_fit(self) -> tuple[Text, Cascade]:
        if self._learnt is None:
            raise DbpcfgError(f"{self.name} has not seen any sentences; call fit first")
        return self._learnt
