"""The outside pass of a batch: posteriors of labelled spans, and expected rule counts.

v(s,d,c,i,j) is the derivative of log P by u(s,d,c,i,j), with P = Σ_c π_c u(L,1,c,0,n). So u · v is
the posterior probability of a node c on (i,j) at side s and depth d::

    v(L,1,c,0,n) = π_c / P
    v(l,a,i,k)  += Σ_j Σ_cb v(m,c,i,j) G[c → a b] u(r,b,k,j)      l, r: the levels of m's children
    v(r,b,k,j)  += Σ_i Σ_ca v(m,c,i,j) G[c → a b] u(l,a,i,k)

With E[·] the mean over a sentence's trees, summed over all levels m::

    E[c → a b] = G[c → a b] · Σ_(i,j) v(m,c,i,j) Σ_k u(l,a,i,k) u(r,b,k,j)
    E[c → w]   = G[c → w] · Σ_(i: w_i = w) v(m,c,i,i+1)
    E[T → c]   = π_c u(L,1,c,0,n) / P

E[rule] / G[rule] is the derivative of log P by G[rule], before division by Z.

The sums over spans are matrix products: v of a block of spans, transposed, times their sums over
split points. On level (R,D), whose left children are words, there is a sum for each word first,
with A_w of ``inside``::

    B_w[c, b] = Σ_(i: w_i = w) Σ_j v(R,D,c,i,j) u(R,D,b,i+1,j)

which gives Σ_w G[a → w] B_w[c, b] for the rules, and Σ_cb B_w[c, b] G[c → a b] for the word. For
posteriors of words, each token is counted as a separate word.

v starts with π / P times the number of copies of a sentence, so u · v is an expected count. Spans
of ``negligible`` probability are pruned: less than this probability is lost below each of them.
Charts have no exponents here, so cells of improbable spans may be rounded to zero; sentences whose
P is out of range are left to ``scaled``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, also_in_kernels, kernel
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
    beginnings,
    cell_of,
    chart_levels,
    left_below,
    left_cell,
    right_below,
    right_cell,
    size_limit,
)
from dbpcfg.parsing.derivations import level_cell

BATCH_SIZE = 32
"""The number of spans that are expanded together; the results should stay in the nearest cache."""
PADDING = 16
"""Unused columns after rows of K² numbers, because caches have few lines for powers of two."""
PANEL = 64
"""Columns of a panel of rules (``numerics.simd.in_panels``), which should stay in the cache."""
HELD_BYTES = 2**24
"""About the most memory for the matrices of words, A_w and B_w."""
SIDE = 8
"""The number of rows of a square matrix that are transposed at a time."""


class RuleSums(NamedTuple):
    """Sums over sentences, in double precision, before they are multiplied by G."""

    root: Floats  # [c]
    by_parent: Floats  # [c, ab]
    by_left: Floats  # [a, cb]
    lexical: Floats  # [w, c]


class SpanWeights(NamedTuple):
    """The weights of labelled spans, as in `derivations`, to which posteriors are added."""

    first: Longs  # [m]   the first cell of each sentence of the batch
    by_level: int  # 1 if each level has its own weights, or 0
    weights: Floats  # [cell, c]   may be empty


class OutsideWorkspace(NamedTuple):
    """Memory and sums; rows of K² numbers are ``PADDING`` longer, except in panels."""

    above: Floats  # [row, c]   v of some spans
    pairs: Floats  # [row, ab]  Σ_c v[c] G[c → a b]; then Σ_k u_left ⊗ u_right
    turned: Floats  # [b, a]    those of one span, b first
    identity: Floats  # [x, x]  to transpose by: this takes less time than loops do
    positions: Longs  # [row, 3]  which sentence, level and start
    spans: Floats  # [j, c]     v of the (R,D) spans of one start, and of the one after it
    after: Floats  # [j, b]     u of those of the next start
    slot: Ints  # [w]           which of the matrices of words is that of a word, or −1
    held: Ints  # [2]           how many words have matrices, and at most before one batch more
    local: Ints  # [slot]       the word's row in ``RuleSums.lexical``
    vectors: Floats  # [slot, a]  G[a → w]
    steps: Floats  # [slot, cb]   A_w
    both: Floats  # [slot, cb]    B_w, of all batches since the word has a matrix
    leaves: Floats  # [slot, a]   Σ_cb B_w[c, b] G[c → a b]
    by_parent: Floats  # [c, ab]  Σ v ⊗ (Σ_k u_left ⊗ u_right), in panels
    by_left: Floats  # [a, cb]    Σ_w G[a → w] B_w, in panels
    rules: Floats  # [c, ab]      G[c → a b], in panels
    by_left_child: Floats  # [a, cb]  the same, in panels


def new_workspace(longest: int, together: int, words: int, G: Tables) -> OutsideWorkspace:
    """Memory for sentences up to a length.

    ``together``: the most tokens whose matrices are needed at once.
    ``words``: the number of words, or tokens, that are counted separately.
    """
    K, like = G.root.shape[0], G.root
    wide, panel = K * K + PADDING, min(PANEL, K * K)
    max_words = HELD_BYTES // (2 * wide * like.itemsize)
    held = max(together, min(words, max_words))
    by_parent, by_left = (aligned(like, K * K * K // panel, panel) for _ in range(2))
    by_parent[:] = by_left[:] = 0.0
    return OutsideWorkspace(
        aligned(like, BATCH_SIZE, K),
        aligned(like, BATCH_SIZE, wide),
        aligned(like, K, K),
        np.eye(SIDE, dtype=like.dtype),
        np.empty((BATCH_SIZE, 3), dtype=np.int64),
        aligned(like, 2 * longest, K),
        aligned(like, longest, K),
        np.full(words, -1, dtype=np.int32),
        np.array([0, max_words], dtype=np.int32),
        np.empty(held, dtype=np.int32),
        aligned(like, held, K),
        aligned(like, held, wide),
        aligned(like, held, wide),
        aligned(like, held, K),
        by_parent,
        by_left,
        _in_panels(G.by_parent, panel),
        _in_panels(G.by_left_child, panel),
    )


def _in_panels(rules: Floats, panel: int) -> Floats:
    copy = aligned(rules, rules.size // panel, panel)
    copy[:] = rules.reshape(len(rules), -1, panel).transpose(1, 0, 2).reshape(copy.shape)
    return copy


def move_sums(sums: Floats, to: Floats) -> None:
    """Add sums in panels to sums that are not in panels, and set them to zero."""
    K, panel = len(to), sums.shape[1]
    to.reshape(K, -1, panel)[:] += sums.reshape(-1, K, panel).transpose(1, 0, 2)
    sums[:] = 0.0


@also_in_kernels
def apply_panels(A: Floats, first: int, last: int, B: Floats, C: Floats) -> None:
    """C[first:last] = A[first:last] · B, which is in panels."""
    K, wide, panel = A.shape[1], C.shape[1], B.shape[1]
    for j in range(0, K * K, panel):
        small_product(
            A, first * K, K, 1, B, j * K, panel, C, first * wide + j, wide, last - first, panel, K
        )


@also_in_kernels
def add_to_panels(A: Floats, B: Floats, rows: int, C: Floats) -> None:
    """C += Aᵀ · B over some rows; C is in panels."""
    K, wide, panel = A.shape[1], B.shape[1], C.shape[1]
    for j in range(0, K * K, panel):
        add_small_product(A, 0, 1, K, B, j, wide, C, j * K, panel, K, panel, rows)


@also_in_kernels
def expand(
    rows: int,
    n: int,
    width: int,
    depth: int,
    cells: Floats,
    v: Floats,
    W: OutsideWorkspace,
    counting: bool,
) -> None:
    """Add the contributions of some spans to v of their children, and count their rules."""
    levels, size, K = cells.shape[1:]
    above, pairs, turned, positions, splits = W.above, W.pairs, W.turned, W.positions, width - 1
    apply_panels(above, 0, rows, W.rules, pairs)
    for row in range(rows):
        m, level, i = positions[row, 0], positions[row, 1], positions[row, 2]
        l, r, at = left_below(level, depth), right_below(level, depth), row * (K * K + PADDING)
        lefts = ((m * levels + l) * size + left_cell(n, i, i + 1)) * K
        rights = ((m * levels + r) * size + right_cell(i + 1, i + width)) * K
        add_small_product(cells, lefts, K, 1, pairs, at, K, v, rights, K, splits, K, K)
        for a in range(0, K, SIDE):
            side = min(SIDE, K - a)
            small_product(pairs, at + a * K, 1, K, W.identity, 0, SIDE, turned, a, K, K, side, side)
        add_small_product(cells, rights, K, 1, turned, 0, K, v, lefts, K, splits, K, K)
        if counting:
            small_product(cells, lefts, 1, K, cells, rights, K, pairs, at, K, K, K, splits)
    if counting:
        add_to_panels(above, pairs, rows, W.by_parent)


@also_in_kernels
def hold_words(
    batch: Ints, local: Ints, first: int, last: int, G: Tables, W: OutsideWorkspace
) -> None:
    """Compute A_w for words that have none yet, and set their B_w to zero."""
    slot, both, begin, K = W.slot, W.both, W.held[0], len(G.root)
    count = begin
    for m in range(first, last):
        for i in range(1, batch.shape[1] - 1):
            if slot[local[m, i]] < 0:
                slot[local[m, i]], W.local[count] = count, local[m, i]
                copy_cell(G.emission, batch[m, i] * K, W.vectors, count * K, K, 0.0, 0.0)
                count += 1
    apply_panels(W.vectors, begin, count, W.by_left_child, W.steps)
    flat = both.reshape(both.size)
    for x in range(begin * both.shape[1], count * both.shape[1]):
        flat[x] = 0.0
    W.held[0] = count


@also_in_kernels
def count_words(G: Tables, W: OutsideWorkspace, lexical: Floats, counting: bool) -> None:
    """Add the counts from all B_w, for rules too if ``counting``; then discard all matrices."""
    both, leaves, count, K = W.both, W.leaves, W.held[0], len(G.root)
    small_product(both, 0, both.shape[1], 1, G.by_sides, 0, K, leaves, 0, K, count, K, K * K)
    if counting:
        add_to_panels(W.vectors, both, count, W.by_left)
    for w in range(count):
        W.slot[W.local[w]] = -1
        for a in range(K):
            lexical[W.local[w], a] += leaves[w, a]
    W.held[0] = 0


@also_in_kernels
def deepest_right_nodes(
    batch: Ints,
    local: Ints,
    crossed: Bytes,
    copies: Floats,
    G: Tables,
    cells: Floats,
    v: Floats,
    W: OutsideWorkspace,
    negligible: float,
    lexical: Floats,
    counting: bool,
    X: SpanWeights,
) -> None:
    """The outside pass of level (R,D), after all other levels::

    v(R,D,b,i+1,j) += Σ_c v(R,D,c,i,j) A_w[c, b]

    without spans (i,j) that cross brackets. Rules and words are counted.
    """
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    spans, after, steps, both, wide = W.spans, W.after, W.steps, W.both, W.both.shape[1]
    weights, stride = X.weights, sentences if counting else 1  # so that B_w stay in the cache
    for m in range(sentences):
        if m % stride == 0:
            if W.held[0] + stride * n > W.held[1] or not counting:
                count_words(G, W, lexical, counting)
            hold_words(batch, local, m, m + stride, G, W)
        at, min_mass = (m * levels + levels - 1) * size, negligible * copies[m]
        here, following = 0, len(spans) // 2 * K
        for j in range(2, n + 1):
            copy_cell(v, (at + right_cell(1, j)) * K, spans, (j - 2) * K, K, 0.0, 0.0)
        for i in range(1, n):  # rows are j = i + 1 … n
            for c in range(K):
                lexical[local[m, i], c] += spans[here // K, c]
            if i == n - 1:
                break
            rows, word = n - i - 1, W.slot[local[m, i]] * wide
            for j in range(i + 2, n + 1):
                row = here // K + j - i - 1
                if len(crossed) and crossed[m * size + right_cell(i, j)]:
                    for c in range(K):
                        spans[row, c] = 0.0
                elif len(weights):
                    cell = right_cell(i, j)
                    if cell_product(cells, (at + cell) * K, spans, row * K, K) > min_mass:
                        span = X.first[m] + level_cell(n, X.by_level * (levels - 1), i, j)
                        for c in range(weights.shape[1]):
                            weights[span, c] += cells[m, levels - 1, cell, c] * spans[row, c]
                cell, to = (at + right_cell(i + 1, j)) * K, (j - i - 2) * K
                copy_cell(cells, cell, after, to, K, 0.0, 0.0)
                copy_cell(v, cell, spans, following + to, K, 0.0, 0.0)
            add_small_product(spans, here + K, 1, K, after, 0, K, both, word, K, K, K, rows)
            add_small_product(
                spans, here + K, K, 1, steps, word, K, spans, following, K, rows, K, K
            )
            here, following = following, here


@also_in_kernels
def begin_outside(
    n: int, copies: Floats, G: Tables, cells: Floats, v: Floats, totals: Floats, counted: RuleSums
) -> None:
    """Set v of whole sentences to π / P times the number of copies, and count the roots."""
    levels, size, K = cells.shape[1:]
    whole, root = left_cell(n, 0, n), G.root
    for m in range(len(copies)):
        total = cell_product(root, 0, cells, (m * levels * size + whole) * K, K)
        totals[m] = total if 1 / size_limit(root) <= total <= size_limit(root) else np.inf
        share = copies[m] / totals[m]
        for c in range(K):
            v[m, 0, whole, c] = root[c] * share
            counted.root[c] += cells[m, 0, whole, c] * (root[c] * share)


@kernel
def outside(
    batch: Ints,
    local: Ints,
    crossed: Bytes,
    copies: Floats,
    G: Tables,
    cells: Floats,
    v: Floats,
    W: OutsideWorkspace,
    negligible: float,
    totals: Floats,
    counted: RuleSums,
    counting: bool,
    finish: bool,
    X: SpanWeights,
    flush: bool,
) -> None:
    """Fill v, which is zero, for the sentences of a batch, and add expected counts and posteriors.

    Sentence m counts ``copies[m]`` times. P is written to ``totals[m]``; if it is out of range,
    infinity is, and nothing is added. ``local`` are the rows of words, or of tokens, in
    ``counted.lexical``, to which derivatives are added: times G[c → w] these are counts of words,
    or posteriors of tokens. If ``counting``, rules are counted in ``W``, from where sums are moved
    later; those of words stay there too, until ``finish``. If ``flush``, denormal numbers are
    treated as zero.
    """
    round_to_zero(flush)
    depth, (sentences, n) = G.depth, batch.shape
    levels, size, K = cells.shape[1:]
    above, positions, identity, weights = W.above, W.positions, W.identity, X.weights
    begin_outside(n, copies, G, cells, v, totals, counted)
    for width in range(n, 1, -1):
        rows = 0
        for m in range(sentences):
            min_mass = negligible * copies[m]
            for level in range(levels - 1):  # without (R,D); without a bound, without the copy
                at = (m * levels + level) * size
                for i in beginnings(level, depth, n, width):
                    cell = cell_of(n, level, i, i + width)
                    if depth == 0:
                        copy = (at + size + right_cell(i, i + width)) * K  # times 1
                        add_small_product(
                            identity, 0, K, 1, v, copy, K, v, (at + cell) * K, K, 1, K, 1
                        )
                    mass = cell_product(cells, (at + cell) * K, v, (at + cell) * K, K)
                    if mass > min_mass:
                        positions[rows, 0], positions[rows, 1], positions[rows, 2] = m, level, i
                        copy_cell(v, (at + cell) * K, above, rows * K, K, 0.0, 0.0)
                        rows += 1
                        if len(weights):
                            span = X.first[m] + level_cell(n, X.by_level * level, i, i + width)
                            for c in range(weights.shape[1]):
                                weights[span, c] += cells[m, level, cell, c] * v[m, level, cell, c]
                    if rows == BATCH_SIZE:
                        expand(rows, n, width, depth, cells, v, W, counting)
                        rows = 0
        if rows:
            expand(rows, n, width, depth, cells, v, W, counting)
    if depth and n > 1:
        deepest_right_nodes(
            batch, local, crossed, copies, G, cells, v, W, negligible, counted.lexical, counting, X
        )
    if finish:
        count_words(G, W, counted.lexical, counting)
    add_words(local, depth, v, counted.lexical)
    round_to_zero(False)


@also_in_kernels
def add_words(local: Ints, depth: int, v: Floats, lexical: Floats) -> None:
    """Add v of single words, on all levels of the chart but (R,D)."""
    sentences, n = local.shape
    for m in range(sentences):
        for level in range(chart_levels(depth) - (1 if depth else 0)):
            for i in beginnings(level, depth, n, 1):
                cell, word = cell_of(n, level, i, i + 1), local[m, i]
                for c in range(v.shape[3]):
                    lexical[word, c] += v[m, level, cell, c]
