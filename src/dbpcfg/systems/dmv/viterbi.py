"""The most probable dependency tree of a sentence."""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels, kernel
from dbpcfg.systems.dmv.inside import HeadChart, empty_chart, set_half
from dbpcfg.systems.dmv.parameters import LEFT, RIGHT, Parameters

TIE = 1e-9
"""Logarithms of probabilities that differ by no more are the same but for rounding."""


@kernel
def best_heads(tags: Longs, ends: Longs, parameters: Parameters) -> Longs:
    """The heads of all sentences, one after the other, as positions in their sentence; −1: root.

    The recurrences are those of `inside`, with a maximum in place of each sum.  Of equally probable
    choices the first is taken: the leftmost root; in a half the leftmost position of its outermost
    dependent; between a head and a dependent the leftmost boundary of their halves.
    """
    longest = start = 0
    for end in ends:
        longest = max(longest, end - start)
        start = end
    chart = empty_chart(longest)
    outermost = np.zeros((2, longest, longest), dtype=np.int64)
    boundary = np.zeros((longest, longest), dtype=np.int64)
    heads = np.full(len(tags), -1, dtype=np.int64)
    todo = np.empty((2 * longest + 2, 3), dtype=np.int64)
    start = 0
    for end in ends:
        root = _fill_best(chart, tags[start:end], parameters, outermost, boundary)
        _read_heads(root, outermost, boundary, todo, heads[start:end])
        start = end
    return heads


@also_in_kernels
def _first_best(terms: Floats, n: int) -> int:
    """The first of the n terms that is greatest but for rounding."""
    best = 0
    for t in range(1, n):
        if terms[t] > terms[best] + TIE:
            best = t
    return best


@also_in_kernels
def _fill_best(
    chart: HeadChart, sentence: Longs, parameters: Parameters, outermost: Longs, boundary: Longs
) -> int:
    """Fill the chart with the best of each item, and where it comes from; the root."""
    n = len(sentence)
    decision, child = parameters.decision, parameters.child
    going, closed, attach, terms = chart.going, chart.closed, chart.attach, chart.terms
    for h in range(n):
        set_half(chart, decision, sentence[h], LEFT, h, h, 0.0)
        set_half(chart, decision, sentence[h], RIGHT, h, h, 0.0)
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            first, last = sentence[i], sentence[j]
            for m in range(i, j):
                terms[m - i] = going[RIGHT, i, m] + closed[LEFT, j, m + 1]
            best = _first_best(terms, width)
            boundary[i, j] = i + best
            attach[i, j] = terms[best] + np.log(child[first, RIGHT, last])
            for m in range(i, j):
                terms[m - i] = closed[RIGHT, i, m] + going[LEFT, j, m + 1]
            best = _first_best(terms, width)
            boundary[j, i] = i + best
            attach[j, i] = terms[best] + np.log(child[last, LEFT, first])
            for k in range(i + 1, j + 1):
                terms[k - i - 1] = attach[i, k] + closed[RIGHT, k, j]
            best = _first_best(terms, width)
            outermost[RIGHT, i, j] = i + 1 + best
            set_half(chart, decision, first, RIGHT, i, j, terms[best])
            for k in range(i, j):
                terms[k - i] = attach[j, k] + closed[LEFT, k, i]
            best = _first_best(terms, width)
            outermost[LEFT, j, i] = i + best
            set_half(chart, decision, last, LEFT, j, i, terms[best])
    for r in range(n):
        both = closed[LEFT, r, 0] + closed[RIGHT, r, n - 1]
        terms[r] = np.log(parameters.root[sentence[r]]) + both
    return _first_best(terms, n)


@also_in_kernels
def _read_heads(root: int, outermost: Longs, boundary: Longs, todo: Longs, heads: Longs) -> None:
    """Follow the choices from the root down; ``todo`` holds halves as direction, head, end."""
    heads[root] = -1
    todo[0] = (LEFT, root, 0)
    todo[1] = (RIGHT, root, len(heads) - 1)
    size = 2
    while size > 0:
        size -= 1
        d, h, e = todo[size]
        if e == h:
            continue
        k = outermost[d, h, e]
        heads[k] = h
        m = boundary[h, k]
        todo[size] = (d, k, e)  # beyond k, then between h and k
        todo[size + 1] = (1 - d, k, m + 1 if d == RIGHT else m)
        todo[size + 2] = (d, h, m if d == RIGHT else m + 1)
        size += 3
