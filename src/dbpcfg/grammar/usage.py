"""How often a grammar uses each category, by side and depth, in an average sentence.

A node on level m (see ``levels``) has one child on level m and one on level m + 1. So with S and
N, what G(s,d) on level m expects of each category among the children on these two::

    use(m) = entering(m) + use(m) · S      = entering(m) · (I − S)⁻¹
    entering(m+1) = use(m) · N,            entering(0) = π under the bound

one linear system for each level, exact. Without a bound the levels have no end; they are followed
until next to nothing enters the next one.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.grammar.bounding import (
    absorption,
    bounded_binary,
    bounded_root,
    containment,
    fitting_mass,
    is_right,
    quotient,
    require_fitting,
)
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats

MOST_DEPTHS = 50
NEXT_TO_NOTHING = 1e-9


def expected_use(grammar: Grammar, depth: int | None) -> tuple[Floats, Floats]:
    """Expected numbers of nodes in a sentence.

    ``depth``: the bound D; None for no bound.
    ``use``: ``[level, c]``: nodes. With a bound there are 2D + 1 levels. Without one, for a grammar
    whose trees are endless on average, the first hundred.
    ``words``: ``[level, c]``: nodes that are words.
    """
    K = grammar.categories
    h = containment(grammar, depth)
    levels = 2 * MOST_DEPTHS if depth is None else len(h) - 1
    entering = bounded_root(grammar, h)
    use, words = [], []
    for level in range(levels):
        row = 0 if depth is None else level
        binary = bounded_binary(grammar, h, row)
        left, right = binary.sum(axis=2), binary.sum(axis=1)
        same, below = (right, left) if is_right(level) else (left, right)
        lexical = quotient(grammar.lexical_mass, h[row])
        use.append(entering @ absorption(same, lexical, np.eye(K)))
        words.append(use[-1] * lexical)
        entering = use[-1] @ below
        if depth is None and entering.sum() < NEXT_TO_NOTHING:
            break
    if depth is not None:
        use.append(entering)  # (L,D+1): words
        words.append(entering)
    return np.array(use), np.array(words)


def expected_depths(grammar: Grammar, depth: int | None, most: int = 5) -> Floats:
    """``[d − 1]``: the share of sentences that need exactly memory depth d.

    Of the trees that fit the bound D, Z_d / Z_D fit a bound d. Without a bound, what the first few
    depths lack to one is the share of deeper sentences.

    ``depth``: the bound D; None for no bound.
    """
    whole = require_fitting(grammar, containment(grammar, depth))
    depths = range(1, (most if depth is None else depth) + 1)
    within = [fitting_mass(grammar, containment(grammar, d)) for d in depths]
    shares: Floats = np.diff(within, prepend=0.0).clip(0.0) / whole
    return shares
