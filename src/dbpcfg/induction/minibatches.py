"""Mini-batches of sentences, and the sizes of the steps they are learned from with.

Statistics are an interpolation of those so far and those of a mini-batch, scaled to the whole
corpus: s ← (1 − η_t) s + η_t ŝ, with η_t = (t + 2)^−α (Cappé and Moulines 2009; Liang and Klein
2009), ½ < α ≤ 1. The first mini-batch of all is taken as it is.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.grammar.weights import RuleWeights
from dbpcfg.numerics.kernels import Floats, Longs, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair


def minibatches(sentences: Longs, size: int, numbers: Stream) -> list[Longs]:
    """The sentences in random order, in batches of nearly equal size.

    ``size``: the greatest size of a batch; 0 for one batch of all sentences, in their order.
    ``numbers``: the random numbers; each sentence has those of its own number.
    """
    if not size or size >= len(sentences):
        return [sentences]
    keys = np.empty(len(sentences))
    uniforms(numbers, sentences, keys)
    order = sentences[np.argsort(keys, kind="stable")]
    return np.array_split(order, -(-len(order) // size))


@kernel
def uniforms(numbers: Stream, items: Longs, found: Floats) -> None:
    """A random number for each item."""
    for x in range(len(items)):
        found[x], _ = uniform_pair(numbers, items[x], 0)


def blended(
    before: RuleWeights | None, found: RuleWeights, scale: float, step: int, exponent: float
) -> RuleWeights:
    """The statistics after one more mini-batch.

    ``before``: the statistics so far; None before the first mini-batch.
    """
    if before is None:
        return found * scale
    rate = float((step + 2.0) ** -exponent)
    return before * (1.0 - rate) + found * (rate * scale)
