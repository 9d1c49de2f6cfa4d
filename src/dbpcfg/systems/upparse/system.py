"""UPPARSE as one of the systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Self, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.checks import require_fit
from dbpcfg.systems.upparse.cascade import Cascade, find_chunks
from dbpcfg.systems.upparse.models import ChunkModel
from dbpcfg.systems.upparse.segments import STOPS, SegmentedText, segment_text
from dbpcfg.systems.upparse.training import Trainer
from dbpcfg.systems.upparse.trees import build_trees
from dbpcfg.trees.tree import Tree


class Upparse:
    """Cascaded chunkers (Ponvert, Baldridge and Erk 2011), with the PRLG or the HMM.

    Words are taken as they are: lower-case them first.

    ``model``: ``"prlg"``, a probabilistic right-linear grammar, or ``"hmm"``, a hidden Markov
    model.
    ``stops``: stopping punctuation. It is missing from the trees, except where it is kept as a word
    (see `segments.segments`).
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
        self._fitted: tuple[SegmentedText, Cascade] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``progress``: updated with the number of iterations of EM, over all levels.
        """
        text = segment_text(sentences, self.stops)
        iterations = count(1)

        def report() -> None:
            if progress is not None:
                progress.update(next(iterations))

        found = find_chunks(
            text.symbols,
            len(text.vocabulary),
            lambda symbols, number: self._trainer.train(symbols, number, report),
            separator=text.vocabulary.get(";", -1),
        )
        self._fitted = text, found
        return self

    @property
    def cascade(self) -> Cascade:
        """The chunks of all levels, the number of levels, and why there were no more."""
        return require_fit(self.name, self._fitted)[1]

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        text, found = require_fit(self.name, self._fitted)
        return build_trees(text.sentences, text.symbols, found.brackets)
