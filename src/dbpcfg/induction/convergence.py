"""When a chain has run long enough, and whether chains agree.

**The paper's procedure.** At least 500 iterations; then, once the log-likelihood has levelled off,
at least 250 more, from which results are taken. "Levelled off" is left open; here it means that the
mean over the last 100 iterations exceeds that over the 100 before by at most one standard
deviation of the last 100. It is a function of the trace alone, so a chain stops at the same
iteration wherever and however often interrupted it runs.

**Do the chains agree?** Rank-normalised R-hat and bulk effective sample size (Vehtari et al. 2021)
of the log-likelihood after convergence, over chains. Chains of this model often settle in
different modes; R-hat then says so, and no single chain speaks for the posterior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Floats

MOST_ITERATIONS = 10**15
"""Of a chain: no run lasts that long, and times and means of so many are still numbers."""


@dataclass(frozen=True)
class Schedule:
    """How long a chain runs and from when on its samples count."""

    iterations: int | None = None
    """The number of iterations, of which the second half counts; None for the paper's rule."""
    least: int = 500
    """Iterations before convergence is checked, at least."""
    window: int = 100
    """Iterations that are compared with as many before them."""
    after: int = 250
    """Iterations after convergence, which count."""
    most: int = 5000
    """Iterations in all, at most: the last ``after`` of them count, converged or not."""
    kept: int | None = None
    """With ``iterations``: how many of them count, the last ones; None for the second half."""

    def __post_init__(self) -> None:
        for name in ("least", "window", "after", "most"):
            if getattr(self, name) < 1:
                raise DbpcfgError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.iterations is not None and self.iterations < 1:
            raise DbpcfgError(f"iterations must be at least 1, got {self.iterations}")
        if self.kept is not None and (self.iterations is None or self.kept < 1):
            raise DbpcfgError(f"kept is a number of iterations that are given, got {self.kept}")
        if max(self.iterations or 0, self.most) > MOST_ITERATIONS:
            raise DbpcfgError(f"there can be at most {MOST_ITERATIONS:,} iterations")
        if self.most < self.least + self.after:
            raise DbpcfgError(
                f"most must be at least least + after, {self.least + self.after}, got {self.most}"
            )

    @property
    def latest_burn_in(self) -> int:
        """The latest iteration after which samples begin to count."""
        if self.iterations is None:
            return self.most - self.after
        return max(0, self.iterations - (self.kept or self.iterations - self.iterations // 2))

    @property
    def retained(self) -> int:
        """The number of samples that count, at least."""
        return self.after if self.iterations is None else self.iterations - self.latest_burn_in

    def converged(self, logs: Sequence[float], settled: Sequence[float]) -> bool:
        """Whether burn-in ends now; to be called before every iteration until it does."""
        done = len(logs)
        if self.iterations is None and done >= self.least and levelled_off(settled, self.window):
            return True
        return done >= self.latest_burn_in

    def finished(self, done: int, burn_in: int | None) -> bool:
        """Whether a chain with this burn-in is finished when ``done`` iterations are done."""
        if self.iterations is not None:
            return done >= self.iterations
        return burn_in is not None and done >= burn_in + self.after


def levelled_off(logs: Sequence[float], window: int) -> bool:
    """Whether a trace has stopped rising.

    That is, the mean of the last window exceeds that of the window before by at most the standard
    deviation of the last one.
    """
    if len(logs) < 2 * window:
        return False
    before, last = np.array(logs[-2 * window : -window]), np.array(logs[-window:])
    return bool(last.mean() - before.mean() <= last.std())


@dataclass(frozen=True)
class Agreement:
    """Whether chains agree, by their log-likelihoods after convergence."""

    rhat: float
    effective_samples: float
    chains: int
    sampled: bool = True
    """Whether there are samples to compare; EM and VB have none."""

    def verdict(self) -> str:
        """The same in words."""
        if not self.sampled:
            return "each chain is a start of its own: compare what they reached, and their trees"
        if self.chains < 2:
            return "one chain cannot be checked against others: run several"
        if not np.isfinite(self.rhat):
            return "too few iterations to compare the chains"
        if self.rhat < 1.01:
            return "the chains agree"
        if self.rhat < 1.1:
            return "the chains nearly agree: longer runs would tell"
        return (
            "the chains disagree: treat labels and scores as those of one mode among several, "
            "and report the spread over chains"
        )


def agreement(traces: Sequence[Sequence[float]]) -> Agreement:
    """R-hat and effective sample size of log-likelihoods.

    Returns both numbers: nan where there are too few iterations, or for R-hat only one chain.
    """
    length = min((len(trace) for trace in traces), default=0)
    if length < 4 or not traces:
        return Agreement(np.nan, np.nan, len(traces))
    from arviz_stats.base.array import array_stats

    draws: Floats = np.array([trace[-length:] for trace in traces])
    axes = {"chain_axis": 0, "draw_axis": 1}
    return Agreement(
        rhat=float(array_stats.rhat(draws, **axes)) if len(traces) > 1 else np.nan,  # type: ignore[no-untyped-call]
        effective_samples=float(array_stats.ess(draws, **axes)),  # type: ignore[no-untyped-call]
        chains=len(traces),
    )
