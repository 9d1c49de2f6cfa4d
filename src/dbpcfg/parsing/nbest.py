"""The N most probable trees of every sentence, exactly; the most probable one is the case N = 1.

**Pruning.** A tree is no more probable than any of its labelled spans. So trees of posterior
probability t or more have only labels whose posterior is at least t, and those are few: one search
among them is cheap. If it finds N trees of t or more, they are the best. If the N-th is less
probable, its own probability is the next t, which is certain to do; if there are fewer than N, a
power of t is. Posteriors that were computed with spans pruned below some probability serve for
every t above it, since no span of the trees in question is pruned: what is computed of such a span
is at least the tree's own share. They are all that is asked of a parser, so this is for dense
charts and for those in rank space.

**Search.** An *item* is one of these labels c on a span (i,j) and a level. Its derivations, best
first and at most N, are made from those of its children, in order of width::

    score(c,i,j) = max over k, a, b, x, y of log G[c → a b] + (score_x(a,i,k) + score_y(b,k,j))

with score_x the x-th best. The next best is always at the top of a heap (Huang and Chiang 2005,
algorithm 2): at first it has all (k, a, b, 0, 0); when (k, a, b, x, y) is taken, then
(k, a, b, x, y + 1), and (k, a, b, x + 1, 0) if y = 0, join it. The level of a span follows from its
place in the tree, so different derivations are different trees.

Among equally probable trees the first is the one of the lower root category, the earlier split, the
lower left and right categories; then those of the better left and right children. It does not
depend on N, nor on what was pruned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Sentences
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel, part_of_kernel
from dbpcfg.parsing.chart.layout import (
    Logs,
    beginnings,
    chart_levels,
    left_below,
    log_rule,
    right_below,
)
from dbpcfg.parsing.derivations import first_node, span_cell

STEP = 1.5
"""t to this power is the next, if fewer than N trees are found."""
ROUNDING = 1e-6
"""Posteriors, and probabilities of trees, are right to better than this part of them."""
LEAST = 1e-200
"""For a t below this, no span is pruned."""

START, END, CATEGORY, LEFT, RIGHT = range(5)
"""Columns of ``Pool.derivations``: a node, and the numbers of its children's derivations."""


class Items(NamedTuple):
    """The labels of a sentence that are not pruned; item = level · S + label, for S labels."""

    begins: Longs  # [cell]   where the labels of each span begin
    labels: Longs  # [label]  their categories
    first: Longs  # [item]    the number of its best derivation; others follow
    known: Longs  # [item]    how many derivations it has; the last item is none, and has one


class Pool(NamedTuple):
    """The derivations of all items; number 0 is none, and scores 0. Arrays grow when full."""

    derivations: Longs  # [number, column]
    scores: Floats  # [number]  log-probabilities


class Edges(NamedTuple):
    """The edges c → a b at k of an item, and a heap of their derivations."""

    rules: Floats  # [edge]  their logarithms
    lefts: Longs  # [edge]   the children's items
    rights: Longs  # [edge]
    scores: Floats  # [place]
    keys: Longs  # [place]   (edge · N + x) · N + y: the order of k, a, b, x, y


# --- the heap -------------------------------------------------------------------------------------


@part_of_kernel
def push(scores: Floats, keys: Longs, size: int, score: float, key: int) -> None:
    """Add an entry to a heap of some size; the least key is the best of equal scores."""
    place = size
    while place:
        above = (place - 1) // 2
        if scores[above] > score or (scores[above] == score and keys[above] < key):
            break
        scores[place], keys[place] = scores[above], keys[above]
        place = above
    scores[place], keys[place] = score, key


@part_of_kernel
def remove_best(scores: Floats, keys: Longs, size: int) -> None:
    """Remove the entry in place 0; ``size`` entries are left."""
    score, key, place = scores[size], keys[size], 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            other = child + 1
            if scores[other] > scores[child] or (
                scores[other] == scores[child] and keys[other] < keys[child]
            ):
                child = other
        if score > scores[child] or (score == scores[child] and key < keys[child]):
            break
        scores[place], keys[place] = scores[child], keys[child]
        place = child
    scores[place], keys[place] = score, key


# --- one sentence ---------------------------------------------------------------------------------


@also_in_kernels
def surviving(n: int, weights: Floats, cell: int, least: float, levels: int) -> Items:
    """The labels of a sentence whose weights, which begin at a cell, are not less than least."""
    K, cells, size = weights.shape[1], n * (n + 1) // 2, 0
    begins = np.empty(cells + 1, dtype=np.int64)
    for x in range(cells):
        for c in range(K):
            size += weights[cell + x, c] > 0.0 and weights[cell + x, c] >= least
    labels, size = np.empty(size, dtype=np.int64), 0
    for x in range(cells):
        begins[x] = size
        for c in range(K):
            if weights[cell + x, c] > 0.0 and weights[cell + x, c] >= least:
                labels[size] = c
                size += 1
    begins[cells] = size
    known = np.zeros(levels * size + 1, dtype=np.int64)
    known[levels * size] = 1
    return Items(begins, labels, np.zeros(levels * size + 1, dtype=np.int64), known)


