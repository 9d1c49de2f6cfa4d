"""β sampled along with the grammar.

Given the rule counts, the rows of G integrate out: a row of n rules with counts c has probability
Γ(nβ) / Γ(Σc + nβ) · Π Γ(c + β) / Γ(β). β has an Exponential(1) prior, and is updated by one move of
slice sampling (Neal 2003) on log β; then G is drawn given it. The pair (β, G) so has the right
conditional distribution given the trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from dbpcfg.grammar.pcfg import RuleCounts
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.numerics.philox import Stream, uniform_pair

_WIDTH = 1.0
_MOST_STEPS = 100


def draw_beta(counts: RuleCounts, beta: float, numbers: Stream) -> float:
    """Draw β by one slice-sampling move, given the counts."""
    tables = [counts.root[np.newaxis], counts.rows]

    def log_density(log_beta: float) -> float:
        b = math.exp(log_beta)
        return sum(log_marginal(table, b) for table in tables) - b + log_beta

    return math.exp(slice_move(log_density, math.log(beta), numbers))


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


def slice_move(log_density: Callable[[float], float], x: float, numbers: Stream) -> float:
    """One move of slice sampling, with stepping out and shrinkage."""
    draw = 0

    def uniform() -> float:
        nonlocal draw
        draw += 1
        return uniform_pair(numbers, 0, draw - 1)[0]

    height = log_density(x) + math.log(uniform())
    left = x - _WIDTH * uniform()
    right = left + _WIDTH
    for _ in range(_MOST_STEPS):
        if log_density(left) <= height:
            break
        left -= _WIDTH
    for _ in range(_MOST_STEPS):
        if log_density(right) <= height:
            break
        right += _WIDTH
    while True:
        proposal = left + (right - left) * uniform()
        if log_density(proposal) > height:
            return proposal
        if proposal < x:
            left = proposal
        else:
            right = proposal
