"""Measures averaged over grammars: the mean, and the standard deviation beside it.

A measure that depends on which sample or which chain was selected shows it by its standard
deviation. The mean is that of the measure itself, such as the mean of surprisals; it is not the
surprisal under the mean of the probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.numerics.kernels import Floats


def each_grammar(models: Iterable[LearnedGrammar]) -> list[LearnedGrammar]:
    """A model for each of the kept grammars of several models."""
    found: list[LearnedGrammar] = []
    for model in models:
        if not model.samples:
            raise GrammarError(
                "an average needs several grammars of a chain, and this model has one only: give "
                "the directory of a run (in Python, load it with samples=True)"
            )
        found += [replace(model, grammar=sample, samples=()) for sample in model.samples]
    return found


def mean_and_sd(values: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column.

    Returns ``[row]``: the means, and the standard deviations with n − 1 (not a number if n is 1, or
    a value is infinite).
    """
    table = np.array(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        mean = table.mean(axis=0)
        rest = np.square(table - mean).sum(axis=0)
    sd = np.sqrt(rest / (len(table) - 1)) if len(table) > 1 else np.full(len(mean), np.nan)
    return mean, sd
