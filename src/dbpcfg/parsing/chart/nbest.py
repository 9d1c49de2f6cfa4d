"""The N most probable trees of a sentence: lazy k-best (Huang and Chiang 2005, algorithm 3), exact.

An *item* is a category on a span and level of the chart. A derivation of it is a tuple (k, a, b, x,
y): its children are a on (i,k) in its x-th best derivation and b on (k,j) in its y-th, counted from
0. ``trees.best_inside`` gives the best derivation of every item. The next best one is the best of
the item's candidates. At first these are all (k, a, b, 0, 0); when (k, a, b, x, y) is taken,

    (k, a, b, x, y + 1), and (k, a, b, x + 1, 0) if y = 0

join them: each tuple becomes a candidate once, and never before a better one. Only these two ask
children for more than their best derivation, so most items are never looked at again. The level of
a span follows from its place in the tree, so different derivations are different trees.

The candidates of an item are a pairing heap (Fredman, Sedgewick, Sleator and Tarjan 1986). Many
heaps share two arrays: ``scores[entry]``, and ``links[entry]`` with the entry's first child and
next sibling. A heap is the number of its best entry, or NONE; among equals the earlier is best.
Nothing recurses.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.chart.layout import (
    Logs,
    cell_of,
    chart_levels,
    left_below,
    new_chart,
    right_below,
)
from dbpcfg.parsing.chart.trees import best_inside

NONE = -1
CHILD, SIBLING = 0, 1


@also_in_kernels
def melded(links: Longs, scores: Floats, one: int, other: int) -> int:
    """Make one heap of two."""
    if one == NONE:
        return other
    if other == NONE:
        return one
    if scores[other] > scores[one] or (scores[other] == scores[one] and other < one):
        one, other = other, one
    links[other, SIBLING] = links[one, CHILD]
    links[one, CHILD] = other
    return one


@also_in_kernels
def without_best(links: Longs, scores: Floats, heap: int) -> int:
    """The heap without its best entry: meld the children in pairs, then all pairs."""
    pairs, child = NONE, links[heap, CHILD]
    while child != NONE:
        second = links[child, SIBLING]
        following = NONE
        links[child, SIBLING] = NONE
        if second != NONE:
            following = links[second, SIBLING]
            links[second, SIBLING] = NONE
        pair = melded(links, scores, child, second)
        links[pair, SIBLING] = pairs
        pairs, child = pair, following
    rest = NONE
    while pairs != NONE:
        following = links[pairs, SIBLING]
        links[pairs, SIBLING] = NONE
        rest = melded(links, scores, rest, pairs)
        pairs = following
    return rest


ZERO = cast(int, np.int64(0))
"""For arguments: numba would compile callees anew for a literal 0."""

LEVEL, START, END, CATEGORY, KNOWN, DONE, HEAP = range(7)
"""Columns of ``Pool.items``: the item, how many derivations are known, whether that is all."""

SPLIT, LEFT, RIGHT, LEFT_RANK, RIGHT_RANK = range(5)
"""Columns of ``Pool.derivations``: k, a, b, x, y."""


class Pool(NamedTuple):
    """The items that were asked for more than their best derivation. Arrays grow when full."""

    number: Longs  # [level, cell, c]  an item's number, or NONE
    items: Longs  # [item, column]
    found: Longs  # [item, rank]       numbers of the derivations that are known, best first
    derivations: Longs  # [number, column]
    links: Longs  # [number, 2]        their places in heaps
    scores: Floats  # [number]         their log-probabilities
    used: Longs  # [2]                 how many items and derivations there are


class Chart(NamedTuple):
    """A sentence with the log-probability of the best derivation of each of its items."""

    words: Ints
    G: Logs
    cells: Floats


# --- items ----------------------------------------------------------------------------------------


@also_in_kernels
def score(C: Chart, P: Pool, level: int, i: int, j: int, c: int, rank: int) -> float:
    """Log-probability of an item's derivation of a rank; −∞ if there is none."""
    if level == chart_levels(C.G.depth):  # (L,D+1), which is a word
        return float(C.G.lexical[C.words[i], c]) if rank == 0 else -np.inf
    cell = cell_of(len(C.words), level, i, j)
    if rank == 0:
        return float(C.cells[level, cell, c])
    item = P.number[level, cell, c]
    if item == NONE or rank >= P.items[item, KNOWN]:
        return -np.inf
    return float(P.scores[P.found[item, rank]])


