"""The N most probable trees of every sentence, exactly; with N = 1 the Viterbi tree.

**Pruning.** A tree is at most as probable as each of its labelled spans, on its level. So trees of
posterior probability t or more have only labels whose posterior is at least t. These are few, so
searching among them is fast. If there are N trees of t or more, they are the best. If the N-th is
less probable, its probability is the next t, which is certain to suffice; if there are fewer than
N, the next is a power of t. Posteriors computed with spans pruned below some probability can be
used for every t above it, as no span of these trees is pruned. Only posteriors are needed, so this
works for dense charts and for those in rank space.

**Search.** An *item* is one of these labels c on a span (i,j) and a level. Its derivations, best
first and at most N, are made from those of its children, in order of width::

    score(c,i,j) = max over a, b of log G[c → a b] + max over k, x, y of
                   (score_x(a,i,k) + score_y(b,k,j))

with score_x the x-th best. The inner maximum is the same for all c: an *edge* is k with the
children's labels, and edges with the same labels are a *pair*, with a best edge. So without pruning
a span costs n K² and not n K³, and pairs are tried in order of max_c log G[c → a b] + their best
edge, until no pair can be better than the best so far. (For a low-rank grammar the first maximum is
replaced by an upper bound, Σ_r max_c u_cr v_ar w_br.)

The next best is always at the top of a heap (Huang and Chiang 2005, algorithm 2), which a pair's
best edge joins when the pair is tried. When (k, a, b, x, y) is taken, then (k, a, b, x, y + 1), and
(k, a, b, x + 1, 0) if y = 0, join it; so do other edges of the pair when its best edge is taken.
The level of a span follows from its position in the tree, so different derivations are different
trees.

Equally probable trees are ordered by root category, split, left and right category, and the ranks
of the left and right child. The order does not depend on N or on pruning.
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
"""An upper limit for relative errors of posteriors and probabilities of trees."""
LEAST = 1e-200
"""For a t below this, no span is pruned."""

START, END, CATEGORY, LEFT, RIGHT = range(5)
"""Columns of ``Pool.derivations``: a node, and the numbers of its children's derivations."""


class Items(NamedTuple):
    """The labels of a sentence that are not pruned."""

    begins: Longs  # [cell]   where the items of each span and level begin
    labels: Longs  # [item]   their categories
    first: Longs  # [item]    the number of its best derivation; others follow
    number: Longs  # [item]   how many derivations it has; the last item is none, and has one


class Pool(NamedTuple):
    """The derivations of all items; number 0 is none, and scores 0. Arrays grow when full."""

    derivations: Longs  # [number, column]
    scores: Floats  # [number]  log-probabilities


@also_in_kernels
def ensure_room(P: Pool, size: int, needed: int) -> Pool:
    """The pool, or a larger copy if it has no room."""
    if size + needed <= len(P.scores):
        return P
    new_size = 2 * (size + needed)
    derivations, scores = np.empty((new_size, 5), np.int64), np.empty(new_size)
    old, old_scores = P.derivations, P.scores
    for number in range(size):
        scores[number] = old_scores[number]
        for column in range(5):
            derivations[number, column] = old[number, column]
    return Pool(derivations, scores)


LEFT_ITEM, RIGHT_ITEM, PAIR, NEXT = range(4)
"""Columns of ``Edges.edges``: the children's items, the pair, its next edge or −1."""
BEST, LABELS = range(2)
"""Columns of ``Edges.pairs``: the best edge, and a · K + b."""
SUM, RULE = range(2)
"""Columns of ``Edges.sums``: the score of the best edge without a rule; log G[c → a b]."""


class Edges(NamedTuple):
    """The edges of a span, their pairs of labels, and a heap of the derivations of an item."""

    edges: Longs  # [edge, column]
    pairs: Longs  # [pair, column]
    sums: Floats  # [pair, column]
    limits: Floats  # [index]  no item has more from the pair; a heap, then from the end on sorted
    order: Longs  # [index]    the pair
    scores: Floats  # [index]  the heap of derivations
    keys: Longs  # [index]     (edge · N + x) · N + y: the order of k, a, b, x, y


