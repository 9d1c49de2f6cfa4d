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
    """A model and how it is trained."""

    model: ChunkModel
    smoothing: float
    """λ, which is added to the counts of words."""
    tolerance: float
    """The relative fall of perplexity at which EM stops."""

    def train(
        self, symbols: Longs, number: int, report: Callable[[], None] = lambda: None
    ) -> Floats | None:
        """Learn arcs from a sequence.

        ``report``: called after every iteration, of which there are at least two.
        Returns the arcs. None if a tag is impossible everywhere, so that there are no transitions
        from it to estimate: that is so if all segments are single words, which can only be O.
        """
        learnt = first_arcs(self.model, number, self.smoothing)
        counts = np.empty_like(learnt)
        before = math.inf
        while True:
            log_likelihood = expected_counts(symbols, learnt, counts)
            if not counts.sum(axis=(0, 2)).all():
                return None
            learnt = arcs(self.model, counts, self.smoothing)
            report()
            perplexity = math.exp(-log_likelihood / len(symbols))
            if (before - perplexity) / perplexity <= self.tolerance:
                return learnt
            before = perplexity
