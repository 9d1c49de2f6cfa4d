"""Grammars whose binary rules are of low rank, with phrase and word categories apart.

The first N categories are phrases and have binary rules only, the P others are words' categories
and have words only. With R hidden symbols r (Yang, Zhao and Tu 2021)::

    G[A → B C] = Σ_r u_Ar v_Br w_Cr        Σ_r u_Ar = Σ_B v_Br = Σ_C w_Cr = 1

so A first chooses r, and r then chooses the left child and the right one, each by itself. A chart
of such a grammar needs vectors over r only (``parsing.lowrank``). The root is a phrase, or the
category of a word in sentences of one word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats


class Factors(NamedTuple):
    """The probabilities of a low-rank grammar; or a number for each of them."""

    root: Floats
    """``[c]``: π, over phrases and then words' categories."""
    parent: Floats
    """``[A, r]``: u, over phrases."""
    left: Floats
    """``[B, r]``: v, over all categories."""
    right: Floats
    """``[C, r]``: w, over all categories."""
    emission: Floats
    """``[p, word]``: of words' categories."""

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


@dataclass(frozen=True, eq=False)
class LowRankGrammar(Grammar):
    """A grammar that was multiplied out, and its factors."""

    factors: Factors | None = None
    """Its factors."""


def multiplied(factors: Factors, vocabulary: Vocabulary) -> LowRankGrammar:
    """The ordinary grammar of all K = N + P categories.

    Parameters
    ----------
    factors
        Its factors, which are probabilities.
    vocabulary
        The words.

    Raises
    ------
    GrammarError
        If shapes or sums do not fit.
    """
    N, K, W = factors.phrases, factors.categories, len(vocabulary)
    shapes = [(K,), (N, factors.rank), (K, factors.rank), (K, factors.rank), (K - N, W)]
    if [array.shape for array in factors] != shapes:
        raise GrammarError(
            f"expected factors of shapes {shapes}, got {[array.shape for array in factors]}"
        )
    doubles = Factors(*(np.asarray(array, dtype=np.float64) for array in factors))
    binary, lexical = np.zeros((K, K, K)), np.zeros((K, W))
    for A in range(N):
        binary[A] = (doubles.left * doubles.parent[A]) @ doubles.right.T
    lexical[N:] = doubles.emission
    return LowRankGrammar(doubles.root, binary, lexical, vocabulary, factors=doubles)
