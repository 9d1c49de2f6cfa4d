"""The five models of a left-corner parser, from a grammar and a bound (the paper's section 4.2).

Every model is indexed by the depth d of the *bottom sign* b = (R,d) that the decision is made
under, d = 0 … D. What grows below b on its left side is a chain of (L,d+1) nodes, so each model
uses G(R,d), E⁺_d and G(L,d+1). (The paper's formulas have G(L,d) in that last place, and its
section 3 gives join and top models the index d + 1; neither fits its definition of h.) At depth 0
the one bottom sign is T, row 0.

Two corrections make the product over a derivation equal to the product of its rules: the depth
above, and the lexical mass in the preterminal model. Then E⁺ cancels everywhere, and fork and
no-fork sum to one.

The decisions at a word are one row ``(fork, join, preterminal, top, bottom)`` of a store sequence:
the two decisions, the word's category, the top sign of the fragment that starts if there is no join
(else −1), and the bottom sign awaited next (−1 at the end of the sentence). ``nodes_of`` builds the
tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.grammar.bounding import (
    bounded_binary,
    bounded_root,
    containment,
    left_corner_expectations,
    left_level,
    quotient,
    right_level,
)
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, Ints, kernel

FORK, JOIN, PRETERMINAL, TOP, BOTTOM = 0, 1, 2, 3, 4


class Fragment(NamedTuple):
    """A derivation fragment top/bottom: a top sign lacking a bottom sign."""

    top: str
    bottom: str

    def __str__(self) -> str:
        return f"{self.top}/{self.bottom}"


@kernel
def nodes_of(steps: Ints, nodes: Ints) -> None:
    """The tree of a store sequence, into pre-order ``nodes``."""
    n = len(steps)
    category = np.empty(2 * n, dtype=np.int64)
    left, right = np.full(2 * n, -1), np.full(2 * n, -1)
    tops, awaited = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    made, depth, root = 0, 0, 0
    for t in range(n):
        if steps[t, FORK]:
            finished = made
            category[made] = steps[t, PRETERMINAL]
            made += 1
        else:
            finished = tops[depth]
            depth -= 1
        if steps[t, JOIN] and depth == 0:
            root = finished
            continue
        if steps[t, JOIN]:
            above = awaited[depth]
        else:
            above = made
            category[made] = steps[t, TOP]
            made += 1
            depth += 1
            tops[depth] = above
        left[above], right[above] = finished, made
        awaited[depth] = made
        category[made] = steps[t, BOTTOM]
        made += 1
    stack = np.empty(n + 1, dtype=np.int64)
    stack[0] = root
    size, node, words = 1, 0, 0
    while size:
        size -= 1
        x = stack[size]
        nodes[node, 0], nodes[node, 2] = words, category[x]
        if left[x] < 0:
            words += 1
            nodes[node, 1] = words
        else:
            nodes[node, 1] = -1
            stack[size], stack[size + 1] = right[x], left[x]
            size += 2
        node += 1
    # A phrase ends where its right child ends: fill in ends from the last node to the first.
    size = 0
    for node in range(2 * n - 2, -1, -1):
        if nodes[node, 1] < 0:
            nodes[node, 1] = stack[size - 2]
            size -= 2
        stack[size] = nodes[node, 1]
        size += 1


class DepthRules(NamedTuple):
    """The rules that the models at one depth are made of; b is T (row 0) at depth 0."""

    right: Floats  # [b, a, b'] G(R,d); at depth 0, T → a T with T as row and column 0
    left: Floats  # [c, a, b'] G(L,d+1)
    right_lexical: Floats  # [b] lexical mass of G(R,d); T has none
    left_lexical: Floats  # [p] lexical mass of G(L,d+1)
    expected: Floats  # [b, p] E⁺_d


class Models(NamedTuple):
    """All models at all depths, laid out for the kernels."""

    fork: Floats  # [d, b, f]
    preterminal: Floats  # [d, b, p]
    join: Floats  # [d, b, c, j]
    top: Floats  # [d, b, c, a]
    bottom_right: Floats  # [d, b, c, b']
    bottom_left: Floats  # [d, a, c, b']
    emission: Floats  # [w, p]
    log_scale: Floats  # [w]


def fork_model(g: DepthRules) -> Floats:
    """``[b, f]``: whether the next word starts a new left corner below b::

        F_d(0 | b) = G(R,d)[b] · lexical
        F_d(1 | b) = Σ_p E⁺_d[b, p] · G(L,d+1)[p] · lexical

    The paper divides each by their sum, which is one.
    """
    return np.stack([g.right_lexical, g.expected @ g.left_lexical], axis=1)


def preterminal_model(g: DepthRules) -> Floats:
    """``[b, p]``: the category of the word that a fork starts with::

        P_d(p | b) = E⁺_d[b, p] · lex(p) / Σ_p' E⁺_d[b, p'] · lex(p')

    with lex the lexical mass of G(L,d+1). The paper omits lex, so its product with the word model
    is not a distribution.
    """
    return _normalised(g.expected * g.left_lexical)


def join_model(g: DepthRules) -> Floats:
    """``[b, c, j]``: whether a finished left child c is the child of b itself or further below::

        J_d(1 | b c) ∝ G(R,d)[b → c ·]
        J_d(0 | b c) ∝ Σ_a E⁺_d[b, a] · G(L,d+1)[a → c ·]

    The two sum to E⁺_d[b, c].
    """
    joined = g.right.sum(axis=2)
    below = g.expected @ g.left.sum(axis=2)
    return _normalised(np.stack([below, joined], axis=2))


def top_model(g: DepthRules) -> Floats:
    """``[b, c, a]``: the parent a of a finished left child c that does not join b::

    A_d(a | b c) ∝ E⁺_d[b, a] · G(L,d+1)[a → c ·]
    """
    return _normalised(np.einsum("ba,ac->bca", g.expected, g.left.sum(axis=2)))


def bottom_right_model(g: DepthRules) -> Floats:
    """``[b, c, b']``: the right child of b after its left child c::

    B_R,d(b' | b c) ∝ G(R,d)[b → c b']
    """
    return _normalised(g.right)


def bottom_left_model(g: DepthRules) -> Floats:
    """``[a, c, b']``: the right child of a after its left child c::

    B_L,d+1(b' | a c) ∝ G(L,d+1)[a → c b']
    """
    return _normalised(g.left)


def depth_rules(grammar: Grammar, h: Floats, expected: Floats, d: int) -> DepthRules:
    """G(R,d), G(L,d+1), their lexical masses, and E⁺_d."""
    K, lex = grammar.categories, grammar.lexical_mass
    if d == 0:
        right = np.zeros((K, K, K))
        right[0, :, 0] = bounded_root(grammar, h)
        right_lexical = np.zeros(K)
    else:
        right = bounded_binary(grammar, h, right_level(d))
        right_lexical = quotient(lex, h[right_level(d)])
    return DepthRules(
        right=right,
        left=bounded_binary(grammar, h, left_level(d + 1)),
        right_lexical=right_lexical,
        left_lexical=quotient(lex, h[left_level(d + 1)]),
        expected=expected[d],
    )


def left_corner_models(grammar: Grammar, depth: int) -> Models:
    """Derive all models at all depths from a grammar and a bound.

    The word model is G[p → w] / lex(p), divided by its greatest value for the word (``log_scale``
    is the logarithm of that value), as only ratios matter until the end. Low-rank grammars are
    multiplied out: the models have K³ numbers anyway.
    """
    if isinstance(grammar, LowRankGrammar):
        grammar = grammar.multiplied_out()
    h = containment(grammar, depth)
    expected = left_corner_expectations(grammar, h)
    by_depth = [depth_rules(grammar, h, expected, d) for d in range(depth + 1)]
    words = quotient(grammar.lexical, grammar.lexical_mass[:, np.newaxis])
    scale = words.max(axis=0)
    with np.errstate(divide="ignore"):
        log_scale = np.log(scale)
    return Models(
        fork=np.stack([fork_model(g) for g in by_depth]),
        preterminal=np.stack([preterminal_model(g) for g in by_depth]),
        join=np.stack([join_model(g) for g in by_depth]),
        top=np.stack([top_model(g) for g in by_depth]),
        bottom_right=np.stack([bottom_right_model(g) for g in by_depth]),
        bottom_left=np.stack([bottom_left_model(g) for g in by_depth]),
        emission=np.ascontiguousarray(quotient(words, scale).T),
        log_scale=log_scale,
    )


def _normalised(weights: Floats) -> Floats:
    """Divide by the sum over the last axis; zeros if it is zero."""
    return quotient(weights, weights.sum(axis=-1, keepdims=True))
