"""Grammars of finite languages, and everything there is to know about them, tree by tree.

A category has only categories of higher numbers below it, so every derivation can be listed. What a
parser must think of a prefix is then a sum over a list.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.pcfg import Grammar
from tests.stores import steps_of

Store = tuple[tuple[int, int], ...]


def finite_grammar(K: int, W: int, seed: int) -> Grammar:
    """A random grammar whose rules c → a b have a, b > c."""
    rng = np.random.default_rng(seed)
    binary, lexical = np.zeros((K, K, K)), np.zeros((K, W))
    for c in range(K):
        row = rng.dirichlet(np.full((K - 1 - c) ** 2 + W, 0.7))
        lexical[c] = row[:W]
        binary[c, c + 1 :, c + 1 :] = row[W:].reshape(K - 1 - c, K - 1 - c)
    words = Vocabulary(tuple(f"w{w}" for w in range(W)))
    return Grammar(rng.dirichlet(np.ones(K)), binary, lexical, words)


def embedding_grammar() -> Grammar:
    """Up to three fragments at once: a (a (a … b) b), each pair with a way out."""
    K, W = 7, 2
    binary, lexical = np.zeros((K, K, K)), np.zeros((K, W))
    for c in range(0, 5, 2):  # c → 6 c+1, c+1 → c+2 6
        binary[c, 6, c + 1] = 0.6
        lexical[c] = 0.3, 0.1
        if c < 4:
            binary[c + 1, c + 2, 6] = 0.7
            lexical[c + 1] = 0.1, 0.2
        else:
            lexical[c + 1] = 0.5, 0.5
    lexical[6] = 0.4, 0.6
    return Grammar(np.eye(K)[0], binary, lexical, Vocabulary(("a", "b")))


@dataclass(frozen=True)
class Derivation:
    """A tree as the left-corner parser meets it; ``stores[t]`` is the store after t words."""

    probability: float
    words: tuple[int, ...]
    forks: tuple[int, ...]
    joins: tuple[int, ...]
    stores: tuple[Store, ...]


def derivations(grammar: Grammar, depth: int) -> list[Derivation]:
    """Every derivation that fits the bound; their probabilities sum to one."""
    found = []
    for c in np.flatnonzero(grammar.root).tolist():
        for probability, tree in _trees(grammar, c):
            nodes, words = _nodes(tree)
            steps = steps_of(np.array(nodes, dtype=np.int32)).tolist()
            stores = _stores(steps)
            if max(map(len, stores)) <= depth:
                forks, joins = [step[0] for step in steps], [step[1] for step in steps]
                joint = float(grammar.root[c]) * probability
                found.append(Derivation(joint, *map(tuple, (words, forks, joins, stores))))
    total = sum(one.probability for one in found)
    return [Derivation(d.probability / total, d.words, d.forks, d.joins, d.stores) for d in found]


def _trees(grammar: Grammar, c: int) -> Iterator[tuple[float, tuple]]:
    for w in np.flatnonzero(grammar.lexical[c]).tolist():
        yield float(grammar.lexical[c, w]), (c, w)
    for a, b in np.argwhere(grammar.binary[c]).tolist():
        rights = list(_trees(grammar, b))
        for p, left in _trees(grammar, a):
            for q, right in rights:
                yield float(grammar.binary[c, a, b]) * p * q, (c, left, right)


def _nodes(tree: tuple, start: int = 0) -> tuple[list[tuple[int, int, int]], list[int]]:
    if len(tree) == 2:
        return [(start, start + 1, tree[0])], [tree[1]]
    left, first = _nodes(tree[1], start)
    right, last = _nodes(tree[2], start + len(first))
    words = first + last
    return [(start, start + len(words), tree[0]), *left, *right], words


def _stores(steps: list[list[int]]) -> list[Store]:
    stores: list[Store] = [()]
    for fork, join, _, top, bottom in steps:
        store = list(stores[-1] if fork else stores[-1][:-1])
        if not join:
            store.append((top, bottom))
        elif store:
            store[-1] = (store[-1][0], bottom)
        stores.append(tuple(store))
    return stores


def entropy(probabilities) -> float:
    return -sum(p * math.log(p) for p in probabilities if p > 0)


class Truth:
    """What is known before word t of a sentence, and after it, from a list of derivations."""

    def __init__(self, listed: list[Derivation], words: tuple[int, ...], t: int) -> None:
        self.before = [d for d in listed if d.words[:t] == words[:t] and len(d.words) >= t]
        self.after = [d for d in self.before if d.words[t : t + 1] == words[t : t + 1]]
        self.t = t
        self.stores: dict = defaultdict(float)
        self.following: dict = defaultdict(float)
        mass = total(self.before)
        for d in self.before:
            self.stores[d.stores[t]] += d.probability / mass
            self.following[d.words[t] if len(d.words) > t else None] += d.probability / mass

    def closed(self, depth: int) -> list[float]:
        """For each d, the probability that fragment d ends and joins the one above it."""
        ends = [d for d in self.after if d.joins[self.t] and not d.forks[self.t]]
        return [
            total(d for d in ends if len(d.stores[self.t]) == n) / total(self.after)
            for n in range(depth + 1)
        ]

    def share(self, decision: str) -> float:
        yes = [d for d in self.after if getattr(d, decision)[self.t]]
        return total(yes) / total(self.after)


def total(listed) -> float:
    return sum(d.probability for d in listed)


def sentences_of(listed: list[Derivation]) -> list[tuple[int, ...]]:
    return sorted({d.words for d in listed})
