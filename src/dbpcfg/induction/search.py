"""How a run searches: how many chains, how long each runs, which ones go on.

**The paper's procedure.** A few chains of at least 500 iterations; then, once the log-likelihood
has levelled off, at least 250 more, from which results are taken. "Levelled off" is left open; here
it means that the mean over the last 100 iterations exceeds that over the 100 before by at most one
standard deviation of the last 100. It is a function of the trace alone, so a chain stops at the
same iteration wherever and however often interrupted it runs.

**A race**: many short chains, of which the best go on, by successive halving (Jamieson and
Talwalkar 2016). Chains of this sampler settle in one of several modes within some dozens of
iterations, and after that seldom leave it. So many chains are started, and at a few points, the
rungs, only the best of them go on; those of the last rung are the survivors, from which the run's
answer is selected. Which chains these are follows from their traces alone: a race can be stopped
anywhere and resumed. This is a search, not a sampler: chains that were stopped do not count. What
does is the second half of each survivor, and there it is the plain sampler that runs.
"""

from __future__ import annotations

import itertools
import re
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.criteria import Criterion
from dbpcfg.induction.mapping import Mapper
from dbpcfg.io.tables import plural
from dbpcfg.options import Group, SearchOptions, option

if TYPE_CHECKING:
    from dbpcfg.induction.chain import Chain
    from dbpcfg.induction.settings import ChainSettings

MAX_ITERATIONS = 10**15
"""Of a chain: no run lasts that long, and times and means of so many are still numbers."""
PAPER_CHAINS = 4
"""Chains without a race, if nothing else is asked for."""
BUDGET = 1500
"""Iterations of all chains together, if nothing else is asked for."""
FIRST = 45
"""The length of chains at the first rung, which doubles from rung to rung. At 30 the likelihood
says little about the end; later, too few chains can start."""
SHARE = 0.5
"""The share of the budget that goes into the first rung."""
KEPT = 0.4
"""The share of chains that go on at a rung."""
RUNGS = 3
"""Rungs before the last one, at most: by then the modes are decided."""
SURVIVORS = 2
"""Chains of the last rung: the answer, and another to compare it with."""
RECENT = 10
"""Iterations before a rung over which chains are compared."""

