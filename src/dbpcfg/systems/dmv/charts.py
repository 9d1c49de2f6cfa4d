"""The tables of the model, their estimates from counts, and the charts of a sentence.

**Inside**: the probability of a sentence, summed over its dependency trees. Head h has a left and a
right half, which are independent. A half is an item with two positions, h and the last word e that
it covers (Eisner 1996, Eisner and Satta 1999); the valence is not stored, because it is 0 if e = h
and 1 otherwise. For the right half (the left is its mirror image), with k a dependent of h::

    open(h,h)   = 1
    going(h,m)  = open(h,m) · continue(h, m≠h)
    closed(h,e) = open(h,e) · stop(h, e≠h)
    joined(h,k) = Σ_m going(h,m) · closed(k,m+1)        h ≤ m < k; the left half of k
    attach(h,k) = child(k|h) · joined(h,k)
    open(h,e)   = Σ_k attach(h,k) · closed(k,e)         h < k ≤ e; the right half of k
    Z           = Σ_r root(r) · closed(r,0) · closed(r,n-1)

which is O(n³).  Logarithms are stored, and sums are relative to their greatest term, so nothing
underflows, however long a sentence is.

**Outside**: the expected number of each decision in the dependency trees of a sentence. This pass
goes through the sums of the inside pass backwards. The *posterior* of an item is the expected
number of times that it is used; it is distributed over the terms of the item's sum in proportion to
them. Posteriors are between 0 and 1, so they are not logarithms, and they are the expected counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels, kernel

LEFT, RIGHT = 0, 1
"""Directions, from the head to the dependent."""
STOP, CONTINUE = 0, 1
"""Decisions."""


class Parameters(NamedTuple):
    """Probabilities; or, in the same form, counts."""

    root: Floats
    """``[t]``: the tag of the root."""
    decision: Floats
    """``[h, d, v, STOP or CONTINUE]``: v is 0 for a head without dependents in direction d."""
    child: Floats
    """``[h, d, c]``: the tag of a dependent."""


def no_counts(tags: int) -> Parameters:
    """Counts that are all 0."""
    return Parameters(np.zeros(tags), np.zeros((tags, 2, 2, 2)), np.zeros((tags, 2, tags)))


def normalise(counts: Floats) -> Floats:
    """Divide by the sums over the last index, in place; uniform where a sum is 0."""
    sums = counts.sum(axis=-1, keepdims=True)
    counts[sums[..., 0] <= 0] = 1.0
    sums[sums <= 0] = counts.shape[-1]
    counts /= sums
    return counts


def estimate(counts: Parameters, backoff: float) -> Parameters:
    """Turn expected counts into parameters, in place; ``backoff=0`` maximises the likelihood.

    With b = ``backoff``, child(c|h,d) is proportional to (1 − b) · count(h,d,c) + b · P(c|d), where
    P is the relative frequency among dependents of all heads.  Counts are not normalised first, so
    this adds b / (1 − b) pseudo-counts to every (h,d), 1.94 for b = 0.66; it does not interpolate
    probabilities, and the likelihood may fall.
    """
    if backoff:
        of_any_head = normalise(counts.child.sum(axis=0))
        counts.child[...] *= 1 - backoff
        counts.child[...] += backoff * of_any_head
    return Parameters(*map(normalise, counts))


FLOOR = float(np.exp(-10))
"""Added to probabilities before decoding."""


def for_decoding(parameters: Parameters) -> Parameters:
    """Parameters that make every tree possible; they do not sum to 1."""
    return Parameters(*(table + FLOOR for table in parameters))


class HeadChart(NamedTuple):
    """The items of a sentence, as logarithms; the arrays may be larger than needed."""

    opened: Floats
    """``[d, h, e]``."""
    going: Floats
    closed: Floats
    joined: Floats
    """``[h, k]``; the order of the two is the direction."""
    attach: Floats
    terms: Floats
    """The terms of the current sum."""


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
    """Fill the chart from narrow to wide items; return log Z, with its terms in ``chart.terms``."""
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
        halves = closed[LEFT, r, 0] + closed[RIGHT, r, n - 1]
        terms[r] = np.log(parameters.root[sentence[r]]) + halves
    return log_sum(terms, n)


class Posteriors(NamedTuple):
    """Posteriors of items, indexed as in the `HeadChart`."""

    going: Floats
    closed: Floats
    attach: Floats


@kernel
def expected_counts(
    tags: Longs, ends: Longs, weights: Floats, parameters: Parameters, counts: Parameters
) -> float:
    """Add the expected counts of all sentences to ``counts``; return their log-likelihood.

    ``tags`` has one sentence after another, ``ends`` their ends, ``weights`` their frequencies.  A
    sentence of probability zero adds nothing.
    """
    longest = start = 0
    for end in ends:
        longest = max(longest, end - start)
        start = end
    chart = empty_chart(longest)
    posteriors = Posteriors(
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
            _start(chart, posteriors, n, log_z)
            for r in range(n):
                counts.root[sentence[r]] += weights[s] * posteriors.closed[LEFT, r, 0]
            _fill_posteriors(chart, posteriors, n)
            _add(posteriors, sentence, weights[s], counts)
    return log_likelihood


@also_in_kernels
def _start(chart: HeadChart, posteriors: Posteriors, n: int, log_z: float) -> None:
    """Posteriors of the halves of roots; 0 for all other items."""
    posteriors.going[:, :n, :n] = 0.0
    posteriors.closed[:, :n, :n] = 0.0
    posteriors.attach[:n, :n] = 0.0
    for r in range(n):
        posterior = np.exp(chart.terms[r] - log_z)
        posteriors.closed[LEFT, r, 0] = posterior
        posteriors.closed[RIGHT, r, n - 1] = posterior


@also_in_kernels
def _fill_posteriors(chart: HeadChart, posteriors: Posteriors, n: int) -> None:
    """Fill in posteriors from wide to narrow items: open(h,e), then attach(h,k), on both sides."""
    going, closed, attach = chart.going, chart.closed, chart.attach
    for width in range(n - 1, 0, -1):
        for i in range(n - width):
            j = i + width
            posterior = posteriors.going[RIGHT, i, j] + posteriors.closed[RIGHT, i, j]
            if posterior > 0.0:
                log_total = chart.opened[RIGHT, i, j]
                for k in range(i + 1, j + 1):
                    share = posterior * np.exp(attach[i, k] + closed[RIGHT, k, j] - log_total)
                    posteriors.attach[i, k] += share
                    posteriors.closed[RIGHT, k, j] += share
            posterior = posteriors.going[LEFT, j, i] + posteriors.closed[LEFT, j, i]
            if posterior > 0.0:
                log_total = chart.opened[LEFT, j, i]
                for k in range(i, j):
                    share = posterior * np.exp(attach[j, k] + closed[LEFT, k, i] - log_total)
                    posteriors.attach[j, k] += share
                    posteriors.closed[LEFT, k, i] += share
            posterior = posteriors.attach[i, j]
            if posterior > 0.0:
                log_total = chart.joined[i, j]
                for m in range(i, j):
                    term = going[RIGHT, i, m] + closed[LEFT, j, m + 1]
                    share = posterior * np.exp(term - log_total)
                    posteriors.going[RIGHT, i, m] += share
                    posteriors.closed[LEFT, j, m + 1] += share
            posterior = posteriors.attach[j, i]
            if posterior > 0.0:
                log_total = chart.joined[j, i]
                for m in range(i, j):
                    term = closed[RIGHT, i, m] + going[LEFT, j, m + 1]
                    share = posterior * np.exp(term - log_total)
                    posteriors.closed[RIGHT, i, m] += share
                    posteriors.going[LEFT, j, m + 1] += share


@also_in_kernels
def _add(posteriors: Posteriors, sentence: Longs, weight: float, counts: Parameters) -> None:
    """Add the posteriors of a sentence to the counts."""
    n = len(sentence)
    for h in range(n):
        tag = sentence[h]
        for d in (LEFT, RIGHT):
            for e in range(0 if d == LEFT else h, h + 1 if d == LEFT else n):
                v = 0 if e == h else 1
                counts.decision[tag, d, v, STOP] += weight * posteriors.closed[d, h, e]
                counts.decision[tag, d, v, CONTINUE] += weight * posteriors.going[d, h, e]
                if v == 1:
                    counts.child[tag, d, sentence[e]] += weight * posteriors.attach[h, e]


TIE = 1e-9
"""Log probabilities that differ by no more are equal up to rounding."""


@kernel
def best_heads(tags: Longs, ends: Longs, parameters: Parameters) -> Longs:
    """The heads of all sentences, one after another, as positions in their sentence; −1 for roots.

    The recurrences are those of the inside pass, with maxima instead of sums.  Of equally probable
    choices the leftmost is taken: of roots, of positions of the outermost dependent of a half, and
    of boundaries between the halves of a head and a dependent.
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
    """The first of the n terms that is the greatest up to rounding."""
    best = 0
    for t in range(1, n):
        if terms[t] > terms[best] + TIE:
            best = t
    return best


@also_in_kernels
def _fill_best(
    chart: HeadChart, sentence: Longs, parameters: Parameters, outermost: Longs, boundary: Longs
) -> int:
    """Fill the chart with the best score of each item and its origin; return the root."""
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
        halves = closed[LEFT, r, 0] + closed[RIGHT, r, n - 1]
        terms[r] = np.log(parameters.root[sentence[r]]) + halves
    return _first_best(terms, n)


@also_in_kernels
def _read_heads(root: int, outermost: Longs, boundary: Longs, todo: Longs, heads: Longs) -> None:
    """Follow the choices from the root down; ``todo`` has halves as direction, head, end."""
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
