"""The normaliser Z of a bounded grammar: its derivatives, and the derivations that fail.

Z = Σ_c π_c h(L,1,c), with h from ``bounding``, is a polynomial in the probabilities of rules, and
h one linear system for each level. Its derivatives come from the same systems, transposed, from the
top down: with λ(m,c) = ∂Z / ∂h(m,c), l and r the levels of m's children ::

    λ(L,1,c) = π_c + …
    λ(l,a)  += Σ_cb λ(m,c) G[c → a b] h(r,b)        λ(r,b) += Σ_ca λ(m,c) G[c → a b] h(l,a)
    ∂Z / ∂G[c → a b] = Σ_m λ(m,c) h(l,a) h(r,b)     ∂Z / ∂G[c → w] = Σ_m λ(m,c)

If a child is on the level of its parent, λ is on both sides, and a system is solved.

**Failures.** As 1 / Z = Σ_m (1 − Z)^m, each sentence of the bounded grammar can be augmented with
the derivations that left the bound before one fitted (``induction.gibbs``). If derivations are
abandoned at the first node in pre-order that leaves the bound, one from (m,c) fails with
probability ::

    f(L,D+1,c) = Σ_ab G[c → a b]
    f(m,c)     = Σ_ab G[c → a b] (f(l,a) + h(l,a) f(r,b))

and G · ∂f/∂G, with f as a polynomial, is the expected number of uses of a rule in failures.

**Low rank.** For word categories h is 1; for phrases it is 0 on (L,D+1), and otherwise ::

    h(m,A) = Σ_r u_Ar (Σ_B v_Br h(l,B)) (Σ_C w_Cr h(r,C))

One of the children's levels l and r is m itself, the other is the next level, whose sum is known,
so this is a linear system over the phrases of each level. The derivatives by the factors come from
the same systems, transposed, from the top down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import absorption, is_right, level_count, require_fitting, termination
from dbpcfg.grammar.lowrank import Factors
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.numerics.kernels import Floats


class Systems(NamedTuple):
    """The linear systems of the levels, solved."""

    h: Floats
    """``[level, c]``: the probability of fitting."""
    f: Floats
    """``[level, c]``: the probability of failing."""
    inverse: list[Floats]
    """(I − A)⁻¹ for each level but the last, where A is the matrix of the system of h."""


def systems(grammar: Grammar, depth: int) -> Systems:
    """Solve the system of each level, from the deepest up, as in ``containment``."""
    G, lex, K = grammar.binary, grammar.lexical_mass, grammar.categories
    levels = level_count(depth)
    h, f, inverse = np.empty((levels, K)), np.empty((levels, K)), []
    h[-1], f[-1] = lex, G.sum(axis=(1, 2))
    for level in range(levels - 2, -1, -1):
        over_child = "cab,a->cb" if is_right(level) else "cab,b->ca"  # that of the level below
        transition = np.einsum(over_child, G, h[level + 1])
        lost = np.einsum(over_child, G, f[level + 1]).sum(axis=1)
        rewards = np.concatenate([np.stack([lex, lost], axis=1), np.eye(K)], axis=1)
        solved = absorption(transition, lex + lost, rewards)
        h[level], f[level] = solved[:, 0], solved[:, 1]
        f[level][h[level] + f[level] == 0.0] = 1.0  # its derivations never end
        inverse.append(solved[:, 2:])
    return Systems(h, f, inverse[::-1])


def normaliser(grammar: Grammar, depth: int | None) -> tuple[float, RuleWeights]:
    """Z, the probability that a tree fits the bound, and its derivatives by all rules.

    Rules are treated as independent variables.

    ``depth``: the bound D; None for no bound: Z is then the probability that a derivation ends.
    """
    if depth is None:
        return _without_bound(grammar)
    G, (h, _, inverse) = grammar.binary, systems(grammar, depth)
    levels, above = len(h), grammar.root
    binary, visits = np.zeros_like(G), np.zeros(grammar.categories)
    for level in range(levels - 1):  # one child is on its parent's level, the other on the next
        reached = above @ inverse[level]
        visits += reached
        if is_right(level):
            binary += np.einsum("c,a,b->cab", reached, h[level + 1], h[level])
            above = np.einsum("c,cab,b->a", reached, G, h[level])
        else:
            binary += np.einsum("c,a,b->cab", reached, h[level], h[level + 1])
            above = np.einsum("c,cab,a->b", reached, G, h[level])
    visits += above
    return require_fitting(grammar, h), RuleWeights(h[0].copy(), binary, _spread(visits, grammar))


def _without_bound(grammar: Grammar) -> tuple[float, RuleWeights]:
    """Z and its derivatives for h = lex + G (h ⊗ h)."""
    G, h = grammar.binary, termination(grammar)
    slope = np.einsum("cab,b->ca", G, h) + np.einsum("cab,a->cb", G, h)
    reached = np.linalg.lstsq((np.eye(len(h)) - slope).T, grammar.root, rcond=None)[0]
    binary = np.einsum("c,a,b->cab", reached, h, h)
    mass = require_fitting(grammar, h[np.newaxis])
    return mass, RuleWeights(h, binary, _spread(reached, grammar))


def failures(grammar: Grammar, depth: int) -> RuleWeights:
    """Expected rule counts of the derivations that leave the bound before one fits."""
    G, K, (h, f, inverse) = grammar.binary, grammar.categories, systems(grammar, depth)
    lex, first = grammar.lexical_mass, G.sum(axis=2)
    descent = absorption(first, lex, np.eye(K))  # left descendants, summed over right children
    # φ = ∂F/∂f and λ = ∂F/∂h, F = Σ_c π_c f(L,1,c); each level has them from the one above it
    to_fail, to_fit = grammar.root, np.zeros(K)
    binary, visits, ones = np.zeros_like(G), np.zeros(K), np.ones(K)
    for level in range(len(h) - 1):
        below = level + 1
        if is_right(level):
            phi, lam = to_fail @ inverse[level], to_fit @ inverse[level]
            binary += np.einsum("c,a,b->cab", phi, f[below], ones)
            binary += np.einsum("c,a,b->cab", phi, h[below], f[level])
            binary += np.einsum("c,a,b->cab", lam, h[below], h[level])
            to_fail = phi @ first
            to_fit = np.einsum("c,cab,b->a", phi, G, f[level])
            to_fit += np.einsum("c,cab,b->a", lam, G, h[level])
        else:
            phi = to_fail @ descent
            lam = (to_fit + np.einsum("c,cab,b->a", phi, G, f[below])) @ inverse[level]
            binary += np.einsum("c,a,b->cab", phi, f[level], ones)
            binary += np.einsum("c,a,b->cab", phi, h[level], f[below])
            binary += np.einsum("c,a,b->cab", lam, h[level], h[below])
            to_fail = np.einsum("c,cab,a->b", phi, G, h[level])
            to_fit = np.einsum("c,cab,a->b", lam, G, h[level])
        visits += lam
    binary += to_fail[:, np.newaxis, np.newaxis]  # (L,D+1): abandoned
    visits += to_fit
    Z = require_fitting(grammar, h)
    return RuleWeights(
        grammar.root * f[0] / Z, binary * G / Z, visits[:, np.newaxis] * grammar.lexical / Z
    )


def _spread(visits: Floats, grammar: Grammar) -> Floats:
    """Repeat the number of each category for all words."""
    return np.broadcast_to(visits[:, np.newaxis], grammar.lexical.shape).copy()


class LevelSystem(NamedTuple):
    """The system of one level, solved."""

    h: Floats
    """``[c]``."""
    matrix: Floats
    """``[A, A]``: I minus the matrix of the system."""
    below: Floats
    """``[r]``: the sum over the child on the next level."""
    own: Floats
    """``[r]``: the sum over the child on the same level."""


def low_rank_containment(factors: Factors, depth: int | None) -> Floats:
    """``[level, c]``: h from the factors, as in `dbpcfg.grammar.bounding.containment`.

    ``depth``: the bound D; None for no bound.
    """
    F = Factors(*(np.asarray(array, dtype=np.float64) for array in factors))
    N = F.phrases
    if depth is None:
        return _low_rank_termination(F)[np.newaxis]
    within = np.ones(F.categories)
    within[:N] = 0.0
    beyond, h = 1.0 - within, [within.copy()]
    for level in range(level_count(depth) - 2, -1, -1):
        child_same, child_below = (F.right, F.left) if is_right(level) else (F.left, F.right)
        weighted = F.parent * (within @ child_below)
        ends, lost = weighted @ child_same[N:].sum(axis=0), F.parent @ (beyond @ child_below)
        rewards = np.stack([ends, lost], axis=1)
        within[:N], beyond[:N] = absorption(weighted @ child_same[:N].T, ends + lost, rewards).T
        beyond[within + beyond == 0.0] = 1.0  # its derivations never end
        h.append(within.copy())
    return np.array(h[::-1])


def _low_rank_termination(F: Factors, tolerance: float = 1e-15, max_steps: int = 200) -> Floats:
    """h without a bound, by Newton's method as in `dbpcfg.grammar.bounding.termination`."""
    N, h = F.phrases, np.ones(F.categories)
    h[:N] = 0.0
    for _ in range(max_steps):
        left, right = h @ F.left, h @ F.right
        slope = (F.parent * right) @ F.left[:N].T + (F.parent * left) @ F.right[:N].T
        residual = F.parent @ (left * right) - h[:N]
        step = np.linalg.lstsq(np.eye(N) - slope, residual, rcond=None)[0]
        h[:N] = np.clip(h[:N] + step, 0.0, 1.0)
        if np.abs(step).max() < tolerance:
            break
    return h


