"""Prefix probabilities in rank space, of sentences of any lengths together.

The recursion is that of ``chart.prefix``. With G[A → x b] = Σ_r u_Ar v_xr w_br, the sums over i are
vectors over r, and nothing is multiplied out::

    a(R,d,b,k) = Σ_r w_br s_r(d,k)       z_r(m,i) = Σ_A u_Ar q(L,d,A,i) or Σ_A u_Ar a(R,d,A,i)
    s_r(d,k)   = Σ_i<k z_r(L,d,i) l_r(L,d,i,k) + z_r(R,d,i) l_r(L,d+1,i,k)

with l of ``lowrank.inside``. Left descendants of (R,d) are the left children x of some r, with
weights g_r(d) for direct children and g_r + ρ_r z_r in total; awaited categories have mass s · ρ::

    ρ_r(d) = Σ_b w_br h(R,d,b)           g_r(d,k) = ρ_r(d) z_r(R,d,k)
    q(L,d+1,x,k) = Σ_r v_xr (g_r(d,k) + ρ_r(d+1) z_r(L,d+1,k))
    z(L,d+1,k)   = g(d,k)ᵀ Vᵀ C_d+1 U    over phrases

A word is a left node with probability Σ_r (g_r + ρ_r z_r) l_r(word), a right node with
Σ_r s_r r_r(word), and the root in a sentence of one word.
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
from dbpcfg.parsing.chart.layout import cell_count, left_below, left_cell
from dbpcfg.parsing.chart.prefix import align_exponents, rescale_sums, weigh
from dbpcfg.parsing.derivations import check_no_brackets
from dbpcfg.parsing.lowrank.blocks import (
    SentenceBlock,
    block_charts,
    block_memory,
    sentence_blocks,
)
from dbpcfg.parsing.lowrank.inside import (
    RankCharts,
    RankWorkspace,
    Rules,
    inside,
)
from dbpcfg.parsing.lowrank.parser import FactorParser
from dbpcfg.parsing.prefixes import (
    PrefixBatch,
    Prefixes,
    PrefixParser,
    new_prefix_batch,
    prefix_measures,
)


class RankPrefixTables(NamedTuple):
    """Sums over all possible continuations."""

    first: Floats  # [r]           z(L,1,0)
    fits: Floats  # [d, r]         ρ
    descent: Floats  # [d, A, r]   C_d+1 U; 0 for d = D
    divisor: float  # Z; 1 without a bound
    mass: float  # that of all sentences: 1; Z without a bound


def rank_prefix_tables(factors: Factors, depth: int | None, G: Rules) -> RankPrefixTables:
    """Sums over all possible continuations."""
    F, (N, R) = factors, G.parent.shape
    h, Z = low_rank_containment(F, depth), low_rank_mass(F, depth)
    padding = (0, N - F.phrases), (0, R - F.rank)
    rights = [0] if depth is None else [right_level(d) for d in range(1, depth + 1)]
    fits, divisor = h[rights] @ F.right, 1.0 if depth is None else Z

    def closure(d: int, level: int) -> Floats:
        """C_d U: [A, r]."""
        phrases, fitting = F.left[: F.phrases], h[level][: F.phrases]
        weighted = quotient(F.parent * fits[d], fitting[:, np.newaxis])
        leaving = weighted @ F.left[F.phrases :].sum(axis=0)
        inverse = absorption(weighted @ phrases.T * fitting, leaving, np.eye(F.phrases))
        result: Floats = (fitting[:, np.newaxis] * inverse) @ quotient(
            F.parent, fitting[:, np.newaxis]
        )
        return result

    closures = [closure(d, 0 if depth is None else left_level(d + 1)) for d in range(len(fits))]
    below = [*closures[1:], np.zeros_like(F.parent)] if depth else closures
    return RankPrefixTables(
        np.pad(F.root[: F.phrases] @ closures[0] / divisor, padding[1]),
        np.pad(fits, ((0, 0), padding[1])),
        np.stack([np.pad(table, padding) for table in below]),
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
    """Write z(·,i) to ``parents``, Σ_d (g + ρ z) to ``left`` and Σ_d s to ``right``."""
    _, rows, R = parents.shape
    N, first, fits, descent = len(G.root), T.first, T.fits, T.descent
    sums, phrases, corners = np.empty((active, R)), np.empty((active, N)), np.empty((active, R))
    for s in range(active):
        for r in range(R):
            parents[s, 0, r] = 0.0 if i else first[r]
            left[s, i, r] = 0.0 if i else fits[0, r] * first[r]
            right[s, i, r] = 0.0
    for d in range(rows // 2 if i else 0):
        right_row, left_row = 2 * d + 1, 2 * d + 2 if G.depth else 0
        for s in range(active):
            for r in range(R):
                sums[s, r] = above[s, 2 * d, i, r] + above[s, right_row, i, r]
                right[s, i, r] += sums[s, r]
        small_product(sums, 0, R, 1, G.right_by_rank, 0, N, phrases, 0, N, active, N, R)
        small_product(phrases, 0, N, 1, G.parent, 0, R, corners, 0, R, active, R, N)
        for s in range(active):
            for r in range(R):
                parents[s, right_row, r] = corners[s, r]
                sums[s, r] = corners[s, r] * fits[d, r]
                left[s, i, r] += sums[s, r]
        if left_row == rows:
            break
        small_product(sums, 0, R, 1, G.left_by_rank, 0, N, phrases, 0, N, active, N, R)
        small_product(phrases, 0, N, 1, descent, d * N * R, R, corners, 0, R, active, R, N)
        for s in range(active):
            for r in range(R):
                parents[s, left_row, r] = corners[s, r]
                left[s, i, r] += fits[left_row // 2, r] * corners[s, r]


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
                powers = factors[:splits]
                align_exponents(x, s, i, exponents, above, scale, powers)
                at, to = (s * rows + row) * R, ((s * rows + row) * last + i + 1) * R
                add_weighted(powers, parents, at, uses, x * R, above, to, R, splits)
            rescale_sums(above, scale, fits, s, i + 1, masses)


class RankPrefixParser(PrefixParser, FactorParser):
    """Computes measures at each word with the chart of a low-rank grammar.

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
        check_no_brackets(corpus)
        blocks = sentence_blocks(corpus, None, self.cell_bytes)
        results = dict[int, Prefixes]()

        def work(first: int, last: int) -> None:
            part = blocks[first:last]
            memory, W = block_memory(part, self._rules)
            for block in part:
                measures = self._of(block, memory, W)
                for numbers, prefixes in zip(block.numbers, measures, strict=True):
                    results.update(dict.fromkeys(numbers.tolist(), prefixes))

        parallel_ranges(work, len(blocks), threads)
        return [results[s] for s in range(len(corpus))]

    def _of(self, block: SentenceBlock, memory: RankCharts, W: RankWorkspace) -> Iterator[Prefixes]:
        """The measures of each sentence of a block."""
        G, T, starts, tokens = self._rules, self._prefix_tables, block.starts, block.tokens
        lengths, scale = np.diff(starts), self._scale[tokens]
        emission = np.ascontiguousarray((self.factors.emission[:, tokens] / scale).T)
        left_words, right_words = emission @ self._left, emission @ self._right
        C = block_charts(block, self.depth, block.copies, memory)
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
        for equal_length in np.split(np.arange(sentences), np.flatnonzero(np.diff(lengths)) + 1):
            n = int(lengths[equal_length[0]])
            whole = C.first[equal_length][:, np.newaxis] + left_cell(n, 0, 1) + np.arange(n)
            phrases = C.phrases[whole[:, 1:]] @ G.root / T.divisor  # words have no phrases
            ending = np.concatenate([alone[equal_length, np.newaxis], phrases], axis=1)
            logs = np.log(scale[starts[equal_length][:, np.newaxis] + np.arange(n)])
            arrays = {
                name: array[equal_length, : n + 1] for name, array in result._asdict().items()
            }
            measures = prefix_measures(PrefixBatch(**arrays), ending, C.exponents[whole], logs)
            yield from (
                Prefixes(*(array[m] for array in measures)) for m in range(len(equal_length))
            )
