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

    Parameters
    ----------
    sentences
        The numbers of the sentences.
    size
        The greatest size of a batch; 0 for one batch of all sentences, in their order.
    numbers
        The random numbers; each sentence has those of its own number.
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

    Parameters
    ----------
    before
        The statistics so far; None before the first mini-batch.
    found
        Expected counts of the mini-batch.
    scale
        How many times larger the corpus is.
    step
        t, the number of mini-batches before this one.
    exponent
        α.
    """
    if before is None:
        return found * scale
    rate = float((step + 2.0) ** -exponent)
    return before * (1.0 - rate) + found * (rate * scale)