def low_rank_mass(factors: Factors, depth: int | None) -> float:
    """Z, the probability that a tree fits the bound, or ends if there is none."""
    mass = float(np.asarray(factors.root, np.float64) @ low_rank_containment(factors, depth)[0])
    if mass <= 0.0:
        bound = "ends" if depth is None else f"fits a depth bound of {depth}"
        raise GrammarError(f"no tree of this grammar {bound}")
    return mass


def low_rank_normaliser(factors: Factors, depth: int) -> tuple[float, Factors]:
    """Z, the probability that a tree fits the bound, and its derivatives by log factors.

    The derivatives are the expected numbers of uses in trees that fit, times Z.
    """
    F = Factors(*(np.asarray(array, dtype=np.float64) for array in factors))
    N, levels = F.phrases, level_count(depth)
    only_words = np.ones(F.categories)
    only_words[:N] = 0.0
    h, solved = only_words, list[LevelSystem]()
    for level in range(levels - 2, -1, -1):
        own, child_below = (F.right, F.left) if is_right(level) else (F.left, F.right)
        below = h @ child_below
        weighted = F.parent * below
        matrix = np.eye(N) - weighted @ own[:N].T
        h = np.ones(F.categories)
        h[:N] = np.linalg.solve(matrix, weighted @ own[N:].sum(axis=0))
        solved.append(LevelSystem(h, matrix, below, h @ own))
    solved.reverse()
    above = F.root[:N]
    visited, rules = np.empty((levels - 1, N)), np.empty((levels - 1, F.rank))
    children: dict[bool, tuple[list[Floats], list[Floats]]] = {False: ([], []), True: ([], [])}
    for level, (h, matrix, below, own) in enumerate(solved):
        right = is_right(level)
        visited[level] = np.linalg.solve(matrix.T, above)
        slope, rules[level] = visited[level] @ F.parent, below * own
        next_h = solved[level + 1].h if level + 1 < len(solved) else only_words
        for side, child, sibling in ((right, h, below), (not right, next_h, own)):
            children[side][0].append(child)
            children[side][1].append(slope * sibling)
        above = (F.left if right else F.right)[:N] @ (slope * own)
    v, w = (np.transpose(children[side][0]) @ children[side][1] for side in (False, True))
    uses = Factors(
        F.root * solved[0].h,
        (visited.T @ rules) * F.parent,
        v * F.left,
        w * F.right,
        np.empty_like(F.emission),
    )
    visits = (uses.left.sum(axis=1) + uses.right.sum(axis=1) + uses.root)[N:]
    uses.emission[:] = F.emission * visits[:, np.newaxis]
    return float(F.root @ solved[0].h), uses
