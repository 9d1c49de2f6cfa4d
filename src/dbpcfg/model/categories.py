"""How a learned grammar uses its categories: the numbers behind ``show`` and the report.

Two things can be said of how often a category is used on each side and depth. *Expected* is what
the grammar would do by itself, exactly (``grammar.usage``). *Counted* is what it did: the mean over
the trees of a run. Levels number (L,1), (R,1), (L,2), … as in ``grammar.levels``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.meanings import Meanings
from dbpcfg.grammar.bounding import bounded_root, containment, fitting_mass
from dbpcfg.grammar.levels import left_child, right_child
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.usage import expected_depths, expected_use
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.numerics.kernels import Floats
from dbpcfg.trees.tree import Tree

__all__ = ["Profile", "Use", "profile"]


@dataclass(frozen=True, eq=False)
class Use:
    """How often categories are used in a sentence, on average."""

    nodes: Floats
    """[level, c]"""
    words: Floats
    """[level, c]: those that are words."""

    @property
    def share(self) -> Floats:
        """[c]: the share of each category among all nodes."""
        share: Floats = self.nodes.sum(axis=0) / self.nodes.sum()
        return share

    @property
    def word_share(self) -> Floats:
        """[c]: the share of words among a category's nodes; nan for one that is never used."""
        with np.errstate(invalid="ignore"):
            share: Floats = self.words.sum(axis=0) / self.nodes.sum(axis=0)
        return share

    @property
    def length(self) -> float:
        """Words in a sentence."""
        return float(self.words.sum())


@dataclass(frozen=True, eq=False)
class Profile:
    """All there is to show of a grammar."""

    grammar: Grammar
    depth: int | None
    root: Floats
    """[c]: the probability that a tree within the bound has c at its root."""
    fitting: float
    """The probability that a tree of the grammar fits the bound, or without one that it ends."""
    depths: Floats
    """[d − 1]: the share of sentences that need memory depth d; without a bound, the first few."""
    expected: Use
    counted: Use | None = None
    trees: int = 0
    """How many trees were counted."""
    meanings: Meanings | None = None

    @property
    def use(self) -> Use:
        """What was counted, or if nothing was, what is expected."""
        return self.expected if self.counted is None else self.counted

    @cached_property
    def order(self) -> list[int]:
        """The categories, most used first."""
        return [int(c) for c in np.argsort(-self.use.share, kind="stable")]

    def words(self, category: int, most: int) -> list[tuple[str, float]]:
        """The most probable words of a category, with G[c → w]."""
        row, words = self.grammar.lexical[category], self.grammar.vocabulary.words
        return [(words[w], float(row[w])) for w in _greatest(row, most)]

    def rules(self, category: int, most: int) -> list[tuple[tuple[str, str], float]]:
        """The most probable binary rules of a category, with G[c → a b]."""
        names, K = self.grammar.names, self.grammar.categories
        row = self.grammar.binary[category].reshape(-1)
        return [((names[ab // K], names[ab % K]), float(row[ab])) for ab in _greatest(row, most)]


def profile(model: LearnedGrammar, trees: Iterable[Tree] = ()) -> Profile:
    """How a model uses its categories, also in the trees of a run, if there are any."""
    grammar, depth = model.grammar, model.depth
    h = containment(grammar, depth)
    counted, number = _counted(trees, grammar)
    return Profile(
        grammar,
        depth,
        bounded_root(grammar, h),
        fitting_mass(grammar, h),
        expected_depths(grammar, depth),
        Use(*expected_use(grammar, depth)),
        counted,
        number,
    )


def _counted(trees: Iterable[Tree], grammar: Grammar) -> tuple[Use | None, int]:
    """Mean numbers in trees; None if there are none."""
    category = {name: c for c, name in enumerate(grammar.names)}
    counts: Counter[tuple[int, str, bool]] = Counter()
    number = 0
    for tree in trees:
        counts.update(_levels(tree))
        number += 1
    if not number:
        return None, 0
    both = np.zeros((2, 1 + max(level for level, _, _ in counts), grammar.categories))
    for (level, label, is_word), times in counts.items():
        if label not in category:
            raise DbpcfgError(
                f"a tree has the label {label!r}, which is none of the grammar's categories"
            )
        both[0, level, category[label]] += times
        both[1, level, category[label]] += times * is_word
    return Use(*(both / number)), number


def _levels(tree: Tree) -> Iterator[tuple[int, str, bool]]:
    """The level and label of every node of a binary tree, and whether it is a word's."""
    todo = [(tree, 0)]
    while todo:
        node, level = todo.pop()
        yield level, node.label, node.preterminal
        if not node.preterminal:
            left, right = node.children if len(node.children) == 2 else ("", "")
            if isinstance(left, str) or isinstance(right, str):
                raise DbpcfgError(f"expected a binary tree, got {tree!r}")
            todo += [(left, left_child(level)), (right, right_child(level))]


def _greatest(row: Floats, most: int) -> list[int]:
    order = np.argsort(-row, kind="stable")[:most].tolist()
    return [number for number in order if row[number] > 0]
