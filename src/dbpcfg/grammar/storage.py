"""Several grammars over one vocabulary as two arrays, for files that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.files.archive import ArchiveError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats

STACKED = ("grammars_root", "grammars_rows")


def stacked(grammars: Sequence[Grammar]) -> dict[str, Floats]:
    """Several grammars as arrays.

    Parameters
    ----------
    grammars
        Grammars over one vocabulary, with the same number of categories.

    Returns
    -------
    dict of arrays
        π and the rows of every grammar: ``[s, c]`` and ``[s, c, rule]``.
    """
    if not grammars:
        return {"grammars_root": np.empty((0, 0)), "grammars_rows": np.empty((0, 0, 0))}
    return {
        "grammars_root": np.stack([grammar.root for grammar in grammars]),
        "grammars_rows": np.stack([grammar.rows for grammar in grammars]),
    }


def unstacked(arrays: Mapping[str, Any], vocabulary: Vocabulary) -> list[Grammar]:
    """The grammars of arrays that `stacked` made.

    Parameters
    ----------
    arrays
        Arrays by name, as a file has them.
    vocabulary
        The words.

    Raises
    ------
    ArchiveError
        If the arrays do not fit each other or the vocabulary.
    GrammarError
        If their numbers are not probabilities.
    """
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
