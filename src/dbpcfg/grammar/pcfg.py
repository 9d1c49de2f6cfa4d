"""The probabilistic context-free grammar G: its rules, and draws given counts.

Letters, as in the paper and in the kernels:

=====  =========================================================================================
K      number of categories; each can be a phrase or a word category
W      number of words
π      ``root[c]``: probability of T → c, the top symbol's expansion
G      row c: ``binary[c, a, b]`` is G[c → a b] and ``lexical[c, w]`` is G[c → w];
       a row's K² + W entries sum to one
β      parameter of the symmetric Dirichlet prior of π and of every row of G
=====  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar, Self

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.dirichlet import dirichlet_rows
from dbpcfg.io.tables import plural
from dbpcfg.numerics.kernels import Floats
from dbpcfg.numerics.philox import Purpose, Stream, stream

ROW_SUM_TOLERANCE = 1e-8


def category_name(category: int) -> str:
    """The default label of a category in printed trees."""
    return f"X{category}"


SMALLEST_BETA = 1e-12
"""As in ``dbpcfg.options``, which is not imported so that changes there recompile no kernels."""


@dataclass(frozen=True, eq=False, repr=False)
class RuleWeights:
    """A number for each rule: a count (C in the paper), expected count, probability or weight."""

    root: Floats
    """``[c]``: the numbers of T → c."""
    binary: Floats
    """``[c, a, b]``: the numbers of c → a b."""
    lexical: Floats
    """``[c, w]``: the numbers of c → w."""

    def __repr__(self) -> str:
        words = self.lexical.shape[-1]
        return (
            f"<{type(self).__name__}: "
            f"{plural(self.categories, 'category', 'categories')}, {plural(words, 'word')}>"
        )

    @staticmethod
    def zeros(categories: int, words: int) -> RuleWeights:
        """Zero for each rule."""
        K = categories
        return RuleWeights(np.zeros(K), np.zeros((K, K, K)), np.zeros((K, words)))

    @classmethod
    def from_rows(cls, root: Floats, rows: Floats, *more: Any) -> Self:
        """Make it from rows of K² binary rules and W words; a grammar also needs the vocabulary."""
        K = len(root)
        return cls(root, rows[:, : K * K].reshape(K, K, K), rows[:, K * K :], *more)

    @property
    def categories(self) -> int:
        """K, the number of categories."""
        return int(self.root.shape[0]) if self.root.ndim == 1 else 0

    @property
    def rows(self) -> Floats:
        """``[c, …]``: the K² binary rules of c, then its W words, as in the paper."""
        return np.concatenate([self.binary.reshape(self.categories, -1), self.lexical], axis=1)

    def __add__(self, other: RuleWeights) -> RuleWeights:
        return RuleWeights(
            self.root + other.root, self.binary + other.binary, self.lexical + other.lexical
        )

    def __mul__(self, factor: float) -> RuleWeights:
        return RuleWeights(self.root * factor, self.binary * factor, self.lexical * factor)


@dataclass(frozen=True, eq=False, repr=False)
class Grammar(RuleWeights):
    """A PCFG in Chomsky normal form over a vocabulary. Its arrays are read-only.

    A `GrammarError` is raised if shapes or sums of the arrays are wrong.
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("root", "binary", "lexical")
    """The names of the arrays that are stored in files."""

    root: Floats
    """``[c]``: probability of T → c."""
    binary: Floats
    """``[c, a, b]``: probability of c → a b."""
    lexical: Floats
    """``[c, w]``: probability of c → w."""
    vocabulary: Vocabulary
    """The words."""
    names: tuple[str, ...] = field(init=False)
    """The label of each category in printed trees: X0, X1, … by default; see ``named``."""

    def __post_init__(self) -> None:
        for name in ("root", "binary", "lexical"):
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        K, W = self.categories, len(self.vocabulary)
        if K == 0 or W == 0:
            raise GrammarError(f"a grammar needs categories and words, got {K} and {W}")
        if self.root.shape != (K,) or self.binary.shape != (K, K, K):
            raise GrammarError(
                f"expected root of shape ({K},) and binary of shape ({K}, {K}, {K}), "
                f"got {self.root.shape} and {self.binary.shape}"
            )
        if self.lexical.shape != (K, W):
            raise GrammarError(
                f"expected lexical of shape ({K}, {W}) for K = {K} categories and W = {W} words, "
                f"got {self.lexical.shape}"
            )
        object.__setattr__(self, "names", tuple(map(category_name, range(K))))
        for name in ("root", "binary", "lexical"):
            array = getattr(self, name)
            if not (np.isfinite(array).all() and (array >= 0).all()):
                raise GrammarError(f"{name} has entries that are negative, infinite or not numbers")
        with np.errstate(over="ignore"):  # a sum that is infinite is reported below
            rows = self.binary.sum(axis=(1, 2)) + self.lexical.sum(axis=1)
            root = np.array([self.root.sum()])
        for name, sums in (("root", root), ("row", rows)):
            off = np.abs(sums - 1.0)
            if (off > ROW_SUM_TOLERANCE).any():
                worst = int(off.argmax())
                which = "root" if name == "root" else f"the row of category {worst}"
                raise GrammarError(f"{which} must sum to 1 (it sums to {sums[worst]:.12g})")

    def named(self, names: Iterable[str]) -> Grammar:
        """The same grammar with other names for its categories.

        Parameters
        ----------
        names
            A distinct name for each category.

        Raises
        ------
        GrammarError
            If there are not K distinct names.
        """
        names, K = tuple(names), self.categories
        if len(names) != K or len(set(names)) != K or not all(names):
            raise GrammarError(f"expected {K} different names of categories, got {names!r:.200}")
        renamed = copy(self)
        object.__setattr__(renamed, "names", names)
        return renamed

    def arrays(self) -> dict[str, Floats]:
        """The arrays that are stored in files."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], vocabulary: Vocabulary) -> Self:
        """The grammar that has these arrays."""
        return cls(**arrays, vocabulary=vocabulary)

    @property
    def rules_per_category(self) -> int:
        """The number of rules of a category that emits words."""
        return self.categories**2 + len(self.vocabulary)

    @property
    def lexical_mass(self) -> Floats:
        """lex(c) = Σ_w G[c → w], the probability that c emits a word."""
        mass: Floats = self.lexical.sum(axis=1)
        return mass

    @property
    def binary_mass(self) -> Floats:
        """``[c]``: Σ_ab G[c → a b], the probability that c is a phrase."""
        mass: Floats = self.binary.sum(axis=(1, 2))
        return mass

    def binary_of(self, category: int) -> Floats:
        """``[a, b]``: the binary rules of one category."""
        rules: Floats = self.binary[category]
        return rules

    def sum_over_left(self, left: Floats) -> Floats:
        """``[c, b]``: Σ_a G[c → a b] x_a."""
        sums: Floats = np.einsum("cab,a->cb", self.binary, left)
        return sums

    def sum_over_right(self, right: Floats) -> Floats:
        """``[c, a]``: Σ_b G[c → a b] y_b."""
        sums: Floats = np.einsum("cab,b->ca", self.binary, right)
        return sums

    def sum_over_both(self, left: Floats, right: Floats) -> Floats:
        """``[c]``: Σ_ab G[c → a b] x_a y_b."""
        sums: Floats = np.einsum("cab,a,b->c", self.binary, left, right)
        return sums

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each rule: kind, parent, left, right, probability.

        It has the columns of `dbpcfg export`; rules of probability 0 are left out.
        """
        from dbpcfg.grammar.exchange import COLUMNS, rows_of
        from dbpcfg.io.tables import data_frame

        return data_frame(COLUMNS, (row for row in rows_of(self) if row[-1]))

    def _repr_html_(self) -> str:
        """A table of each category with its most probable rules and words, for notebooks."""
        return grammar_html(self)


