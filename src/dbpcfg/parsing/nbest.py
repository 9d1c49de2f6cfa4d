"""The N most probable trees of every sentence, exactly; the most probable one is the case N = 1.

**Pruning.** A tree is no more probable than any of its labelled spans, each on its level. So trees
of posterior probability t or more have only labels whose posterior is at least t, and those are
few: one search among them is cheap. If it finds N trees of t or more, they are the best. If the
N-th is less probable, its own probability is the next t, which is certain to do; if there are fewer
than N, a power of t is. Posteriors that were computed with spans pruned below some probability
serve for every t above it, since no span of the trees in question is pruned: what is computed of
such a span is at least the tree's own share. They are all that is asked of a parser, so this is for
dense charts and for those in rank space.

**Search.** An *item* is one of these labels c on a span (i,j) and a level. Its derivations, best
first and at most N, are made from those of its children, in order of width::

    score(c,i,j) = max over a, b of log G[c → a b] + max over k, x, y of
                   (score_x(a,i,k) + score_y(b,k,j))

with score_x the x-th best. The inner maximum is the same for all c: an *edge* is k with the
children's labels, and edges with the same labels are a *pair*, which has its best edge. So where
nothing can be pruned a span costs n K² and not n K³, and then pairs are tried in order of
max_c log G[c → a b] + their best: no pair is tried that cannot be better than what is known. (For a
grammar of low rank, instead of the first maximum it is a bound, Σ_r max_c u_cr v_ar w_br.)

The next best is always at the top of a heap (Huang and Chiang 2005, algorithm 2), which a pair's
best edge joins when the pair is tried. When (k, a, b, x, y) is taken, then (k, a, b, x, y + 1), and
(k, a, b, x + 1, 0) if y = 0, join it; so do other edges of the pair when its best is taken. The
level of a span follows from its place in the tree, so different derivations are different trees.

Among equally probable trees the first is the one of the lower root category, the earlier split, the
lower left and right categories; then those of the better left and right children. It does not
depend on N, nor on what was pruned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Sentences
from dbpcfg.numerics.heap import push, remove_best
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.chart.layout import (
    Logs,
    beginnings,
    left_below,
    log_rule,
    right_below,
)
from dbpcfg.parsing.derivations import first_node, level_cell, span_cell

STEP = 1.5
"""t to this power is the next, if fewer than N trees are found."""
ROUNDING = 1e-6
"""Posteriors, and probabilities of trees, are right to better than this part of them."""
LEAST = 1e-200
"""For a t below this, no span is pruned."""

START, END, CATEGORY, LEFT, RIGHT = range(5)
"""Columns of ``Pool.derivations``: a node, and the numbers of its children's derivations."""


class Items(NamedTuple):
    """The labels of a sentence that are not pruned."""

    begins: Longs  # [cell]   where the items of each span and level begin
    labels: Longs  # [item]   their categories
    first: Longs  # [item]    the number of its best derivation; others follow
    known: Longs  # [item]    how many derivations it has; the last item is none, and has one


class Pool(NamedTuple):
    """The derivations of all items; number 0 is none, and scores 0. Arrays grow when full."""

    derivations: Longs  # [number, column]
    scores: Floats  # [number]  log-probabilities


@also_in_kernels
def with_room(P: Pool, used: int, more: int) -> Pool:
    """The pool, or a larger one with the derivations that are in use, if it has no room."""
    if used + more <= len(P.scores):
        return P
    derivations, scores = np.empty((2 * (used + more), 5), np.int64), np.empty(2 * (used + more))
    old, old_scores = P.derivations, P.scores
    for number in range(used):
        scores[number] = old_scores[number]
        for column in range(5):
            derivations[number, column] = old[number, column]
    return Pool(derivations, scores)


