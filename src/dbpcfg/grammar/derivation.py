"""Derivations drawn from a grammar: generated trees, and derivations that leave the bound.

A grammar with a bound generates from G(s,d), so that every derivation fits and ends. Without a
bound it generates from its trees that end (a PCFG may give them less than all of its probability).
``count_failures`` serves the exact Gibbs step: it runs the *unbounded* grammar and stops at the
first node that leaves the bound.

**Sentences of limited length.** Let p(m,c,n) be the probability that c on level m (see
``bounding``) yields n words within the bound; it obeys the recurrence of the chart, with lengths in
place of spans::

    p(m,c,1) = lex(c)
    p(m,c,n) = Σ_k Σ_ab G[c → a b] · p(l,a,k) · p(r,b,n−k)      l, r: the levels of m's children

So Σ_c π_c p(0,c,n) is the probability of n words, and given n a tree can be drawn from the top
down: a sentence of at most N words takes one try, however rare such sentences are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import (
    bounded_root,
    bounded_rows,
    children,
    containment,
    level_count,
    require_fitting,
)
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, category_name
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.trees.tree import Tree

MOST_RULES = 1_000_000
"""A derivation of more rules than this is an error: the grammar's trees hardly ever end."""

MOST_TRIES = 1e9
"""The greatest expected number of derivations in an exact step."""

_FITS, _FAILS, _TOO_LONG = 0, 1, 2


@also_in_kernels
def draw_from(cumulative: Floats, uniform: float) -> int:
    """Index drawn from a row of cumulative weights by bisection."""
    target = uniform * cumulative[-1]
    low, high = 0, len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def derive(
    root: Floats, rows: Floats, numbers: Stream, item: int, draw: int, rules: Ints, stack: Ints
) -> tuple[int, int, int]:
    """One derivation in pre-order, into ``rules``: pairs (category, number of its rule).

    ``root`` and ``rows[level, c]`` are cumulative; rule a · K + b is c → a b, rule K² + w is c → w.
    With several levels, a binary rule on the last one leaves the bound and ends the derivation.
    Return the outcome, the number of rules, and the next unused draw.
    """
    levels, K = rows.shape[0], rows.shape[1]
    uniform, _ = uniform_pair(numbers, item, draw)
    draw += 1
    stack[0, 0], stack[0, 1] = draw_from(root, uniform), 0
    top, used = 1, 0
    while top:
        if used == len(rules):
            return _TOO_LONG, used, draw
        top -= 1
        c, level = stack[top, 0], stack[top, 1]
        uniform, _ = uniform_pair(numbers, item, draw)
        draw += 1
        rule = draw_from(rows[level, c], uniform)
        rules[used, 0], rules[used, 1] = c, rule
        used += 1
        if rule >= K * K:
            continue
        if level == levels - 1 and levels > 1:
            return _FAILS, used, draw
        left, right = children(level, levels)
        stack[top, 0], stack[top, 1] = rule % K, right
        stack[top + 1, 0], stack[top + 1, 1] = rule // K, left
        top += 2
    return _FITS, used, draw


