"""How often each decision is expected, over all dependency trees of a sentence.

The outside pass runs over the sums of `inside` backwards, and has the *posterior* of every item,
the expected number of times that it is used: an item passes its own on to the terms of its sum in
proportion to them.  Posteriors of a sentence lie between 0 and 1, so they are not logarithms, and
they are the expected counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels, kernel
from dbpcfg.systems.dmv.inside import HeadChart, empty_chart, fill_inside
from dbpcfg.systems.dmv.parameters import CONTINUE, LEFT, RIGHT, STOP, Parameters


class Posteriors(NamedTuple):
    """Posteriors of items, indexed as in the `HeadChart`."""

    going: Floats
    closed: Floats
    attach: Floats


@kernel
def expected_counts(
    tags: Longs, ends: Longs, weights: Floats, parameters: Parameters, counts: Parameters
) -> float:
    """Add the expected counts of all sentences to ``counts``; their log-likelihood.

    ``tags`` holds one sentence after the other, ``ends`` where each ends, ``weights`` how often it
    occurs.  A sentence that no tree can generate adds nothing.
    """
    longest = start = 0
    for end in ends:
        longest = max(longest, end - start)
        start = end
    chart = empty_chart(longest)
    of = Posteriors(
        np.empty((2, longest, longest)),
        np.empty((2, longest, longest)),
        np.empty((longest, longest)),
    )
    log_likelihood = 0.0
    start = 0
    for s in range(len(ends)):
        sentence = tags[start : ends[s]]
        start = ends[s]
        log_z = fill_inside(chart, sentence, parameters)
        log_likelihood += weights[s] * log_z
        if log_z > -np.inf:
            n = len(sentence)
            _start(chart, of, n, log_z)
            for r in range(n):
                counts.root[sentence[r]] += weights[s] * of.closed[LEFT, r, 0]
            _fill_posteriors(chart, of, n)
            _add(of, sentence, weights[s], counts)
    return log_likelihood


@also_in_kernels
def _start(chart: HeadChart, of: Posteriors, n: int, log_z: float) -> None:
    """Posteriors of the halves of roots; 0 for all other items."""
    of.going[:, :n, :n] = 0.0
    of.closed[:, :n, :n] = 0.0
    of.attach[:n, :n] = 0.0
    for r in range(n):
        posterior = np.exp(chart.terms[r] - log_z)
        of.closed[LEFT, r, 0] = posterior
        of.closed[RIGHT, r, n - 1] = posterior


@also_in_kernels
def _fill_posteriors(chart: HeadChart, of: Posteriors, n: int) -> None:
    """From wide to narrow items: open(h,e), then attach(h,k), to both sides."""
    going, closed, attach = chart.going, chart.closed, chart.attach
    for width in range(n - 1, 0, -1):
        for i in range(n - width):
            j = i + width
            posterior = of.going[RIGHT, i, j] + of.closed[RIGHT, i, j]
            if posterior > 0.0:
                whole = chart.opened[RIGHT, i, j]
                for k in range(i + 1, j + 1):
                    share = posterior * np.exp(attach[i, k] + closed[RIGHT, k, j] - whole)
                    of.attach[i, k] += share
                    of.closed[RIGHT, k, j] += share
            posterior = of.going[LEFT, j, i] + of.closed[LEFT, j, i]
            if posterior > 0.0:
                whole = chart.opened[LEFT, j, i]
                for k in range(i, j):
                    share = posterior * np.exp(attach[j, k] + closed[LEFT, k, i] - whole)
                    of.attach[j, k] += share
                    of.closed[LEFT, k, i] += share
            posterior = of.attach[i, j]
            if posterior > 0.0:
                whole = chart.joined[i, j]
                for m in range(i, j):
                    term = going[RIGHT, i, m] + closed[LEFT, j, m + 1]
                    share = posterior * np.exp(term - whole)
                    of.going[RIGHT, i, m] += share
                    of.closed[LEFT, j, m + 1] += share
            posterior = of.attach[j, i]
            if posterior > 0.0:
                whole = chart.joined[j, i]
                for m in range(i, j):
                    term = closed[RIGHT, i, m] + going[LEFT, j, m + 1]
                    share = posterior * np.exp(term - whole)
                    of.closed[RIGHT, i, m] += share
                    of.going[LEFT, j, m + 1] += share


@also_in_kernels
def _add(of: Posteriors, sentence: Longs, weight: float, counts: Parameters) -> None:
    """Add the posteriors of a sentence to the counts."""
    n = len(sentence)
    for h in range(n):
        tag = sentence[h]
        for d in (LEFT, RIGHT):
            for e in range(0 if d == LEFT else h, h + 1 if d == LEFT else n):
                v = 0 if e == h else 1
                counts.decision[tag, d, v, STOP] += weight * of.closed[d, h, e]
                counts.decision[tag, d, v, CONTINUE] += weight * of.going[d, h, e]
                if v == 1:
                    counts.child[tag, d, sentence[e]] += weight * of.attach[h, e]
