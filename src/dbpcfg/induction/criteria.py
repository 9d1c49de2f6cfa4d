"""What chains are compared by: in a race, and when the run's answer is selected.

==============  ==================================================================================
``likelihood``  log P(sentences | G), the paper's choice
``posterior``   log P(trees, words | β), the probabilities of rules integrated out
``variance``    variance over sentences of surprisal per word (Jin and Schuler 2019); less is better
``heldout``     log P(sentences | G) of sentences that the chain does not learn from
``agreement``   mean F1 of the chain's trees against those of the other chains
==============  ==================================================================================

The first four are known after every iteration, and are means over the iterations that count;
``agreement`` compares finished chains. Of EM and VB, ``posterior`` is what they maximise
(`dbpcfg.induction.expectation`). No criterion looks at gold trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from dbpcfg.grammar.pcfg import RuleCounts
from dbpcfg.induction.beta import log_marginal
from dbpcfg.numerics.kernels import Floats, Longs

Criterion = Literal["likelihood", "posterior", "variance", "heldout", "agreement"]


class Measures(NamedTuple):
    """What is measured in every iteration."""

    likelihood: float
    posterior: float
    variance: float
    heldout: float
    """Not a number if no sentences are kept aside."""


def measure(
    logs: Floats, lengths: Longs, aside: Longs, counts: RuleCounts | None, beta: float
) -> Measures:
    """Measure an iteration.

    ``counts``: rule counts of the trees of the others; None if the learner says what ``posterior``
    is.
    """
    learned = float(logs.sum()) if not len(aside) else float(np.delete(logs, aside).sum())
    return Measures(
        likelihood=learned,
        posterior=float("nan")
        if counts is None
        else log_marginal(counts.root[np.newaxis], beta) + log_marginal(counts.rows, beta),
        variance=float(np.var(logs / lengths)),
        heldout=float(logs[aside].sum()) if len(aside) else float("nan"),
    )


def kept_aside(sentences: int, every: int) -> Longs:
    """The numbers of the sentences that are kept aside: every n-th one, none if n is 0."""
    return np.arange(every - 1, sentences, every) if every else np.zeros(0, dtype=np.int64)


def before_trees(criterion: Criterion) -> Criterion:
    """What chains are compared by while there are no trees to agree on."""
    return "posterior" if criterion == "agreement" else criterion


def goodness(values: Sequence[float], criterion: Criterion) -> float:
    """The mean of what was measured, so that more is better."""
    mean = float(np.mean(values)) if len(values) else -np.inf
    return -mean if criterion == "variance" else mean
