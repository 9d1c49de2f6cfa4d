"""Posterior probabilities of the labelled spans of many sentences: inside and outside in batches.

The recurrence is that of ``outside``; here the rules are applied to many spans at a time, and spans
whose posterior probability is ``negligible`` are pruned. What is lost below such a span is less
than its own probability.

The charts are filled without exponents. Cells of spans that hardly could be constituents may then
be rounded to zero; that does not matter as long as the sentence as a whole is of a fair size, and
where it is not the sentence is done again with exponents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Bytes, Floats, Ints, Longs, also_in_kernels, kernel, repeated
from dbpcfg.numerics.simd import (
    add_small_product,
    aligned,
    cell_product,
    copy_cell,
    product,
    round_to_zero,
    small_product,
)
from dbpcfg.parsing.chart.batches import Batches, copies_of, filled, largest, new_room
from dbpcfg.parsing.chart.layout import (
    Tables,
    beginnings,
    cell_of,
    chart_levels,
    fair_size,
    left_below,
    left_cell,
    right_below,
    right_cell,
)
from dbpcfg.parsing.chart.outside import add_marginals, filled_chart
from dbpcfg.parsing.derivations import level_cell, span_cell

TOGETHER = 32
"""Spans that are expanded together: the results should stay in the nearest cache."""


class Descent(NamedTuple):
    """Room for spans that are expanded, and for the deepest right nodes of one start."""

    above: Floats  # [row, c]   v of the spans
    pairs: Floats  # [row, ab]  Σ_c v[c] G[c → a b]
    turned: Floats  # [row, ba] the same, b first
    rows: Ints  # [row, 3]      which sentence, level and start
    here: Floats  # [j, c]      v of the spans of one start
    after: Floats  # [j, b]     u, then what is added to v, of the spans of the next start
    steps: Floats  # [i, cb]    A_w of each word
    vectors: Floats  # [i, a]   each word's vector
    both: Floats  # [i, cb]     Σ_j v(i,j) ⊗ u(i+1,j)
    leaves: Floats  # [i, a]    v(L,D+1) of each word


def new_descent(longest: int, G: Tables) -> Descent:
    """Room for sentences up to a length."""
    K, like = G.root.shape[0], G.root
    return Descent(
        aligned(like, TOGETHER, K),
        aligned(like, TOGETHER, K * K),
        aligned(like, TOGETHER, K * K),
        np.empty((TOGETHER, 3), dtype=np.int32),
        aligned(like, longest, K),
        aligned(like, longest, K),
        aligned(like, longest, K * K),
        aligned(like, longest, K),
        aligned(like, longest, K * K),
        aligned(like, longest, K),
    )


@also_in_kernels
def expand(rows: int, n: int, width: int, G: Tables, cells: Floats, v: Floats, W: Descent) -> None:
    """Pass v of some spans on to the spans of their children."""
    depth, (levels, size, K) = G.depth, cells.shape[1:]
    pairs, turned, placed = W.pairs, W.turned, W.rows
    product(W.above, 0, rows, G.by_parent, pairs)
    product(W.above, 0, rows, G.by_right, turned)
    for row in range(rows):
        m, level, i = placed[row, 0], placed[row, 1], placed[row, 2]
        l, r, at = left_below(level, depth), right_below(level, depth), row * K * K
        x, y, splits = left_cell(n, i, i + 1), right_cell(i + 1, i + width), width - 1
        lefts, rights = ((m * levels + l) * size + x) * K, ((m * levels + r) * size + y) * K
        over_lefts = ((m * (levels + 1) + l) * size + x) * K
        over_rights = ((m * (levels + 1) + r) * size + y) * K
        add_small_product(cells, lefts, K, 1, pairs, at, K, v, over_rights, K, splits, K, K)
        add_small_product(cells, rights, K, 1, turned, at, K, v, over_lefts, K, splits, K, K)


@also_in_kernels
def below_deepest(
    batch: Ints, crossed: Bytes, G: Tables, cells: Floats, v: Floats, W: Descent
) -> None:
    """From level (R,D), once it has all that comes from others, to itself and to words::

    v(R,D,b,i+1,j) += Σ_c v(R,D,c,i,j) A_w[c, b]
    v(L,D+1,a,i,i+1) = Σ_cb (Σ_j v(R,D,c,i,j) u(R,D,b,i+1,j)) G[c → a b]

    without spans (i,j) that cross brackets.
    """
    sentences, n = batch.shape
    levels, size, K = cells.shape[1:]
    level = levels - 1
    here, after, steps, both = W.here, W.after, W.steps, W.both
    vectors, leaves, emission = W.vectors, W.leaves, G.emission
    if n < 3:
        return
    for m in range(sentences):
        at, over = (m * levels + level) * size, (m * (levels + 1) + level) * size
        for i in range(1, n - 1):
            copy_cell(emission, batch[m, i] * K, vectors, i * K, K, 0.0, 0.0)
        product(vectors, 1, n - 1, G.by_left_child, steps)
        for i in range(1, n - 1):
            rows = n - i - 1  # j from i + 2 to n
            for j in range(i + 2, n + 1):
                to = (j - i - 2) * K
                copy_cell(v, (over + right_cell(i, j)) * K, here, to, K, 0.0, 0.0)
                if len(crossed) and crossed[m * size + right_cell(i, j)]:
                    for c in range(K):
                        here[j - i - 2, c] = 0.0
                copy_cell(cells, (at + right_cell(i + 1, j)) * K, after, to, K, 0.0, 0.0)
            small_product(here, 0, 1, K, after, 0, K, both, i * K * K, K, K, K, rows)
            small_product(here, 0, K, 1, steps, i * K * K, K, after, 0, K, rows, K, K)
            for j in range(i + 2, n + 1):
                cell = right_cell(i + 1, j)
                for b in range(K):
                    v[m, level, cell, b] += after[j - i - 2, b]
        product(both, 1, n - 1, G.by_sides, leaves)
        for i in range(1, n - 1):
            to = ((m * (levels + 1) + levels) * size + left_cell(n, i, i + 1)) * K
            copy_cell(leaves, i * K, v, to, K, 0.0, 0.0)


@kernel
def outside_of_batch(
    batch: Ints,
    crossed: Bytes,
    G: Tables,
    cells: Floats,
    v: Floats,
    W: Descent,
    negligible: float,
    totals: Floats,
    span_of: Longs,
    apart: int,
    weights: Floats,
    flush: bool,
) -> None:
    """Fill v for the sentences of a batch, and add what follows to the weights of their spans.

    Σ_c π_c u(L,1,c,0,n) of sentence m, whose weights begin at ``span_of[m]``, goes to
    ``totals[m]``; if it is not of a fair size, infinity does, and nothing is added. Spans that are
    ``negligible`` parts of it are pruned.
    """
    round_to_zero(flush)
    depth, (sentences, n) = G.depth, batch.shape
    levels, size, K = cells.shape[1:]
    root, above, placed = G.root, W.above, W.rows
    whole, begin, flat = left_cell(n, 0, n), left_cell(n, 0, 1) if depth else 0, v.reshape(v.size)
    for m in range(sentences):
        total = cell_product(root, 0, cells, (m * levels * size + whole) * K, K)
        totals[m] = total if 1 / fair_size(root) <= total <= fair_size(root) else np.inf
        of = m * (levels + 1) * size  # (L,1) spans begin at word 0
        for place in range((of + begin) * K, (of + levels * size) * K):
            flat[place] = 0.0
        for c in range(K):
            v[m, 0, whole, c] = root[c]
    for width in range(n, 1, -1):
        rows = 0
        for m in range(sentences):
            least = negligible * totals[m]
            for level in range(levels - 1 if depth else levels):
                at, over = (m * levels + level) * size, (m * (levels + 1) + level) * size
                for i in beginnings(level, depth, n, width):
                    cell = cell_of(n, level, i, i + width)
                    mass = cell_product(cells, (at + cell) * K, v, (over + cell) * K, K)
                    if mass > least:
                        placed[rows, 0], placed[rows, 1], placed[rows, 2] = m, level, i
                        copy_cell(v, (over + cell) * K, above, rows * K, K, 0.0, 0.0)
                        rows += 1
                    if rows == TOGETHER:
                        expand(rows, n, width, G, cells, v, W)
                        rows = 0
        if rows:
            expand(rows, n, width, G, cells, v, W)
    if depth:
        below_deepest(batch, crossed, G, cells, v, W)
    add_products(batch, G, cells, v, negligible, totals, span_of, apart, weights)
    round_to_zero(False)


@also_in_kernels
def add_products(
    batch: Ints,
    G: Tables,
    cells: Floats,
    v: Floats,
    negligible: float,
    totals: Floats,
    span_of: Longs,
    apart: int,
    weights: Floats,
) -> None:
    """u · v / Σ_c π_c u(L,1,c,0,n) to the weights of spans, of all levels together or apart."""
    depth, (sentences, n) = G.depth, batch.shape
    levels, size, K = cells.shape[1:]
    emission = G.emission
    for m in range(sentences):
        if totals[m] == np.inf:
            continue
        share, least = 1.0 / totals[m], negligible * totals[m]
        for level in range(levels):
            at, over = (m * levels + level) * size, (m * (levels + 1) + level) * size
            for width in range(1, n + 1):
                for i in beginnings(level, depth, n, width):
                    cell = cell_of(n, level, i, i + width)
                    mass = cell_product(cells, (at + cell) * K, v, (over + cell) * K, K)
                    if mass > least:
                        span = span_of[m] + level_cell(n, apart * level, i, i + width)
                        for c in range(weights.shape[1]):
                            both = cells[m, level, cell, c] * v[m, level, cell, c]
                            weights[span, c] += both * share
        if depth:
            for i in range(1, n - 1):  # (L,D+1), whose spans are words
                cell, span = left_cell(n, i, i + 1), span_of[m] + span_cell(n, i, i + 1)
                for c in range(weights.shape[1]):
                    both = emission[batch[m, i], c] * v[m, levels, cell, c]
                    weights[span, c] += both * share


def posteriors_of_batches(
    first: int,
    last: int,
    B: Batches,
    G: Tables,
    exact: Tables,
    negligible: float,
    first_cell: Longs,
    apart: int,
    weights: Floats,
    logs: Floats,
) -> None:
    """Add the posterior probabilities of all labelled spans to ``weights``, laid out as there.

    ``log_inside`` goes into ``logs``; a sentence for which that is −∞ adds nothing. ``exact`` is
    the same grammar in double precision, for long sentences. ``apart``: 1 keeps levels apart.
    """
    K, levels, flush = len(G.root), chart_levels(G.depth), G.root.itemsize == 4
    room, (longest, most) = new_room(B, first, last, G, False), largest(B, first, last)
    room_above, descent = aligned(G.root, (levels + 1) * most * K), new_descent(longest, G)
    outside = repeated(outside_of_batch, G.root.dtype)
    for number in range(first, last):
        batch, cells, _, found, crossed = filled(B, number, G, room, flush)
        sentences, size = len(batch), cells.shape[2]
        copies, begins = copies_of(B, number)
        totals, span_of = np.empty(sentences), first_cell[copies[begins[:-1]]]
        v = room_above[: sentences * (levels + 1) * size * K].reshape(-1, levels + 1, size, K)
        into = totals, span_of, apart, weights
        outside(batch, crossed, G, cells, v, descent, negligible, *into, flush)
        for m in np.flatnonzero(np.isinf(totals)).tolist():
            chart, _ = filled_chart(batch[m], exact, flush, crossed[m * size : (m + 1) * size])
            found[m] = add_marginals(chart, exact, apart, weights[span_of[m] :], flush)
        logs[copies] = np.repeat(found, np.diff(begins))
        for m in np.flatnonzero(np.diff(begins) > 1).tolist() if len(copies) > sentences else ():
            first_copy = copies[begins[m]]
            here = weights[first_cell[first_copy] : first_cell[first_copy + 1]]
            for s in copies[begins[m] + 1 : begins[m + 1]].tolist():
                weights[first_cell[s] : first_cell[s + 1]] = here
