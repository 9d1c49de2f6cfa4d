"""The five models of a left-corner parser, from a grammar and a bound (the paper's section 4.2).

Every model is indexed by the depth d of the *bottom sign* b = (R,d) that the decision is made
under, d = 0 … D. What grows below b on its left side is a chain of (L,d+1) nodes, so each model
uses G(R,d), E⁺_d and G(L,d+1). (The paper's formulas have G(L,d) in that last place, and its
section 3 gives join and top models the index d + 1; neither fits its definition of h.) At depth 0
the one bottom sign is T, row 0.

Two corrections make the product over a derivation the product of its rules: the depth above, and
the lexical mass in the preterminal model. Then E⁺ cancels everywhere, and fork and no-fork sum to
one by themselves.

What is decided at a word is one row ``(fork, join, preterminal, top, bottom)`` of a store sequence:
the two decisions, the word's category, the top sign of the fragment begun if there is no join (else
−1), and the bottom sign then awaited (−1 at the end of the sentence). ``nodes_of`` builds the tree.
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
    waiting, node, words = 1, 0, 0
    while waiting:
        waiting -= 1
        x = stack[waiting]
        nodes[node, 0], nodes[node, 2] = words, category[x]
        if left[x] < 0:
            words += 1
            nodes[node, 1] = words
        else:
            nodes[node, 1] = -1
            stack[waiting], stack[waiting + 1] = right[x], left[x]
            waiting += 2
        node += 1
    # A phrase ends where its right child ends: fill in ends from the last node to the first.
    waiting = 0
    for node in range(2 * n - 2, -1, -1):
        if nodes[node, 1] < 0:
            nodes[node, 1] = stack[waiting - 2]
            waiting -= 2
        stack[waiting] = nodes[node, 1]
        waiting += 1


class Ingredients(NamedTuple):
    """What the models at one depth follow from; b is T (row 0) at depth 0."""

    right: Floats  # [b, a, b'] G(R,d); at depth 0, T → a T with T as row and column 0
    left: Floats  # [c, a, b'] G(L,d+1)
    right_lexical: Floats  # [b] lexical mass of G(R,d); T has none
    left_lexical: Floats  # [p] lexical mass of G(L,d+1)
    expected: Floats  # [b, p] E⁺_d


class Models(NamedTuple):
    """All models at all depths, as the kernels want them."""

    fork: Floats  # [d, b, f]
    preterminal: Floats  # [d, b, p]
    join: Floats  # [d, b, c, j]
    top: Floats  # [d, b, c, a]
    bottom_right: Floats  # [d, b, c, b']
    bottom_left: Floats  # [d, a, c, b']
    emission: Floats  # [w, p]
    log_scale: Floats  # [w]


def fork_model(g: Ingredients) -> Floats:
    """``[b, f]``: whether the next word starts a new left corner below b::

        F_d(0 | b) = G(R,d)[b] · lexical
        F_d(1 | b) = Σ_p E⁺_d[b, p] · G(L,d+1)[p] · lexical

    The paper divides each by their sum, which is one.
    """
    return np.stack([g.right_lexical, g.expected @ g.left_lexical], axis=1)


def preterminal_model(g: Ingredients) -> Floats:
    """``[b, p]``: the category of the word that a fork begins with::

        P_d(p | b) = E⁺_d[b, p] · lex(p) / Σ_p' E⁺_d[b, p'] · lex(p')

    with lex the lexical mass of G(L,d+1). The paper leaves lex out, so that its product with the
    word model is no distribution.
    """
    return _normalised(g.expected * g.left_lexical)


def join_model(g: Ingredients) -> Floats:
    """``[b, c, j]``: whether a finished left child c is the child of b itself or further below::

        J_d(1 | b c) ∝ G(R,d)[b → c ·]
        J_d(0 | b c) ∝ Σ_a E⁺_d[b, a] · G(L,d+1)[a → c ·]

    The two sum to E⁺_d[b, c].
    """
    joined = g.right.sum(axis=2)
    below = g.expected @ g.left.sum(axis=2)
    return _normalised(np.stack([below, joined], axis=2))


def top_model(g: Ingredients) -> Floats:
    """``[b, c, a]``: the parent a of a finished left child c that does not join b::

    A_d(a | b c) ∝ E⁺_d[b, a] · G(L,d+1)[a → c ·]
    """
    return _normalised(np.einsum("ba,ac->bca", g.expected, g.left.sum(axis=2)))


def bottom_right_model(g: Ingredients) -> Floats:
    """``[b, c, b']``: the right child of b after its left child c::

    B_R,d(b' | b c) ∝ G(R,d)[b → c b']
    """
    return _normalised(g.right)


def bottom_left_model(g: Ingredients) -> Floats:
    """``[a, c, b']``: the right child of a after its left child c::

    B_L,d+1(b' | a c) ∝ G(L,d+1)[a → c b']
    """
    return _normalised(g.left)


def ingredients(grammar: Grammar, h: Floats, expected: Floats, d: int) -> Ingredients:
    """G(R,d), G(L,d+1), their lexical masses, and E⁺_d."""
    K, lex = grammar.categories, grammar.lexical_mass
    if d == 0:
        right = np.zeros((K, K, K))
        right[0, :, 0] = bounded_root(grammar, h)
        right_lexical = np.zeros(K)
    else:
        right = bounded_binary(grammar, h, right_level(d))
        right_lexical = quotient(lex, h[right_level(d)])
    return Ingredients(
        right=right,
        left=bounded_binary(grammar, h, left_level(d + 1)),
        right_lexical=right_lexical,
        left_lexical=quotient(lex, h[left_level(d + 1)]),
        expected=expected[d],
    )


def left_corner_models(grammar: Grammar, depth: int) -> Models:
    """Derive all models at all depths from a grammar and a bound.

    The word model is G[p → w] / lex(p), here divided once more by its greatest value for the word
    (``log_scale`` is the logarithm of that value): only ratios matter until the end. A grammar of
    low rank is multiplied out: the models have K³ numbers anyway.
    """
    if isinstance(grammar, LowRankGrammar):
        grammar = grammar.multiplied_out()
    h = containment(grammar, depth)
    expected = left_corner_expectations(grammar, h)
    at = [ingredients(grammar, h, expected, d) for d in range(depth + 1)]
    words = quotient(grammar.lexical, grammar.lexical_mass[:, np.newaxis])
    scale = words.max(axis=0)
    with np.errstate(divide="ignore"):
        log_scale = np.log(scale)
    return Models(
        fork=np.stack([fork_model(g) for g in at]),
        preterminal=np.stack([preterminal_model(g) for g in at]),
        join=np.stack([join_model(g) for g in at]),
        top=np.stack([top_model(g) for g in at]),
        bottom_right=np.stack([bottom_right_model(g) for g in at]),
        bottom_left=np.stack([bottom_left_model(g) for g in at]),
        emission=np.ascontiguousarray(quotient(words, scale).T),
        log_scale=log_scale,
    )


def _normalised(weights: Floats) -> Floats:
    """Divide by the sum over the last axis; what has no weight keeps none."""
    return quotient(weights, weights.sum(axis=-1, keepdims=True))
