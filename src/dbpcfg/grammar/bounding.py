"""A grammar under a bound on memory: h, G(s,d) and E⁺ (the paper's section 4.1).

**Levels.** A node of a binary tree has a side s and a depth d. The root is (L,1). A left node (L,d)
has children (L,d) and (R,d); a right node (R,d) has children (L,d+1) and (R,d). Right nodes deeper
than D do not exist, so (L,D+1) can only be a word. We number the pairs

    level     0      1      2      3    …   2D−2    2D−1     2D
    node    (L,1)  (R,1)  (L,2)  (R,2)  …  (L,D)   (R,D)  (L,D+1)

so that the children of a node on level m are on levels m and m + 1: the left child on the even one,
the right child on the odd one. Without a bound all nodes are on one level.

**Exact, without iteration.** The paper iterates h twenty times. But h(L,D+1) is known (the lexical
mass), h(R,d) is linear in itself once h(L,d+1) is known, and h(L,d) is linear in itself once h(R,d)
is: two small linear systems for each depth, from the deepest up, give the limit.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, also_in_kernels, kernel

MAX_DEPTH = 10_000
"""A sentence of a thousand words needs at most 500; tables grow with the depth."""


def check_depth(depth: int) -> int:
    """Return the bound D, or raise a GrammarError if it is out of range."""
    if depth < 1:
        raise GrammarError(f"the depth bound must be at least 1, got {depth}")
    if depth > MAX_DEPTH:
        raise GrammarError(
            f"the depth bound must be at most {MAX_DEPTH:,}, got {depth:,}: no sentence needs "
            "more; for no bound choose none"
        )
    return depth


def level_count(depth: int | None) -> int:
    """The number of levels under a bound D, 2D + 1; without one (None), 1."""
    return 1 if depth is None else 2 * check_depth(depth) + 1


def level_name(level: int) -> str:
    """The side and depth of the nodes on a level: L1, R1, L2, …"""
    return f"{'LR'[level % 2]}{level // 2 + 1}"


@also_in_kernels
def left_level(d: int) -> int:
    """The level of (L,d)."""
    return 2 * d - 2


@also_in_kernels
def right_level(d: int) -> int:
    """The level of (R,d)."""
    return 2 * d - 1


@also_in_kernels
def is_right(level: int) -> bool:
    """Whether the nodes on a level are right nodes."""
    return level % 2 == 1


@also_in_kernels
def left_child(level: int) -> int:
    """The level of the left child of a node on this level: the even one of level, level + 1."""
    return level + level % 2


@also_in_kernels
def right_child(level: int) -> int:
    """The level of the right child of a node on this level: the odd one of level, level + 1."""
    return level + (level + 1) % 2


@also_in_kernels
def children(level: int, levels: int) -> tuple[int, int]:
    """The levels of both children; if there is only one level, that one."""
    if levels == 1:
        return 0, 0
    return left_child(level), right_child(level)


@kernel
def absorption(transition: Floats, leaving: Floats, rewards: Floats) -> Floats:
    """The least non-negative solution x of x = transition · x + rewards, for each column.

    ``leaving`` is one minus the sum of each row of ``transition``. With this, elimination needs no
    subtraction (Grassmann, Taksar and Heyman 1985), so small probabilities stay accurate.
    Categories that can never leave have x = 0.
    """
    P, leaving, x = transition.copy(), leaving.copy(), rewards.copy()
    K, columns = x.shape
    for k in range(K - 1, -1, -1):
        out = 0.0
        for j in range(k):
            out += P[k, j]
        out += leaving[k]  # = 1 − P[k, k], without the subtraction
        if out <= 0.0:
            for j in range(K):
                P[k, j] = 0.0
            for c in range(columns):
                x[k, c] = 0.0
            continue
        for j in range(k):
            P[k, j] /= out
        for c in range(columns):
            x[k, c] /= out
        leaving[k] /= out
        for i in range(k):
            into = P[i, k]
            for j in range(k):
                P[i, j] += into * P[k, j]
            for c in range(columns):
                x[i, c] += into * x[k, c]
            leaving[i] += into * leaving[k]
    for k in range(1, K):
        for j in range(k):
            for c in range(columns):
                x[k, c] += P[k, j] * x[j, c]
    return x


def containment(grammar: Grammar, depth: int | None) -> Floats:
    """h, the probability that a category yields words within the bound: ``[level, c]``.

    It is the limit of the paper's h^(i) as i → ∞::

        h(L,D+1) = lex
        h(R,d)   = lex + G (h(L,d+1) ⊗ h(R,d))      linear in h(R,d)
        h(L,d)   = lex + G (h(L,d)   ⊗ h(R,d))      linear in h(L,d)

    Without a bound there is one level, and h is ``termination``.

    ``depth``: the bound D; None for no bound.
    """
    if depth is None:
        return termination(grammar)[np.newaxis]
    lex, levels = grammar.lexical_mass, level_count(depth)
    h = np.empty((levels, grammar.categories))
    h[-1] = lex
    within, beyond = lex, grammar.binary_mass
    for level in range(levels - 2, -1, -1):
        # One child is on the next level, which is already solved, the other on this level.
        sum_over_child = grammar.sum_over_left if is_right(level) else grammar.sum_over_right
        transition, lost = sum_over_child(within), sum_over_child(beyond).sum(axis=1)
        solved = absorption(transition, lex + lost, np.stack([lex, lost], axis=1))
        within, beyond = solved[:, 0], solved[:, 1]
        beyond[within + beyond == 0.0] = 1.0  # its derivations never end
        h[level] = within
    return h


def termination(grammar: Grammar, tolerance: float = 1e-15, max_steps: int = 200) -> Floats:
    """h without a bound: the probability that c yields a finite tree: ``[c]``.

    The least solution of h = lex + G (h ⊗ h), by Newton's method from zero, which converges
    monotonically (Etessami and Yannakakis 2009).
    """
    lex, K = grammar.lexical_mass, grammar.categories
    h = np.zeros(K)
    for _ in range(max_steps):
        slope = grammar.sum_over_right(h) + grammar.sum_over_left(h)
        residual = lex + grammar.sum_over_both(h, h) - h
        step = np.linalg.lstsq(np.eye(K) - slope, residual, rcond=None)[0]
        h = np.clip(h + step, 0.0, 1.0)
        if np.abs(step).max() < tolerance:
            break
    return h


def fitting_mass(grammar: Grammar, h: Floats) -> float:
    """Z = Σ_c π_c h(L,1,c): the probability that a tree fits the bound."""
    return float(grammar.root @ h[0])


def require_fitting(grammar: Grammar, h: Floats) -> float:
    """Z = Σ_c π_c h(L,1,c), the probability that a tree fits the bound; an error if it is zero."""
    mass = fitting_mass(grammar, h)
    if mass <= 0.0:
        bound = f"fits a depth bound of {len(h) // 2}" if len(h) > 1 else "ends"
        raise GrammarError(f"no tree of this grammar {bound}")
    return mass


def bounded_root(grammar: Grammar, h: Floats) -> Floats:
    """π under the bound: T's expansion T → c, reweighted by h(L,1,c) and renormalised."""
    reweighted: Floats = grammar.root * h[0] / require_fitting(grammar, h)
    return reweighted


