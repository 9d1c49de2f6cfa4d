"""The chains: their log-likelihoods over time, what they are compared by, whether they agree."""

from __future__ import annotations

import math
from typing import Any

from dbpcfg.comparison.data import finite
from dbpcfg.induction.chain_table import selected_by
from dbpcfg.induction.run import Run

MOST_POINTS = 800
"""Points of a line, at most: a screen cannot show more."""


def traces(run: Run) -> dict[str, Any]:
    """Every chain with its trace, thinned out evenly if it is long, and the verdict on all."""
    chains = []
    for chain, summary in zip(run.chains, run.summaries(), strict=True):
        every = math.ceil(len(chain.logs) / MOST_POINTS)
        chains.append(
            {
                "chain": summary.chain,
                "selected": summary.selected,
                "iterations": summary.iterations,
                "burn_in": summary.burn_in,
                "mean": summary.mean_log_likelihood,
                "sd": summary.sd,
                "per_token": summary.per_token,
                "greatest": summary.best_log_likelihood,
                "posterior": summary.posterior,
                "variance": summary.variance,
                "heldout": summary.heldout,
                "agreement": summary.agreement,
                "survived": summary.survived,
                "every": every,
                "logs": [round(log, 2) for log in chain.logs[::every]],
            }
        )
    agreement = run.agreement()
    return {
        "chains": chains,
        "sampled": agreement.sampled,
        "rhat": finite(agreement.rhat),
        "effective": finite(agreement.effective_samples),
        "retained": sum(chain.retained for chain in run.survivors),
        "verdict": agreement.verdict(),
        "selected_by": selected_by(run.configuration),
        "rungs": [rung._asdict() for rung in run.configuration.rungs],
    }
