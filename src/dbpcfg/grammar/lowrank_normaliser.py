"""The normaliser Z of a bounded low-rank grammar, and its derivatives by the factors.

With h as in ``bounding``, which is 1 for words' categories and 0 for phrases on (L,D+1), and the
children of level m on l and r, one of which is m itself and the other the level below::

    h(m,A) = Σ_r u_Ar (Σ_B v_Br h(l,B)) (Σ_C w_Cr h(r,C))

is a linear system over the phrases of each level, as the sum over the level below is known. The
derivatives come from the same systems, transposed, from the top down (``normaliser``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import absorption
from dbpcfg.grammar.levels import is_right, level_count
from dbpcfg.grammar.lowrank import Factors
from dbpcfg.numerics.kernels import Floats


class LevelSystem(NamedTuple):
    """The system of one level, solved."""

    h: Floats
    """``[c]``."""
    matrix: Floats
    """``[A, A]``: I − A, A that of the system."""
    known: Floats
    """``[r]``: the sum over the child below."""
    own: Floats
    """``[r]``: the sum over the child of the same level."""


def low_rank_mass(factors: Factors, depth: int) -> float:
    """Z, the probability that a tree fits the bound, also where phrases recur for ever."""
    F = Factors(*(np.asarray(array, dtype=np.float64) for array in factors))
    N = F.phrases
    within = np.ones(F.categories)
    within[:N] = 0.0
    beyond = 1.0 - within
    for level in range(level_count(depth) - 2, -1, -1):
        own, other = (F.right, F.left) if is_right(level) else (F.left, F.right)
        weighted = F.parent * (within @ other)
        ends, lost = weighted @ own[N:].sum(axis=0), F.parent @ (beyond @ other)
        rewards = np.stack([ends, lost], axis=1)
        within[:N], beyond[:N] = absorption(weighted @ own[:N].T, ends + lost, rewards).T
        beyond[within + beyond == 0.0] = 1.0  # it recurs for ever, and so never fits
    mass = float(F.root @ within)
    if mass <= 0.0:
        raise GrammarError(f"no tree of this grammar fits a depth bound of {depth}")
    return mass


def low_rank_normaliser(factors: Factors, depth: int) -> tuple[float, Factors]:
    """Z, the probability that a tree fits the bound, and its derivatives.

    ``derivatives``: by the logarithm of each factor: expected numbers of uses, of trees that fit,
    times Z.
    """
    F = Factors(*(np.asarray(array, dtype=np.float64) for array in factors))
    N, levels = F.phrases, level_count(depth)
    below = np.ones(F.categories)
    below[:N] = 0.0
    solved: list[LevelSystem] = []
    for level in range(levels - 2, -1, -1):
        own, other = (F.right, F.left) if is_right(level) else (F.left, F.right)
        known = below @ other
        weighted = F.parent * known
        matrix = np.eye(N) - weighted @ own[:N].T
        h = np.ones(F.categories)
        h[:N] = np.linalg.solve(matrix, weighted @ own[N:].sum(axis=0))
        solved.append(LevelSystem(h, matrix, known, h @ own))
        below = h
    solved.reverse()
    mass, found = float(F.root @ solved[0].h), Factors(*(np.zeros(a.shape) for a in F))
    found.root[:] = F.root * solved[0].h
    above, last = F.root[:N], np.ones(F.categories)
    last[:N] = 0.0
    for level, (h, matrix, known, sums) in enumerate(solved):
        right = is_right(level)
        own, other = (F.right, F.left) if right else (F.left, F.right)
        to_own, to_other = (found.right, found.left) if right else (found.left, found.right)
        reached = np.linalg.solve(matrix.T, above)
        found.parent[:] += reached[:, np.newaxis] * (known * sums) * F.parent
        slope = reached @ F.parent
        to_own[:] += h[:, np.newaxis] * (slope * known) * own
        next_h = solved[level + 1].h if level + 1 < len(solved) else last
        to_other[:] += next_h[:, np.newaxis] * (slope * sums) * other
        above = other[:N] @ (slope * sums)
    visits = (found.left.sum(axis=1) + found.right.sum(axis=1) + found.root)[N:]
    found.emission[:] = F.emission * visits[:, np.newaxis]
    return mass, found
