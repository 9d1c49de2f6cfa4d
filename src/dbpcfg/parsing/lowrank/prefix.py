"""Prefix probabilities in rank space, of sentences of any lengths together.

The recursion is that of ``chart.prefix``. With G[A → x b] = Σ_r u_Ar v_xr w_br, the sums over i are
kept as vectors over r, and nothing is multiplied out::

    a(R,d,b,k) = Σ_r w_br s_r(d,k)       z_r(m,i) = Σ_A u_Ar q(L,d,A,i) or Σ_A u_Ar a(R,d,A,i)
    s_r(d,k)   = Σ_i<k z_r(L,d,i) l_r(L,d,i,k) + z_r(R,d,i) l_r(L,d+1,i,k)

with l of ``lowrank.inside``. Left descendants of (R,d) are the left children x of some r, with
weights g_r(d) at once and g_r + ρ_r z_r in all, and what is awaited has the mass s · ρ::

    ρ_r(d) = Σ_b w_br h(R,d,b)           g_r(d,k) = ρ_r(d) z_r(R,d,k)
    q(L,d+1,x,k) = Σ_r v_xr (g_r(d,k) + ρ_r(d+1) z_r(L,d+1,k))
    z(L,d+1,k)   = g(d,k)ᵀ Vᵀ C_d+1 U    over phrases

A word is a left node with probability Σ_r (g_r + ρ_r z_r) l_r(word), a right one with
Σ_r s_r r_r(word), and only the root can be one by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.bounding import absorption, left_level, quotient, right_level
from dbpcfg.grammar.lowrank import Factors
from dbpcfg.grammar.normaliser import low_rank_containment, low_rank_mass
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.numerics.kernels import Floats, also_in_kernels, kernel, specialised
from dbpcfg.numerics.simd import add_weighted, small_product
from dbpcfg.parsing.chart.layout import cell_count, chart_levels, left_below, left_cell
from dbpcfg.parsing.chart.prefix import align_exponents, rescale_sums, weigh
from dbpcfg.parsing.derivations import check_free
from dbpcfg.parsing.lowrank.inside import (
    RankCharts,
    RankWorkspace,
    Rules,
    inside,
    new_charts,
    new_workspace,
)
from dbpcfg.parsing.lowrank.parser import FactorParser, SentenceBlock
from dbpcfg.parsing.prefixes import (
    PrefixBatch,
    Prefixes,
    PrefixParser,
    new_prefix_batch,
    prefix_measures,
)


class RankPrefixTables(NamedTuple):
    """Sums over all that may follow."""

    first: Floats  # [r]           z(L,1,0)
    fits: Floats  # [d, r]         ρ
    descent: Floats  # [d, A, r]   C_d+1 U; 0 for d = D
    divisor: float  # Z; 1 without a bound
    mass: float  # that of all sentences: 1; Z without a bound


def rank_prefix_tables(factors: Factors, depth: int | None, G: Rules) -> RankPrefixTables:
    """Sum over all that may follow."""
    F, (N, R) = factors, G.parent.shape
    h, Z = low_rank_containment(F, depth), low_rank_mass(F, depth)
    padding = (0, N - F.phrases), (0, R - F.rank)
    rights = [0] if depth is None else [right_level(d) for d in range(1, depth + 1)]
    fits, divisor = h[rights] @ F.right, 1.0 if depth is None else Z

    def closure(d: int, level: int) -> Floats:
        """C_d U: [A, r]."""
        phrases, own = F.left[: F.phrases], h[level][: F.phrases]
        weighted = quotient(F.parent * fits[d], own[:, np.newaxis])
        leaving = weighted @ F.left[F.phrases :].sum(axis=0)
        inverse = absorption(weighted @ phrases.T * own, leaving, np.eye(F.phrases))
        result: Floats = (own[:, np.newaxis] * inverse) @ quotient(F.parent, own[:, np.newaxis])
        return result

    closures = [closure(d, 0 if depth is None else left_level(d + 1)) for d in range(len(fits))]
    below = [*closures[1:], np.zeros_like(F.parent)] if depth else closures
    return RankPrefixTables(
        np.pad(F.root[: F.phrases] @ closures[0] / divisor, padding[1]),
        np.pad(fits, ((0, 0), padding[1])),
        np.stack([np.pad(one, padding) for one in below]),
        divisor,
        Z / divisor,
    )


@also_in_kernels
def find_rank_parents(
    i: int,
    active: int,
    G: Rules,
    T: RankPrefixTables,
    above: Floats,
    parents: Floats,
    left: Floats,
    right: Floats,
) -> None:
    """z(·,i) in the rows of parents, Σ_d (g + ρ z) in ``left``, Σ_d s in ``right``."""
    _, rows, R = parents.shape
    N, first, fits, descent = len(G.root), T.first, T.fits, T.descent
    sums, phrases, corners = np.empty((active, R)), np.empty((active, N)), np.empty((active, R))
    for s in range(active):
        for r in range(R):
            parents[s, 0, r] = 0.0 if i else first[r]
            left[s, i, r] = 0.0 if i else fits[0, r] * first[r]
            right[s, i, r] = 0.0
    for d in range(rows // 2 if i else 0):
        own, below = 2 * d + 1, 2 * d + 2 if G.depth else 0
        for s in range(active):
            for r in range(R):
                sums[s, r] = above[s, 2 * d, i, r] + above[s, own, i, r]
                right[s, i, r] += sums[s, r]
        small_product(sums, 0, R, 1, G.right_by_rank, 0, N, phrases, 0, N, active, N, R)
        small_product(phrases, 0, N, 1, G.parent, 0, R, corners, 0, R, active, R, N)
        for s in range(active):
            for r in range(R):
                parents[s, own, r] = corners[s, r]
                sums[s, r] = corners[s, r] * fits[d, r]
                left[s, i, r] += sums[s, r]
        if below == rows:
            break
        small_product(sums, 0, R, 1, G.left_by_rank, 0, N, phrases, 0, N, active, N, R)
        small_product(phrases, 0, N, 1, descent, d * N * R, R, corners, 0, R, active, R, N)
        for s in range(active):
            for r in range(R):
                parents[s, below, r] = corners[s, r]
                left[s, i, r] += fits[below // 2, r] * corners[s, r]


@kernel
def rank_prefixes(
    G: Rules,
    T: RankPrefixTables,
    left_words: Floats,
    right_words: Floats,
    C: RankCharts,
    above: Floats,
    left: Floats,
    right: Floats,
    result: PrefixBatch,
) -> None:
    """Fill ``result`` for some sentences, longest first, from their charts.

    ``above[s, row, k, r]``: the two sums of s_r(d,k) for each d; 0 at first.
    """
    depth, (_, rows, last, R) = G.depth, above.shape
    starts, uses, exponents, fits = C.starts, C.uses, C.exponents, T.fits
    scale, masses, early_scale, early, words, _ = result
    parents, factors = np.zeros((len(above), rows, R)), np.empty(last)
    active = len(above)
    for i in range(last):
        while active and starts[active] - starts[active - 1] < i:
            active -= 1
        find_rank_parents(i, active, G, T, above, parents, left, right)
        for s in range(active):
            n, word = starts[s + 1] - starts[s], starts[s] + i
            if i == n:
                continue
            for r in range(R):
                words[s, i, 0] += left[s, i, r] * left_words[word, r]
                words[s, i, 1] += right[s, i, r] * right_words[word, r]
            weigh(above, fits, s, i + 1, early)
            early_scale[s, i + 1] = scale[s, i + 1]
            for row in range(rows):
                if depth and (row == 0) != (i == 0):
                    continue  # (L,1) starts at word 0, and nothing else does
                level, splits = left_below(row, depth), n - i
                if depth and level == 2 * depth:  # a word, which all levels have
                    level, splits = 0, 1
                x = C.first[s] + level * cell_count(n) + left_cell(n, i, i + 1)
                some = factors[:splits]
                align_exponents(x, s, i, exponents, above, scale, some)
                at, to = (s * rows + row) * R, ((s * rows + row) * last + i + 1) * R
                add_weighted(some, parents, at, uses, x * R, above, to, R, splits)
            rescale_sums(above, scale, fits, s, i + 1, masses)


class RankPrefixParser(PrefixParser, FactorParser):
    """Follows sentences by the chart of a low-rank grammar's ranks.

    ``depth``: the bound D; None for no bound.
    """

    def __init__(self, factors: Factors, depth: int | None) -> None:
        impossible_word = np.zeros((len(factors.emission), 1))
        emission = np.concatenate([factors.emission, impossible_word], axis=1)
        FactorParser.__init__(self, factors._replace(emission=emission), depth)
        self._prefix_tables = rank_prefix_tables(factors, depth, self._rules)
        PrefixParser.__init__(self, factors.emission, self._prefix_tables.mass)
        self._alone = factors.root[factors.phrases :] / self._prefix_tables.divisor

    def prefixes(self, corpus: Encoded, threads: int = 1) -> list[Prefixes]:
        """The measures at each word of all sentences of a corpus."""
        check_free(corpus)
        blocks, results = self._blocks(corpus, None), dict[int, Prefixes]()

        def work(first: int, last: int) -> None:
            some, G = blocks[first:last], self._rules
            memory = new_charts(max(map(self._cells, some), default=0), G)
            W = new_workspace(max((int(block.starts[1]) for block in some), default=0), G)
            for block in some:
                for numbers, one in zip(block.numbers, self._of(block, memory, W), strict=True):
                    results.update(dict.fromkeys(numbers.tolist(), one))

        parallel_ranges(work, len(blocks), threads)
        return [results[s] for s in range(len(corpus))]

    def _of(self, block: SentenceBlock, memory: RankCharts, W: RankWorkspace) -> Iterator[Prefixes]:
        """The measures of each sentence of a block."""
        G, T, starts, tokens = self._rules, self._prefix_tables, block.starts, block.tokens
        lengths, scale = np.diff(starts), self._scale[tokens]
        emission = np.ascontiguousarray((self.factors.emission[:, tokens] / scale).T)
        left_words, right_words = emission @ self._left, emission @ self._right
        sizes = chart_levels(self.depth) * (lengths * (lengths + 1) // 2)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        C = memory._replace(starts=starts, first=first, copies=block.copies)
        unused = np.empty(len(lengths))
        specialised(inside, self.dtype)(
            G, left_words, right_words, block.crossed, C, W, False, unused
        )
        sentences, n, R = len(lengths), int(lengths[0]), left_words.shape[1]
        result = new_prefix_batch(sentences, n, 0, len(T.fits))
        above, sides = (
            np.zeros((sentences, 2 * len(T.fits), n + 1, R)),
            np.zeros((2, sentences, n + 1, R)),
        )
        specialised(rank_prefixes, self.dtype)(
            G, T, left_words, right_words, C, above, sides[0], sides[1], result
        )
        alone = emission[starts[:-1]] @ self._alone
        result.words[:, 0, 0] += alone
        awaited = sides[0] @ self._left.T + sides[1] @ self._right.T
        awaited[:, 0] += self._alone
        result = result._replace(awaited=awaited)
        for same in np.split(np.arange(sentences), np.flatnonzero(np.diff(lengths)) + 1):
            n = int(lengths[same[0]])
            whole = first[same][:, np.newaxis] + left_cell(n, 0, 1) + np.arange(n)
            phrases = C.phrases[whole[:, 1:]] @ G.root / T.divisor  # words have no phrases
            ending = np.concatenate([alone[same, np.newaxis], phrases], axis=1)
            logs = np.log(scale[starts[same][:, np.newaxis] + np.arange(n)])
            some = {name: array[same, : n + 1] for name, array in result._asdict().items()}
            measures = prefix_measures(PrefixBatch(**some), ending, C.exponents[whole], logs)
            yield from (Prefixes(*(array[m] for array in measures)) for m in range(len(same)))
