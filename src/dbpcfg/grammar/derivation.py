"""Draw derivations from a grammar: generated trees, and derivations that leave the bound.

With a bound, trees are drawn from G(s,d), so every derivation fits and ends. Without one, they are
drawn from the trees that end. ``count_failures`` is for the exact Gibbs step: it draws from the
*unbounded* grammar and stops at the first node that leaves the bound. The rule of a node is drawn
differently for dense and low-rank grammars; tables of one kind are empty for the other.

**Sentences of limited length.** Let p(m,c,n) be the probability that c on level m (see
``bounding``) yields n words within the bound; it obeys the recurrence of the chart, with lengths in
place of spans::

    p(m,c,1) = lex(c)
    p(m,c,n) = Σ_k Σ_ab G[c → a b] · p(l,a,k) · p(r,b,n−k)      l, r: the levels of m's children

So Σ_c π_c p(0,c,n) is the probability of n words, and given n a tree can be drawn from the top
down. A sentence of at most N words needs no rejections, however rare such sentences are.
"""

from __future__ import annotations

from typing import NamedTuple

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
from dbpcfg.io.tables import plural
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.trees.tree import Tree

MAX_RULES = 1_000_000
"""A derivation of more rules than this is an error: the grammar's trees hardly ever end."""

MAX_TRIES = 1e9
"""The greatest expected number of derivations in an exact step."""

_FITS, _FAILS, _TOO_LONG = 0, 1, 2


@also_in_kernels
def draw_from(cumulative: Floats, uniform: float) -> int:
    """Draw an index from a row of cumulative weights, by bisection."""
    target = uniform * cumulative[-1]
    low, high = 0, len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


class CumulativeRules(NamedTuple):
    """The cumulative rules of a grammar, usually with a bound: rows of rules if it is dense.

    For a low-rank grammar r is given A, then B and C are given r.
    """

    rows: Floats  # [level, c, rule]   rule a · K + b is c → a b, rule K² + w is c → w
    parent: Floats  # [level, A, r]
    left: Floats  # [level, r, B]
    right: Floats  # [level, r, C]
    words: Floats  # [p, w]


def dense_rules(rows: Floats) -> CumulativeRules:
    """Rules given by cumulative rows for each level."""
    unused = np.empty((1, 0, 0))
    return CumulativeRules(rows, unused, unused, unused, unused[0])


def bounded_rules(grammar: Grammar, h: Floats) -> CumulativeRules:
    """The rules of G(s,d). A low-rank grammar with a bound has low rank too::

    u_Ar · Σ_B v_Br h(B) · Σ_C w_Cr h(C) / h(A)        v_Br h(B) / Σ        w_Cr h(C) / Σ
    """
    levels = range(len(h))
    if not isinstance(grammar, LowRankGrammar):
        rows = np.stack([bounded_rows(grammar, h, level) for level in levels])
        return dense_rules(np.cumsum(rows, axis=2))
    F = grammar.factors
    below = np.array([children(min(level, max(0, len(h) - 2)), len(h)) for level in levels])
    left, right = F.left.T * h[below[:, 0], np.newaxis], F.right.T * h[below[:, 1], np.newaxis]
    parent = F.parent * (left.sum(axis=2) * right.sum(axis=2))[:, np.newaxis]
    cumulative = (np.cumsum(array, axis=-1) for array in (parent, left, right, F.emission))
    return CumulativeRules(np.empty((0, 0, 0)), *cumulative)


@also_in_kernels
def draw_rule(
    G: CumulativeRules, level: int, c: int, K: int, numbers: Stream, item: int, draw: int
) -> tuple[int, int]:
    """Draw a rule of c; return its number and the next unused draw.

    A phrase of a low-rank grammar takes two draws: for r and the left child, and for the right one.
    """
    uniform, uniform_left = uniform_pair(numbers, item, draw)
    N = G.parent.shape[1]
    if N == 0:
        return draw_from(G.rows[level, c], uniform), draw + 1
    if c >= N:
        return K * K + draw_from(G.words[c - N], uniform), draw + 1
    r = draw_from(G.parent[level, c], uniform)
    a = draw_from(G.left[level, r], uniform_left)
    b = draw_from(G.right[level, r], uniform_pair(numbers, item, draw + 1)[0])
    return a * K + b, draw + 2


@kernel
def derive(
    root: Floats,
    G: CumulativeRules,
    levels: int,
    numbers: Stream,
    item: int,
    draw: int,
    rules: Ints,
    stack: Ints,
) -> tuple[int, int, int]:
    """Draw a derivation in pre-order into ``rules``: pairs (category, number of its rule).

    ``root`` is cumulative. If there are several levels, a binary rule on the last one leaves the
    bound and ends the derivation. Return the outcome, the number of rules, and the next unused
    draw.
    """
    K = len(root)
    stack[0, 0], stack[0, 1] = draw_from(root, uniform_pair(numbers, item, draw)[0]), 0
    top, count, draw = 1, 0, draw + 1
    while top:
        if count == len(rules):
            return _TOO_LONG, count, draw
        top -= 1
        c, level = stack[top, 0], stack[top, 1]
        rule, draw = draw_rule(G, level, c, K, numbers, item, draw)
        rules[count, 0], rules[count, 1] = c, rule
        count += 1
        if rule >= K * K:
            continue
        if level == levels - 1 and levels > 1:
            return _FAILS, count, draw
        left, right = children(level, levels)
        stack[top, 0], stack[top, 1] = rule % K, right
        stack[top + 1, 0], stack[top + 1, 1] = rule // K, left
        top += 2
    return _FITS, count, draw


