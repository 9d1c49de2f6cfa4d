"""What chains are compared by: in a race, and when the run's answer is selected.

==============  ==================================================================================
``likelihood``  log P(sentences | G), the paper's choice
``posterior``   log P(trees, words | β), the probabilities of rules integrated out; of learners
                that sample no trees, what they maximise
``variance``    variance over sentences of surprisal per word (Jin and Schuler 2019); less is better
``heldout``     log P(sentences | G) of sentences that the chain does not learn from
``agreement``   mean F1 of the chain's trees against those of the other chains
==============  ==================================================================================

The first four are known after every iteration, and are means over the iterations that count;
``agreement`` compares finished chains. No criterion looks at gold trees. To add one, register an
object with the methods of `Criterion`: ``criteria.add("mine", Mine())``, or an entry point of the
group ``dbpcfg.criteria``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln

from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.registry import Registry

if TYPE_CHECKING:
    from dbpcfg.induction.chain import Chain
    from dbpcfg.induction.run import Run


class Measures(NamedTuple):
    """What is measured in every iteration."""

    likelihood: float
    posterior: float
    variance: float
    heldout: float
    """Not a number if no sentences are held out."""


def measure(
    logs: Floats, lengths: Longs, held_out: Longs, counts: RuleWeights | None, beta: float
) -> Measures:
    """Measure an iteration.

    ``counts``: rule counts of the trees of the others; None if the learner says what ``posterior``
    is.
    """
    learned = float(logs.sum()) if not len(held_out) else float(np.delete(logs, held_out).sum())
    return Measures(
        likelihood=learned,
        posterior=float("nan")
        if counts is None
        else log_marginal(counts.root[np.newaxis], beta) + log_marginal(counts.rows, beta),
        variance=float(np.var(logs / lengths)),
        heldout=float(logs[held_out].sum()) if len(held_out) else float("nan"),
    )


def held_out_sentences(sentences: int, every: int) -> Longs:
    """The numbers of the sentences that are held out: every n-th one, none if n is 0."""
    return np.arange(every - 1, sentences, every) if every else np.zeros(0, dtype=np.int64)


def log_marginal(table: Longs | Floats, beta: float) -> float:
    """Log-probability of counts ``[row, rule]``, the rows' probabilities integrated out."""
    rows, n = table.shape
    used = table[table > 0]
    total = table.sum(axis=1)
    return float(
        rows * gammaln(n * beta)
        - gammaln(total + n * beta).sum()
        + (gammaln(used + beta) - gammaln(beta)).sum()
    )


LARGEST = 1e100
"""No measure is larger: means and variances of smaller numbers are numbers."""


def plausible(values: Floats) -> bool:
    """Whether measures that were read from a file can be some."""
    return bool((np.abs(values) < LARGEST).all())


class Criterion:
    """A criterion; ``words`` say what a chain was selected by."""

    words: str
    averaged: ClassVar[bool] = False
    """Whether it is a mean over iterations, which the words then say too."""

    def of_iterations(self, chain: Chain, begin: int, end: int) -> float:
        """How good a chain is by some of its iterations; more is better."""
        raise NotImplementedError

    def of_chain(self, chain: Chain, run: Run) -> float:
        """How good a chain of a run is: by the iterations that count, or by the last one."""
        return self.of_iterations(chain, chain.iteration - max(1, chain.retained), chain.iteration)


class Traced(Criterion):
    """A measure of every iteration, on average."""

    averaged: ClassVar[bool] = True

    def __init__(self, measure: str, words: str, sign: int = 1) -> None:
        self.measure, self.words, self.sign = measure, words, sign

    def of_iterations(self, chain: Chain, begin: int, end: int) -> float:
        """The mean."""
        values = chain.trace(self.measure)[max(0, begin) : end]
        return self.sign * float(np.mean(values)) if values else -np.inf


class Agreeing(Traced):
    """Agreement of trees; while there are none, by a measure."""

    averaged: ClassVar[bool] = False

    def of_chain(self, chain: Chain, run: Run) -> float:
        """F1 against the trees of the other chains; by the measure, if there are no others."""
        agreement = run.shared.agreement(chain.settings.chain)
        return super().of_chain(chain, run) if agreement is None else agreement


LIKELIHOOD = Traced("likelihood", "log-likelihood")
POSTERIOR = Traced("posterior", "log-posterior")
VARIANCE = Traced("variance", "least variance of surprisal", -1)
HELDOUT = Traced("heldout", "log-likelihood of the sentences held out")
AGREEMENT = Agreeing("posterior", "agreement with the other chains")

criteria: Registry[Criterion] = Registry(
    "criterion",
    "criteria",
    {
        name: f"induction.criteria:{name.upper()}"
        for name in ("likelihood", "posterior", "variance", "heldout", "agreement")
    },
)