@also_in_kernels
def add(C: Chart, P: Pool, item: int, k: int, a: int, b: int, x: int, y: int) -> None:
    """Make a derivation a candidate, if it exists. There must be room for it."""
    columns = P.items[item]
    level, i, j, c = columns[LEVEL], columns[START], columns[END], columns[CATEGORY]
    l, r = left_below(level, C.G.depth), right_below(level, C.G.depth)
    children = score(C, P, l, i, k, a, x) + score(C, P, r, k, j, b, y)
    total = C.G.binary[c, a, b] + children
    if total == -np.inf:
        return
    number = P.used[1]
    P.used[1] += 1
    P.scores[number] = total
    new = P.derivations[number]
    new[SPLIT], new[LEFT], new[RIGHT], new[LEFT_RANK], new[RIGHT_RANK] = k, a, b, x, y
    P.links[number, CHILD], P.links[number, SIBLING] = NONE, NONE
    columns[HEAP] = melded(P.links, P.scores, columns[HEAP], number)


@also_in_kernels
def take(P: Pool, item: int) -> None:
    """Make the best candidate of an item its next derivation."""
    best = P.items[item, HEAP]
    if best == NONE:
        P.items[item, DONE] = 1
        return
    P.items[item, HEAP] = without_best(P.links, P.scores, best)
    P.found[item, P.items[item, KNOWN]] = best
    P.items[item, KNOWN] += 1


@also_in_kernels
def edges(C: Chart, level: int, i: int, j: int, c: int) -> Floats:
    """``[k − i − 1, a, b]``: log-probability of (k, a, b, 0, 0)."""
    n, K, binary = len(C.words), len(C.G.root), C.G.binary
    l, r = left_below(level, C.G.depth), right_below(level, C.G.depth)
    left_is_word = l == chart_levels(C.G.depth)
    scores = np.empty((1 if left_is_word else j - i - 1, K, K))
    for k in range(i + 1, i + 1 + len(scores)):
        left = C.G.lexical[C.words[i]] if left_is_word else C.cells[l, cell_of(n, l, i, k)]
        right = C.cells[r, cell_of(n, r, k, j)]
        for a in range(K):
            for b in range(K):
                scores[k - i - 1, a, b] = binary[c, a, b] + (left[a] + right[b])
    return scores


