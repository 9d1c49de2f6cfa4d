"""Prefix probabilities and other measures word by word, from the inside chart.

Let a(R,d,c,k) be the probability that the words before k are generated and that a right node (R,d)
of category c starts at k, and q(L,d,c,k) the same for left nodes, summed over those that start at
k; everything to the right is summed out. They do not depend on words from k on, so there is one
recursion over positions. With u, h and Z of ``chart``, and half-open spans::

    E_d[c,x]   = Σ_b G[c → x b] h(R,d,b)                        C_d = (I − E_d)⁻¹
    q(L,1,0)   = πᵀ C_1 / Z                                      q(L,1,k) = 0 for k > 0
    q(L,d+1,k) = a(R,d,k)ᵀ E_d C_d+1                             C_D+1 = I: (L,D+1) is a word
    a(R,d,b,k) = Σ_i<k Σ_cx ( q(L,d,c,i) u(L,d,x,i,k) + a(R,d,c,i) u(L,d+1,x,i,k) ) G[c → x b]

Without a bound there is one d, C_2 is C_1, and nothing is divided by Z. Then::

    P(words before k, w)   = Σ_c y(c,k) G[c → w]       y(k) = Σ_d q(L,d,k) + a(R,d,k)
    P(words before k, end) = Σ_c π_c u(L,1,c,0,k) / Z
    P(words before k, d fragments in memory) = Σ_b a(R,d,b,k) h(R,d,b)

A word forks if it is a left node. It completes a left node (i,k), which joins the fragment above if
its parent is a right node, which is the second sum over i, or if it is the whole sentence.

The contributions of a position to all later ones are matrix products: of its parents with G, for
all sentences of a batch together, and of the result with its left children.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.bounding import (
    absorption,
    bounded_binary,
    bounded_root,
    containment,
    left_level,
    quotient,
    require_fitting,
    right_level,
)
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.kernels import Floats, Ints, also_in_kernels, kernel, specialised
from dbpcfg.numerics.simd import (
    add_small_product,
    small_product,
)
from dbpcfg.parsing.chart.batches import Charts, batches, copies_of, fill_charts, new_buffers
from dbpcfg.parsing.chart.layout import EMPTY, LIMIT, Tables, left_below, left_cell, tables
from dbpcfg.parsing.derivations import check_no_brackets
from dbpcfg.parsing.prefixes import (
    PrefixBatch,
    Prefixes,
    PrefixParser,
    new_prefix_batch,
    prefix_measures,
)


class PrefixTables(NamedTuple):
    """Sums over all possible continuations."""

    first: Floats  # [c]           q(L,1,0)
    descent: Floats  # [d, b, c]   E_d C_d+1
    fits: Floats  # [d, b]         h(R,d)
    divisor: float  # Z; 1 without a bound
    mass: float  # that of all sentences: 1; Z without a bound


def prefix_tables(grammar: Grammar, depth: int | None, K: int) -> PrefixTables:
    """Sums over all possible continuations, for K categories, which may be padded.

    Without a bound, probabilities are not divided by the probability that trees end.
    """
    h = containment(grammar, depth)
    Z, padding = require_fitting(grammar, h), (0, K - grammar.categories)
    rights = [0] if depth is None else [right_level(d) for d in range(1, depth + 1)]

    def descent(above: Floats, level: int) -> Floats:
        """Left descendants, each divided by its own h: [b, c]."""
        binary = bounded_binary(grammar, h, level).sum(axis=2)
        lexical = quotient(grammar.lexical_mass, h[level])
        return quotient(above @ absorption(binary, lexical, np.eye(len(binary))), h[level])

    divisor = 1.0 if depth is None else Z
    first = descent(bounded_root(grammar, h)[np.newaxis], 0)[0] * (Z / divisor)
    below = [
        descent(
            h[level][:, np.newaxis] * bounded_binary(grammar, h, level).sum(axis=2),
            0 if depth is None else left_level(d + 2),
        )
        for d, level in enumerate(rights)
    ]
    return PrefixTables(
        np.pad(first, padding),
        np.pad(np.stack(below), ((0, 0), padding, padding)),
        np.pad(h[rights], ((0, 0), padding)),
        divisor,
        Z / divisor,
    )


@also_in_kernels
def rescale(above: Floats, scale: Ints, m: int, k: int, exponent: int) -> None:
    """Change the exponent of the sums of a position."""
    if scale[m, k] != EMPTY:
        factor = math.ldexp(1.0, scale[m, k] - exponent)
        for row in range(above.shape[1]):
            for x in range(above.shape[3]):
                above[m, row, k, x] *= factor
    scale[m, k] = exponent


@also_in_kernels
def align_exponents(
    first: int, m: int, i: int, exponents: Ints, above: Floats, scale: Ints, factors: Floats
) -> bool:
    """Powers of two by which left children (i,k), k > i, are multiplied; return whether all are 1.

    ``exponents``: those of the children, from ``first`` on. The sums of k have the greatest
    exponent of their terms.
    """
    plain = True
    for x in range(len(factors)):
        k, exponent = i + 1 + x, exponents[first + x]
        factors[x] = 1.0
        if exponent == EMPTY:
            continue
        exponent += scale[m, i]
        if exponent > scale[m, k]:
            rescale(above, scale, m, k, exponent)
        elif exponent < scale[m, k]:
            factors[x], plain = math.ldexp(1.0, exponent - scale[m, k]), False
    return plain


@also_in_kernels
def weigh(above: Floats, fits: Floats, m: int, k: int, masses: Floats) -> float:
    """Compute Σ_b h(R,d,b) a(R,d,b,k) for each of the sums; return their total."""
    total = 0.0
    for row in range(above.shape[1]):
        mass = 0.0
        for b in range(above.shape[3]):
            mass += fits[row // 2, b] * above[m, row, k, b]
        masses[m, k, row] = mass
        total += mass
    return total


@also_in_kernels
def rescale_sums(above: Floats, scale: Ints, fits: Floats, m: int, k: int, masses: Floats) -> None:
    """Compute the masses of a complete position, and scale its sums if necessary."""
    mass = weigh(above, fits, m, k, masses)
    if mass > 0.0 and not 1 / LIMIT <= mass <= LIMIT:
        _, shift = math.frexp(mass)
        rescale(above, scale, m, k, scale[m, k] + shift)
        weigh(above, fits, m, k, masses)


@also_in_kernels
def find_parents(
    i: int, depth: int, T: PrefixTables, above: Floats, parents: Floats, left: Floats, right: Floats
) -> None:
    """Write q(·,i) and a(·,i) to ``parents``, and their sums over d to ``left`` and ``right``."""
    sentences, rows, K = parents.shape
    first, descent, corners = T.first, T.descent, np.empty((sentences, K))
    for m in range(sentences):
        for c in range(K):
            parents[m, 0, c] = left[m, c] = 0.0 if i else first[c]
            right[m, c] = 0.0
    for d in range(rows // 2 if i else 0):
        right_row, left_row = 2 * d + 1, 2 * d + 2 if depth else 0
        for m in range(sentences):
            for c in range(K):
                parents[m, right_row, c] = above[m, 2 * d, i, c] + above[m, 2 * d + 1, i, c]
        at, each, of = right_row * K, rows * K, d * K * K
        small_product(parents, at, each, 1, descent, of, K, corners, 0, K, sentences, K, K)
        for m in range(sentences):
            for c in range(K):
                left[m, c] += corners[m, c]
                right[m, c] += parents[m, right_row, c]
                if left_row < rows:
                    parents[m, left_row, c] = corners[m, c]


@kernel
def prefixes(
    batch: Ints,
    G: Tables,
    T: PrefixTables,
    cells: Floats,
    exponents: Ints,
    above: Floats,
    result: PrefixBatch,
) -> None:
    """Fill ``result`` for sentences of one length, the rows of ``batch``, from their charts.

    ``above[m, row, k, b]``: the two sums of a(R,d,b,k) for each d; 0 at first.
    """
    sentences, n = batch.shape
    depth, levels, size, K = G.depth, cells.shape[1], cells.shape[2], len(G.root)
    scale, masses, early_scale, early, words, awaited = result
    emission, by_parent, rows, wide = G.emission, G.by_parent, above.shape[1], K * K
    parents, pairs = np.zeros((sentences, rows, K)), np.empty((sentences, rows, wide))
    left, right = np.empty((sentences, K)), np.empty((sentences, K))
    children, factors = np.empty((n, K)), np.empty(n)
    for i in range(n + 1):
        find_parents(i, depth, T, above, parents, left, right)
        for m in range(sentences):
            for c in range(K):
                awaited[m, i, c] = left[m, c] + right[m, c]
        if i == n:
            break
        width, x = sentences * rows, left_cell(n, i, i + 1)
        small_product(parents, 0, K, 1, by_parent, 0, wide, pairs, 0, wide, width, wide, K)
        for m in range(sentences):
            for c in range(K):
                words[m, i, 0] += left[m, c] * emission[batch[m, i], c]
                words[m, i, 1] += right[m, c] * emission[batch[m, i], c]
            weigh(above, T.fits, m, i + 1, early)
            early_scale[m, i + 1] = scale[m, i + 1]
            for row in range(rows):
                if depth and (row == 0) != (i == 0):
                    continue  # (L,1) starts at word 0, and nothing else does
                level, splits = left_below(row, depth), n - i
                if level == levels:  # a word, which all levels have
                    level, splits = 0, 1
                powers, at = factors[:splits], ((m * levels + level) * size + x) * K
                of, to = (m * rows + row) * wide, ((m * rows + row) * (n + 1) + i + 1) * K
                if align_exponents(x, m, i, exponents[m, level], above, scale, powers):
                    add_small_product(cells, at, K, 1, pairs, of, K, above, to, K, splits, K, K)
                    continue
                for k in range(splits):
                    for c in range(K):
                        children[k, c] = cells[m, level, x + k, c] * powers[k]
                add_small_product(children, 0, K, 1, pairs, of, K, above, to, K, splits, K, K)
            rescale_sums(above, scale, T.fits, m, i + 1, masses)


class ChartPrefixParser(PrefixParser):
    """Computes measures at each word with the chart of a grammar.

    ``depth``: the bound D; None for no bound.
    """

    def __init__(self, grammar: Grammar, depth: int | None) -> None:
        impossible_word = np.zeros((grammar.categories, 1))
        rules = RuleWeights(
            grammar.root, grammar.binary, np.concatenate([grammar.lexical, impossible_word], axis=1)
        )
        self._tables = tables(rules, depth or 0)
        self._prefix_tables = prefix_tables(grammar, depth, len(self._tables.root))
        super().__init__(grammar.lexical, self._prefix_tables.mass)

    def prefixes(self, corpus: Encoded, threads: int = 1) -> list[Prefixes]:
        """The measures at each word of all sentences of a corpus."""
        G = self._tables
        check_no_brackets(corpus)
        B = batches(corpus, G)
        results: dict[int, Prefixes] = {}

        def work(first: int, last: int) -> None:
            buffers = new_buffers(B, first, last, G, True)
            for number in range(first, last):
                measures = self._of_charts(fill_charts(B, number, G, buffers))
                copies, begins = copies_of(B, number)
                for m in range(len(begins) - 1):
                    sentence_measures = Prefixes(*(array[m] for array in measures))
                    results.update(
                        dict.fromkeys(copies[begins[m] : begins[m + 1]].tolist(), sentence_measures)
                    )

        parallel_ranges(work, len(B.bounds) - 1, threads)
        return [results[s] for s in range(len(corpus))]

    def _of_charts(self, charts: Charts) -> Prefixes:
        G, T, (batch, cells, exponents, _, _) = self._tables, self._prefix_tables, charts
        (sentences, n), depths, K = batch.shape, len(T.fits), len(G.root)
        result = new_prefix_batch(sentences, n, K, depths)
        above = np.zeros((sentences, 2 * depths, n + 1, K))
        specialised(prefixes, G.root.dtype)(batch, G, T, cells, exponents, above, result)
        whole = slice(left_cell(n, 0, 1), left_cell(n, 0, n) + 1)
        ending = cells[:, 0, whole] @ G.root / T.divisor
        result = result._replace(awaited=result.awaited[..., : len(self.lexical)])
        return prefix_measures(result, ending, exponents[:, 0, whole], G.log_scale[batch])
