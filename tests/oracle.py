"""Brute force: every labelled binary tree of a sentence, one by one.

Nothing here is clever, and nothing is shared with the package but the grammar's arrays: shapes are
listed recursively, sides and depths are read off the definition, labels are all of K^(2n−1).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from dbpcfg.grammar.pcfg import Grammar, RuleWeights

Shape = tuple  # (start, end) for a word, (start, end, left, right) for a phrase
Brackets = Sequence[tuple[int, int]]


@cache
def shapes(i: int, j: int) -> tuple[Shape, ...]:
    """Every binary bracketing of words i to j − 1."""
    if j - i == 1:
        return ((i, j),)
    return tuple(
        (i, j, left, right)
        for k in range(i + 1, j)
        for left in shapes(i, k)
        for right in shapes(k, j)
    )


def depth_needed(shape: Shape, side: str = "L", depth: int = 1) -> int:
    """The deepest right node: children of (L,d) are (L,d), (R,d); of (R,d), (L,d+1), (R,d)."""
    here = depth if side == "R" else 1
    if len(shape) == 2:
        return here
    left = depth_needed(shape[2], "L", depth if side == "L" else depth + 1)
    return max(here, left, depth_needed(shape[3], "R", depth))


def preorder(shape: Shape) -> list[Shape]:
    if len(shape) == 2:
        return [shape]
    return [shape, *preorder(shape[2]), *preorder(shape[3])]


@cache
def labelings(K: int, nodes: int) -> np.ndarray:
    """Every assignment of K labels to so many nodes, one in a row."""
    grid = np.indices((K,) * nodes, dtype=np.int8)
    return grid.reshape(nodes, -1).T


@dataclass
class Bracketing:
    """All labelled trees of one shape: row r of ``labels`` has weight ``weights[r]``."""

    spans: list[tuple[int, int]]
    labels: np.ndarray
    weights: np.ndarray

    def nodes(self, row: int) -> np.ndarray:
        return np.array(
            [(i, j, c) for (i, j), c in zip(self.spans, self.labels[row].tolist(), strict=True)],
            dtype=np.int32,
        )


def all_trees(
    grammar: Grammar, words: list[int], depth: int | None, brackets: Brackets = ()
) -> Iterator[Bracketing]:
    """Every tree that fits the bound and has the brackets, with the product of its rules.

    A bracket that ends before it begins is one that trees do not have.
    """
    n, K = len(words), grammar.categories
    wanted = {(i, j) for i, j in brackets if i < j}
    unwanted = {(i, j) for j, i in brackets if i < j}
    for shape in shapes(0, n):
        if depth is not None and depth_needed(shape) > depth:
            continue
        order = preorder(shape)
        spans = {node[:2] for node in order}
        if not wanted <= spans or unwanted & spans:
            continue
        number = {id(node): t for t, node in enumerate(order)}
        labels = labelings(K, len(order))
        weights = grammar.root[labels[:, 0]]
        for t, node in enumerate(order):
            if len(node) == 2:
                weights = weights * grammar.lexical[labels[:, t], words[node[0]]]
            else:
                a, b = labels[:, number[id(node[2])]], labels[:, number[id(node[3])]]
                weights = weights * grammar.binary[labels[:, t], a, b]
        yield Bracketing([node[:2] for node in order], labels, weights)


@dataclass
class Truth:
    """What all parsers must find for one sentence; before division by the fitting mass."""

    total: float
    best: float
    best_is_unique: bool
    best_nodes: np.ndarray
    marginals: np.ndarray
    bracketings: list[Bracketing]

    def posterior(self) -> dict[bytes, float]:
        """Posterior probability of every tree, keyed by the bytes of its nodes."""
        return {
            b.nodes(row).tobytes(): b.weights[row] / self.total
            for b in self.bracketings
            for row in np.flatnonzero(b.weights > 0)
        }

    def add_counts(self, words: list[int], times: float, counts: RuleWeights) -> None:
        """Add how often each rule is expected, so many times."""
        for b in self.bracketings:
            weights = times * b.weights / self.total
            np.add.at(counts.root, b.labels[:, 0], weights)
            for t, (i, j) in enumerate(b.spans):
                c = b.labels[:, t]
                if j - i == 1:
                    np.add.at(counts.lexical[:, words[i]], c, weights)
                else:
                    right = t + 2 * (b.spans[t + 1][1] - i)
                    np.add.at(counts.binary, (c, b.labels[:, t + 1], b.labels[:, right]), weights)


def truth(grammar: Grammar, words: list[int], depth: int | None, brackets: Brackets = ()) -> Truth:
    n, K = len(words), grammar.categories
    bracketings = list(all_trees(grammar, words, depth, brackets))
    total = sum(b.weights.sum() for b in bracketings)
    marginals = np.zeros((n, n + 1, K))
    for b in bracketings:
        for t, (i, j) in enumerate(b.spans):
            marginals[i, j] += np.bincount(b.labels[:, t], weights=b.weights, minlength=K)
    best = max(b.weights.max() for b in bracketings)
    winner = next(b for b in bracketings if b.weights.max() == best)
    close = sum(int((b.weights > best * (1 - 1e-9)).sum()) for b in bracketings)
    return Truth(
        total=total,
        best=best,
        best_is_unique=close == 1,
        best_nodes=winner.nodes(int(winner.weights.argmax())),
        marginals=marginals / total if total > 0 else marginals,
        bracketings=bracketings,
    )


def containment_by_iteration(grammar: Grammar, depth: int, iterations: int = 20) -> np.ndarray:
    """h^(I), the paper's own approximation of h by I terms; levels (L,1), (R,1), (L,2), …"""
    lex = grammar.lexical.sum(axis=1)
    h = np.zeros((2 * depth + 1, grammar.categories))
    for _ in range(iterations):
        previous = h.copy()
        h[-1] = lex
        for d in range(1, depth + 1):
            L, R, below = 2 * d - 2, 2 * d - 1, 2 * d
            for level, left in ((L, L), (R, below)):
                h[level] = lex + grammar.binary @ previous[R] @ previous[left]
        if (h == previous).all():  # and so it stays
            break
    return h