@also_in_kernels
def new_edges(size: int, trees: int) -> Edges:
    """Memory for a number of edges, and for the heap of the best derivations."""
    edges, pairs = np.empty((size, 4), np.int64), np.empty((size, 2), np.int64)
    sums, limits, order = np.empty((size, 2)), np.empty(size), np.empty(size, np.int64)
    heap = size + 2 * trees
    return Edges(edges, pairs, sums, limits, order, np.empty(heap), np.empty(heap, np.int64))


@also_in_kernels
def unpruned_items(weights: Floats, threshold: float) -> Items:
    """The labels of a sentence whose weights are at least a threshold."""
    (cells, K), size = weights.shape, 0
    begins = np.empty(cells + 1, dtype=np.int64)
    for x in range(cells):
        for c in range(K):
            size += weights[x, c] > 0.0 and weights[x, c] >= threshold
    labels, size = np.empty(size, dtype=np.int64), 0
    for x in range(cells):
        begins[x] = size
        for c in range(K):
            if weights[x, c] > 0.0 and weights[x, c] >= threshold:
                labels[size] = c
                size += 1
    begins[cells] = size
    number = np.zeros(size + 1, dtype=np.int64)
    number[size] = 1
    return Items(begins, labels, np.zeros(size + 1, dtype=np.int64), number)


