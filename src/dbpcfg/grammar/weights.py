"""A number for each rule: expected counts, or weights that need not sum to one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats


@dataclass(frozen=True, eq=False)
class RuleWeights:
    """A number for each rule of a grammar."""

    root: Floats
    """``[c]``: of T → c."""
    binary: Floats
    """``[c, a, b]``: of c → a b."""
    lexical: Floats
    """``[c, w]``: of c → w."""

    @classmethod
    def zeros(cls, categories: int, words: int) -> RuleWeights:
        """Zero for each rule."""
        K = categories
        return cls(np.zeros(K), np.zeros((K, K, K)), np.zeros((K, words)))

    @classmethod
    def of(cls, root: Floats, rows: Floats) -> RuleWeights:
        """From a root and rows of K² binary rules, then W words."""
        K = len(root)
        return cls(root, rows[:, : K * K].reshape(K, K, K), rows[:, K * K :])

    @property
    def categories(self) -> int:
        """K, the number of categories."""
        return len(self.root)

    @property
    def rows(self) -> Floats:
        """Row c has its K² binary rules, then its W words."""
        return np.concatenate([self.binary.reshape(self.categories, -1), self.lexical], axis=1)

    def __add__(self, other: RuleWeights) -> RuleWeights:
        return RuleWeights(
            self.root + other.root, self.binary + other.binary, self.lexical + other.lexical
        )

    def __mul__(self, factor: float) -> RuleWeights:
        return RuleWeights(self.root * factor, self.binary * factor, self.lexical * factor)

    def __pow__(self, exponent: float) -> RuleWeights:
        return RuleWeights(self.root**exponent, self.binary**exponent, self.lexical**exponent)


def normalised(counts: RuleWeights, more: float, before: Grammar) -> Grammar:
    """The grammar in which rules are in proportion to their counts.

    ``before``: gives the words, and the rows of categories without counts.
    """
    return Grammar(
        _shares(counts.root[np.newaxis] + more, before.root[np.newaxis])[0],
        *_split(_shares(counts.rows + more, before.rows)),
        vocabulary=before.vocabulary,
    )


def mean_grammar(counts: RuleWeights, beta: float, vocabulary: Vocabulary) -> Grammar:
    """The mean of Dirichlet(counts + β)."""
    root, rows = counts.root + beta, counts.rows + beta
    rows /= rows.sum(axis=1, keepdims=True)
    return Grammar(root / root.sum(), *_split(rows), vocabulary=vocabulary)


def _shares(rows: Floats, before: Floats) -> Floats:
    totals = rows.sum(axis=1, keepdims=True)
    # A row of counts so small that quotients would overflow is that of a category that died.
    return np.where(totals > 1e-290, rows / np.where(totals > 1e-290, totals, 1.0), before)


def _split(rows: Floats) -> tuple[Floats, Floats]:
    K = len(rows)
    return rows[:, : K * K].reshape(K, K, K), rows[:, K * K :]
