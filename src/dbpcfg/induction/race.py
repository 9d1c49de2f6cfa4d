"""Many short chains, of which the best go on: successive halving (Jamieson and Talwalkar 2016).

Chains of this sampler settle in one of several modes within some dozens of iterations, and after
that seldom leave it. So many chains are started, and at a few points, the rungs, only the best of
them go on; those of the last rung are the survivors, from which the run's answer is selected. Which
chains these are follows from their traces alone: a race can be stopped anywhere and resumed.

This is a search, not a sampler: chains that were stopped do not count. What does is the second half
of each survivor, and there it is the plain sampler that runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.criteria import Criterion, before_trees, goodness

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


class Rung(NamedTuple):
    """How many chains run to this length."""

    chains: int
    iterations: int


def plan(budget: int, preliminary: int = 0, chains: int | None = None) -> tuple[Rung, ...]:
    """The rungs of a race.

    Half of the budget goes into the first rung, and after each rung two fifths of the chains go on,
    to twice its length; the last rung gets what the others leave, so much that its second half, the
    samples that count, comes after all other rungs. A budget of 1,500 has 16 chains of 45
    iterations, 6 of 90, and 2 survivors of 345.

    ``preliminary``: iterations of each chain that come first: annealing and the like.
    ``chains``: the number of chains at the first rung, if it is to be another.
    """
    first = FIRST + preliminary
    racing = chains or max(1, int(SHARE * budget / first))
    length, done, left = first, 0, budget
    rungs: list[Rung] = []
    while racing > SURVIVORS and len(rungs) < RUNGS:
        after = left - racing * (length - done)
        if after < SURVIVORS * length:  # survivors would not reach twice this length
            break
        rungs.append(Rung(racing, length))
        racing, done, left = max(SURVIVORS, int(KEPT * racing)), length, after
        length += length - preliminary
    enough = bool(rungs) or racing <= SURVIVORS
    racing = min(racing, SURVIVORS)
    last = Rung(racing, done + left // racing)
    if not enough or last.iterations <= 2 * preliminary:
        raise DbpcfgError(
            f"a budget of {budget:,} iterations is not enough for {chains or racing:,} chains: "
            "give a greater --budget or fewer --chains"
        )
    return (*rungs, last)


def total(rungs: Sequence[Rung]) -> int:
    """Iterations of all chains of a race together."""
    lengths = [0, *(rung.iterations for rung in rungs)]
    return sum(
        rung.chains * (rung.iterations - before)
        for rung, before in zip(rungs, lengths[:-1], strict=True)
    )


def running(
    chains: Sequence[Chain], rungs: Sequence[Rung], criterion: Criterion
) -> list[list[Chain]]:
    """The chains that run, first all of them, then those left after each rung that was reached.

    Returns the last list has the chains that run now, or that have survived.
    """
    left = [list(chains)]
    for rung, after in itertools.pairwise(rungs):
        if any(chain.iteration < rung.iterations for chain in left[-1]):
            break
        ranked = sorted(left[-1], key=lambda chain: -_standing(chain, rung, criterion))
        kept = {chain.settings.chain for chain in ranked[: after.chains]}
        left.append([chain for chain in left[-1] if chain.settings.chain in kept])
    return left


def _standing(chain: Chain, rung: Rung, criterion: Criterion) -> float:
    """How good a chain was at a rung."""
    by = before_trees(criterion)
    return goodness(chain.trace(by)[max(0, rung.iterations - RECENT) : rung.iterations], by)
