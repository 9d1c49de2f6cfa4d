"""The left-corner parser: one grammar, one bound, any corpus, word by word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.levels import check_depth
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, Ints, Longs, kernel
from dbpcfg.numerics.philox import Stream, stream
from dbpcfg.parsing.derivations import Derivations, first_node
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
        self._longest_first(forward_sentences, corpus, logs)
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
        posterior = marginals(corpus.numbers(sentence), self.models)
        with np.errstate(divide="ignore"):
            whole = np.log(posterior[0, -1].sum(keepdims=True))
        check_parsable(self.grammar, corpus, whole, first=sentence)
        return posterior

    def log_derivation(self, nodes: Ints, words: Ints) -> float:
        """log P(tree, sentence): the sum over all decisions that build the tree."""
        return decisions(self.models, steps_of(nodes), words)

    def _forward(self, corpus: Encoded, sentence: int) -> tuple[Floats, Floats]:
        self._check(corpus)
        words = corpus.numbers(sentence)
        v, logs = np.empty((len(words) + 1, self.stores)), np.empty(len(words) + 1)
        forward(words, self.models, False, v, logs)
        return v, logs

    def _trees(self, corpus: Encoded, numbers: Stream, best: bool) -> tuple[Derivations, Floats]:
        drawn, logs = Derivations.empty(corpus), np.empty(len(corpus))
        self._longest_first(backward_sentences, corpus, best, numbers, drawn.nodes, logs)
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

        in_pieces(work, len(corpus), self.threads)

    def _check(self, corpus: Encoded) -> None:
        check_vocabulary(self.grammar, corpus)
        needed = 8 * self.stores * (int(corpus.lengths.max(initial=0)) + 1)
        if needed > MOST_BYTES:
            raise DbpcfgError(
                f"the left-corner parser would need {needed / 2**30:.0f} GiB for {self.stores:,} "
                f"stores ({self.grammar.categories} categories, depth {self.depth}); "
                "use the chart parser, or fewer categories, or a smaller depth"
            )


@kernel
def room_for(order: Longs, sentences: Sentences, M: Models) -> tuple[Floats, Floats, Ints]:
    """Room for the forward distributions, their logs and the steps of any of some sentences."""
    longest, size = 0, offset(M.fork.shape[0], M.fork.shape[1])
    for s in order:
        longest = max(longest, sentences.starts[s + 1] - sentences.starts[s])
    steps = np.empty((longest, 5), dtype=np.int32)
    return np.empty((longest + 1, size)), np.empty(longest + 1), steps


@kernel
def log_forward(words: Ints, M: Models, best: bool, v: Floats, logs: Floats) -> float:
    """``forward``; return log P(sentence), or log P(best tree, sentence) if ``best``."""
    n = len(words)
    forward(words, M, best, v[: n + 1], logs[: n + 1])
    return float(logs[: n + 1].sum() + np.log(v[n, 0]))


@kernel
def forward_sentences(order: Longs, sentences: Sentences, M: Models, result: Floats) -> None:
    """log P(sentence) of some sentences of a corpus into ``result[sentence]``."""
    tokens, starts = sentences
    v, logs, _ = room_for(order, sentences, M)
    for s in order:
        result[s] = log_forward(tokens[starts[s] : starts[s + 1]], M, False, v, logs)


@kernel
def backward_sentences(
    order: Longs,
    sentences: Sentences,
    M: Models,
    best: bool,
    numbers: Stream,
    nodes: Ints,
    result: Floats,
) -> None:
    """A tree for each of some sentences; log P(sentence), or log P(tree, sentence) if ``best``."""
    tokens, starts = sentences
    v, logs, steps = room_for(order, sentences, M)
    for s in order:
        words = tokens[starts[s] : starts[s + 1]]
        n = len(words)
        result[s] = log_forward(words, M, best, v, logs)
        if result[s] > -np.inf:
            backward(words, M, best, v[: n + 1], numbers, s, steps[:n])
            nodes_of(steps[:n], nodes[first_node(starts, s) : first_node(starts, s + 1)])


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