@also_in_kernels
def new_item(C: Chart, P: Pool, level: int, i: int, j: int, c: int) -> Pool:
    """Give an item of two words or more a number and candidates, and take its best derivation.

    Of the (k, a, b, 0, 0) only as many of the best can ever be needed as trees are wanted.
    """
    K, most = len(C.G.root), P.found.shape[1]
    scores = edges(C, level, i, j, c).ravel()
    wanted, threshold = min(most, len(scores)), -np.inf
    if wanted < len(scores):
        threshold = np.sort(scores)[len(scores) - wanted]
    ties = wanted - (scores > threshold).sum()
    P = with_room(P, wanted)
    item = P.used[0]
    P.used[0] += 1
    columns = P.items[item]
    columns[LEVEL], columns[START], columns[END], columns[CATEGORY] = level, i, j, c
    columns[KNOWN], columns[DONE], columns[HEAP] = 0, 0, NONE
    P.number[level, cell_of(len(C.words), level, i, j), c] = item
    for edge in range(len(scores)):
        if scores[edge] > threshold or (scores[edge] == threshold and ties > 0):
            ties -= scores[edge] == threshold
            add(C, P, item, i + 1 + edge // (K * K), edge // K % K, edge % K, ZERO, ZERO)
    take(P, item)
    return P


@also_in_kernels
def with_room(P: Pool, more: int) -> Pool:
    """The same pool, with room for one more item and some more derivations."""
    items, found = P.items, P.found
    derivations, links, scores = P.derivations, P.links, P.scores
    if P.used[0] == len(items):
        items = np.concatenate((items, np.empty_like(items)))
        found = np.concatenate((found, np.empty_like(found)))
    while P.used[1] + more > len(scores):
        derivations = np.concatenate((derivations, np.empty_like(derivations)))
        links = np.concatenate((links, np.empty_like(links)))
        scores = np.concatenate((scores, np.empty_like(scores)))
    return Pool(P.number, items, found, derivations, links, scores, P.used)


@also_in_kernels
def lacking(C: Chart, P: Pool, level: int, i: int, j: int, c: int, rank: int) -> tuple[Pool, int]:
    """The number of an item whose derivation of this rank is not known, or NONE."""
    if j - i == 1:
        return P, NONE
    cell = cell_of(len(C.words), level, i, j)
    if P.number[level, cell, c] == NONE:
        P = new_item(C, P, level, i, j, c)
    item = P.number[level, cell, c]
    known = P.items[item, DONE] or P.items[item, KNOWN] > rank
    return P, NONE if known else item


@also_in_kernels
def look_for_next(C: Chart, P: Pool, item: int) -> Pool:
    """Find an item's next best derivation, after those of its descendants that this asks for."""
    stack = np.empty(len(C.words) + 1, dtype=np.int64)
    stack[0], top = item, 1
    while top:
        item = stack[top - 1]
        level, i, j = P.items[item, LEVEL], P.items[item, START], P.items[item, END]
        last = P.derivations[P.found[item, P.items[item, KNOWN] - 1]]
        k, a, b, x, y = last[SPLIT], last[LEFT], last[RIGHT], last[LEFT_RANK], last[RIGHT_RANK]
        P, first = lacking(C, P, right_below(level, C.G.depth), k, j, b, y + 1)
        if first == NONE and y == 0:
            P, first = lacking(C, P, left_below(level, C.G.depth), i, k, a, x + 1)
        if first != NONE:
            stack[top] = first
            top += 1
            continue
        P = with_room(P, 2)
        add(C, P, item, k, a, b, x, y + 1)
        if y == 0:
            add(C, P, item, k, a, b, x + 1, y)
        take(P, item)
        top -= 1
    return P


# --- trees ----------------------------------------------------------------------------------------


@also_in_kernels
def put(row: Longs, i: int, j: int, c: int, level: int, rank: int) -> None:
    """Write five numbers; to assign a tuple would take seconds more to compile."""
    row[0], row[1], row[2], row[3], row[4] = i, j, c, level, rank


@also_in_kernels
def write_tree(C: Chart, P: Pool, c: int, rank: int, nodes: Ints) -> None:
    """The tree of a derivation of the whole sentence, into pre-order ``nodes``."""
    n, K, depth = len(C.words), len(C.G.root), C.G.depth
    stack = np.empty((n + 1, 5), dtype=np.int64)
    put(stack[0], ZERO, n, c, ZERO, rank)
    top, node = 1, 0
    while top:
        top -= 1
        below = stack[top]
        i, j, c, level, rank = below[0], below[1], below[2], below[3], below[4]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, c
        node += 1
        if j - i == 1:
            continue
        item = P.number[level, cell_of(n, level, i, j), c]
        if item == NONE:
            edge = int(edges(C, level, i, j, c).ravel().argmax())
            k, a, b, x, y = i + 1 + edge // (K * K), edge // K % K, edge % K, ZERO, ZERO
        else:
            e = P.derivations[P.found[item, rank]]
            k, a, b, x, y = e[SPLIT], e[LEFT], e[RIGHT], e[LEFT_RANK], e[RIGHT_RANK]
        put(stack[top], k, j, b, right_below(level, depth), y)
        put(stack[top + 1], i, k, a, left_below(level, depth), x)
        top += 2


@kernel
def best_trees(words: Ints, G: Logs, most: int) -> tuple[Ints, Floats]:
    """``[tree, node, 3]`` and log-probabilities of the best trees, best first; maybe fewer."""
    n, K = len(words), len(G.root)
    cells, _ = new_chart(n, K, G.depth)
    best_inside(words, G, cells, np.empty((K, K)))
    C = Chart(words, G, cells)
    P = Pool(
        np.full(cells.shape, NONE, dtype=np.int64),
        np.empty((16, HEAP + 1), dtype=np.int64),
        np.empty((16, most), dtype=np.int64),
        np.empty((256, RIGHT_RANK + 1), dtype=np.int64),
        np.empty((256, 2), dtype=np.int64),
        np.empty(256),
        np.zeros(2, dtype=np.int64),
    )
    ranks = np.zeros(K, dtype=np.int64)
    next_best = np.array([G.root[c] + score(C, P, ZERO, ZERO, n, c, ZERO) for c in range(K)])
    chosen, logs = np.empty((most, 2), dtype=np.int64), np.empty(most)
    trees = 0
    while trees < most:
        c = int(np.argmax(next_best))
        if next_best[c] == -np.inf:
            break
        chosen[trees, 0], chosen[trees, 1], logs[trees] = c, ranks[c], next_best[c]
        trees += 1
        ranks[c] += 1
        if trees < most:
            P, item = lacking(C, P, ZERO, ZERO, n, c, ranks[c])
            if item != NONE:
                P = look_for_next(C, P, item)
            next_best[c] = G.root[c] + score(C, P, ZERO, ZERO, n, c, ranks[c])
    # Only now is it settled which of an item's equally good derivations is its best.
    nodes = np.empty((trees, 2 * n - 1, 3), dtype=np.int32)
    for tree in range(trees):
        write_tree(C, P, chosen[tree, 0], chosen[tree, 1], nodes[tree])
    return nodes, logs[:trees]
