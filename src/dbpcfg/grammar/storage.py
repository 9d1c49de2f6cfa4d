"""Several grammars over one vocabulary as a few arrays, for files that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.files.archive import ArchiveError
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats

STACKED = ("grammars_root", "grammars_rows")
STACKED_FACTORS = tuple(f"grammars_{name}" for name in Factors._fields)


def stacked(grammars: Sequence[Grammar]) -> dict[str, Floats]:
    """Several grammars as arrays.

    ``grammars``: grammars over one vocabulary, with the same number of categories.
    Returns π and the rows of every grammar: ``[s, c]`` and ``[s, c, rule]``.
    """
    if not grammars:
        return {"grammars_root": np.empty((0, 0)), "grammars_rows": np.empty((0, 0, 0))}
    return {
        "grammars_root": np.stack([grammar.root for grammar in grammars]),
        "grammars_rows": np.stack([grammar.rows for grammar in grammars]),
    }


def unstacked(arrays: Mapping[str, Any], vocabulary: Vocabulary) -> list[Grammar]:
    """The grammars of arrays that `stacked` made."""
    roots, rows = (arrays[name] for name in STACKED)
    if not len(roots) == len(rows):
        raise ArchiveError("its grammars have not as many roots as rows")
    if not len(roots):
        return []
    K, W = roots.shape[-1], len(vocabulary)
    if roots.ndim != 2 or rows.shape[1:] != (K, K * K + W):
        raise ArchiveError(f"its grammars do not have {K} categories and {W} words")
    return [
        Grammar(root, row[:, : K * K].reshape(K, K, K), row[:, K * K :], vocabulary)
        for root, row in zip(roots, rows, strict=True)
    ]


def stacked_factors(grammars: Sequence[LowRankGrammar]) -> dict[str, Floats]:
    """Several low-rank grammars as arrays.

    ``grammars``: at least one; all over one vocabulary, with factors of the same shapes.
    Returns each factor of every grammar; the first index is the grammar's.
    """
    factors = zip(*(grammar.factors for grammar in grammars), strict=True)
    return {name: np.stack(same) for name, same in zip(STACKED_FACTORS, factors, strict=True)}


def unstacked_factors(arrays: Mapping[str, Any], vocabulary: Vocabulary) -> list[LowRankGrammar]:
    """The grammars of arrays that `stacked_factors` made."""
    factors = [arrays[name] for name in STACKED_FACTORS]
    if len({len(array) for array in factors}) != 1:
        raise ArchiveError("its grammars have not as many of each factor")
    return [LowRankGrammar(Factors(*each), vocabulary) for each in zip(*factors, strict=True)]
