"""The probability of a sentence, over all its dependency trees.

Head h has a left and a right half, which are independent.  A half is an item with two positions, h
and the last word e that it covers (Eisner 1996, Eisner and Satta 1999); its valence need not be
stored, because it is 0 if e = h and 1 otherwise.  For the right half (the left is its mirror
image), with k a dependent of h::

    open(h,h)   = 1
    going(h,m)  = open(h,m) · continue(h, m≠h)
    closed(h,e) = open(h,e) · stop(h, e≠h)
    joined(h,k) = Σ_m going(h,m) · closed(k,m+1)        h ≤ m < k; the left half of k
    attach(h,k) = child(k|h) · joined(h,k)
    open(h,e)   = Σ_k attach(h,k) · closed(k,e)         h < k ≤ e; the right half of k
    Z           = Σ_r root(r) · closed(r,0) · closed(r,n-1)

which is O(n³).  Logarithms are stored, and sums are taken relative to their greatest term, so
nothing underflows, however long a sentence is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels
from dbpcfg.systems.dmv.parameters import CONTINUE, LEFT, RIGHT, STOP, Parameters


class HeadChart(NamedTuple):
    """The items of a sentence, as logarithms; room for at least its words."""

    opened: Floats
    """``[d, h, e]``."""
    going: Floats
    closed: Floats
    joined: Floats
    """``[h, k]``; the order of the two is the direction."""
    attach: Floats
    terms: Floats
    """Of the sum at hand."""


@also_in_kernels
def empty_chart(n: int) -> HeadChart:
    """Room for n words."""
    halves, pairs = (2, n, n), (n, n)
    return HeadChart(
        np.empty(halves), np.empty(halves), np.empty(halves),
        np.empty(pairs), np.empty(pairs), np.empty(n),
    )  # fmt: skip


@also_in_kernels
def log_sum(terms: Floats, n: int) -> float:
    """The logarithm of the sum of the first n exponentials."""
    greatest = -np.inf
    for t in range(n):
        greatest = max(greatest, terms[t])
    if greatest == -np.inf:
        return -np.inf
    total = 0.0
    for t in range(n):
        total += np.exp(terms[t] - greatest)
    return float(greatest + np.log(total))


@also_in_kernels
def set_half(
    chart: HeadChart, decision: Floats, tag: int, d: int, h: int, e: int, value: float
) -> None:
    """Store open(h,e), and the items after either decision."""
    v = 0 if e == h else 1
    chart.opened[d, h, e] = value
    chart.going[d, h, e] = value + np.log(decision[tag, d, v, CONTINUE])
    chart.closed[d, h, e] = value + np.log(decision[tag, d, v, STOP])


@also_in_kernels
def fill_inside(chart: HeadChart, sentence: Longs, parameters: Parameters) -> float:
    """Fill the chart from narrow to wide items; log Z.  ``chart.terms`` are left as those of Z."""
    n = len(sentence)
    decision, child = parameters.decision, parameters.child
    going, closed, terms = chart.going, chart.closed, chart.terms
    for h in range(n):
        set_half(chart, decision, sentence[h], LEFT, h, h, 0.0)
        set_half(chart, decision, sentence[h], RIGHT, h, h, 0.0)
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            first, last = sentence[i], sentence[j]
            for m in range(i, j):
                terms[m - i] = going[RIGHT, i, m] + closed[LEFT, j, m + 1]
            chart.joined[i, j] = log_sum(terms, width)
            chart.attach[i, j] = chart.joined[i, j] + np.log(child[first, RIGHT, last])
            for m in range(i, j):
                terms[m - i] = closed[RIGHT, i, m] + going[LEFT, j, m + 1]
            chart.joined[j, i] = log_sum(terms, width)
            chart.attach[j, i] = chart.joined[j, i] + np.log(child[last, LEFT, first])
            for k in range(i + 1, j + 1):
                terms[k - i - 1] = chart.attach[i, k] + closed[RIGHT, k, j]
            set_half(chart, decision, first, RIGHT, i, j, log_sum(terms, width))
            for k in range(i, j):
                terms[k - i] = chart.attach[j, k] + closed[LEFT, k, i]
            set_half(chart, decision, last, LEFT, j, i, log_sum(terms, width))
    for r in range(n):
        both = closed[LEFT, r, 0] + closed[RIGHT, r, n - 1]
        terms[r] = np.log(parameters.root[sentence[r]]) + both
    return log_sum(terms, n)
