"""Sentences under a low-rank grammar: log-likelihoods, expected counts, posteriors of spans.

Sentences are parsed in blocks (``blocks``). Each block has its own sums, which are added in the
order of the blocks, so results are the same for any number of threads. BLAS multiplies word
categories for all words of a block; kernels handle phrases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.normaliser import low_rank_mass
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.io.tables import plural
from dbpcfg.numerics.kernels import Floats, Longs, specialised
from dbpcfg.numerics.philox import Stream
from dbpcfg.parsing.chart.layout import (
    Logs,
    Precision,
    chart_levels,
    logarithms,
)
from dbpcfg.parsing.chart.parser import NEGLIGIBLE
from dbpcfg.parsing.derivations import Derivations, check_parsable, first_cells
from dbpcfg.parsing.lowrank.blocks import (
    SentenceBlock,
    block_charts,
    block_memory,
    sentence_blocks,
)
from dbpcfg.parsing.lowrank.inside import (
    RankCharts,
    RankWorkspace,
    inside,
    new_sums,
    rules,
)
from dbpcfg.parsing.lowrank.outside import outside
from dbpcfg.parsing.lowrank.trees import WordRules, sample_trees
from dbpcfg.parsing.parser import Parser

Result = TypeVar("Result")


class BlockCounts(NamedTuple):
    """The expected counts of one block."""

    words: Longs
    """The words that occur in it."""
    counts: Factors
    """``emission`` has a column for each of these words."""


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
        self._original_factors = factors
        self._rules = rules(factors, self.depth, self.dtype)
        R, N = self._rules.parent.shape[1], factors.phrases
        words = np.zeros((2, len(factors.left) - N, R), self.dtype)
        words[0, :, : factors.rank] = factors.left[N:]
        words[1, :, : factors.rank] = factors.right[N:]
        self._left, self._right = words
        scale = np.asarray(factors.emission).max(axis=0)
        self._scale = np.where(scale > 0, scale, 1.0).astype(np.float64)

    @cached_property
    def log_fitting_mass(self) -> float:
        """log Z: the logarithm of the probability that a tree fits the bound; 0 without a bound."""
        return math.log(low_rank_mass(self._original_factors, self.depth)) if self.depth else 0.0

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""
        return self.log_inside(corpus) - self.log_fitting_mass

    def log_inside(self, corpus: Encoded) -> Floats:
        """The logarithm of each sentence's sum; −∞ for one that the grammar cannot yield."""
        logs = np.empty(len(corpus))
        self._run(corpus, None, partial(self._block, logs=logs, negligible=None, weights=None))
        return logs

    def expected_counts(
        self, corpus: Encoded, copies: Floats | None = None, negligible: float = NEGLIGIBLE
    ) -> tuple[Factors, Floats]:
        """The expected number of uses of each factor in all trees, and every logarithm.

        Nothing is counted for sentences of probability zero. A count divided by the factor's
        probability is the derivative of the sum of logarithms.

        ``copies``: ``[sentence]``: how often each sentence counts; once, if not given.
        ``negligible``: spans less probable than this are pruned, with all spans below them.
        """
        blocks, logs = self.count_blocks(corpus, copies, negligible)
        return self.sum_of_blocks(blocks), logs

    def count_blocks(
        self, corpus: Encoded, copies: Floats | None = None, negligible: float = NEGLIGIBLE
    ) -> tuple[list[BlockCounts], Floats]:
        """As `expected_counts`, but with separate counts for each block of sentences."""
        logs = np.empty(len(corpus))
        work = partial(self._block, logs=logs, negligible=negligible, weights=None)
        blocks = []
        for block, counts in self._run(corpus, copies, work):
            order = np.argsort(block.tokens, kind="stable")
            words, begins = np.unique(block.tokens[order], return_index=True)
            emission = np.add.reduceat(counts.emission[order], begins).T
            blocks.append(BlockCounts(words, counts._replace(emission=emission)))
        return blocks, logs

    def sum_of_blocks(self, blocks: Sequence[BlockCounts]) -> Factors:
        """The expected counts of a corpus from those of its blocks, in their order."""
        total = Factors(*(np.zeros(array.shape) for array in self.factors))
        for words, counts in blocks:
            for name in ("root", "parent", "left", "right"):
                getattr(total, name)[:] += getattr(counts, name)
            total.emission[:, words] += counts.emission
        return total

    def posteriors(self, corpus: Encoded, negligible: float = NEGLIGIBLE) -> tuple[Floats, Floats]:
        """Posterior probabilities of all labelled spans, and every log P(sentence).

        Posteriors are ``[cell, c]``, as in `dbpcfg.parsing.derivations`; zero for a sentence of
        probability zero.

        ``negligible``: spans less probable than this are pruned, with all spans below them.
        """
        weights, logs = self.posteriors_before_mass(corpus, negligible, 1)
        return weights, logs - self.log_fitting_mass

    def posteriors_before_mass(
        self, corpus: Encoded, negligible: float, levels: int
    ) -> tuple[Floats, Floats]:
        """Posteriors with several levels of cells, and logarithms before division by Z."""
        cells, logs = first_cells(corpus, levels), np.empty(len(corpus))
        weights = np.zeros((int(cells[-1]), self.factors.categories))
        outputs = cells, levels, weights
        self._run(
            corpus,
            None,
            partial(self._block, logs=logs, negligible=negligible, weights=outputs),
        )
        return weights, logs

    def _run(
        self, corpus: Encoded, copies: Floats | None, work: Callable[..., Result]
    ) -> list[tuple[SentenceBlock, Result]]:
        """Call a function with each block, on several threads; results are in order."""
        if len(corpus.vocabulary) != self.factors.emission.shape[1]:
            raise DbpcfgError(
                f"the corpus has {plural(len(corpus.vocabulary), 'word')} and the grammar "
                f"{self.factors.emission.shape[1]}: make it with the grammar's vocabulary"
            )
        blocks = sentence_blocks(corpus, copies, self.cell_bytes)
        results: list[tuple[SentenceBlock, Result] | None] = [None] * len(blocks)

        def parse(first: int, last: int) -> None:
            part = blocks[first:last]
            memory, W = block_memory(part, self._rules)
            for number, block in enumerate(part, start=first):
                results[number] = block, work(block, memory, W)

        parallel_ranges(parse, len(blocks), self.threads)
        return [result for result in results if result is not None]

    @property
    def cell_bytes(self) -> int:
        """The memory of the cells of one span."""
        N, R = self._rules.parent.shape
        return int(chart_levels(self.depth) * (3 * R + N) * self.dtype.itemsize)

    def _block(
        self,
        block: SentenceBlock,
        memory: RankCharts,
        W: RankWorkspace,
        logs: Floats,
        negligible: float | None,
        weights: tuple[Longs, int, Floats] | None,
    ) -> Factors:
        """The counts of one block; logarithms and posteriors are written to the arrays."""
        starts, factors = block.starts, self.factors
        emission, scales = self._words(block)
        lengths = np.diff(starts)
        cells, levels, all_weights = weights or (starts, 0, np.zeros((0, 0)))
        first = cells[[copies[0] for copies in block.numbers]] if levels else cells
        times = np.ones(len(lengths)) if levels else block.copies
        if lengths[0] == 1:
            block_logs, counts, words = self._single_words(emission, times)
        else:
            block_logs, counts, words = self._phrases(
                block, times, emission, memory, W, negligible, first, int(levels > 1), all_weights
            )
        for s, copies in enumerate(block.numbers):
            logs[copies] = block_logs[s] + scales[s]
            if levels and np.isfinite(logs[copies[0]]):
                word_cells = np.cumsum(np.arange(lengths[s] + 1, 1, -1)) - lengths[s] - 1
                weights_of_first = all_weights[first[s] : cells[copies[0] + 1]]
                weights_of_first[word_cells, factors.phrases :] = words[starts[s] : starts[s + 1]]
                for copy in copies[1:].tolist():
                    all_weights[cells[copy] : cells[copy + 1]] = weights_of_first
        return counts

    def _words(self, block: SentenceBlock) -> tuple[Floats, Floats]:
        """Scaled word probabilities ``[token, p]``, and the logarithm of each sentence's scale."""
        tokens, starts = block.tokens, block.starts
        emission = (self.factors.emission[:, tokens] / self._scale[tokens]).T.astype(self.dtype)
        scales = np.add.reduceat(np.log(self._scale[tokens]), starts[:-1])
        return emission, scales

    def _inside(
        self,
        block: SentenceBlock,
        times: Floats,
        emission: Floats,
        memory: RankCharts,
        W: RankWorkspace,
    ) -> tuple[RankCharts, Floats]:
        """The charts of sentences of two words or more, and their logarithms before scales."""
        logs, C = np.empty(len(times)), block_charts(block, self.depth, times, memory)
        left, right = emission @ self._left, emission @ self._right
        flush = self.dtype.itemsize == 4
        specialised(inside, self.dtype)(self._rules, left, right, block.crossed, C, W, flush, logs)
        return C, logs

    def _single_words(self, emission: Floats, times: Floats) -> tuple[Floats, Factors, Floats]:
        """Logarithms, counts and posteriors of sentences of one word."""
        N = self.factors.phrases
        joint = emission.astype(np.float64) * self.factors.root[N:]
        total = joint.sum(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(total)
        possible = np.where(total > 0, total, 1.0)
        words = joint / possible[:, np.newaxis] * times[:, np.newaxis]
        none = np.zeros_like(self.factors.left)
        root = np.concatenate([np.zeros(N), words.sum(axis=0)])
        return logs, Factors(root, none[:N], none, none, words), words

    def _phrases(
        self,
        block: SentenceBlock,
        times: Floats,
        emission: Floats,
        memory: RankCharts,
        W: RankWorkspace,
        negligible: float | None,
        first_weight: Longs,
        by_level: int,
        weights: Floats,
    ) -> tuple[Floats, Factors, Floats]:
        """Logarithms, counts and posteriors of longer sentences.

        Only logarithms if ``negligible`` is None.
        """
        factors, G, flush = self.factors, self._rules, self.dtype.itemsize == 4
        C, logs = self._inside(block, times, emission, memory, W)
        if negligible is None:
            return logs, factors, emission
        C.above[: int(C.first[-1])] = 0.0
        S = new_sums(len(block.tokens), G, first_weight, by_level, weights)
        specialised(outside, self.dtype)(G, C, W, negligible, flush, S)
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


class LowRankParser(FactorParser, Parser):
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
        return FactorParser(self._original_factors, self.depth or None, self.threads)

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """Draw a tree from the posterior of every sentence.

        ``numbers``: the random numbers; sentence s has those of item s.
        """
        drawn, logs = Derivations.empty(corpus), np.empty(len(corpus))
        N = self.factors.phrases
        outputs = corpus.starts, corpus.sentence_ids, numbers, drawn.nodes

        def work(block: SentenceBlock, memory: RankCharts, W: RankWorkspace) -> None:
            emission, block_logs = self._words(block)
            times = np.ones(len(block_logs))
            C = memory._replace(starts=block.starts, first=block.starts, copies=times)
            if block.starts[1] == 1:
                block_logs += self._single_words(emission, times)[0]
            else:
                C, inner = self._inside(block, times, emission, memory, W)
                block_logs += inner
            V = WordRules(self.factors.root[N:], self._left, self._right, emission)
            sizes = [len(numbers) for numbers in block.numbers]
            begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            copies = np.concatenate(block.numbers)
            logs[copies] = np.repeat(block_logs, sizes)
            sample_trees(N, self._rules, C, W, V, block_logs, copies, begins, *outputs)

        self._run(corpus, None, work)
        check_parsable(self.grammar, corpus, logs)
        return drawn, logs - self.log_fitting_mass
