"""The left-corner parser: one grammar, one bound, any corpus, word by word."""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.levels import check_depth
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel
from dbpcfg.numerics.philox import Stream, stream
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.leftcorner.backward import backward
from dbpcfg.parsing.leftcorner.filtering import forward, offset
from dbpcfg.parsing.leftcorner.marginals import marginals
from dbpcfg.parsing.leftcorner.models import Models, left_corner_models
from dbpcfg.parsing.leftcorner.stores import nodes_of, steps_of
from dbpcfg.parsing.protocol import check_parsable, check_vocabulary
from dbpcfg.runtime.threads import in_pieces

MOST_BYTES = 4 * 2**30
"""The largest table of forward distributions, for one sentence, that is attempted."""


class LeftCornerParser:
    """Exact inference by forward filtering and backward sampling over stores.

    There are K^(2D) stores of depth D: use the chart for large K or D, and this parser for what
    only it can tell, the state of memory before every word.
    """

    def __init__(self, grammar: Grammar, depth: int, threads: int = 1) -> None:
        self.grammar = grammar
        self.depth: int | None = check_depth(depth)
        self.threads = threads
        self.models = left_corner_models(grammar, depth)
        self.stores = sum(grammar.categories ** (2 * d) for d in range(depth + 1))

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence; −∞ for one that the grammar cannot yield."""
        logs = np.empty(len(corpus))

        order = _longest_first(corpus)

        def work(first: int, last: int) -> None:
            forward_sentences(order[first:last], corpus.tokens, corpus.starts, self.models, logs)

        self._check(corpus)
        in_pieces(work, len(corpus), self.threads)
        return logs

    def prefix_log_probabilities(self, corpus: Encoded, sentence: int) -> Floats:
        """``[t]``: log of the probability that a sentence begins with the first t words, t = 0 … n.

        Differences are −surprisals in nats.
        """
        _, logs = self._forward(corpus, sentence)
        return np.cumsum(logs)

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """A tree from the posterior of every sentence, and every log P(sentence)."""
        return self._trees(corpus, numbers, best=False)

    def best(self, corpus: Encoded) -> tuple[Derivations, Floats]:
        """The most probable tree of every sentence, and log P(tree, sentence) of each."""
        return self._trees(corpus, stream(0), best=True)

    def marginals(self, corpus: Encoded, sentence: int) -> Floats:
        """``[i, j, c]``: the posterior probability of a node c on words i to j − 1."""
        self._check(corpus)
        posterior = marginals(self._words(corpus, sentence), self.models)
        with np.errstate(divide="ignore"):
            whole = np.log(posterior[0, -1].sum(keepdims=True))
        check_parsable(self.grammar, corpus, whole, first=sentence)
        return posterior

    def log_derivation(self, nodes: Ints, words: Ints) -> float:
        """log P(tree, sentence): the sum over all decisions that build the tree."""
        return decisions(self.models, steps_of(nodes), words)

    def _forward(self, corpus: Encoded, sentence: int) -> tuple[Floats, Floats]:
        self._check(corpus)
        words = self._words(corpus, sentence)
        v, logs = np.empty((len(words) + 1, self.stores)), np.empty(len(words) + 1)
        forward(words, self.models, False, v, logs)
        return v, logs

    def _trees(self, corpus: Encoded, numbers: Stream, best: bool) -> tuple[Derivations, Floats]:
        self._check(corpus)
        drawn, logs = Derivations.empty(corpus), np.empty(len(corpus))

        order = _longest_first(corpus)

        def work(first: int, last: int) -> None:
            backward_sentences(
                order[first:last],
                corpus.tokens,
                corpus.starts,
                self.models,
                best,
                numbers,
                drawn.nodes,
                logs,
            )

        in_pieces(work, len(corpus), self.threads)
        check_parsable(self.grammar, corpus, logs)
        return drawn, logs

    @staticmethod
    def _words(corpus: Encoded, sentence: int) -> Ints:
        return corpus.tokens[corpus.starts[sentence] : corpus.starts[sentence + 1]]

    def _check(self, corpus: Encoded) -> None:
        check_vocabulary(self.grammar, corpus)
        needed = 8 * self.stores * (int(corpus.lengths.max(initial=0)) + 1)
        if needed > MOST_BYTES:
            raise DbpcfgError(
                f"the left-corner parser would need {needed / 2**30:.0f} GiB for {self.stores:,} "
                f"stores ({self.grammar.categories} categories, depth {self.depth}); "
                "use the chart parser, or fewer categories, or a smaller depth"
            )


def _longest_first(corpus: Encoded) -> Longs:
    return np.argsort(-corpus.lengths, kind="stable").astype(np.int64)


@kernel
def longest_of(sentences: Longs, starts: Longs) -> int:
    """The length of the longest of some sentences."""
    longest = 0
    for s in sentences:
        longest = max(longest, starts[s + 1] - starts[s])
    return longest


@kernel
def forward_sentences(
    sentences: Longs, tokens: Ints, starts: Longs, M: Models, result: Floats
) -> None:
    """log P(sentence) of some sentences of a corpus into ``result[sentence]``."""
    longest, size = longest_of(sentences, starts), offset(M.fork.shape[0], M.fork.shape[1])
    v, logs = np.empty((longest + 1, size)), np.empty(longest + 1)
    for s in sentences:
        n = starts[s + 1] - starts[s]
        forward(tokens[starts[s] : starts[s + 1]], M, False, v[: n + 1], logs[: n + 1])
        result[s] = logs[: n + 1].sum() + np.log(v[n, 0])


@kernel
def backward_sentences(
    sentences: Longs,
    tokens: Ints,
    starts: Longs,
    M: Models,
    best: bool,
    numbers: Stream,
    nodes: Ints,
    result: Floats,
) -> None:
    """A tree for each of some sentences; log P(sentence), or log P(tree, sentence) if ``best``."""
    longest, size = longest_of(sentences, starts), offset(M.fork.shape[0], M.fork.shape[1])
    v, logs = np.empty((longest + 1, size)), np.empty(longest + 1)
    steps = np.empty((longest, 5), dtype=np.int32)
    for s in sentences:
        n = starts[s + 1] - starts[s]
        words = tokens[starts[s] : starts[s + 1]]
        forward(words, M, best, v[: n + 1], logs[: n + 1])
        result[s] = logs[: n + 1].sum() + np.log(v[n, 0])
        if result[s] > -np.inf:
            backward(words, M, best, v[: n + 1], numbers, s, steps[:n])
            nodes_of(steps[:n], nodes[2 * starts[s] - s : 2 * starts[s + 1] - s - 1])


def decisions(M: Models, steps: Ints, words: Ints) -> float:
    """Log-probability of a store sequence and its words, decision by decision."""
    store: list[tuple[int, int]] = [(-1, 0)]  # T, row 0, awaits at depth 0
    total = 0.0
    with np.errstate(divide="ignore"):
        for (f, j, p, a, b), word in zip(steps.tolist(), words.tolist(), strict=True):
            d, y = len(store) - 1, store[-1][1]
            if d > len(M.fork) - 1:
                return -np.inf
            total += float(np.log(M.fork[d, y, f]))
            total += float(np.log(M.emission[word, p])) + float(M.log_scale[word])
            if f:
                total += float(np.log(M.preterminal[d, y, p]))
                finished = p
            else:
                finished = store.pop()[0]
                d, y = d - 1, store[-1][1]
            total += float(np.log(M.join[d, y, finished, j]))
            if j:
                awaited = b if d else 0
                total += float(np.log(M.bottom_right[d, y, finished, awaited]))
                store[-1] = (store[-1][0], awaited)
            else:
                total += float(np.log(M.top[d, y, finished, a]))
                total += float(np.log(M.bottom_left[d, a, finished, b]))
                store.append((a, b))
    return total