def draw_grammar(
    counts: RuleWeights, beta: float, vocabulary: Vocabulary, numbers: Stream, threads: int = 1
) -> Grammar:
    """Draw π and every row of G from Dirichlet(counts + β).

    ``threads``: threads to use; the result does not depend on their number.
    """
    if not SMALLEST_BETA <= beta < np.inf:
        raise GrammarError(f"beta must be a positive number, {SMALLEST_BETA} or more, got {beta}")
    rows = counts.rows + beta
    G = dirichlet_rows(rows, numbers, 0, threads)
    root = dirichlet_rows(counts.root[np.newaxis] + beta, numbers, rows.size)
    return Grammar.from_rows(root[0], G, vocabulary)


def without_zeros(grammar: Grammar, minimum: float) -> Grammar:
    """Raise probabilities to a minimum, so that every tree is possible.

    ``minimum``: so small that rows still sum to 1.
    """
    return Grammar(
        np.maximum(grammar.root, minimum),
        np.maximum(grammar.binary, minimum),
        np.maximum(grammar.lexical, minimum),
        grammar.vocabulary,
    ).named(grammar.names)


def draw_from_prior(
    categories: int,
    vocabulary: Vocabulary,
    beta: float,
    seed: int,
    chain: int = 0,
    iteration: int = 0,
) -> Grammar:
    """Draw a grammar from the prior."""
    if categories < 1:
        raise GrammarError(f"a grammar needs at least one category, got {categories}")
    no_counts = RuleWeights.zeros(categories, len(vocabulary))
    return draw_grammar(no_counts, beta, vocabulary, stream(seed, chain, iteration, Purpose.PRIOR))


