"""The parameters that EM starts from, after Klein and Manning (2004), in Noah Smith's version.

In a sentence of n words every word is the root with 1/n, and the head of word c is word p with a
probability proportional to 1/|c − p|, altogether (n − 1)/n.  So a word p expects some number of
dependents on each side that has words.  How many of them are the first one is not known; the counts
of decisions therefore have a free parameter E, the expected number of such sides with a dependent::

    count(stop, 0) = 1 − E    count(continue, 0) = E
    count(stop, 1) = E        count(continue, 1) = dependents − E

It is one number for all tags: 0.9 of the greatest that leaves every count above 0, and at most 0.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.systems.dmv.parameters import (
    CONTINUE,
    LEFT,
    RIGHT,
    STOP,
    Parameters,
    no_counts,
    normalise,
)

SMOOTHING = 0.1
"""Added to every count."""
SHARE = 0.9
"""Of the greatest possible E."""


def initial_parameters(
    sentences: Sequence[Longs], weights: Sequence[float], tags: int
) -> Parameters:
    """Count near heads."""
    counts = no_counts(tags)
    free = np.zeros_like(counts.decision)  # what E is multiplied by
    for sentence, weight in zip(sentences, weights, strict=True):
        n = len(sentence)
        np.add.at(counts.root, sentence, weight / n)
        heads = _head_probabilities(n) * weight
        for d, of_side in ((LEFT, np.triu(heads, 1)), (RIGHT, np.tril(heads, -1))):
            np.add.at(counts.child[:, d], (sentence[None, :], sentence[:, None]), of_side)
            expected = of_side.sum(axis=0)
            np.add.at(counts.decision[:, d, 0, STOP], sentence, weight)
            np.add.at(counts.decision[:, d, 1, CONTINUE], sentence, expected)
            having = sentence[expected > 0]
            for v, sign in ((0, weight), (1, -weight)):
                np.add.at(free[:, d, v, CONTINUE], having, sign)
                np.add.at(free[:, d, v, STOP], having, -sign)
    for table in counts:
        table += SMOOTHING
    falling = free < 0
    greatest = (-counts.decision[falling] / free[falling]).min(initial=1.0)
    counts.decision[...] += SHARE * greatest * free
    return Parameters(*map(normalise, counts))


def _head_probabilities(n: int) -> Floats:
    """``[c, p]``: the probability that the head of word c is word p."""
    positions = np.arange(n)
    distances = np.abs(positions[:, None] - positions[None, :])
    weights = np.zeros((n, n))
    np.divide(1.0, distances, out=weights, where=distances > 0)
    if n == 1:
        return weights
    probabilities: Floats = weights / weights.sum(axis=1, keepdims=True) * ((n - 1) / n)
    return probabilities
