"""Sentences under a low-rank grammar: log-likelihoods, expected counts, posteriors of spans.

Sentences are put together in blocks that depend on the corpus, the grammar's size and the bound
only. Each block has sums of its own, which are added up in the order of the blocks: so results are
the same for any number of threads. Products with words' categories are left to BLAS, all words of a
block together; phrases are the kernels'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.normaliser import low_rank_mass
from dbpcfg.io.machine import in_pieces
from dbpcfg.numerics.kernels import Bytes, Floats, Longs, repeated
from dbpcfg.numerics.philox import Stream
from dbpcfg.parsing.chart.layout import (
    Logs,
    Precision,
    cell_count,
    chart_levels,
    crossing,
    logarithms,
)
from dbpcfg.parsing.chart.parser import NEGLIGIBLE
from dbpcfg.parsing.derivations import Derivations, check_parsable, first_cells
from dbpcfg.parsing.lowrank.inside import (
    RankCharts,
    RankWorkspace,
    inside,
    new_charts,
    new_sums,
    new_workspace,
    rules,
)
from dbpcfg.parsing.lowrank.outside import outside
from dbpcfg.parsing.lowrank.trees import WordRules, sample_trees
from dbpcfg.parsing.trees import TreeParser

BLOCK_BYTES = 2**22
"""About the most memory for the charts of one block."""


Result = TypeVar("Result")


class SentenceBlock(NamedTuple):
    """Some distinct sentences, longest first."""

    starts: Longs  # [s]   where their words begin in ``tokens``
    tokens: Longs  # [t]   words
    copies: Floats  # [s]  how often each counts
    numbers: list[Longs]  # of the sentences of the corpus that each stands for
    crossed: Bytes  #        spans that cross brackets


class FactorParser:
    """Sums over the trees of sentences under the factors of a grammar and a depth bound.

    Probabilities of sentences are those of the bounded grammar, as with `ChartParser`. Logarithms
    of `log_inside` and `expected_counts` are those of Σ_τ P(τ) over the trees τ that fit the bound,
    not divided by the probability that a tree fits.

    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    """

    def __init__(
        self, factors: Factors, depth: int | None, threads: int = 1, precision: Precision = "double"
    ) -> None:
        self.depth = 0 if depth is None else check_depth(depth)
        self.threads = threads
        self.dtype = np.dtype(np.float64 if precision == "double" else np.float32)
        self.factors = Factors(*(np.asarray(array, self.dtype) for array in factors))
        self._given = factors
        self._rules = rules(factors, self.depth, self.dtype)
        R, N = self._rules.parent.shape[1], factors.phrases
        words = np.zeros((2, len(factors.left) - N, R), self.dtype)
        words[0, :, : factors.rank] = factors.left[N:]
        words[1, :, : factors.rank] = factors.right[N:]
        self._left, self._right = words
        scale = np.asarray(factors.emission).max(axis=0)
        self._scale = np.where(scale > 0, scale, 1.0).astype(np.float64)
        self._possible = scale > 0

    @cached_property
    def log_fitting_mass(self) -> float:
        """log Z: the logarithm of the probability that a tree fits the bound; 0 without a bound."""
        return math.log(low_rank_mass(self._given, self.depth)) if self.depth else 0.0

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""
        return self.log_inside(corpus) - self.log_fitting_mass

    def log_inside(self, corpus: Encoded) -> Floats:
        """The logarithm of each sentence's sum; −∞ for one that the grammar cannot yield."""
        logs = np.empty(len(corpus))
        self._run(corpus, None, partial(self._done, logs=logs, negligible=None, weights=None))
        return logs

    def expected_counts(
        self, corpus: Encoded, copies: Floats | None = None, negligible: float = NEGLIGIBLE
    ) -> tuple[Factors, Floats]:
        """How often each factor is expected in the sentences' trees.

        Divided by a factor's probability, the count is the derivative of the sum of logarithms.

        ``copies``: ``[sentence]``: how often each sentence counts; once, if not given.
        ``negligible``: spans less probable than this are pruned, with all that is below them.
        ``counts``: in double precision; nothing is counted for a sentence of probability zero.
        """
        logs = np.empty(len(corpus))
        work = partial(self._done, logs=logs, negligible=negligible, weights=None)
        total = Factors(*(np.zeros(array.shape) for array in self.factors))
        for block, counts in self._run(corpus, copies, work):
            for name in ("root", "parent", "left", "right"):
                getattr(total, name)[:] += getattr(counts, name)
            order = np.argsort(block.tokens, kind="stable")
            words, begins = np.unique(block.tokens[order], return_index=True)
            total.emission[:, words] += np.add.reduceat(counts.emission[order], begins).T
        return total, logs

    def posteriors(self, corpus: Encoded, negligible: float = NEGLIGIBLE) -> tuple[Floats, Floats]:
        """Posterior probabilities of all labelled spans.

        ``negligible``: spans less probable than this are pruned, with all that is below them.
        ``weights``: ``[cell, c]``, laid out as in `dbpcfg.parsing.derivations`; zero for a
        sentence of probability zero.
        """
        weights, logs = self.posteriors_before_mass(corpus, negligible, 1)
        return weights, logs - self.log_fitting_mass

    def posteriors_before_mass(
        self, corpus: Encoded, negligible: float, levels: int
    ) -> tuple[Floats, Floats]:
        """The same, with so many levels of cells for each sentence, and logarithms before Z."""
        cells, logs = first_cells(corpus, levels), np.empty(len(corpus))
        weights = np.zeros((int(cells[-1]), self.factors.categories))
        into = cells, levels, weights
        self._run(corpus, None, partial(self._done, logs=logs, negligible=negligible, weights=into))
        return weights, logs

    def _run(
        self, corpus: Encoded, copies: Floats | None, work: Callable[..., Result]
    ) -> list[tuple[SentenceBlock, Result]]:
        """Do all blocks; their results are in the order of blocks."""
        if len(corpus.vocabulary) != self.factors.emission.shape[1]:
            raise DbpcfgError(
                f"the corpus has {len(corpus.vocabulary)} words and the grammar "
                f"{self.factors.emission.shape[1]}: make it with the grammar's vocabulary"
            )
        blocks = self._blocks(corpus, copies)
        found: list[tuple[SentenceBlock, Result] | None] = [None] * len(blocks)

        def some(first: int, last: int) -> None:
            largest = max(blocks[first:last], key=self._cells, default=None)
            if largest is None:
                return
            longest = max(int(block.starts[1]) for block in blocks[first:last])
            room = new_charts(self._cells(largest), self._rules)
            W = new_workspace(longest, self._rules)
            for number in range(first, last):
                found[number] = blocks[number], work(blocks[number], room, W)

        in_pieces(some, len(blocks), self.threads)
        return [result for result in found if result is not None]

    def _cells(self, block: SentenceBlock) -> int:
        lengths = np.diff(block.starts)
        return chart_levels(self.depth) * int((lengths * (lengths + 1) // 2).sum())

    def _blocks(self, corpus: Encoded, copies: Floats | None) -> list[SentenceBlock]:
        distinct, first_copy, all_copies = corpus.distinct
        N, R = self._rules.parent.shape
        each = chart_levels(self.depth) * (3 * R + N) * self.dtype.itemsize
        blocks: list[SentenceBlock] = []
        begin = size = 0
        lengths = corpus.lengths[distinct].tolist()
        for number, n in enumerate([*lengths, 0]):
            more = each * cell_count(n)
            ends = not n or size + more > BLOCK_BYTES or (n == 1) != (lengths[begin] == 1)
            if ends and number > begin:
                alike = np.split(
                    all_copies[first_copy[begin] : first_copy[number]],
                    first_copy[begin + 1 : number] - first_copy[begin],
                )
                times = [float(len(a)) if copies is None else copies[a].sum() for a in alike]
                some = distinct[begin:number]
                here, crossed = corpus.chosen(some), crossing(corpus, some)
                tokens = here.tokens.astype(np.int64)
                blocks.append(SentenceBlock(here.starts, tokens, np.array(times), alike, crossed))
                begin, size = number, 0
            size += more
        return blocks

    def _done(
        self,
        block: SentenceBlock,
        room: RankCharts,
        W: RankWorkspace,
        logs: Floats,
        negligible: float | None,
        weights: tuple[Longs, int, Floats] | None,
    ) -> Factors:
        """The counts of one block; its logarithms and posteriors are put where they belong."""
        starts, factors = block.starts, self.factors
        emission, scales = self._words(block)
        lengths = np.diff(starts)
        cells, levels, all_weights = weights or (starts, 0, np.zeros((0, 0)))
        first = cells[[same[0] for same in block.numbers]] if levels else cells
        times = np.ones(len(lengths)) if levels else block.copies
        if lengths[0] == 1:
            found, counts, words = self._single_words(emission, times)
        else:
            found, counts, words = self._phrases(
                block, times, emission, room, W, negligible, first, int(levels > 1), all_weights
            )
        for s, same in enumerate(block.numbers):
            logs[same] = found[s] + scales[s]
            if levels and np.isfinite(logs[same[0]]):
                word_cells = np.cumsum(np.arange(lengths[s] + 1, 1, -1)) - lengths[s] - 1
                here = all_weights[first[s] : cells[same[0] + 1]]
                here[word_cells, factors.phrases :] = words[starts[s] : starts[s + 1]]
                for one in same[1:].tolist():
                    all_weights[cells[one] : cells[one + 1]] = here
        return counts

    def _words(self, block: SentenceBlock) -> tuple[Floats, Floats]:
        """``[token, p]``: words' probabilities, scaled; the logarithm of each sentence's scale."""
        tokens, starts = block.tokens, block.starts
        emission = (self.factors.emission[:, tokens] / self._scale[tokens]).T.astype(self.dtype)
        scales = np.add.reduceat(np.log(self._scale[tokens]), starts[:-1])
        scales[~np.logical_and.reduceat(self._possible[tokens], starts[:-1])] = -np.inf
        return emission, scales

    def _inside(
        self,
        block: SentenceBlock,
        times: Floats,
        emission: Floats,
        room: RankCharts,
        W: RankWorkspace,
    ) -> tuple[RankCharts, Floats]:
        """The charts of sentences of two words or more, and their logarithms before scales."""
        starts, logs = block.starts, np.empty(len(times))
        lengths = np.diff(starts)
        sizes = chart_levels(self.depth) * (lengths * (lengths + 1) // 2)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        C = room._replace(starts=starts, first=first, copies=times)
        left, right = emission @ self._left, emission @ self._right
        flush = self.dtype.itemsize == 4
        repeated(inside, self.dtype)(self._rules, left, right, block.crossed, C, W, flush, logs)
        return C, logs

    def _single_words(self, emission: Floats, times: Floats) -> tuple[Floats, Factors, Floats]:
        """Sentences of one word, whose roots are words' categories."""
        N = self.factors.phrases
        joint = emission.astype(np.float64) * self.factors.root[N:]
        total = joint.sum(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(total)
        possible = np.where(total > 0, total, 1.0)
        words = joint / possible[:, np.newaxis] * times[:, np.newaxis]
        nothing = np.zeros_like(self.factors.left)
        root = np.concatenate([np.zeros(N), words.sum(axis=0)])
        return logs, Factors(root, nothing[:N], nothing, nothing, words), words

    def _phrases(
        self,
        block: SentenceBlock,
        times: Floats,
        emission: Floats,
        room: RankCharts,
        W: RankWorkspace,
        negligible: float | None,
        first_weight: Longs,
        apart: int,
        weights: Floats,
    ) -> tuple[Floats, Factors, Floats]:
        """Sentences of two words or more: both passes, or the first if ``negligible`` is None."""
        factors, G, flush = self.factors, self._rules, self.dtype.itemsize == 4
        C, logs = self._inside(block, times, emission, room, W)
        if negligible is None:
            return logs, factors, emission
        C.above[: int(C.first[-1])] = 0.0
        S = new_sums(len(block.tokens), G, first_weight, apart, weights)
        repeated(outside, self.dtype)(G, C, W, negligible, flush, S)
        words = emission * (S.left_words @ self._left.T + S.right_words @ self._right.T)
        N, R = factors.phrases, factors.rank
        root = np.concatenate([S.root[:N], np.zeros(len(self._left))])
        v = np.concatenate([S.left[:N], emission.T @ S.left_words])[:, :R]
        w = np.concatenate([S.right[:N], emission.T @ S.right_words])[:, :R]
        counts = Factors(
            root * factors.root,
            S.parent[:N, :R] * factors.parent,
            v * factors.left,
            w * factors.right,
            words,
        )
        return logs, counts, words


class LowRankParser(FactorParser, TreeParser):
    """Exact inference for sentences under a low-rank grammar and a depth bound, in rank space.

    ``depth``: the bound D; None for no bound.
    ``threads``: the number of threads; results do not depend on it.
    """

    def __init__(
        self,
        grammar: LowRankGrammar,
        depth: int | None,
        threads: int = 1,
        precision: Precision = "double",
    ) -> None:
        super().__init__(grammar.factors, depth, threads, precision)
        self.grammar = grammar

    @cached_property
    def logs(self) -> Logs:
        """The logarithms of the rules, and the bound."""
        return logarithms(self.grammar, self.depth)

    def level_posteriors(self, corpus: Encoded, negligible: float) -> tuple[Floats, Floats]:
        """Posteriors by level in double precision, and every log P(sentence) before Z."""
        return self._exact.posteriors_before_mass(corpus, negligible, self.levels)

    @cached_property
    def _exact(self) -> FactorParser:
        if self.dtype.itemsize == 8:
            return self
        return FactorParser(self._given, self.depth or None, self.threads)

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """Draw a tree from the posterior of every sentence.

        ``numbers``: the random numbers; sentence s has those of item s.
        """
        drawn, logs = Derivations.empty(corpus), np.empty(len(corpus))
        N = self.factors.phrases
        given = corpus.starts, corpus.items, numbers, drawn.nodes

        def work(block: SentenceBlock, room: RankCharts, W: RankWorkspace) -> None:
            emission, found = self._words(block)
            times = np.ones(len(found))
            C = room._replace(starts=block.starts, first=block.starts, copies=times)
            if block.starts[1] == 1:
                found += self._single_words(emission, times)[0]
            else:
                C, inner = self._inside(block, times, emission, room, W)
                found += inner
            V = WordRules(self.factors.root[N:], self._left, self._right, emission)
            sizes = [len(same) for same in block.numbers]
            begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            copies = np.concatenate(block.numbers)
            logs[copies] = np.repeat(found, sizes)
            sample_trees(N, self._rules, C, W, V, found, copies, begins, *given)

        self._run(corpus, None, work)
        check_parsable(self.grammar, corpus, logs)
        return drawn, logs - self.log_fitting_mass