@kernel
def count_failures(
    sentences: Longs,
    root: Floats,
    rows: Floats,
    numbers: Stream,
    root_counts: Floats,
    binary_counts: Floats,
    lexical_counts: Floats,
    rules: Ints,
    stack: Ints,
) -> bool:
    """For each sentence, derive until a derivation fits; count the rules of those before it.

    Return whether all derivations were short enough to finish.
    """
    K = rows.shape[1]
    for s in sentences:
        draw = 0
        while True:
            outcome, used, draw = derive(root, rows, numbers, s, draw, rules, stack)
            if outcome == _TOO_LONG:
                return False
            if outcome == _FITS:
                break
            root_counts[rules[0, 0]] += 1
            for t in range(used):
                c, rule = rules[t, 0], rules[t, 1]
                if rule < K * K:
                    binary_counts[c, rule // K, rule % K] += 1
                else:
                    lexical_counts[c, rule - K * K] += 1
    return True


def failed_derivations(
    grammar: Grammar, depth: int, sentences: int, numbers: Stream
) -> RuleWeights:
    """Rules of the derivations that leave the bound before, for each sentence, one fits it.

    ``numbers``: the random numbers; sentence s has those of item s.
    """
    mass = require_fitting(grammar, containment(grammar, depth))
    if sentences / mass > MOST_TRIES:
        raise GrammarError(
            f"only {mass:.1e} of this grammar's derivations fit a depth bound of {depth}; "
            f"the exact step would have to try about {sentences / mass:.1e} of them"
        )
    counts = RuleWeights.zeros(grammar.categories, len(grammar.vocabulary))
    rows = np.cumsum(grammar.rows, axis=1)
    # The same unbounded rows on every level, without a copy of them for each.
    rows = np.broadcast_to(rows, (level_count(depth), *rows.shape))
    finished = count_failures(
        np.arange(sentences, dtype=np.int64),
        np.cumsum(grammar.root),
        rows,
        numbers,
        counts.root,
        counts.binary,
        counts.lexical,
        *_workspace(),
    )
    if not finished:
        raise _hardly_ends()
    return counts


def generate(grammar: Grammar, depth: int | None, sentences: int, numbers: Stream) -> list[Tree]:
    """Generate trees from a grammar.

    ``depth``: the bound D; None for no bound.
    ``numbers``: the random numbers; tree i has those of item i.
    """
    K, words = grammar.categories, grammar.vocabulary.words
    h = containment(grammar, depth)
    root, (rules, stack) = np.cumsum(bounded_root(grammar, h)), _workspace()
    once: Any = derive
    rows: Any
    if isinstance(grammar, LowRankGrammar):
        once, rows = derive_in_ranks, bounded_ranks(grammar, h)
    else:
        rows = np.stack([bounded_rows(grammar, h, level) for level in range(len(h))])
        rows = np.cumsum(rows, axis=2)
    trees = []
    for item in range(sentences):
        outcome, used, _ = once(root, rows, numbers, item, 0, rules, stack)
        if outcome == _TOO_LONG:
            raise _hardly_ends()
        waiting: list[Tree] = []
        for c, rule in reversed(rules[:used].tolist()):
            if rule >= K * K:
                waiting.append(Tree(category_name(c), (words[rule - K * K],)))
            else:
                waiting.append(Tree(category_name(c), (waiting.pop(), waiting.pop())))
        trees.append(waiting[0])
    return trees


class Ranks(NamedTuple):
    """A low-rank grammar under a bound, cumulative: r given A, then B and C given r."""

    parent: Floats  # [level, A, r]
    left: Floats  # [level, r, B]
    right: Floats  # [level, r, C]
    words: Floats  # [p, w]


def bounded_ranks(grammar: LowRankGrammar, h: Floats) -> Ranks:
    """G(s,d) by its factors, which a bound leaves of low rank::

    u_Ar · Σ_B v_Br h(B) · Σ_C w_Cr h(C) / h(A)        v_Br h(B) / Σ        w_Cr h(C) / Σ
    """
    F, levels = grammar.factors, range(len(h))
    below = np.array([children(min(level, max(0, len(h) - 2)), len(h)) for level in levels])
    left, right = F.left.T * h[below[:, 0], np.newaxis], F.right.T * h[below[:, 1], np.newaxis]
    parent = F.parent * (left.sum(axis=2) * right.sum(axis=2))[:, np.newaxis]
    return Ranks(*(np.cumsum(array, axis=-1) for array in (parent, left, right, F.emission)))


@kernel
def derive_in_ranks(
    root: Floats, G: Ranks, numbers: Stream, item: int, draw: int, rules: Ints, stack: Ints
) -> tuple[int, int, int]:
    """``derive`` for a low-rank grammar under its bound, where every derivation fits.

    A phrase takes two draws: for r and its left child, and for its right child.
    """
    (levels, N), K = G.parent.shape[:2], len(root)
    stack[0, 0], stack[0, 1] = draw_from(root, uniform_pair(numbers, item, draw)[0]), 0
    top, used, draw = 1, 0, draw + 1
    while top:
        if used == len(rules):
            return _TOO_LONG, used, draw
        top -= 1
        c, level = stack[top, 0], stack[top, 1]
        uniform, other = uniform_pair(numbers, item, draw)
        draw += 1
        used += 1
        rules[used - 1, 0] = c
        if c >= N:
            rules[used - 1, 1] = K * K + draw_from(G.words[c - N], uniform)
            continue
        r = draw_from(G.parent[level, c], uniform)
        a = draw_from(G.left[level, r], other)
        b = draw_from(G.right[level, r], uniform_pair(numbers, item, draw)[0])
        draw += 1
        rules[used - 1, 1] = a * K + b
        left, right = children(level, levels)
        stack[top, 0], stack[top, 1] = b, right
        stack[top + 1, 0], stack[top + 1, 1] = a, left
        top += 2
    return _FITS, used, draw


def _workspace() -> tuple[Ints, Ints]:
    """Room for the rules of one derivation and for the categories still to be expanded."""
    return np.empty((MOST_RULES, 2), dtype=np.int32), np.empty((MOST_RULES + 2, 2), dtype=np.int32)


def _hardly_ends() -> GrammarError:
    return GrammarError(
        f"a derivation had more than {MOST_RULES:,} rules: this grammar's trees hardly ever end"
    )


def length_table(grammar: Grammar, depth: int | None, most: int) -> Floats:
    """p, the probability of each length.

    ``depth``: the bound D; None for no bound.
    Returns ``[level, n, c]``; without a bound there is one level.
    """
    K, levels = grammar.categories, level_count(depth)
    p = np.zeros((levels, most + 1, K))
    if most:
        p[:, 1] = grammar.lexical_mass
    if isinstance(grammar, LowRankGrammar):
        F = grammar.factors
        x, y = p @ F.left, p @ F.right
        for n in range(2, most + 1):
            for level in range(max(1, levels - 1)):
                left, right = children(level, levels)
                sums = (x[left, 1:n] * y[right, n - 1 : 0 : -1]).sum(axis=0)
                p[level, n, : F.phrases] = F.parent @ sums
            x[:, n], y[:, n] = p[:, n] @ F.left, p[:, n] @ F.right
        return p
    rules = grammar.binary.reshape(K, K * K).T
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


class RankLengths(NamedTuple):
    """The factors of a low-rank grammar, and what lengths are by rank."""

    parent: Floats  # [A, r]
    left: Floats  # [r, B]
    right: Floats  # [r, C]
    words: Floats  # [p, w]   cumulative
    by_left: Floats  # [level, n, r]   Σ_B v_Br p(m,B,n)
    by_right: Floats  # [level, n, r]


def rank_lengths(grammar: LowRankGrammar, p: Floats) -> RankLengths:
    """What ``derive_short_in_ranks`` needs, given the table of lengths."""
    F = grammar.factors
    left, right = F.left.T.copy(), F.right.T.copy()
    return RankLengths(F.parent, left, right, F.emission.cumsum(1), p @ F.left, p @ F.right)


@kernel
def derive_short_in_ranks(
    lengths: Floats, root: Floats, G: RankLengths, p: Floats, numbers: Stream, item: int
) -> tuple[Ints, Ints]:
    """``derive_short`` for a low-rank grammar: r, then the split, then each child given r.

    Draws 2t + 2 and 2t + 3 decide on what is below node t.
    """
    N, levels = len(G.parent), p.shape[0]
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
        of_rank, of_split = uniform_pair(numbers, item, 2 * node + 2)
        of_left, of_right = uniform_pair(numbers, item, 2 * node + 3)
        node += 1
        size = end - start
        if size == 1:
            sentence[start] = draw_from(G.words[c - N], of_rank)
            continue
        left, right = children(level, levels)
        splits = G.by_left[left, 1:size] * G.by_right[right, size - 1 : 0 : -1]
        r = draw_from(np.cumsum(G.parent[c] * splits.sum(axis=0)), of_rank)
        k = 1 + draw_from(np.cumsum(splits[:, r]), of_split)
        a = draw_from(np.cumsum(G.left[r] * p[left, k]), of_left)
        b = draw_from(np.cumsum(G.right[r] * p[right, size - k]), of_right)
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = start + k, end, b, right
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = start, start + k, a, left
        top += 1
    return nodes, sentence
