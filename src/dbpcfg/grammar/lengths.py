"""How long a grammar's sentences are, and generated sentences of limited length.

Let p(m,c,n) be the probability that c on level m (see ``levels``) yields n words within the
bound; it obeys the recurrence of the chart, with lengths in place of spans::

    p(m,c,1) = lex(c)
    p(m,c,n) = Σ_k Σ_ab G[c → a b] · p(l,a,k) · p(r,b,n−k)      l, r: the levels of m's children

So Σ_c π_c p(0,c,n) is the probability of n words, and given n a tree can be drawn from the top
down: a sentence of at most N words takes one try, however rare such sentences are.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.derivation import draw_from
from dbpcfg.grammar.levels import children, level_count
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, Ints, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair


def length_table(grammar: Grammar, depth: int | None, most: int) -> Floats:
    """p, the probability of each length.

    ``depth``: the bound D; None for no bound.
    Returns ``[level, n, c]``; without a bound there is one level.
    """
    K, levels = grammar.categories, level_count(depth)
    rules = grammar.binary.reshape(K, K * K).T
    p = np.zeros((levels, most + 1, K))
    if most:
        p[:, 1] = grammar.lexical_mass
    for n in range(2, most + 1):
        for level in range(max(1, levels - 1)):
            left, right = children(level, levels)
            pairs = p[left, 1:n].T @ p[right, n - 1 : 0 : -1]
            p[level, n] = pairs.reshape(-1) @ rules
    return p


def length_distribution(grammar: Grammar, p: Floats) -> Floats:
    """``[n]``: the probability of n words, given that they are at most as many as in the table."""
    joint = p[0] @ grammar.root
    if joint.sum() <= 0.0:
        bound = f" within depth {len(p) // 2}" if len(p) > 1 else ""
        raise GrammarError(
            f"this grammar has no sentence of {p.shape[1] - 1} words or fewer{bound}; "
            "try a greater length"
        )
    given: Floats = joint / joint.sum()
    return given


@kernel
def derive_short(
    lengths: Floats,
    root: Floats,
    binary: Floats,
    words: Floats,
    p: Floats,
    numbers: Stream,
    item: int,
) -> tuple[Ints, Ints]:
    """A tree of a random length: its pre-order nodes and its words.

    ``lengths[n]`` and ``words[c]`` are cumulative. Draw 0 decides on the length, draw 1 on the
    category of the root, and draw t + 2 on what is below node t.
    """
    K, levels = len(root), p.shape[0]
    n = draw_from(lengths, uniform_pair(numbers, item, 0)[0])
    nodes, sentence = np.empty((2 * n - 1, 3), dtype=np.int32), np.empty(n, dtype=np.int32)
    c = draw_from(np.cumsum(root * p[0, n]), uniform_pair(numbers, item, 1)[0])
    stack = np.empty((n + 1, 4), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, c, 0
    top, node = 1, 0
    while top:
        top -= 1
        start, end, c, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = start, end, c
        uniform, other = uniform_pair(numbers, item, node + 2)
        node += 1
        size = end - start
        if size == 1:
            sentence[start] = draw_from(words[c], uniform)
            continue
        left, right = children(level, levels)
        weights = np.empty((size - 1) * K)
        for k in range(1, size):
            above = np.dot(binary[c], p[right, size - k])
            for a in range(K):
                weights[(k - 1) * K + a] = p[left, k, a] * above[a]
        chosen = draw_from(np.cumsum(weights), uniform)
        k, a = chosen // K + 1, chosen % K
        b = draw_from(np.cumsum(binary[c, a] * p[right, size - k]), other)
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = start + k, end, b, right
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = start, start + k, a, left
        top += 1
    return nodes, sentence
