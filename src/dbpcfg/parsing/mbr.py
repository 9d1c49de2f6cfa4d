"""Minimum-Bayes-risk (MBR) trees: the tree whose spans are expected to be right most often.

Given a weight for every span, its posterior probability or how many of the retained samples have
it, the tree of greatest total weight minimises the expected number of wrong spans (Goodman 1996).
It need not be the most probable tree, nor fit a depth bound that the weights came from.

Ties, common when weights are counts, go to the most even split; of two equally even ones to the
earlier if the span starts at an even position and else to the later. A rule such as "first split"
would hand right-branching trees to sentences about which nothing is known, and English would
reward that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.chart.parser import NEGLIGIBLE
from dbpcfg.parsing.derivations import Derivations, first_node
from dbpcfg.parsing.protocol import SpanParser
from dbpcfg.parsing.span_weights import first_cells
from dbpcfg.runtime.threads import in_pieces

GRAIN = 2.0**24
"""Weights are rounded to multiples of 1/GRAIN, so that the order of sums decides no tie."""


def mbr_trees(corpus: Encoded, weights: Floats | Ints, threads: int = 1) -> Derivations:
    """MBR trees of all sentences, given the weights of their labelled spans.

    ``weights``: ``[cell, c]``, laid out as in `dbpcfg.parsing.span_weights`; not negative. A span's
    weight is the sum over its labels, and its label the one of greatest weight.
    """
    trees, cells = Derivations.empty(corpus), first_cells(corpus)

    def work(first: int, last: int) -> None:
        heaviest_trees(first, last, corpus.starts, cells, weights, trees.nodes)

    in_pieces(work, len(corpus), threads)
    return trees


def summed_posteriors(
    charts: Sequence[SpanParser], corpus: Encoded, negligible: float = NEGLIGIBLE
) -> tuple[Floats, NDArray[np.bool_]]:
    """Posterior probabilities of labelled spans, summed over one or more grammars.

    MBR trees under the sum are those under the mean: no need to divide. A grammar that cannot
    yield a sentence is ignored for that sentence.

    ``negligible``: spans less probable than this under a grammar are pruned.
    ``weights``: ``[cell, c]``, laid out as in `dbpcfg.parsing.span_weights`.
    ``possible``: ``[sentence]``: whether any of the grammars can yield it.
    """
    weights, logs = charts[0].posteriors(corpus, negligible)
    possible = np.isfinite(logs)
    for chart in charts[1:]:
        more, logs = chart.posteriors(corpus, negligible)
        weights += more
        possible |= np.isfinite(logs)
    return weights, possible


@kernel
def heaviest_trees(
    first: int,
    last: int,
    starts: Longs,
    first_cell: Longs,
    weights: Floats | Ints,
    nodes: Ints,
) -> None:
    """``heaviest_tree`` of some sentences: a span gains the sum of its weights, and has the label
    of the greatest."""
    for s in range(first, last):
        n = starts[s + 1] - starts[s]
        gain, labels = np.zeros((n, n + 1)), np.zeros((n, n + 1), dtype=np.int64)
        cell = first_cell[s]
        for i in range(n):
            for j in range(i + 1, n + 1):
                total, greatest = 0.0, -1.0
                for c in range(weights.shape[1]):
                    total += weights[cell, c]
                    if weights[cell, c] > greatest:
                        greatest, labels[i, j] = weights[cell, c], c
                gain[i, j] = math.floor(total * GRAIN + 0.5) / GRAIN
                cell += 1
        heaviest_tree(gain, labels, nodes[first_node(starts, s) : first_node(starts, s + 1)])


@also_in_kernels
def heaviest_tree(gain: Floats, labels: Longs, nodes: Ints) -> float:
    """The binary tree of greatest total gain, into pre-order ``nodes``; return its gain::

    total(i,j) = gain(i,j) + max_k total(i,k) + total(k,j)
    """
    n = gain.shape[0]
    total = np.zeros((n + 1, n + 1))
    split = np.zeros((n + 1, n + 1), dtype=np.int64)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            best, best_tilt = 0.0 if width == 1 else -np.inf, width
            for k in range(i + 1, j):
                score, tilt = total[i, k] + total[k, j], abs(2 * k - i - j)
                more_even = tilt < best_tilt or (tilt == best_tilt and i % 2 == 1)
                if score > best or (score == best and more_even):
                    best, best_tilt, split[i, j] = score, tilt, k
            total[i, j] = gain[i, j] + best
    stack = np.empty((n + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    top, node = 1, 0
    while top:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = i, j, labels[i, j]
        node += 1
        if j - i > 1:
            stack[top, 0], stack[top, 1] = split[i, j], j
            stack[top + 1, 0], stack[top + 1, 1] = i, split[i, j]
            top += 2
    return float(total[0, n])