def bounded_binary(grammar: Grammar, h: Floats, level: int) -> Floats:
    """G(s,d) for binary rules: G[c → a b] · h(a) · h(b) / h(c), each h on its own level.

    It is zero on the last level, (L,D+1), and for categories that cannot fit (h = 0).

    ``h``: ``containment``. With ``termination`` as the only level, the result is G given that the
    tree ends.
    """
    if level == len(h) - 1 > 0:
        return np.zeros_like(grammar.binary)
    left, right = children(level, len(h))
    reweighted = grammar.binary * h[left][:, np.newaxis] * h[right]
    return quotient(reweighted, h[level][:, np.newaxis, np.newaxis])


def bounded_children(grammar: Grammar, h: Floats, level: int) -> tuple[Floats, Floats]:
    """``[c, a]`` and ``[c, b]``: probabilities of the left and right children of c under G(s,d)."""
    left, right = (h[child] for child in children(level, len(h)))
    denominator = h[level][:, np.newaxis]
    return (
        quotient(grammar.sum_over_right(right) * left, denominator),
        quotient(grammar.sum_over_left(left) * right, denominator),
    )


def bounded_lexical(grammar: Grammar, h: Floats, level: int) -> Floats:
    """``[c, w]``: G(s,d) for words, G[c → w] / h(c)."""
    return quotient(grammar.lexical, h[level][:, np.newaxis])


def bounded_rows(grammar: Grammar, h: Floats, level: int) -> Floats:
    """G(s,d), row c with its K² binary rules, then its W words."""
    binary = bounded_binary(grammar, h, level).reshape(grammar.categories, -1)
    return np.concatenate([binary, bounded_lexical(grammar, h, level)], axis=1)


def left_corner_expectations(grammar: Grammar, h: Floats) -> Floats:
    """E⁺, the expected number of each category among the left descendants of a right node::

        E¹_d = G(R,d)   marginalised to the left child
        Eⁱ_d = Eⁱ⁻¹_d · G(L,d+1) marginalised likewise
        E⁺_d = Σ_i Eⁱ_d = E¹_d (I − G(L,d+1))⁻¹

    The paper has G(L,d) in the second line, but by its definition of h the left children of (R,d)
    are (L,d+1).

    Returns ``[d, b, p]``: the expected number of p below b = (R,d), d = 0 … D. At depth 0 the only
    bottom sign is T, in row 0; the other rows are zero.
    """
    K, D = grammar.categories, len(h) // 2
    expectations = np.zeros((D + 1, K, K))
    for d in range(D + 1):
        if d == 0:
            first = np.zeros((K, K))
            first[0] = bounded_root(grammar, h)
        else:
            first = bounded_binary(grammar, h, right_level(d)).sum(axis=2)
        left = left_level(d + 1)
        descent = bounded_binary(grammar, h, left).sum(axis=2)
        lexical = quotient(grammar.lexical_mass, h[left])
        expectations[d] = first @ absorption(descent, lexical, np.eye(K))
    return expectations


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, zero where the denominator is."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
