"""The left-corner parser: one grammar, one bound, any corpus, word by word."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.machine import format_bytes, format_count, parallel_ranges
from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.numerics.philox import Stream, stream
from dbpcfg.parsing.derivations import (
    Derivations,
    check_no_brackets,
    check_parsable,
    check_vocabulary,
    first_node,
)
from dbpcfg.parsing.leftcorner.filtering import backward, forward, offset
from dbpcfg.parsing.leftcorner.models import Models, left_corner_models, nodes_of
from dbpcfg.parsing.leftcorner.tracing import Trace, empty_trace, follow, products

MAX_BYTES = 4 * 2**30
"""The most memory for the forward distributions of one sentence."""


class LeftCornerParser:
    """Exact inference by forward filtering and backward sampling over stores.

    There are K^(2D) stores of depth D, so use the chart for large K or D.

    ``threads``: the number of threads; results do not depend on it.
    """

    def __init__(self, grammar: Grammar, depth: int, threads: int = 1) -> None:
        self.grammar = grammar
        self.depth: int | None = check_depth(depth)
        self.threads = threads
        self.models = left_corner_models(grammar, depth)
        self.stores = offset(depth + 1, grammar.categories)

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""
        logs = np.empty(len(corpus))
        self._longest_first(forward_sentences, corpus, logs)
        return logs

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """Draw a tree from the posterior of every sentence.

        ``numbers``: the random numbers; sentence s has those of item s.
        """
        return self._trees(corpus, numbers, best=False)

    def viterbi(self, corpus: Encoded) -> tuple[Derivations, Floats]:
        """The most probable tree of every sentence."""
        return self._trees(corpus, stream(0), best=True)

    def _trees(self, corpus: Encoded, numbers: Stream, best: bool) -> tuple[Derivations, Floats]:
        drawn, logs = Derivations.empty(corpus), np.empty(len(corpus))
        self._longest_first(
            backward_sentences, corpus, best, numbers, corpus.sentence_ids, drawn.nodes, logs
        )
        check_parsable(self.grammar, corpus, logs)
        return drawn, logs

    def _longest_first(
        self, kernel: Callable[..., None], corpus: Encoded, *arguments: object
    ) -> None:
        """Run a kernel on all sentences of a corpus, on several threads."""
        self._check(corpus)
        order = np.argsort(-corpus.lengths, kind="stable").astype(np.int64)

        def work(first: int, last: int) -> None:
            kernel(order[first:last], corpus.sentences, self.models, *arguments)

        parallel_ranges(work, len(corpus), self.threads)

    def _check(self, corpus: Encoded) -> None:
        check_vocabulary(self.grammar, corpus)
        check_no_brackets(corpus)
        assert self.depth is not None
        check_stores(self.grammar.categories, self.depth, int(corpus.lengths.max(initial=0)))


def check_stores(categories: int, depth: int, longest: int) -> None:
    """Raise an error if the stores of a sentence take too much memory."""
    stores = offset(depth + 1, categories)
    needed = 8 * stores * (longest + 1)
    if needed > MAX_BYTES:
        raise DbpcfgError(
            f"the left-corner parser would need {format_bytes(needed)} for {format_count(stores)} "
            f"stores ({categories} categories, depth {depth}); "
            "use the chart parser, or fewer categories, or a smaller depth"
        )


def new_workspace(order: Longs, sentences: Sentences, M: Models) -> tuple[Floats, Floats, Ints]:
    """Memory for the forward distributions, their logs and the steps of some sentences."""
    size = offset(M.fork.shape[0], M.fork.shape[1])
    longest = int((sentences.starts[order + 1] - sentences.starts[order]).max(initial=0))
    steps = np.empty((longest, 5), dtype=np.int32)
    return np.empty((longest + 1, size)), np.empty(longest + 1), steps


def forward_sentences(order: Longs, sentences: Sentences, M: Models, result: Floats) -> None:
    """log P(sentence) of some sentences of a corpus into ``result[sentence]``."""
    tokens, starts = sentences
    v, logs, _ = new_workspace(order, sentences, M)
    for s in order.tolist():
        words = tokens[starts[s] : starts[s + 1]]
        n = len(words)
        result[s] = forward(words, M, False, v[: n + 1], logs[: n + 1])


def backward_sentences(
    order: Longs,
    sentences: Sentences,
    M: Models,
    best: bool,
    numbers: Stream,
    items: Longs,
    nodes: Ints,
    result: Floats,
) -> None:
    """Find a tree for some sentences; log P(sentence), or log P(tree, sentence) if ``best``."""
    tokens, starts = sentences
    v, logs, steps = new_workspace(order, sentences, M)
    for s in order.tolist():
        words = tokens[starts[s] : starts[s + 1]]
        n = len(words)
        result[s] = forward(words, M, best, v[: n + 1], logs[: n + 1])
        if result[s] > -np.inf:
            backward(words, M, best, v[: n + 1], numbers, int(items[s]), steps[:n])
            nodes_of(steps[:n], nodes[first_node(starts, s) : first_node(starts, s + 1)])


class WordByWord:
    """Computes measures at each word from the distribution over all stores.

    Low-rank grammars are multiplied out.
    """

    def __init__(self, grammar: Grammar, depth: int) -> None:
        K = grammar.categories
        self.stores = offset(check_depth(depth) + 1, K)
        needed = 24 * self.stores + 32 * (depth + 1) * K**3
        if needed > MAX_BYTES:
            raise DbpcfgError(
                f"columns of stores and of derivations follow all {format_count(self.stores)} "
                f"stores ({K} categories, depth {depth}), which would need {format_bytes(needed)}: "
                "leave these columns out, or choose a smaller depth"
            )
        self.grammar, self.depth = grammar, depth
        self.models = left_corner_models(grammar, depth)
        self._products = products(self.models)

    def follow(self, words: Ints) -> Trace:
        """Follow one sentence.

        ``words``: word numbers; −1 is a word that no category emits.
        """
        trace = empty_trace(len(words), self.grammar.categories, self.depth)
        follow(words, self.models, self._products, trace)
        return trace

    def follow_all(self, sentences: Sequence[Ints], threads: int = 1) -> list[Trace]:
        """Follow some sentences.

        ``threads``: the number of threads; results do not depend on it.
        """
        longest_first = sorted(range(len(sentences)), key=lambda s: -len(sentences[s]))
        followed: dict[int, Trace] = {}

        def work(first: int, last: int) -> None:
            for s in longest_first[first:last]:
                followed[s] = self.follow(sentences[s])

        parallel_ranges(work, len(sentences), threads)
        return [followed[s] for s in range(len(sentences))]

    def fragments(self, number: int) -> list[tuple[int, int]]:
        """The store with this number: top and bottom sign of each of its fragments."""
        K = self.grammar.categories
        depth = 0
        while number >= offset(depth + 1, K):
            depth += 1
        number -= offset(depth, K)
        signs = []
        for _ in range(depth):
            number, fragment = divmod(number, K * K)
            signs.append(divmod(fragment, K))
        return signs[::-1]