def mbr_tree(weights: np.ndarray) -> np.ndarray:
    """Pre-order nodes of the tree of greatest total weight, for ``weights[i, j, c]``.

    Among equals the most even split wins, then the earlier one in spans that start at an even
    position and the later one in others. Weights are rounded to 2^−24, as in the package.
    """
    gain = np.floor(weights.sum(axis=2) * 2.0**24 + 0.5)

    @cache
    def total(i: int, j: int) -> float:
        below = max((total(i, k) + total(k, j) for k in range(i + 1, j)), default=0.0)
        return float(gain[i, j]) + below

    def nodes(i: int, j: int) -> list[tuple[int, int, int]]:
        here = (i, j, int(weights[i, j].argmax()))
        if j - i == 1:
            return [here]
        k = min(
            range(i + 1, j),
            key=lambda k: (
                -total(i, k) - total(k, j),
                abs((k - i) - (j - k)),
                k if i % 2 == 0 else -k,
            ),
        )
        return [here, *nodes(i, k), *nodes(k, j)]

    return np.array(nodes(0, len(weights)), dtype=np.int32)


def all_sentences(words: int, length: int) -> list[tuple[int, ...]]:
    return list(product(range(words), repeat=length))


def log_probability(grammar: Grammar, counts: RuleWeights) -> float:
    """Log-probability of derivations that use these rules, without any bound."""
    total = 0.0
    for name in ("root", "binary", "lexical"):
        used = getattr(counts, name) > 0
        with np.errstate(divide="ignore"):
            logs = np.log(getattr(grammar, name)[used])
        total += float(getattr(counts, name)[used] @ logs)
    return total