class Edges(NamedTuple):
    """The edges of a span, their pairs of labels, and a heap of the derivations of an item."""

    lefts: Longs  # [edge]   the children's items
    rights: Longs  # [edge]
    pairs: Longs  # [edge]
    others: Longs  # [edge]  the next edge of the same pair, or −1
    heads: Longs  # [pair]   its best edge
    labels: Longs  # [pair]  a · K + b
    sums: Floats  # [pair]   the score of its best edge, without a rule
    rules: Floats  # [pair]  the logarithm of the rule of an item, if the pair was tried
    limits: Floats  # [place]  no item has more from the pair; a heap, then from the end on sorted
    order: Longs  # [place]    the pair
    scores: Floats  # [place]  the heap
    keys: Longs  # [place]     (edge · N + x) · N + y: the order of k, a, b, x, y


@also_in_kernels
def new_edges(most: int, trees: int) -> Edges:
    """Room for a number of edges, and for the heap of the best derivations."""
    numbers, floats = np.empty((7, most), np.int64), np.empty((3, most))
    lefts, rights, pairs, others = numbers[0], numbers[1], numbers[2], numbers[3]
    heads, labels, order = numbers[4], numbers[5], numbers[6]
    sums, rules, limits = floats[0], floats[1], floats[2]
    scores, keys = np.empty(most + 2 * trees), np.empty(most + 2 * trees, np.int64)
    return Edges(
        lefts, rights, pairs, others, heads, labels, sums, rules, limits, order, scores, keys
    )


@also_in_kernels
def surviving(weights: Floats, least: float) -> Items:
    """The labels of a sentence whose weights are not less than least."""
    (cells, K), size = weights.shape, 0
    begins = np.empty(cells + 1, dtype=np.int64)
    for x in range(cells):
        for c in range(K):
            size += weights[x, c] > 0.0 and weights[x, c] >= least
    labels, size = np.empty(size, dtype=np.int64), 0
    for x in range(cells):
        begins[x] = size
        for c in range(K):
            if weights[x, c] > 0.0 and weights[x, c] >= least:
                labels[size] = c
                size += 1
    begins[cells] = size
    known = np.zeros(size + 1, dtype=np.int64)
    known[size] = 1
    return Items(begins, labels, np.zeros(size + 1, dtype=np.int64), known)


@also_in_kernels
def derive(
    i: int,
    j: int,
    c: int,
    tried: int,
    pairs: int,
    G: Logs,
    I: Items,
    P: Pool,
    used: int,
    most: int,
    H: Edges,
) -> tuple[Pool, int, int]:
    """The best derivations of an item from its pairs, after those in use; return their number.

    ``c``: its label; −1 for the root of the tree, whose child it is.
    ``tried``: how many pairs are sorted, which other items have tried; also returned.
    """
    first, known, best, keys, K = I.first, I.known, H.scores, H.keys, G.lexical.shape[1]
    lefts, rights, pair_of, others, heads = H.lefts, H.rights, H.pairs, H.others, H.heads
    labels, sums, rules, limits, order, root = H.labels, H.sums, H.rules, H.limits, H.order, G.root
    P = with_room(P, used, most)
    derivations, scores, size, place = P.derivations, P.scores, 0, pairs
    for number in range(used, used + most):
        while place:
            if pairs - place == tried:
                limit, pair, tried = limits[0], order[0], tried + 1
                remove_best(limits, order, place - 1)
                limits[place - 1], order[place - 1] = limit, pair
            place -= 1
            if size and limits[place] < best[0]:
                place += 1
                break
            pair = order[place]
            a, b = labels[pair] // K, labels[pair] % K
            rules[pair] = root[a] if c < 0 else log_rule(G, c, a, b)
            score = rules[pair] + sums[pair]
            if score > -np.inf:
                push(best, keys, size, score, heads[pair] * most * most)
                size += 1
        if size == 0:
            return P, number - used, tried
        score, key, size = best[0], keys[0], size - 1
        remove_best(best, keys, size)
        e, x, y = key // (most * most), key // most % most, key % most
        left, right, rule = first[lefts[e]] + x, first[rights[e]] + y, rules[pair_of[e]]
        new = derivations[number]
        new[START], new[END], new[CATEGORY], new[LEFT], new[RIGHT] = i, j, c, left, right
        scores[number] = score
        if number + 1 == used + most:
            break
        if y + 1 < known[rights[e]]:
            push(best, keys, size, rule + (scores[left] + scores[right + 1]), key + 1)
            size += 1
        if y == 0 and x + 1 < known[lefts[e]]:
            push(best, keys, size, rule + (scores[left + 1] + scores[right]), key + most)
            size += 1
        if x + y == 0 and e == heads[pair_of[e]]:
            e = others[e]
            while e >= 0:
                score = rule + (scores[first[lefts[e]]] + scores[first[rights[e]]])
                push(best, keys, size, score, e * most * most)
                e, size = others[e], size + 1
    return P, most, tried


