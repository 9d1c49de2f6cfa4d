"""EM, from the uniform model until the perplexity of the sequence hardly falls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.systems.upparse.forwardbackward import expected_counts
from dbpcfg.systems.upparse.models import ChunkModel, arcs, first_arcs


@dataclass(frozen=True)
class Trainer:
    """A model, how much its words are smoothed, and the relative fall of perplexity to stop at."""

    model: ChunkModel
    smoothing: float
    tolerance: float

    def train(
        self, symbols: Longs, number: int, tell: Callable[[], None] = lambda: None
    ) -> Floats | None:
        """The arcs learnt from a sequence over a ``number`` of symbols; `None` if there are none.

        There are none if a tag has no place in the sequence: there are no transitions from it to
        estimate then.  That is so if all segments are single words, which can only be O.  ``tell``
        is called after every iteration, of which there are two at least.
        """
        learnt = first_arcs(self.model, number, self.smoothing)
        counts = np.empty_like(learnt)
        before = math.inf
        while True:
            log_likelihood = expected_counts(symbols, learnt, counts)
            if not counts.sum(axis=(0, 2)).all():
                return None
            learnt = arcs(self.model, counts, self.smoothing)
            tell()
            perplexity = math.exp(-log_likelihood / len(symbols))
            if (before - perplexity) / perplexity <= self.tolerance:
                return learnt
            before = perplexity
