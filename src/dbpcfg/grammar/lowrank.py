"""Grammars whose binary rules have low rank, with separate categories for phrases and words.

The first N categories are phrases and have only binary rules, the P others are word categories and
have only words. With R hidden symbols r (Yang, Zhao and Tu 2021)::

    G[A → B C] = Σ_r u_Ar v_Br w_Cr        Σ_r u_Ar = Σ_B v_Br = Σ_C w_Cr = 1

so A first chooses r, and r then chooses the left and the right child independently. The chart of
such a grammar needs only vectors over r (``parsing.lowrank``). The root is a phrase, or a word
category in sentences of one word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import ROW_SUM_TOLERANCE, Grammar, category_name
from dbpcfg.io.archive import ArchiveError
from dbpcfg.io.tables import plural
from dbpcfg.numerics.kernels import Floats

MAX_RULES = 2**30
"""The greatest number of rules in one array: 8 GB."""


class Factors(NamedTuple):
    """The probabilities of a low-rank grammar, or other numbers of the same shapes."""

    root: Floats
    """``[c]``: π, over phrases and then word categories."""
    parent: Floats
    """``[A, r]``: u, over phrases."""
    left: Floats
    """``[B, r]``: v, over all categories."""
    right: Floats
    """``[C, r]``: w, over all categories."""
    emission: Floats
    """``[p, word]``: the words of word categories."""

    @property
    def phrases(self) -> int:
        """N, the number of phrase categories."""
        return len(self.parent)

    @property
    def rank(self) -> int:
        """R."""
        return int(self.parent.shape[1])

    @property
    def categories(self) -> int:
        """K = N + P."""
        return len(self.root)


class LowRankGrammar(Grammar):
    """A grammar given by its factors; `multiplied_out` has an array of all rules.

    Parameters
    ----------
    factors
        The factors.
    vocabulary
        The words.

    Raises
    ------
    GrammarError
        If shapes do not match, or sums are not 1.
    """

    ARRAYS = Factors._fields
    factors: Factors
    """The factors, in double precision and read-only."""

    def __init__(self, factors: Factors, vocabulary: Vocabulary) -> None:
        doubles = Factors(*(np.array(array, dtype=np.float64, order="C") for array in factors))
        _check_shapes(doubles, len(vocabulary))
        _check_sums(doubles)
        for array in doubles:
            array.flags.writeable = False
        names = tuple(map(category_name, range(doubles.categories)))
        attributes = {
            "factors": doubles,
            "root": doubles.root,
            "vocabulary": vocabulary,
            "names": names,
        }
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @property
    def binary(self) -> Floats:
        """Not available: use `multiplied_out`."""
        raise GrammarError(
            "this grammar is given by its factors, and has no array of rules; "
            "grammar.multiplied_out() has one"
        )

    def multiplied_out(self) -> Grammar:
        """The same grammar with an array of all its K³ rules.

        Raises
        ------
        GrammarError
            If that would take more than 8 GB.
        """
        binary = self._zeros(*(self.categories,) * 3)
        for A in range(self.factors.phrases):
            binary[A] = self.binary_of(A)
        return Grammar(self.root, binary, self.lexical, self.vocabulary).named(self.names)

    @property
    def binary_mass(self) -> Floats:
        """``[c]``: 1 for phrases, 0 for word categories."""
        return self._of_phrases(np.ones(self.factors.phrases))

    @property
    def lexical_mass(self) -> Floats:
        """``[c]``: 0 for phrases, 1 for word categories."""
        return np.subtract(1.0, self.binary_mass)

    def binary_of(self, category: int) -> Floats:
        """``[a, b]``: the binary rules of one category."""
        F = self.factors
        if category >= F.phrases:
            return np.zeros((F.categories, F.categories))
        rules: Floats = (F.left * F.parent[category]) @ F.right.T
        return rules

    def sum_over_left(self, left: Floats) -> Floats:
        """``[c, b]``: Σ_a G[c → a b] x_a."""
        F = self.factors
        return self._of_phrases((F.parent * (left @ F.left)) @ F.right.T)

    def sum_over_right(self, right: Floats) -> Floats:
        """``[c, a]``: Σ_b G[c → a b] y_b."""
        F = self.factors
        return self._of_phrases((F.parent * (right @ F.right)) @ F.left.T)

    def sum_over_both(self, left: Floats, right: Floats) -> Floats:
        """``[c]``: Σ_ab G[c → a b] x_a y_b."""
        F = self.factors
        return self._of_phrases(F.parent @ ((left @ F.left) * (right @ F.right)))

    def _of_phrases(self, rows: Floats) -> Floats:
        """Rows of phrases, with zeros for word categories."""
        padded = np.zeros((self.categories, *rows.shape[1:]))
        padded[: len(rows)] = rows
        return padded

    def __repr__(self) -> str:
        F = self.factors
        return (
            f"<LowRankGrammar: {F.phrases} phrase and {F.categories - F.phrases} word categories, "
            f"rank {F.rank}, {plural(len(self.vocabulary), 'word')}>"
        )

    @cached_property
    def lexical(self) -> Floats:
        """``[c, w]``: probability of c → w."""
        lexical = self._zeros(self.factors.categories, len(self.vocabulary))
        lexical[self.factors.phrases :] = self.factors.emission
        lexical.flags.writeable = False
        return lexical

    @property
    def rules_per_category(self) -> int:
        """The number of rules of a word category."""
        return len(self.vocabulary)

    def arrays(self) -> dict[str, Floats]:
        """The factors by name, which are much smaller than the rules."""
        return self.factors._asdict()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], vocabulary: Vocabulary) -> Self:
        """The grammar that has these factors."""
        return cls(Factors(**arrays), vocabulary)

    def _zeros(self, *shape: int) -> Floats:
        if math.prod(shape) > MAX_RULES:
            raise GrammarError(
                f"a grammar of {self.categories:,} categories and {len(self.vocabulary):,} words "
                f"has {math.prod(shape):,} rules if multiplied out, more than {MAX_RULES:,}; "
                "everything but a table of all rules needs its factors only"
            )
        return np.zeros(shape)


def _check_shapes(factors: Factors, words: int) -> None:
    shapes = [array.shape for array in factors]
    if list(map(len, shapes)) == [1, 2, 2, 2, 2]:
        N, R, K = factors.phrases, factors.rank, factors.categories
        if shapes == [(K,), (N, R), (K, R), (K, R), (K - N, words)] and 0 < N < K and R and words:
            return
    raise GrammarError(
        f"expected factors of shapes (K,), (N, R), (K, R), (K, R) and (K - N, {words}), with "
        f"N, R and K - N at least 1, got {', '.join(map(str, shapes))}"
    )


def _check_sums(factors: Factors) -> None:
    axes = {"root": 0, "parent": 1, "left": 0, "right": 0, "emission": 1}
    for name, array in factors._asdict().items():
        if not (np.isfinite(array).all() and (array >= 0).all()):
            raise GrammarError(f"{name} has entries that are negative, infinite or not numbers")
        with np.errstate(over="ignore"):  # a sum that is infinite is reported below
            sums = np.atleast_1d(array.sum(axis=axes[name]))
        worst = int(np.abs(sums - 1.0).argmax())
        if abs(sums[worst] - 1.0) > ROW_SUM_TOLERANCE:
            which = "" if array.ndim == 1 else f"[{worst}]" if axes[name] else f"[:, {worst}]"
            raise GrammarError(f"{name}{which} must sum to 1 (it sums to {sums[worst]:.12g})")


def stack_grammars(grammars: Sequence[Grammar]) -> dict[str, Floats]:
    """The stacked arrays of grammars of the same kind, size and vocabulary: ``[grammar, …]``."""
    arrays = [grammar.arrays() for grammar in grammars]
    names = arrays[0] if arrays else Grammar.ARRAYS
    return {
        f"grammars_{name}": np.stack([of_grammar[name] for of_grammar in arrays])
        if arrays
        else np.empty(0)
        for name in names
    }


def unstack_grammars(arrays: Mapping[str, Any], vocabulary: Vocabulary) -> list[Grammar]:
    """The grammars whose arrays `stack_grammars` has stacked."""
    kind = kind_of(name.removeprefix("grammars_") for name in arrays)
    stacks = {name: arrays[f"grammars_{name}"] for name in kind.ARRAYS}
    if len({len(array) for array in stacks.values()}) != 1:
        raise ArchiveError("its grammars do not have as many of each array")
    return [
        kind.from_arrays(dict(zip(stacks, of_grammar, strict=True)), vocabulary)
        for of_grammar in zip(*stacks.values(), strict=True)
    ]


def kind_of(names: Iterable[str]) -> type[Grammar]:
    """The kind of grammar that has arrays of these names."""
    return LowRankGrammar if "emission" in set(names) else Grammar
