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

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.numerics.simd import (
    add_small_product,
    aligned,
    cell_product,
    copy_cell,
    round_to_zero,
    small_product,
)
from dbpcfg.parsing.chart.layout import (
    Tables,
    cell_of,
    chart_levels,
    fair_size,
    first_start,
    last_start,
    left_below,
    left_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.chart.posteriors import TOGETHER

APART = 16
"""Columns that rows of K² numbers have besides: caches have few places for powers of two."""
FEW = 24
"""Categories up to which a product takes less time than turning its result."""


class Expansion(NamedTuple):
    """Room for the outside passes of one batch after another, and sums over batches.

    Rows of K² numbers are ``APART`` longer.
    """

    above: Floats  # [row, c]   v of some spans
    pairs: Floats  # [row, ab]  Σ_c v[c] G[c → a b]; then b first; then Σ_k u_left ⊗ u_right
    rows: Longs  # [row, 5]     which sentence, level and start; where its children's spans begin
    here: Floats  # [j, c]      v of the (R,D) spans of one start, and of the one after it
    after: Floats  # [j, b]     u of those of the next start
    slot: Ints  # [w]           where a word of the block is among those of the batch, or −1
    words: Ints  # [slot]       the word's number in the vocabulary
    local: Ints  # [slot]       and in the block
    vectors: Floats  # [slot, a]  G[a → w]
    steps: Floats  # [slot, cb]   A_w
    both: Floats  # [slot, cb]    B_w
    leaves: Floats  # [slot, a]   Σ_cb B_w[c, b] G[c → a b]
    by_parent: Floats  # [c, ab]  Σ v ⊗ (Σ_k u_left ⊗ u_right)
    by_left: Floats  # [a, cb]    Σ_w G[a → w] B_w
    rules: Floats  # [c, ab]      G[c → a b]
    by_right: Floats  # [c, ba]   the same, b first
    by_left_child: Floats  # [a, cb]


def new_expansion(longest: int, tokens: int, words: int, G: Tables) -> Expansion:
    """Room for sentences up to a length, tokens of a batch, and words of a block."""
    K, like = G.root.shape[0], G.root
    wide = K * K + APART
    return Expansion(
        aligned(like, TOGETHER, K),
        aligned(like, TOGETHER, wide),
        np.empty((TOGETHER, 5), dtype=np.int64),
        aligned(like, 2 * longest, K),
        aligned(like, longest, K),
        np.full(words, -1, dtype=np.int32),
        np.empty(tokens, dtype=np.int32),
        np.empty(tokens, dtype=np.int32),
        aligned(like, tokens, K),
        aligned(like, tokens, wide),
        aligned(like, tokens, wide),
        aligned(like, tokens, K),
        aligned(like, K, wide),
        aligned(like, K, wide),
        _widened(G.by_parent),
        _widened(G.by_right),
        _widened(G.by_left_child),
    )


def _widened(rules: Floats) -> Floats:
    """The same with ``APART`` more columns."""
    copy = aligned(rules, len(rules), rules.shape[1] + APART)
    copy[:, : rules.shape[1]] = rules
    return copy


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
    above, pairs, placed, wide = W.above, W.pairs, W.rows, K * K + APART
    small_product(above, 0, K, 1, W.rules, 0, wide, pairs, 0, wide, rows, K * K, K)
    for row in range(rows):
        m, level, i = placed[row, 0], placed[row, 1], placed[row, 2]
        l, r = left_below(level, depth), right_below(level, depth)
        x, y = left_cell(n, i, i + 1), right_cell(i + 1, i + width)
        placed[row, 3] = ((m * levels + l) * size + x) * K
        placed[row, 4] = ((m * levels + r) * size + y) * K
        lefts, rights = placed[row, 3], placed[row, 4]
        add_small_product(cells, lefts, K, 1, pairs, row * wide, K, v, rights, K, width - 1, K, K)
    if K <= FEW:
        small_product(above, 0, K, 1, W.by_right, 0, wide, pairs, 0, wide, rows, K * K, K)
    else:
        turn(rows, K, pairs)
    for row in range(rows):
        lefts, rights = placed[row, 3], placed[row, 4]
        add_small_product(cells, rights, K, 1, pairs, row * wide, K, v, lefts, K, width - 1, K, K)
    for row in range(rows):
        lefts, rights = placed[row, 3], placed[row, 4]
        small_product(cells, lefts, 1, K, cells, rights, K, pairs, row * wide, K, K, K, width - 1)
    add_small_product(above, 0, 1, K, pairs, 0, wide, W.by_parent, 0, wide, K, K * K, rows)


@also_in_kernels
def turn(rows: int, K: int, pairs: Floats) -> None:
    """[row, ab] to [row, ba]."""
    for row in range(rows):
        for a in range(1, K):
            for b in range(a):
                upper = pairs[row, b * K + a]
                pairs[row, b * K + a] = pairs[row, a * K + b]
                pairs[row, a * K + b] = upper


@also_in_kernels
def number_words(batch: Ints, local: Ints, W: Expansion) -> int:
    """Number the words of a batch, each once; return how many there are."""
    slot, words, places, count = W.slot, W.words, W.local, 0
    for m in range(len(batch)):
        for i in range(1, batch.shape[1] - 1):
            if slot[local[m, i]] < 0:
                slot[local[m, i]], words[count], places[count] = count, batch[m, i], local[m, i]
                count += 1
    return count


@also_in_kernels
def count_deepest(
    batch: Ints, local: Ints, G: Tables, cells: Floats, v: Floats, W: Expansion, lexical: Floats
) -> None:
    """From level (R,D), once it has all that comes from others, to itself, rules and words::

    v(R,D,b,i+1,j) += Σ_c v(R,D,c,i,j) A_w[c, b]
    """
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    spans, after, steps, both, slot = W.here, W.after, W.steps, W.both, W.slot
    count, flat, wide = number_words(batch, local, W), both.reshape(both.size), K * K + APART
    for w in range(count):
        copy_cell(G.emission, W.words[w] * K, W.vectors, w * K, K, 0.0, 0.0)
    small_product(W.vectors, 0, K, 1, W.by_left_child, 0, wide, steps, 0, wide, count, K * K, K)
    for place in range(count * wide):
        flat[place] = 0.0
    for m in range(sentences):
        at, here, following = (m * levels + levels - 1) * size, 0, len(spans) // 2 * K
        for j in range(2, n + 1):
            copy_cell(v, (at + right_cell(1, j)) * K, spans, (j - 2) * K, K, 0.0, 0.0)
        for i in range(1, n):  # rows are j = i + 1 … n
            for c in range(K):
                lexical[local[m, i], c] += spans[here // K, c]
            if i == n - 1:
                break
            rows, word = n - i - 1, slot[local[m, i]] * wide
            for j in range(i + 2, n + 1):
                cell, to = (at + right_cell(i + 1, j)) * K, (j - i - 2) * K
                copy_cell(cells, cell, after, to, K, 0.0, 0.0)
                copy_cell(v, cell, spans, following + to, K, 0.0, 0.0)
            add_small_product(spans, here + K, 1, K, after, 0, K, both, word, K, K, K, rows)
            add_small_product(
                spans, here + K, K, 1, steps, word, K, spans, following, K, rows, K, K
            )
            here, following = following, here
    small_product(both, 0, wide, 1, G.by_sides, 0, K, W.leaves, 0, K, count, K, K * K)
    add_small_product(W.vectors, 0, 1, K, both, 0, wide, W.by_left, 0, wide, K, K * K, count)
    for w in range(count):
        slot[W.local[w]] = -1
        for a in range(K):
            lexical[W.local[w], a] += W.leaves[w, a]


@also_in_kernels
def begin_outside(
    n: int,
    copies: Floats,
    G: Tables,
    cells: Floats,
    v: Floats,
    totals: Floats,
    counted: Counted,
) -> None:
    """v of whole sentences, π / P times the number of copies; the roots are counted."""
    levels, size, K = cells.shape[1:]
    whole, root = left_cell(n, 0, n), G.root
    for m in range(len(copies)):
        total = cell_product(root, 0, cells, (m * levels * size + whole) * K, K)
        totals[m] = total if 1 / fair_size(root) <= total <= fair_size(root) else np.inf
        share = copies[m] / totals[m]
        for c in range(K):
            v[m, 0, whole, c] = root[c] * share
            counted.root[c] += cells[m, 0, whole, c] * (root[c] * share)


@kernel
def counts_of_batch(
    batch: Ints,
    local: Ints,
    copies: Floats,
    depth: int,
    G: Tables,
    cells: Floats,
    v: Floats,
    W: Expansion,
    negligible: float,
    totals: Floats,
    counted: Counted,
    flush: bool,
) -> None:
    """Fill v, which is zero, for the sentences of a batch, and add their expected counts.

    Sentence m is counted ``copies[m]`` times. P goes to ``totals[m]``; if it is not of a fair size,
    infinity does, and nothing is added. ``local`` are the words' rows in ``counted.lexical``. Sums
    over spans stay in ``W``; in single precision, which is what ``flush`` is for, they are moved to
    ``counted``.
    """
    round_to_zero(flush)
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    above, placed = W.above, W.rows
    begin_outside(n, copies, G, cells, v, totals, counted)
    for width in range(n, 1, -1):
        rows = 0
        for m in range(sentences):
            least = negligible * copies[m]
            for level in range(levels - 1):  # without (R,D); without a bound, without the copy
                at = (m * levels + level) * size
                for i in range(first_start(level, depth), last_start(level, depth, n, width) + 1):
                    cell = cell_of(n, level, i, i + width)
                    if depth == 0:
                        same = right_cell(i, i + width)
                        for c in range(K):
                            v[m, 0, cell, c] += v[m, 1, same, c]
                    mass = cell_product(cells, (at + cell) * K, v, (at + cell) * K, K)
                    if mass > least:
                        placed[rows, 0], placed[rows, 1], placed[rows, 2] = m, level, i
                        copy_cell(v, (at + cell) * K, above, rows * K, K, 0.0, 0.0)
                        rows += 1
                    if rows == TOGETHER:
                        expand_and_count(rows, n, width, depth, G, cells, v, W)
                        rows = 0
        if rows:
            expand_and_count(rows, n, width, depth, G, cells, v, W)
    if depth and n > 1:
        count_deepest(batch, local, G, cells, v, W, counted.lexical)
    add_words(local, depth, v, counted.lexical)
    if flush:
        move(W.by_parent, counted.by_parent)
        move(W.by_left, counted.by_left)
    round_to_zero(False)


@also_in_kernels
def add_words(local: Ints, depth: int, v: Floats, lexical: Floats) -> None:
    """v of single words, on all levels of the chart but (R,D)."""
    sentences, n = local.shape
    for m in range(sentences):
        for level in range(chart_levels(depth) - (1 if depth else 0)):
            for i in range(first_start(level, depth), last_start(level, depth, n, 1) + 1):
                cell, word = cell_of(n, level, i, i + 1), local[m, i]
                for c in range(v.shape[3]):
                    lexical[word, c] += v[m, level, cell, c]


@also_in_kernels
def move(sums: Floats, to: Floats) -> None:
    """Add sums to others, and set them to zero."""
    for x in range(to.shape[0]):
        for y in range(to.shape[1]):
            to[x, y] += sums[x, y]
            sums[x, y] = 0.0