@also_in_kernels
def derive(
    i: int, j: int, c: int, edges: int, I: Items, P: Pool, used: int, most: int, H: Edges
) -> tuple[Pool, int]:
    """The best derivations of an item from its edges, after those in use; return their number."""
    rules, lefts, rights, best, keys = H.rules, H.lefts, H.rights, H.scores, H.keys
    first, known = I.first, I.known
    if used + most > len(P.scores):
        more = used + most
        derivations = np.concatenate((P.derivations, np.empty((more, 5), dtype=np.int64)))
        P = Pool(derivations, np.concatenate((P.scores, np.empty(more))))
    derivations, scores, size = P.derivations, P.scores, 0
    for e in range(edges):
        score = rules[e] + (scores[first[lefts[e]]] + scores[first[rights[e]]])
        if most == 1:  # the best is all that is needed
            if score > -np.inf and (size == 0 or score > best[0]):
                best[0], keys[0], size = score, e, 1
        elif score > -np.inf:
            push(best, keys, size, score, e * most * most)
            size += 1
    for number in range(used, used + most):
        if size == 0:
            return P, number - used
        score, key, size = best[0], keys[0], size - 1
        remove_best(best, keys, size)
        e, x, y = key // (most * most), key // most % most, key % most
        left, right = first[lefts[e]] + x, first[rights[e]] + y
        new = derivations[number]
        new[START], new[END], new[CATEGORY], new[LEFT], new[RIGHT] = i, j, c, left, right
        scores[number] = score
        if y + 1 < known[rights[e]]:
            push(best, keys, size, rules[e] + (scores[left] + scores[right + 1]), key + 1)
            size += 1
        if y == 0 and x + 1 < known[lefts[e]]:
            push(best, keys, size, rules[e] + (scores[left + 1] + scores[right]), key + most)
            size += 1
    return P, most


@also_in_kernels
def find_edges(
    level: int, i: int, j: int, n: int, G: Logs, I: Items, H: Edges
) -> tuple[Edges, int]:
    """The children of items on a span, by k, a and b; return their number."""
    size, levels, known = len(I.labels), chart_levels(G.depth), I.known
    l, r = (left_below(level, G.depth), right_below(level, G.depth)) if G.depth else (0, 0)
    only_word = G.depth > 0 and l == levels
    if only_word:  # words have the same derivation on every level
        l = 0
    edges = 0
    for k in range(i + 1, i + 2 if only_word else j):
        here, there = span_cell(n, i, k), span_cell(n, k, j)
        for left in range(I.begins[here], I.begins[here + 1]):
            if known[l * size + left] == 0:
                continue
            for right in range(I.begins[there], I.begins[there + 1]):
                if known[r * size + right] == 0:
                    continue
                if edges == len(H.rules):
                    H = larger(H)
                H.lefts[edges], H.rights[edges] = l * size + left, r * size + right
                edges += 1
    return H, edges


@also_in_kernels
def larger(H: Edges) -> Edges:
    """The same edges, and room for as many more."""
    return Edges(
        np.concatenate((H.rules, H.rules)),
        np.concatenate((H.lefts, H.lefts)),
        np.concatenate((H.rights, H.rights)),
        np.concatenate((H.scores, H.scores)),
        np.concatenate((H.keys, H.keys)),
    )


@also_in_kernels
def search(
    words: Ints, G: Logs, I: Items, P: Pool, H: Edges, most: int
) -> tuple[Pool, Edges, int, int]:
    """All derivations; return where those of the sentence begin, which are at most ``most``.

    The last two are their first number, and how many there are.
    """
    n, size, levels = len(words), len(I.labels), chart_levels(G.depth) if G.depth else 1
    begins, labels, first, known = I.begins, I.labels, I.first, I.known
    P.scores[0], used = 0.0, 1
    for i in range(n):
        cell = span_cell(n, i, i + 1)
        for x in range(begins[cell], begins[cell + 1]):
            if used == len(P.scores):
                P = Pool(
                    np.concatenate((P.derivations, P.derivations)),
                    np.concatenate((P.scores, P.scores)),
                )
            word = P.derivations[used]
            word[START], word[END], word[CATEGORY] = i, i + 1, labels[x]
            P.scores[used] = G.lexical[words[i], labels[x]]
            for level in range(levels):
                first[level * size + x], known[level * size + x] = used, 1
            used += 1
    for width in range(2, n + 1):
        for level in range(levels):
            for i in beginnings(level, G.depth, n, width):
                cell = span_cell(n, i, i + width)
                if begins[cell] == begins[cell + 1]:
                    continue
                H, edges = find_edges(level, i, i + width, n, G, I, H)
                for x in range(begins[cell], begins[cell + 1]) if edges else range(0):
                    for e in range(edges):
                        a, b = labels[H.lefts[e] % size], labels[H.rights[e] % size]
                        H.rules[e] = log_rule(G, labels[x], a, b)
                    P, number = derive(i, i + width, labels[x], edges, I, P, used, most, H)
                    first[level * size + x], known[level * size + x] = used, number
                    used += number
    edges = 0
    for x in range(begins[span_cell(n, 0, n)], begins[span_cell(n, 0, n) + 1]):
        if known[x]:
            if edges == len(H.rules):
                H = larger(H)
            H.rules[edges] = G.root[labels[x]]
            H.lefts[edges], H.rights[edges] = x, len(known) - 1
            edges += 1
    P, number = derive(0, n, -1, edges, I, P, used, most, H)
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
    levels = chart_levels(G.depth) if G.depth else 1
    lefts, rights, keys = (
        np.empty(64, np.int64),
        np.empty(64, np.int64),
        np.empty(64 + most, np.int64),
    )
    H = Edges(np.empty(64), lefts, rights, np.empty(64 + most), keys)
    P = Pool(np.empty((256, 5), dtype=np.int64), np.empty(256))
    for s in range(begin, end):
        words, n = tokens[starts[s] : starts[s + 1]], starts[s + 1] - starts[s]
        t, number, first, stack = thresholds[s], 0, 0, np.empty(n + 1, dtype=np.int64)
        logs[s, :] = -np.inf
        while totals[s] > -np.inf and t >= least:
            I = surviving(n, weights, first_cell[s], t * (1.0 - ROUNDING), levels)
            P, H, first, number = search(words, G, I, P, H, most)
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
