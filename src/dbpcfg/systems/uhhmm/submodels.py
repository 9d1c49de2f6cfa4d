"""The sub-models of the UHHMM as arrays: probabilities, or counts of the same shape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats


class Size(NamedTuple):
    """The number of each kind of value."""

    A: int
    """Active categories."""
    B: int
    """Awaited categories."""
    G: int
    """Tags."""
    D: int
    """The greatest depth of the store."""
    words: int
    """Word types."""


class SubModels(NamedTuple):
    """All sub-models; the last axis is the outcome.

    d is a depth, counted from 0; a, b and g are those of the word before, a', b' are new. up is the
    awaited category one above the deepest, plus 1, or 0 if there is none.
    """

    fork: Floats
    """[d, b, g, f]"""
    trans: Floats
    """[d, b, g, j], if f = 1"""
    reduce: Floats
    """[d, a, up, j], if f = 0"""
    cont: Floats
    """[d, b, g, b']"""
    root: Floats
    """[d, up, g, a'], d being the depth of a'"""
    exp: Floats
    """[d, g, a', b']"""
    act: Floats
    """[d, a, up, a']"""
    start: Floats
    """[d, a, a', b']"""
    next: Floats
    """[d, a, b, b'], d being the depth of b and b', and a one deeper: so d < D - 1"""
    pos: Floats
    """[b + 1, g], 0 for an empty store"""
    lex: Floats
    """[g, word]"""


def zeros(size: Size) -> SubModels:
    """Counts of nothing."""
    A, B, G, D, words = size
    return SubModels(
        fork=np.zeros((D, B, G, 2)),
        trans=np.zeros((D, B, G, 2)),
        reduce=np.zeros((D, A, B + 1, 2)),
        cont=np.zeros((D, B, G, B)),
        root=np.zeros((D, B + 1, G, A)),
        exp=np.zeros((D, G, A, B)),
        act=np.zeros((D, A, B + 1, A)),
        start=np.zeros((D, A, A, B)),
        next=np.zeros((D - 1, A, B, B)),
        pos=np.zeros((B + 1, G)),
        lex=np.zeros((G, words)),
    )


def uniform(size: Size) -> SubModels:
    """Sub-models in which all outcomes are equally probable."""
    return SubModels(*(np.full(it.shape, 1.0 / it.shape[-1]) for it in zeros(size)))


def without_choice(models: SubModels) -> SubModels:
    """The same with probability 1 for decisions that the store forces.

    At depth D, f = 1 forces j = 1: there is no room for a fragment more. At depth 1, f = 0 forces
    j = 0: there is no fragment above to join.
    """
    trans, reduce = models.trans.copy(), models.reduce.copy()
    trans[-1] = 0.0, 1.0
    reduce[0] = 1.0, 0.0
    return models._replace(trans=trans, reduce=reduce)