@also_in_kernels
def derive(
    i: int,
    j: int,
    c: int,
    tried: int,
    pair_count: int,
    G: Logs,
    I: Items,
    P: Pool,
    pool_size: int,
    n_trees: int,
    H: Edges,
) -> tuple[Pool, int, int]:
    """Add the best derivations of an item to the pool; return their number.

    ``c``: the label of the item; −1 for the parent of the root.
    ``tried``: the number of pairs that other items have tried, which are sorted; also returned.
    """
    first, number, edges, pairs, sums = I.first, I.number, H.edges, H.pairs, H.sums
    limits, order, best, keys, K = H.limits, H.order, H.scores, H.keys, G.lexical.shape[1]
    P = ensure_room(P, pool_size, n_trees)
    derivations, scores, size, index = P.derivations, P.scores, 0, pair_count
    for new in range(pool_size, pool_size + n_trees):
        while index:
            if pair_count - index == tried:
                limit, pair, tried = limits[0], order[0], tried + 1
                remove_best(limits, order, index - 1)
                limits[index - 1], order[index - 1] = limit, pair
            if size and limits[index - 1] < best[0]:
                break
            index -= 1
            pair = order[index]
            a, b = pairs[pair, LABELS] // K, pairs[pair, LABELS] % K
            sums[pair, RULE] = G.root[a] if c < 0 else log_rule(G, c, a, b)
            score = sums[pair, RULE] + sums[pair, SUM]
            if score > -np.inf:
                push(best, keys, size, score, pairs[pair, BEST] * n_trees * n_trees)
                size += 1
        if size == 0:
            return P, new - pool_size, tried
        score, key, size = best[0], keys[0], size - 1
        remove_best(best, keys, size)
        e, x, y = key // (n_trees * n_trees), key // n_trees % n_trees, key % n_trees
        left_item, right_item, pair = edges[e, LEFT_ITEM], edges[e, RIGHT_ITEM], edges[e, PAIR]
        left, right, rule = first[left_item] + x, first[right_item] + y, sums[pair, RULE]
        row, scores[new] = derivations[new], score
        row[START], row[END], row[CATEGORY], row[LEFT], row[RIGHT] = i, j, c, left, right
        if new + 1 == pool_size + n_trees:
            break
        if y + 1 < number[right_item]:
            push(best, keys, size, rule + (scores[left] + scores[right + 1]), key + 1)
            size += 1
        if y == 0 and x + 1 < number[left_item]:
            push(best, keys, size, rule + (scores[left + 1] + scores[right]), key + n_trees)
            size += 1
        if x + y == 0 and e == pairs[pair, BEST]:
            e = edges[e, NEXT]
            while e >= 0:
                left, right = first[edges[e, LEFT_ITEM]], first[edges[e, RIGHT_ITEM]]
                push(best, keys, size, rule + (scores[left] + scores[right]), e * n_trees * n_trees)
                e, size = edges[e, NEXT], size + 1
    return P, n_trees, tried


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
    n_trees: int,
) -> tuple[Edges, int]:
    """The edges of a span, by k, a and b, and their pairs; return the number of pairs.

    ``pair_of``: ``[a · K + b]``: −1, before and after.
    """
    begins, labels, first, number, scores = I.begins, I.labels, I.first, I.number, P.scores
    l, r = (left_below(level, G.depth), right_below(level, G.depth)) if G.depth else (0, 0)
    only_word, K = G.depth > 0 and l == 2 * G.depth, G.lexical.shape[1]
    last, size = i + 2 if only_word else j, 0
    for k in range(i + 1, last):
        x, y = level_cell(n, l, i, k), level_cell(n, r, k, j)
        size += (begins[x + 1] - begins[x]) * (begins[y + 1] - begins[y])
    if size > len(H.edges):
        H = new_edges(2 * size, n_trees)
    edges, pairs, sums, e, pair_count = H.edges, H.pairs, H.sums, 0, 0
    for k in range(i + 1, last):
        x, y = level_cell(n, l, i, k), level_cell(n, r, k, j)
        for left in range(begins[x], begins[x + 1]):
            if number[left] == 0:
                continue
            a, score = labels[left], scores[first[left]]
            for right in range(begins[y], begins[y + 1]):
                if number[right] == 0:
                    continue
                label, sum = a * K + labels[right], score + scores[first[right]]
                pair, following = pair_of[label], -1
                if pair < 0:
                    pair = pair_of[label] = pair_count
                    pairs[pair, LABELS], pair_count = label, pair_count + 1
                    pairs[pair, BEST], sums[pair, SUM] = e, sum
                elif sum > sums[pair, SUM]:
                    following = pairs[pair, BEST]
                    pairs[pair, BEST], sums[pair, SUM] = e, sum
                else:
                    best = pairs[pair, BEST]
                    following, edges[best, NEXT] = edges[best, NEXT], e
                edges[e, LEFT_ITEM], edges[e, RIGHT_ITEM] = left, right
                edges[e, PAIR], edges[e, NEXT] = pair, following
                e += 1
    for pair in range(pair_count):
        label = pairs[pair, LABELS]
        pair_of[label] = -1
        push(H.limits, H.order, pair, G.limits[label // K, label % K] + sums[pair, SUM], pair)
    return H, pair_count


@also_in_kernels
def search(
    words: Ints, G: Logs, I: Items, P: Pool, H: Edges, pair_of: Longs, n_trees: int
) -> tuple[Pool, Edges, int, int]:
    """Find all derivations; return the number of the best one, and how many there are."""
    n, levels = len(words), max(1, 2 * G.depth)
    begins, labels, first, number = I.begins, I.labels, I.first, I.number
    P.scores[0], pool_size = 0.0, 1
    for i in range(n):
        cell = span_cell(n, i, i + 1)
        for x in range(begins[cell], begins[cell + 1]):
            P = ensure_room(P, pool_size, 1)
            word = P.derivations[pool_size]
            word[START], word[END], word[CATEGORY] = i, i + 1, labels[x]
            P.scores[pool_size] = G.lexical[words[i], labels[x]]
            first[x], number[x], pool_size = pool_size, 1, pool_size + 1
    for width in range(2, n + 1):
        for level in range(levels):
            for i in beginnings(level, G.depth, n, width):
                cell = level_cell(n, level, i, i + width)
                if begins[cell] == begins[cell + 1]:
                    continue
                H, pairs = find_edges(level, i, i + width, n, G, I, P, H, pair_of, n_trees)
                tried = 0
                for x in range(begins[cell], begins[cell + 1]):
                    P, size, tried = derive(
                        i, i + width, labels[x], tried, pairs, G, I, P, pool_size, n_trees, H
                    )
                    first[x], number[x], pool_size = pool_size, size, pool_size + size
    sentence_cell, pairs = span_cell(n, 0, n), 0
    if begins[sentence_cell + 1] - begins[sentence_cell] > len(H.edges):
        H = new_edges(begins[sentence_cell + 1] - begins[sentence_cell], n_trees)
    for x in range(begins[sentence_cell], begins[sentence_cell + 1]):
        if number[x]:
            H.edges[pairs, LEFT_ITEM], H.edges[pairs, RIGHT_ITEM] = x, len(number) - 1
            H.edges[pairs, PAIR], H.edges[pairs, NEXT] = pairs, -1
            H.pairs[pairs, BEST], H.pairs[pairs, LABELS] = pairs, labels[x] * G.lexical.shape[1]
            H.sums[pairs, SUM] = P.scores[first[x]]
            push(H.limits, H.order, pairs, P.scores[first[x]], pairs)
            pairs += 1
    P, size, _ = derive(0, n, -1, 0, pairs, G, I, P, pool_size, n_trees, H)
    return P, H, pool_size, size


@also_in_kernels
def write_tree(P: Pool, root: int, stack: Longs, nodes: Ints) -> None:
    """A derivation's tree, into pre-order ``nodes``."""
    derivations, top, node = P.derivations, 1, 0
    stack[0] = root
    while top:
        top -= 1
        derivation = derivations[stack[top]]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = (
            derivation[START],
            derivation[END],
            derivation[CATEGORY],
        )
        node += 1
        if derivation[END] - derivation[START] > 1:
            stack[top], stack[top + 1] = derivation[RIGHT], derivation[LEFT]
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
    n_trees: int,
    exact_from: float,
    nodes: Ints,
    logs: Floats,
    thresholds: Floats,
) -> None:
    """Find the best trees of some sentences; posteriors are exact from ``exact_from`` on.

    ``totals``: log Σ_τ P(τ) of each sentence; −∞ if it has no tree.
    ``nodes``: written for sentence s from ``n_trees · first_node(s)`` on, one tree after another.
    ``logs``: ``[s, tree]``; −∞ for missing trees.
    ``thresholds``: ``[s]``: the first t; replaced by the next t below ``exact_from``, or by −1 if
    the search is complete.
    """
    tokens, starts = sentences
    H, pair_of = new_edges(64, n_trees), np.full(G.limits.size, -1)
    P = Pool(np.empty((256, 5), dtype=np.int64), np.empty(256))
    for s in range(begin, end):
        words, n = tokens[starts[s] : starts[s + 1]], starts[s + 1] - starts[s]
        t, number, first, stack = thresholds[s], 0, 0, np.empty(n + 1, dtype=np.int64)
        logs[s, :] = -np.inf
        while totals[s] > -np.inf and t >= exact_from:
            I = unpruned_items(weights[first_cell[s] : first_cell[s + 1]], t * (1.0 - ROUNDING))
            P, H, first, number = search(words, G, I, P, H, pair_of, n_trees)
            if t == 0.0:
                break
            if number == n_trees:
                posterior = math.exp(P.scores[first + n_trees - 1] - totals[s])
                if posterior >= t:
                    break
                t = posterior * (1.0 - ROUNDING)
            else:
                t = t**STEP
            t = t if t >= LEAST else 0.0
        if totals[s] > -np.inf and t < exact_from:
            thresholds[s] = t
            continue
        thresholds[s] = -1.0
        for tree in range(number):
            at = n_trees * first_node(starts, s) + tree * (2 * n - 1)
            derivation = P.derivations[first + tree, LEFT]
            write_tree(P, derivation, stack, nodes[at : at + 2 * n - 1])
            logs[s, tree] = P.scores[first + tree]
