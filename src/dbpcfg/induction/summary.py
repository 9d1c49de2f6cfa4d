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
    selected: bool


def summary_of(chain: Chain, tokens: int, selected: bool) -> ChainSummary:
    """Summarise a chain that has done at least one iteration.

    Parameters
    ----------
    chain
        The chain.
    tokens
        The number of tokens in its corpus.
    selected
        Whether it is the run's best chain.
    """
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
        selected=selected,
    )
