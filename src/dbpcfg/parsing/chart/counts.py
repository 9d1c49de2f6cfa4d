"""Expected rule counts of many sentences: inside and outside in batches.

With u and v as in ``outside``, P = Σ_c π_c u(L,1,c,0,n) and E[·] the mean over a sentence's trees::

    E[c → a b] = G[c → a b] / P · Σ_(i,j) v(m,c,i,j) Σ_k u(l,a,i,k) u(r,b,k,j)
    E[c → w]   = G[c → w] / P · Σ_(i: w_i = w) v(m,c,i,i+1)
    E[T → c]   = π_c u(L,1,c,0,n) / P

over all levels m, whose children are on levels l and r. E[rule] / G[rule] is the derivative of
log P by G[rule]: of the mass within the bound, not yet divided by Z (``grammar.normaliser``).

The sums over spans are matrix products: v of a block of spans, transposed, times their sums over
split points. Level (R,D), whose left children are words, is summed by word first::

    B_w[c, b] = Σ_(i: w_i = w) Σ_j v(R,D,c,i,j) u(R,D,b,i+1,j)

which gives Σ_w G[a → w] B_w[c, b] for the rules, and Σ_cb B_w[c, b] G[c → a b] for the word.

v begins with π / P times the number of copies, so that u · v is an expected count at once. As in
``posteriors`` there are no exponents, spans of ``negligible`` probability are pruned, and sentences
whose probability is not of a fair size are done one by one in ``single_counts``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, also_in_kernels, kernel
from dbpcfg.numerics.simd import (
    add_small_product,
    aligned,
    cell_product,
    copy_cell,
    product,
    round_to_zero,
    small_product,
)
from dbpcfg.parsing.chart.layout import (
    Tables,
    cell_of,
    chart_levels,
    first_start,
    last_start,
    left_below,
    left_cell,
    right_below,
    right_cell,
)

TOGETHER = 32
"""Spans that are expanded together: the results should stay in the nearest cache."""


class Expansion(NamedTuple):
    """Room for the outside passes of one batch after another, and the sums of one batch."""

    above: Floats  # [row, c]   v of some spans
    pairs: Floats  # [row, ab]  Σ_c v[c] G[c → a b]
    turned: Floats  # [row, ba] the same, b first
    outer: Floats  # [row, ab]  Σ_k u_left(i,k) ⊗ u_right(k,j)
    rows: Ints  # [row, 3]      which sentence, level and start
    here: Floats  # [j, c]      v of the (R,D) spans of one start
    after: Floats  # [j, b]     u, then what is added to v, of those of the next start
    vectors: Floats  # [w, a]   G[a → w] of each word of the batch
    steps: Floats  # [w, cb]    A_w
    both: Floats  # [w, cb]     B_w
    leaves: Floats  # [w, a]    Σ_cb B_w[c, b] G[c → a b]
    by_parent: Floats  # [c, ab] Σ v ⊗ outer of the batch
    by_left: Floats  # [a, cb]   Σ_w G[a → w] B_w


def new_expansion(longest: int, words: int, G: Tables) -> Expansion:
    """Room for sentences up to a length, in batches of at most this many different words."""
    K, like = G.root.shape[0], G.root
    return Expansion(
        aligned(like, TOGETHER, K),
        aligned(like, TOGETHER, K * K),
        aligned(like, TOGETHER, K * K),
        aligned(like, TOGETHER, K * K),
        np.empty((TOGETHER, 3), dtype=np.int32),
        aligned(like, longest, K),
        aligned(like, longest, K),
        aligned(like, words, K),
        aligned(like, words, K * K),
        aligned(like, words, K * K),
        aligned(like, words, K),
        aligned(like, K, K * K),
        aligned(like, K, K * K),
    )


class Counted(NamedTuple):
    """Sums over sentences, in double precision, before they are multiplied by G."""

    root: Floats  # [c]
    by_parent: Floats  # [c, ab]
    by_left: Floats  # [a, cb]
    lexical: Floats  # [w, c]


@also_in_kernels
def expand_and_count(
    rows: int, n: int, width: int, depth: int, G: Tables, cells: Floats, v: Floats, W: Expansion
) -> None:
    """Pass v of some spans on to the spans of their children, and count the spans' rules."""
    levels, size, K = cells.shape[1:]
    pairs, turned, outer, placed = W.pairs, W.turned, W.outer, W.rows
    product(W.above, 0, rows, G.by_parent, pairs)
    for row in range(rows):
        m, level, i = placed[row, 0], placed[row, 1], placed[row, 2]
        l, r, at = left_below(level, depth), right_below(level, depth), row * K * K
        x, y, splits = left_cell(n, i, i + 1), right_cell(i + 1, i + width), width - 1
        lefts, rights = ((m * levels + l) * size + x) * K, ((m * levels + r) * size + y) * K
        for a in range(K):
            for b in range(K):
                turned[0, b * K + a] = pairs[row, a * K + b]
        add_small_product(cells, lefts, K, 1, pairs, at, K, v, rights, K, splits, K, K)
        add_small_product(cells, rights, K, 1, turned, 0, K, v, lefts, K, splits, K, K)
        small_product(cells, lefts, 1, K, cells, rights, K, outer, at, K, K, K, splits)
    add_small_product(W.above, 0, 1, K, outer, 0, K * K, W.by_parent, 0, K * K, K, K * K, rows)


