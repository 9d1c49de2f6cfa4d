"""The result of a chain in a few numbers: for tables, for ``chains.tsv`` and for the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbpcfg.induction.chain import Chain


@dataclass(frozen=True)
class ChainSummary:
    """A chain's length and log-likelihoods; the mean and sd are over the iterations that count."""

    chain: int
    iterations: int
    burn_in: int | None
    mean_log_likelihood: float
    sd: float
    per_token: float
    """The mean divided by the number of tokens."""
    best_log_likelihood: float
    last_f1: float | None
    """F1 that was logged last, if there are gold trees."""
    posterior: float
    """Mean of log P(trees, words | β), the probabilities of rules integrated out."""
    variance: float
    """Mean of the variance over sentences of surprisal per word."""
    heldout: float | None
    """Mean log-likelihood of the sentences kept aside, if there are any."""
    agreement: float | None
    """F1 of the chain's trees against those of the other survivors; None if it was dropped."""
    survived: bool
    """Whether it ran to the end; False if it was dropped from a race."""
    selected: bool


def summary_of(
    chain: Chain, tokens: int, selected: bool, survived: bool, agreement: float | None
) -> ChainSummary:
    """Summarise a chain that has done at least one iteration."""
    assert chain.best is not None
    mean = chain.mean_log_likelihood
    return ChainSummary(
        chain=chain.settings.chain,
        iterations=chain.iteration,
        burn_in=chain.burn_in,
        mean_log_likelihood=mean,
        sd=float(np.std(chain.logs[-max(1, chain.retained) :])),
        per_token=mean / tokens,
        best_log_likelihood=chain.best.log_likelihood,
        last_f1=list(chain.scores.values())[-1] if chain.scores else None,
        posterior=chain.goodness("posterior"),
        variance=-chain.goodness("variance"),
        heldout=chain.goodness("heldout") if chain.settings.aside else None,
        agreement=agreement,
        survived=survived,
        selected=selected,
    )