_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(min|h)")
_SECONDS = {"min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Schedule(Group):
    """How long a chain runs and from when on its samples count."""

    iterations: int | None = option(
        None,
        "The number of iterations, of which the second half counts; None for the paper's rule.",
        minimum=1,
        maximum=MAX_ITERATIONS,
    )
    minimum: int = option(500, "Iterations before convergence is checked, at least.", minimum=1)
    window: int = option(100, "Iterations compared with as many before them.", minimum=1)
    after: int = option(250, "Iterations after convergence, which count.", minimum=1)
    maximum: int = option(
        5000,
        "Iterations in all, at most: the last ``after`` of them count, converged or not.",
        minimum=1,
        maximum=MAX_ITERATIONS,
    )
    kept: int | None = option(
        None,
        "With ``iterations``: how many of them count, the last ones; None for the second half.",
        minimum=1,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kept is not None and self.iterations is None:
            raise DbpcfgError(f"kept is a number of iterations that are given, got {self.kept}")
        if self.maximum < self.minimum + self.after:
            raise DbpcfgError(
                f"maximum must be at least minimum + after, {self.minimum + self.after}, "
                f"got {self.maximum}"
            )

    @property
    def latest_burn_in(self) -> int:
        """The latest iteration after which samples begin to count."""
        if self.iterations is None:
            return self.maximum - self.after
        return max(0, self.iterations - (self.kept or self.iterations - self.iterations // 2))

    @property
    def retained(self) -> int:
        """The number of samples that count, at least."""
        return self.after if self.iterations is None else self.iterations - self.latest_burn_in

    def converged(self, logs: Sequence[float]) -> bool:
        """Whether burn-in ends now; to be called before every iteration until it does."""
        done = len(logs)
        if self.iterations is None and done >= self.minimum and levelled_off(logs, self.window):
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


def is_race(options: SearchOptions, each: bool) -> bool:
    """Whether chains run a race; ``each``: whether the length of every chain is given."""
    budget = options.budget is not None
    inference = options.inference or ("paper" if each and not budget else "race")
    if inference == "race" and each:
        raise DbpcfgError(
            "iterations is the length of every chain; a race has a budget for all of them: "
            "give one of the two"
        )
    if inference == "paper" and budget:
        raise DbpcfgError("a budget is for a race; the paper's chains each run to their end")
    return inference == "race"


def budget_of(given: int | str | None) -> int | float | None:
    """The value of ``budget``: iterations as an int, or a time in seconds as a float."""
    if given is None or isinstance(given, int):
        return given
    if re.fullmatch(r"\d{1,15}", given) and int(given):
        return int(given)
    time = _DURATION.fullmatch(given)
    if time is None or not float(time[1]):
        raise DbpcfgError(
            f"a budget is a number of iterations or a time, such as 6000, 30min or 2h, got "
            f"{given!r}"
        )
    return float(time[1]) * _SECONDS[time[2]]


def iterations_in(seconds: float, corpus: Encoded, settings: ChainSettings) -> int:
    """About how many iterations one thread does in a time: a few are timed.

    The number is recorded with the run, which can so be repeated; the time cannot.
    """
    step, work = settings.learner.step, Mapper()
    state = settings.learner.first(corpus, settings)
    state = step(state, corpus, settings, work)  # kernels are compiled now
    began, done = time.perf_counter(), 0
    while not done or time.perf_counter() - began < min(1.0, seconds / 20):
        state = step(state, corpus, settings, work)
        done += 1
    each = (time.perf_counter() - began) / done
    return max(1, int(seconds / each))


class Rung(NamedTuple):
    """How many chains run to this length."""

    chains: int
    iterations: int


def rungs_of(budget: int, chains: int | None = None) -> tuple[Rung, ...]:
    """The rungs of a race.

    Half of the budget goes into the first rung, and after each rung two fifths of the chains go on,
    to twice its length; the last rung gets what the others leave, so much that its second half, the
    samples that count, comes after all other rungs. A budget of 1,500 has 16 chains of 45
    iterations, 6 of 90, and 2 survivors of 345.

    ``chains``: the number of chains at the first rung, if it is to be another.
    """
    racing = chains or max(1, int(SHARE * budget / FIRST))
    length, done, left = FIRST, 0, budget
    rungs: list[Rung] = []
    while racing > SURVIVORS and len(rungs) < RUNGS:
        after = left - racing * (length - done)
        if after < SURVIVORS * length:  # survivors would not reach twice this length
            break
        rungs.append(Rung(racing, length))
        racing, done, left = max(SURVIVORS, int(KEPT * racing)), length, after
        length *= 2
    enough = bool(rungs) or racing <= SURVIVORS
    racing = min(racing, SURVIVORS)
    last = Rung(racing, done + left // racing)
    if not enough or not last.iterations:
        raise DbpcfgError(
            f"a budget of {plural(budget, 'iteration')} is not enough for "
            f"{plural(chains or racing, 'chain')}: "
            "increase --budget or use fewer --chains"
        )
    return (*rungs, last)


def total(rungs: Sequence[Rung]) -> int:
    """Iterations of all chains of a race together."""
    lengths = [0, *(rung.iterations for rung in rungs)]
    return sum(
        rung.chains * (rung.iterations - before)
        for rung, before in zip(rungs, lengths[:-1], strict=True)
    )


def side_by_side(iterations: int, threads: int, chains: int | None = None) -> int:
    """The greatest budget of a race that takes no longer than so many iterations of one chain.

    Each chain has one thread, so of the last rung only a few threads are busy.

    ``chains``: as in `rungs_of`.
    """

    def length(budget: int) -> int:
        try:
            rungs = rungs_of(budget, chains)
        except DbpcfgError:  # not enough for so many chains
            return 0
        return total([rung._replace(chains=-(-rung.chains // threads)) for rung in rungs])

    budgets = range(iterations * threads + 1)
    return bisect_right(budgets, iterations, lo=iterations, key=length) - 1


def running(
    chains: Sequence[Chain], rungs: Sequence[Rung], criterion: Criterion
) -> list[list[Chain]]:
    """The chains that run at first, then those left after each rung that was reached.

    The last list has the chains that run now, or that have survived.
    """
    left = [list(chains)]
    for (_, length), after in itertools.pairwise(rungs):
        if any(chain.iteration < length for chain in left[-1]):
            break
        scores = [-criterion.of_iterations(chain, length - RECENT, length) for chain in left[-1]]
        ranked = sorted(range(len(scores)), key=scores.__getitem__)
        left.append([left[-1][n] for n in sorted(ranked[: after.chains])])
    return left