def normalised(counts: RuleWeights, added: float, fallback: Grammar) -> Grammar:
    """The grammar whose rules are proportional to their counts.

    ``added``: a number that is added to each count.
    ``fallback``: a grammar with the vocabulary, and the rows of categories without counts.
    """
    root = _proportions(counts.root[np.newaxis] + added, fallback.root[np.newaxis])[0]
    rows = _proportions(counts.rows + added, fallback.rows)
    return Grammar.from_rows(root, rows, fallback.vocabulary)


def mean_grammar(counts: RuleWeights, beta: float, vocabulary: Vocabulary) -> Grammar:
    """The mean of Dirichlet(counts + β)."""
    root, rows = counts.root + beta, counts.rows + beta
    rows /= rows.sum(axis=1, keepdims=True)
    return Grammar.from_rows(root / root.sum(), rows, vocabulary)


def _proportions(rows: Floats, fallback: Floats) -> Floats:
    totals = rows.sum(axis=1, keepdims=True)
    has_counts = totals > 1e-290  # counts smaller than this are of a category that died
    return np.where(has_counts, rows / np.where(has_counts, totals, 1.0), fallback)


SHOWN = 8
"""The number of words, and of rules, shown for each category."""
MIN_SHOWN = 0.0005
"""Smaller probabilities would be printed as 0.000."""
_SHARE = "opacity: 0.6; font-size: 85%"
_CELL = "text-align: left; vertical-align: top"


def grammar_html(grammar: Grammar) -> str:
    """An HTML table with a row for each category: its most probable words and rules.

    Words and names are escaped.
    """
    names, words, lexical = grammar.names, grammar.vocabulary.words, grammar.lexical
    pairs = [f"{a} {b}" for a in names for b in names]
    heads = ["category", "T →", "words", "most probable words", "most probable rules"]
    rows = []
    for c, name in enumerate(names):
        cells = [
            f"<b>{escape(name)}</b>",
            f"{grammar.root[c]:.3f}",
            f"{lexical[c].sum():.3f}",
            _listed(words, lexical[c]),
            _listed(pairs, grammar.binary_of(c).reshape(-1)),
        ]
        rows.append("".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells))
    head = "".join(f'<th style="{_CELL}">{name}</th>' for name in heads)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<table><caption>Grammar of {plural(len(names), 'category', 'categories')} over "
        f"{plural(len(words), 'word')}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _listed(names: Sequence[str], row: Floats) -> str:
    order = np.argsort(-row, kind="stable")[:SHOWN].tolist()
    return " &nbsp; ".join(
        f'{escape(names[n])} <span style="{_SHARE}">{row[n]:.3f}</span>'
        for n in order
        if row[n] >= MIN_SHOWN
    )
