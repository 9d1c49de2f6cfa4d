"""The chains: their log-likelihoods over time, and whether they agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dbpcfg.comparison.data import finite
from dbpcfg.induction.run import Run

MOST_POINTS = 800
"""Points of a line, at most: a screen cannot show more."""


def traces(run: Run) -> dict[str, Any]:
    """Every chain with its trace, thinned out evenly if it is long, and the verdict on all."""
    tokens = len(run.corpus.forms.tokens)
    chains = []
    for chain in run.chains:
        assert chain.best is not None
        every = math.ceil(len(chain.logs) / MOST_POINTS)
        chains.append(
            {
                "chain": chain.settings.chain,
                "selected": chain is run.best,
                "iterations": chain.iteration,
                "burn_in": chain.burn_in,
                "mean": chain.mean_log_likelihood,
                "sd": float(np.std(chain.logs[chain.burn_in :])),
                "per_token": chain.mean_log_likelihood / tokens,
                "greatest": chain.best.log_likelihood,
                "every": every,
                "logs": [round(log, 2) for log in chain.logs[::every]],
            }
        )
    agreement = run.agreement()
    return {
        "chains": chains,
        "rhat": finite(agreement.rhat),
        "effective": finite(agreement.effective_samples),
        "retained": sum(chain.retained for chain in run.chains),
        "verdict": agreement.verdict(),
    }
