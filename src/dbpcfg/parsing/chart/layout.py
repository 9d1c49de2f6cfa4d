"""The memory layout of charts.

``cells[level, cell]`` is the vector over categories of one span on one level (for levels see
``grammar.bounding``). Left children are on even levels and right children on odd ones, and the sum
over split points k of a span (i,j) runs over left children (i,k) and right children (k,j). So on
even levels spans with the same start are contiguous, on odd levels spans with the same end: both
operands of the sum are contiguous blocks.

Without a bound (``depth`` 0 in the kernels) there are two levels with the same numbers, one in each
order.

**Scaling.** A word's probabilities are divided by the greatest of them (``Tables.emission``), so
that only long sentences can underflow or overflow: each cell has an exponent of two, which is 0 as
long as the cell's greatest entry is between 2⁻⁴⁰⁰ and 2⁴⁰⁰. Scaling by powers of two is exact. The
terms of a sum are products of two cells, so a term more than 2⁻²⁰⁰ times smaller than the greatest
may be lost. In single precision the range is 2⁻⁴⁰ to 2⁴⁰, and the power 2⁻⁶⁰; to keep sentences of
some length within this range, words' probabilities are multiplied by the factor by which a word
usually decreases the cells.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.bounding import is_right, left_child, right_child
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.numerics.kernels import (
    Bytes,
    Floats,
    Ints,
    Longs,
    also_in_kernels,
    kernel,
    part_of_kernel,
)
from dbpcfg.numerics.simd import in_panels

EMPTY = -(2**30)
"""Exponent of a cell whose entries are all zero."""

LIMIT, LIMIT_SINGLE = 2.0**400, 2.0**40
"""The greatest entry of a cell is between the inverse of this and this."""

NOTHING_CROSSES: Bytes = np.zeros(0, dtype=np.uint8)
"""The value of ``crossing`` if there are no brackets."""

MAX_KEPT = 2**23
"""The most rules of a low-rank grammar whose logarithms are computed at once: 64 MB."""

ROUNDING = 1e-9
"""An upper limit for errors of logarithms."""

Precision = Literal["double", "single"]


class Tables(NamedTuple):
    """A grammar and its bound, laid out for the chart's kernels.

    K may be greater than the grammar's: impossible categories are added to fill vector registers.
    """

    root: Floats  # [c]            π
    binary: Floats  # [c, a, b]    G[c → a b]
    by_parent: Floats  # [c, ab]   the same, to be multiplied from the left by vectors over c
    by_children: Floats  # [ab, c] its transpose, to be multiplied by sums over split points
    by_right: Floats  # [c, ba]    G[c → a b] once more, to be multiplied by vectors over b
    by_sides: Floats  # [cb, a]    the same, to be multiplied by sums over c and b
    by_left: Floats  # [a, bc]     to be multiplied by a word's vector over a; ``in_panels``
    by_left_child: Floats  # [a, cb]  the same, c before b
    emission: Floats  # [w, c]     G[c → w] / scale
    log_scale: Floats  # [w]       log max_c G[c → w]; −∞ for a word no category emits
    depth: int  # the bound D; 0 for no bound


class Logs(NamedTuple):
    """The logarithms of a grammar, and its bound.

    A low-rank grammar has its factors, and logarithms of rules only if there are not too many.
    """

    root: Floats  # [c]
    binary: Floats  # [c, a, b]  of all c, of phrases, or empty
    parent: Floats  # [c, r]     u of phrases, or empty
    left: Floats  # [a, r]       v
    right: Floats  # [b, r]      w
    lexical: Floats  # [w, c]
    limits: Floats  # [a, b]     at least log max_c G[c → a b]
    depth: int


def padded(categories: int) -> int:
    """The number of categories in the kernels: enough to fill vector registers."""
    return 4 if categories <= 4 else -8 * (-categories // 8)


def tables(grammar: RuleWeights, depth: int, precision: Precision = "double") -> Tables:
    """Lay a grammar out for the kernels.

    ``grammar``: G, without a bound; or weights of its rules.
    ``depth``: the bound D; 0 for no bound.
    ``precision``: ``"double"`` or ``"single"``; ``log_scale`` is double in either.
    """
    K = padded(grammar.categories)
    padding = (0, K - grammar.categories)
    scale = grammar.lexical.max(axis=0)
    emission = np.divide(
        grammar.lexical, scale, out=np.zeros_like(grammar.lexical), where=scale > 0
    )
    with np.errstate(divide="ignore"):
        log_scale = np.log(scale)
    number = np.float64 if precision == "double" else np.float32
    binary = np.pad(grammar.binary.astype(number, copy=False), (padding, padding, padding))
    by_right = np.ascontiguousarray(binary.transpose(0, 2, 1))
    by_left = np.ascontiguousarray(binary.transpose(1, 2, 0).reshape(K, K * K))
    vectors = np.pad(emission, (padding, (0, 0))).T
    return Tables(
        root=np.pad(grammar.root, padding).astype(number, copy=False),
        binary=binary,
        by_parent=binary.reshape(K, K * K),
        by_children=np.ascontiguousarray(binary.reshape(K, K * K).T),
        by_right=by_right.reshape(K, K * K),
        by_sides=by_right.reshape(K * K, K),
        by_left=in_panels(by_left),
        by_left_child=np.ascontiguousarray(binary.transpose(1, 0, 2).reshape(K, K * K)),
        emission=np.ascontiguousarray(vectors, number),
        log_scale=log_scale,
        depth=depth,
    )


def shifted(G: Tables, bits: int) -> Tables:
    """Multiply words' probabilities by a power of two, and divide their scales by it."""
    return G._replace(
        emission=np.ldexp(G.emission, bits), log_scale=G.log_scale - bits * math.log(2.0)
    )


