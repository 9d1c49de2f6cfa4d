"""Derivations drawn from a grammar: generated trees, and derivations that leave the bound.

A grammar with a bound generates from G(s,d), so that every derivation fits and ends. Without a
bound it generates from its trees that end (a PCFG may give them less than all of its probability).

``count_failures`` serves the exact Gibbs step: it runs the *unbounded* grammar and stops at the
first node that leaves the bound.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import (
    bounded_root,
    bounded_rows,
    containment,
    require_fitting,
)
from dbpcfg.grammar.levels import children, level_count
from dbpcfg.grammar.pcfg import Grammar, RuleCounts, category_name
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
    root_counts: Longs,
    binary_counts: Longs,
    lexical_counts: Longs,
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


def failed_derivations(grammar: Grammar, depth: int, sentences: int, numbers: Stream) -> RuleCounts:
    """Rules of the derivations that leave the bound before, for each sentence, one fits it.

    ``numbers``: the random numbers; sentence s has those of item s.
    """
    mass = require_fitting(grammar, containment(grammar, depth))
    if sentences / mass > MOST_TRIES:
        raise GrammarError(
            f"only {mass:.1e} of this grammar's derivations fit a depth bound of {depth}; "
            f"the exact step would have to try about {sentences / mass:.1e} of them"
        )
    counts = RuleCounts.zeros(grammar.categories, len(grammar.vocabulary))
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
    rows = np.stack([bounded_rows(grammar, h, level) for level in range(len(h))])
    root, rows = np.cumsum(bounded_root(grammar, h)), np.cumsum(rows, axis=2)
    rules, stack = _workspace()
    trees = []
    for item in range(sentences):
        outcome, used, _ = derive(root, rows, numbers, item, 0, rules, stack)
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


def _workspace() -> tuple[Ints, Ints]:
    """Room for the rules of one derivation and for the categories still to be expanded."""
    return np.empty((MOST_RULES, 2), dtype=np.int32), np.empty((MOST_RULES + 2, 2), dtype=np.int32)


def _hardly_ends() -> GrammarError:
    return GrammarError(
        f"a derivation had more than {MOST_RULES:,} rules: this grammar's trees hardly ever end"
    )