@also_in_kernels
def find_edges(
    level: int,
    i: int,
    j: int,
    n: int,
    G: Logs,
    I: Items,
    P: Pool,
    H: Edges,
    pair_of: Longs,
    most: int,
) -> tuple[Edges, int]:
    """The edges of a span, by k, a and b, and their pairs; return the number of pairs.

    ``pair_of``: ``[a · K + b]``: −1, before and after.
    """
    begins, labels, known = I.begins, I.labels, I.known
    l, r = (left_below(level, G.depth), right_below(level, G.depth)) if G.depth else (0, 0)
    only_word, K = G.depth > 0 and l == 2 * G.depth, G.lexical.shape[1]
    last, edges, pairs = i + 2 if only_word else j, 0, 0
    for k in range(i + 1, last):
        here, there = level_cell(n, l, i, k), level_cell(n, r, k, j)
        edges += (begins[here + 1] - begins[here]) * (begins[there + 1] - begins[there])
    if edges > len(H.lefts):
        H = new_edges(2 * edges, most)
    lefts, rights, numbers, others, heads = H.lefts, H.rights, H.pairs, H.others, H.heads
    pair_labels, sums, limits, order, bounds = H.labels, H.sums, H.limits, H.order, G.limits
    first, scores = I.first, P.scores
    edges = 0
    for k in range(i + 1, last):
        here, there = level_cell(n, l, i, k), level_cell(n, r, k, j)
        for left in range(begins[here], begins[here + 1]):
            if known[left] == 0:
                continue
            a, score = labels[left], scores[first[left]]
            for right in range(begins[there], begins[there + 1]):
                if known[right] == 0:
                    continue
                label, sum = a * K + labels[right], score + scores[first[right]]
                pair = pair_of[label]
                if pair < 0:
                    pair = pair_of[label] = pairs
                    pair_labels[pair], sums[pair], heads[pair] = label, sum, edges
                    others[edges], pairs = -1, pairs + 1
                elif sum > sums[pair]:
                    others[edges] = heads[pair]
                    sums[pair], heads[pair] = sum, edges
                else:
                    others[edges] = others[heads[pair]]
                    others[heads[pair]] = edges
                lefts[edges], rights[edges], numbers[edges] = left, right, pair
                edges += 1
    for pair in range(pairs):
        label = pair_labels[pair]
        pair_of[label] = -1
        push(limits, order, pair, bounds[label // K, label % K] + sums[pair], pair)
    return H, pairs


@also_in_kernels
def search(
    words: Ints, G: Logs, I: Items, P: Pool, H: Edges, pair_of: Longs, most: int
) -> tuple[Pool, Edges, int, int]:
    """All derivations; return where those of the sentence begin, which are at most ``most``.

    The last two are their first number, and how many there are.
    """
    n, levels = len(words), max(1, 2 * G.depth)
    begins, labels, first, known = I.begins, I.labels, I.first, I.known
    P.scores[0], used = 0.0, 1
    for i in range(n):
        cell = span_cell(n, i, i + 1)
        for x in range(begins[cell], begins[cell + 1]):
            P = with_room(P, used, 1)
            word = P.derivations[used]
            word[START], word[END], word[CATEGORY] = i, i + 1, labels[x]
            P.scores[used] = G.lexical[words[i], labels[x]]
            first[x], known[x], used = used, 1, used + 1
    for width in range(2, n + 1):
        for level in range(levels):
            for i in beginnings(level, G.depth, n, width):
                cell = level_cell(n, level, i, i + width)
                if begins[cell] == begins[cell + 1]:
                    continue
                H, pairs = find_edges(level, i, i + width, n, G, I, P, H, pair_of, most)
                tried = 0
                for x in range(begins[cell], begins[cell + 1]):
                    P, number, tried = derive(
                        i, i + width, labels[x], tried, pairs, G, I, P, used, most, H
                    )
                    first[x], known[x], used = used, number, used + number
    whole, pairs = span_cell(n, 0, n), 0
    if begins[whole + 1] - begins[whole] > len(H.lefts):
        H = new_edges(begins[whole + 1] - begins[whole], most)
    for x in range(begins[whole], begins[whole + 1]):
        if known[x]:
            H.lefts[pairs], H.rights[pairs], H.pairs[pairs] = x, len(known) - 1, pairs
            H.heads[pairs], H.others[pairs] = pairs, -1
            H.labels[pairs], H.sums[pairs] = labels[x] * G.lexical.shape[1], P.scores[first[x]]
            push(H.limits, H.order, pairs, H.sums[pairs], pairs)
            pairs += 1
    P, number, _ = derive(0, n, -1, 0, pairs, G, I, P, used, most, H)
    return P, H, used, number


@also_in_kernels
def write_tree(P: Pool, root: int, stack: Longs, nodes: Ints) -> None:
    """A derivation's tree, into pre-order ``nodes``."""
    derivations, top, node = P.derivations, 1, 0
    stack[0] = root
    while top:
        top -= 1
        here = derivations[stack[top]]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = here[START], here[END], here[CATEGORY]
        node += 1
        if here[END] - here[START] > 1:
            stack[top], stack[top + 1] = here[RIGHT], here[LEFT]
            top += 2


@kernel
def best_of_sentences(
    begin: int,
    end: int,
    sentences: Sentences,
    first_cell: Longs,
    weights: Floats,
    totals: Floats,
    G: Logs,
    most: int,
    least: float,
    nodes: Ints,
    logs: Floats,
    thresholds: Floats,
) -> None:
    """The best trees of some sentences, whose posteriors are right for labels of ``least`` or more.

    ``totals``: log Σ_τ P(τ) of each sentence; −∞ if it has no tree.
    ``nodes``: those of sentence s from ``most · first_node(s)`` on, one tree after another.
    ``logs``: ``[s, tree]``; −∞ where there is none.
    ``thresholds``: ``[s]``: the first t; then that for which ``least`` is too much, or −1 if these
    are the best trees.
    """
    tokens, starts = sentences
    H, pair_of = new_edges(64, most), np.full(G.limits.size, -1)
    P = Pool(np.empty((256, 5), dtype=np.int64), np.empty(256))
    for s in range(begin, end):
        words, n = tokens[starts[s] : starts[s + 1]], starts[s + 1] - starts[s]
        t, number, first, stack = thresholds[s], 0, 0, np.empty(n + 1, dtype=np.int64)
        logs[s, :] = -np.inf
        while totals[s] > -np.inf and t >= least:
            I = surviving(weights[first_cell[s] : first_cell[s + 1]], t * (1.0 - ROUNDING))
            P, H, first, number = search(words, G, I, P, H, pair_of, most)
            if t == 0.0:
                break
            if number == most:
                found = math.exp(P.scores[first + most - 1] - totals[s])
                if found >= t:
                    break
                t = found * (1.0 - ROUNDING)
            else:
                t = t**STEP
            t = t if t >= LEAST else 0.0
        if totals[s] > -np.inf and t < least:
            thresholds[s] = t
            continue
        thresholds[s] = -1.0
        for tree in range(number):
            at = most * first_node(starts, s) + tree * (2 * n - 1)
            derivation = P.derivations[first + tree, LEFT]
            write_tree(P, derivation, stack, nodes[at : at + 2 * n - 1])
            logs[s, tree] = P.scores[first + tree]