def logarithms(grammar: RuleWeights, depth: int | None) -> Logs:
    """The logarithms of a grammar, or of weights of rules; no bound if ``depth`` is None."""
    parent = left = right = np.empty((0, 0))
    with np.errstate(divide="ignore"):
        if isinstance(grammar, LowRankGrammar):
            _, parent, left, right, _ = grammar.factors
            parents = parent if len(parent) * len(left) ** 2 <= MAX_KEPT else parent[:0]
            products = np.array([u * left @ right.T for u in parents])
            binary = np.log(products.reshape(len(parents), len(left), len(left)))
            limits = np.log(parent.max(axis=0) * left @ right.T) + ROUNDING
        else:
            binary = np.log(grammar.binary)
        if len(binary):
            limits = binary.max(axis=0)
        root, lexical = np.log(grammar.root), np.ascontiguousarray(np.log(grammar.lexical).T)
    return Logs(root, binary, parent, left, right, lexical, limits, depth or 0)


@part_of_kernel
def log_rule(G: Logs, c: int, a: int, b: int) -> float:
    """log G[c → a b]."""
    if len(G.binary):
        return float(G.binary[c, a, b]) if c < len(G.binary) else -np.inf
    total = 0.0
    if c < len(G.parent):
        for r in range(G.parent.shape[1]):
            total += G.parent[c, r] * G.left[a, r] * G.right[b, r]
    return math.log(total) if total > 0.0 else -np.inf


@also_in_kernels
def chart_levels(depth: int) -> int:
    """The number of levels in a chart, not counting (L,D+1), which is always a word."""
    return 2 * depth if depth else 2


@also_in_kernels
def left_below(level: int, depth: int) -> int:
    """The level of the left child; 2 · depth, which is not in the chart, if it must be a word."""
    return left_child(level) if depth else 0


@also_in_kernels
def right_below(level: int, depth: int) -> int:
    """The level of the right child."""
    return right_child(level) if depth else 1


@also_in_kernels
def cell_count(n: int) -> int:
    """The number of spans of a sentence of n words."""
    return n * (n + 1) // 2


@also_in_kernels
def left_cell(n: int, i: int, k: int) -> int:
    """The cell of span (i,k) on an even level: spans with one start together, shortest first."""
    return (n - i) * (n - i - 1) // 2 + k - i - 1


@also_in_kernels
def right_cell(k: int, j: int) -> int:
    """The cell of span (k,j) on an odd level: spans with one end together, longest first."""
    return j * (j - 1) // 2 + k


@also_in_kernels
def cell_of(n: int, level: int, i: int, j: int) -> int:
    """The cell of span (i,j) on any level."""
    return right_cell(i, j) if is_right(level) else left_cell(n, i, j)


@also_in_kernels
def beginnings(level: int, depth: int, n: int, width: int) -> range:
    """The starts of spans of a width; with a bound, only those of (L,1) start at word 0."""
    if depth and level == 0:
        return range(0, 1)
    return range(1 if depth else 0, n - width + 1)


def crossing(corpus: Encoded, sentences: Longs) -> Bytes:
    """Mark the spans of some sentences that cross a bracket, or are known not to be constituents.

    A binary tree has a bracket if and only if no span crosses it (Pereira and Schabes 1992).

    Returns 0 or 1 in ``right_cell`` of each span, sentence after sentence; an empty array if the
    sentences have no brackets.
    """
    brackets = corpus.brackets_of(sentences)
    if brackets is None:
        return NOTHING_CROSSES
    lengths = corpus.lengths[sentences]
    first = np.concatenate([[0], np.cumsum(lengths * (lengths + 1) // 2)])
    crossed = np.zeros(int(first[-1]), dtype=np.uint8)
    cross(brackets, lengths, first, crossed)
    return crossed


@kernel
def cross(brackets: Ints, lengths: Longs, first: Longs, crossed: Bytes) -> None:
    """Mark the spans that cross each bracket from the left or from the right."""
    for row in range(len(brackets)):
        s, start, end = brackets[row, 0], brackets[row, 1], brackets[row, 2]
        if end < start:
            crossed[first[s] + right_cell(end, start)] = 1
            continue
        for i in range(start):
            for j in range(start + 1, end):
                crossed[first[s] + right_cell(i, j)] = 1
        for i in range(start + 1, end):
            for j in range(end + 1, lengths[s] + 1):
                crossed[first[s] + right_cell(i, j)] = 1


@also_in_kernels
def size_limit(numbers: Floats) -> float:
    """The limit of a cell's greatest entry; its inverse is the lower limit."""
    return LIMIT if numbers.itemsize == 8 else LIMIT_SINGLE


@also_in_kernels
def rescale_cell(vector: Floats, exponent: int) -> int:
    """Scale a cell that is too small or too large; return its exponent."""
    greatest = 0.0
    for c in range(len(vector)):
        greatest = max(greatest, vector[c])
    if greatest == 0.0:
        return EMPTY
    if 1 / size_limit(vector) <= greatest <= size_limit(vector):
        return exponent
    _, shift = math.frexp(greatest)
    for c in range(len(vector)):
        vector[c] = math.ldexp(vector[c], -shift)
    return exponent + shift