@kernel
def count_failures(
    sentences: Longs,
    root: Floats,
    G: CumulativeRules,
    numbers: Stream,
    root_counts: Floats,
    binary_counts: Floats,
    lexical_counts: Floats,
    rules: Ints,
    stack: Ints,
) -> bool:
    """For each sentence, draw derivations until one fits; count the rules of those that do not.

    Return whether all derivations ended within the maximum length.
    """
    levels, K = G.rows.shape[:2]
    for s in sentences:
        draw = 0
        while True:
            outcome, count, draw = derive(root, G, levels, numbers, s, draw, rules, stack)
            if outcome == _TOO_LONG:
                return False
            if outcome == _FITS:
                break
            root_counts[rules[0, 0]] += 1
            for t in range(count):
                c, rule = rules[t, 0], rules[t, 1]
                if rule < K * K:
                    binary_counts[c, rule // K, rule % K] += 1
                else:
                    lexical_counts[c, rule - K * K] += 1
    return True


def failed_derivations(
    grammar: Grammar, depth: int, sentences: int, numbers: Stream
) -> RuleWeights:
    """Counts of the rules in derivations that leave the bound, until one fits for each sentence.

    ``numbers``: the random numbers; sentence s has those of item s.
    """
    mass = require_fitting(grammar, containment(grammar, depth))
    if sentences / mass > MAX_TRIES:
        raise GrammarError(
            f"only {mass:.1e} of this grammar's derivations fit a depth bound of {depth}; "
            f"the exact step would have to try about {sentences / mass:.1e} of them"
        )
    counts = RuleWeights.zeros(grammar.categories, len(grammar.vocabulary))
    rows = np.cumsum(grammar.rows, axis=1)
    # The same unbounded rows on every level, without copies.
    rows = np.broadcast_to(rows, (level_count(depth), *rows.shape))
    finished = count_failures(
        np.arange(sentences, dtype=np.int64),
        np.cumsum(grammar.root),
        dense_rules(rows),
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
    root, G = np.cumsum(bounded_root(grammar, h)), bounded_rules(grammar, h)
    rules, stack = _workspace()
    trees = []
    for item in range(sentences):
        outcome, count, _ = derive(root, G, len(h), numbers, item, 0, rules, stack)
        if outcome == _TOO_LONG:
            raise _hardly_ends()
        subtrees: list[Tree] = []
        for c, rule in reversed(rules[:count].tolist()):
            if rule >= K * K:
                subtrees.append(Tree(category_name(c), (words[rule - K * K],)))
            else:
                subtrees.append(Tree(category_name(c), (subtrees.pop(), subtrees.pop())))
        trees.append(subtrees[0])
    return trees


def _workspace() -> tuple[Ints, Ints]:
    """Arrays for the rules of one derivation and for the stack of categories to expand."""
    return np.empty((MAX_RULES, 2), dtype=np.int32), np.empty((MAX_RULES + 2, 2), dtype=np.int32)


def _hardly_ends() -> GrammarError:
    return GrammarError(
        f"a derivation had more than {MAX_RULES:,} rules: this grammar's trees hardly ever end"
    )


def length_table(grammar: Grammar, depth: int | None, longest: int) -> Floats:
    """p, the probability of each length: ``[level, n, c]``; without a bound there is one level.

    ``depth``: the bound D; None for no bound.
    """
    K, levels = grammar.categories, level_count(depth)
    p = np.zeros((levels, longest + 1, K))
    if longest:
        p[:, 1] = grammar.lexical_mass
    if isinstance(grammar, LowRankGrammar):
        F = grammar.factors
        x, y = p @ F.left, p @ F.right
        for n in range(2, longest + 1):
            for level in range(max(1, levels - 1)):
                left, right = children(level, levels)
                sums = (x[left, 1:n] * y[right, n - 1 : 0 : -1]).sum(axis=0)
                p[level, n, : F.phrases] = F.parent @ sums
            x[:, n], y[:, n] = p[:, n] @ F.left, p[:, n] @ F.right
        return p
    rules = grammar.binary.reshape(K, K * K).T
    for n in range(2, longest + 1):
        for level in range(max(1, levels - 1)):
            left, right = children(level, levels)
            pairs = p[left, 1:n].T @ p[right, n - 1 : 0 : -1]
            p[level, n] = pairs.reshape(-1) @ rules
    return p


def length_distribution(grammar: Grammar, p: Floats) -> Floats:
    """``[n]``: the probability of n words, given that the length is in the table."""
    joint = p[0] @ grammar.root
    if joint.sum() <= 0.0:
        bound = f" within depth {len(p) // 2}" if len(p) > 1 else ""
        raise GrammarError(
            f"this grammar has no sentence of at most {plural(p.shape[1] - 1, 'word')}{bound}; "
            "try a greater length"
        )
    distribution: Floats = joint / joint.sum()
    return distribution


class LengthRules(NamedTuple):
    """A dense or low-rank grammar and its table of lengths."""

    p: Floats  # [level, n, c]
    binary: Floats  # [c, a, b]
    parent: Floats  # [A, r]
    left: Floats  # [r, B]
    right: Floats  # [r, C]
    by_left: Floats  # [level, n, r]   Σ_B v_Br p(m,B,n)
    by_right: Floats  # [level, n, r]
    words: Floats  # [c, w]   cumulative; of words' categories only for low rank


def length_rules(grammar: Grammar, p: Floats) -> LengthRules:
    """The tables for ``derive_short``, from the table of lengths."""
    unused = np.empty((1, 0, 0))
    if not isinstance(grammar, LowRankGrammar):
        words = np.cumsum(grammar.lexical, axis=1)
        return LengthRules(
            p, grammar.binary, unused[0], unused[0], unused[0], unused, unused, words
        )
    F = grammar.factors
    left, right, words = F.left.T.copy(), F.right.T.copy(), np.cumsum(F.emission, axis=1)
    return LengthRules(p, unused, F.parent, left, right, p @ F.left, p @ F.right, words)


@also_in_kernels
def draw_dense_children(
    G: LengthRules, c: int, n: int, left: int, right: int, numbers: Stream, item: int, t: int
) -> tuple[int, int, int]:
    """Draw the children of node t, which has n words and category c.

    Return the length of the left child and both labels. ``left`` and ``right`` are their levels.
    """
    p, K = G.p, len(G.binary)
    uniform, uniform_right = uniform_pair(numbers, item, t + 2)
    weights = np.empty((n - 1) * K)
    for k in range(1, n):
        right_sums = np.dot(G.binary[c], p[right, n - k])
        for a in range(K):
            weights[(k - 1) * K + a] = p[left, k, a] * right_sums[a]
    chosen = draw_from(np.cumsum(weights), uniform)
    k, a = chosen // K + 1, chosen % K
    return k, a, draw_from(np.cumsum(G.binary[c, a] * p[right, n - k]), uniform_right)


@also_in_kernels
def draw_low_rank_children(
    G: LengthRules, c: int, n: int, left: int, right: int, numbers: Stream, item: int, t: int
) -> tuple[int, int, int]:
    """Draw the children for a low-rank grammar: r, then the split, then each child given r."""
    of_rank, of_split = uniform_pair(numbers, item, 2 * t + 2)
    of_left, of_right = uniform_pair(numbers, item, 2 * t + 3)
    splits = G.by_left[left, 1:n] * G.by_right[right, n - 1 : 0 : -1]
    r = draw_from(np.cumsum(G.parent[c] * splits.sum(axis=0)), of_rank)
    k = 1 + draw_from(np.cumsum(splits[:, r]), of_split)
    a = draw_from(np.cumsum(G.left[r] * G.p[left, k]), of_left)
    return k, a, draw_from(np.cumsum(G.right[r] * G.p[right, n - k]), of_right)


@kernel
def derive_short(
    lengths: Floats, root: Floats, G: LengthRules, numbers: Stream, item: int
) -> tuple[Ints, Ints]:
    """Draw a tree of random length: its pre-order nodes and its words.

    ``lengths[n]`` is cumulative. Draw 0 decides on the length and draw 1 on the root's category;
    draw t + 2, or draws 2t + 2 and 2t + 3 of a low-rank grammar, decide on the rule of node t.
    """
    levels, N = G.p.shape[0], len(G.parent)
    n = draw_from(lengths, uniform_pair(numbers, item, 0)[0])
    nodes, sentence = np.empty((2 * n - 1, 3), dtype=np.int32), np.empty(n, dtype=np.int32)
    c = draw_from(np.cumsum(root * G.p[0, n]), uniform_pair(numbers, item, 1)[0])
    stack = np.empty((n + 1, 4), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, c, 0
    top, t = 1, 0
    while top:
        top -= 1
        start, end, c, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[t, 0], nodes[t, 1], nodes[t, 2] = start, end, c
        if end - start == 1:
            uniform, _ = uniform_pair(numbers, item, 2 * t + 2 if N else t + 2)
            sentence[start] = draw_from(G.words[c - N], uniform)
        else:
            l, r = children(level, levels)
            if N:
                k, a, b = draw_low_rank_children(G, c, end - start, l, r, numbers, item, t)
            else:
                k, a, b = draw_dense_children(G, c, end - start, l, r, numbers, item, t)
            k += start
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = k, end, b, r
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = start, k, a, l
            top += 1
        t += 1
    return nodes, sentence
