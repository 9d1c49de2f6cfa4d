"""Methods of parsing a corpus: MBR trees, the most probable trees, the N best, samples.

Each gives one array ``[tree, node, 3]`` for every sentence (see ``derivations`` for nodes), works
on several threads, and gives a sentence the same trees whatever stands around it. A sentence of
probability zero raises an `UnparsableError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import UnparsableError
from dbpcfg.io.machine import in_pieces
from dbpcfg.numerics.kernels import Ints
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.layout import Logs
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import mbr_trees, summed_posteriors
from dbpcfg.parsing.nbest import best_trees
from dbpcfg.parsing.protocol import SpanParser

NEGLIGIBLE = 3e-3
"""Posterior probability of a span below which MBR prunes it."""
_NO_CHAIN = 2**24 - 1
"""Random numbers of a chain that no run has: those of the others drew the run's own trees."""


def mbr(charts: Sequence[SpanParser], corpus: Encoded, threads: int) -> list[Ints]:
    """The MBR tree under the mean of the posteriors of one or more grammars.

    A grammar that cannot yield a sentence is ignored for that sentence. Spans less probable than
    ``NEGLIGIBLE`` are pruned, which changes one node in some hundreds.
    """
    weights, possible = summed_posteriors(charts, corpus, NEGLIGIBLE)
    if not possible.all():
        raise _impossible(int(np.argmin(possible)))
    return _one_each(mbr_trees(corpus, weights, threads))


def viterbi(chart: ChartParser, corpus: Encoded) -> list[Ints]:
    """The most probable tree."""
    return _one_each(chart.best(corpus)[0])


def n_best(logs: Logs, corpus: Encoded, n: int, threads: int) -> list[Ints]:
    """The n most probable trees, best first, or as many as there are."""

    def choose(s: int) -> Ints:
        nodes, _ = best_trees(corpus.numbers(s), logs, n)
        if not len(nodes):
            raise _impossible(s)
        return nodes

    return _each(corpus, threads, choose)


def samples(
    chart: ChartParser, corpus: Encoded, n: int, seed: int, numbers: Sequence[int], threads: int
) -> list[Ints]:
    """n trees from the posterior: those of n copies of the sentence, which share a chart.

    ``numbers``: A number for each sentence, which its random numbers depend on.
    """

    def choose(s: int) -> Ints:
        copies = Encoded(
            np.tile(corpus.numbers(s), n),
            np.arange(n + 1, dtype=np.int64) * corpus.lengths[s],
            corpus.vocabulary,
        )
        drawn: Derivations = chart.sample(copies, stream(seed, _NO_CHAIN, numbers[s]))[0]
        return drawn.nodes.reshape(n, -1, 3)

    return _each(corpus, threads, choose)


def _one_each(trees: Derivations) -> list[Ints]:
    return [trees[s][np.newaxis] for s in range(len(trees))]


def _each(corpus: Encoded, threads: int, choose: Callable[[int], Ints]) -> list[Ints]:
    """Choose for one sentence after another, longest first."""
    order = np.argsort(-corpus.lengths, kind="stable").tolist()
    chosen: list[Ints] = [np.empty(0, dtype=np.int32)] * len(corpus)

    def work(first: int, last: int) -> None:
        for s in order[first:last]:
            chosen[s] = choose(s)

    in_pieces(work, len(corpus), threads)
    return chosen


def _impossible(s: int) -> UnparsableError:
    return UnparsableError(f"sentence {s + 1} has probability zero")