@also_in_kernels
def count_deepest(
    slots: Ints, words: Ints, G: Tables, cells: Floats, v: Floats, W: Expansion
) -> None:
    """From level (R,D), once it has all that comes from others, to itself, rules and words::

    v(R,D,b,i+1,j) += Σ_c v(R,D,c,i,j) A_w[c, b]
    """
    sentences, n = slots.shape
    levels, size, K = cells.shape[1:]
    level, count = levels - 1, len(words)
    here, after, steps, both = W.here, W.after, W.steps, W.both
    flat = both.reshape(both.size)
    for w in range(count):
        copy_cell(G.emission, words[w] * K, W.vectors, w * K, K, 0.0, 0.0)
    product(W.vectors, 0, count, G.by_left_child, steps)
    for place in range(count * K * K):
        flat[place] = 0.0
    for m in range(sentences):
        at = (m * levels + level) * size
        for i in range(1, n - 1):
            rows, word = n - i - 1, slots[m, i] * K * K  # j from i + 2 to n
            for j in range(i + 2, n + 1):
                to = (j - i - 2) * K
                copy_cell(v, (at + right_cell(i, j)) * K, here, to, K, 0.0, 0.0)
                copy_cell(cells, (at + right_cell(i + 1, j)) * K, after, to, K, 0.0, 0.0)
            add_small_product(here, 0, 1, K, after, 0, K, both, word, K, K, K, rows)
            small_product(here, 0, K, 1, steps, word, K, after, 0, K, rows, K, K)
            for j in range(i + 2, n + 1):
                cell = right_cell(i + 1, j)
                for b in range(K):
                    v[m, level, cell, b] += after[j - i - 2, b]
    product(both, 0, count, G.by_sides, W.leaves)
    small_product(W.vectors, 0, 1, K, both, 0, K * K, W.by_left, 0, K * K, K, K * K, count)


@also_in_kernels
def begin_outside(
    batch: Ints, G: Tables, cells: Floats, v: Floats, shares: Floats, W: Expansion
) -> None:
    """v of whole sentences, and zeros elsewhere."""
    n, K = batch.shape[1], cells.shape[3]
    whole, root, flat, sums = left_cell(n, 0, n), G.root, v.reshape(v.size), W.by_parent
    for place in range(v.size):
        flat[place] = 0.0
    for m in range(len(batch)):
        for c in range(K):
            v[m, 0, whole, c] = root[c] * shares[m]
    for c in range(K):
        for ab in range(K * K):
            sums[c, ab] = 0.0


@kernel
def counts_of_batch(
    batch: Ints,
    slots: Ints,
    words: Ints,
    depth: int,
    G: Tables,
    cells: Floats,
    v: Floats,
    W: Expansion,
    shares: Floats,
    least: Floats,
    places: Ints,
    counted: Counted,
    flush: bool,
) -> None:
    """Fill v for the sentences of a batch, and add their expected counts.

    ``shares[m]`` is the number of copies of sentence m over P; where it is 0, nothing is added.
    Spans whose expected number is not above ``least[m]`` are pruned. Word i of sentence m is
    ``words[slots[m, i]]``, whose counts are ``counted.lexical[places[slots[m, i]]]``.
    """
    round_to_zero(flush)
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    above, placed, lexical = W.above, W.rows, counted.lexical
    begin_outside(batch, G, cells, v, shares, W)
    for width in range(n, 1, -1):
        rows = 0
        for m in range(sentences):
            for level in range(levels - 1):  # without (R,D); without a bound, without the copy
                at = (m * levels + level) * size
                for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                    cell = cell_of(n, level, i, i + width)
                    if depth == 0:
                        same = right_cell(i, i + width)
                        for c in range(K):
                            v[m, 0, cell, c] += v[m, 1, same, c]
                    mass = cell_product(cells, (at + cell) * K, v, (at + cell) * K, K)
                    if mass > least[m]:
                        placed[rows, 0], placed[rows, 1], placed[rows, 2] = m, level, i
                        copy_cell(v, (at + cell) * K, above, rows * K, K, 0.0, 0.0)
                        rows += 1
                    if rows == TOGETHER:
                        expand_and_count(rows, n, width, depth, G, cells, v, W)
                        rows = 0
        if rows:
            expand_and_count(rows, n, width, depth, G, cells, v, W)
    if depth and n > 2:
        count_deepest(slots, words, G, cells, v, W)
        for w in range(len(words)):
            for a in range(K):
                lexical[places[w], a] += W.leaves[w, a]
        for a in range(K):
            for cb in range(K * K):
                counted.by_left[a, cb] += W.by_left[a, cb]
    add_words(slots, depth, v, places, lexical)
    whole = left_cell(n, 0, n)
    for c in range(K):
        for m in range(sentences):
            counted.root[c] += cells[m, 0, whole, c] * (G.root[c] * shares[m])
        for ab in range(K * K):
            counted.by_parent[c, ab] += W.by_parent[c, ab]
    round_to_zero(False)


@also_in_kernels
def add_words(slots: Ints, depth: int, v: Floats, places: Ints, lexical: Floats) -> None:
    """v of single words, on all levels of the chart."""
    sentences, n = slots.shape
    for m in range(sentences):
        for level in range(chart_levels(depth)):
            for i in range(first_start(level, depth), last_start(level, depth, n, 1) + 1):
                cell, word = cell_of(n, level, i, i + 1), places[slots[m, i]]
                for c in range(v.shape[3]):
                    lexical[word, c] += v[m, level, cell, c]
