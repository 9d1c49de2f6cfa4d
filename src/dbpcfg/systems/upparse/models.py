"""The two models, as tables of arcs.

An arc ``[w, j, k]`` is the probability that tag j emits symbol w and is followed by tag k.  A model
estimates arcs from counts of arcs, c(w,j,k); sums over an index are written by leaving it out, as
in c(j,k) = Σ_w c(w,j,k).  Both models have transitions P(k|j) = c(j,k) / c(j).

Only words are smoothed, by λ.  The entries for a word tagged STOP, or a boundary tagged otherwise,
are never used.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from dbpcfg.numerics.kernels import Floats
from dbpcfg.systems.upparse.tags import ALLOWED, BOUNDARIES, STOP, TAGS

ChunkModel: TypeAlias = Literal["prlg", "hmm"]


def uniform_arcs(symbols: int) -> Floats:
    """P(k|j) · P(w|j), where all allowed tags, and all symbols of a tag, are equally probable."""
    emissions = np.zeros((symbols, TAGS))
    emissions[:BOUNDARIES, STOP] = 1 / BOUNDARIES
    emissions[BOUNDARIES:, STOP + 1 :] = 1 / (symbols - BOUNDARIES)
    transitions = ALLOWED / ALLOWED.sum(axis=1, keepdims=True)
    joint: Floats = emissions[:, :, None] * transitions
    return joint


def first_arcs(model: ChunkModel, symbols: int, smoothing: float) -> Floats:
    """Where EM starts: uniform arcs; for the PRLG they are taken for counts and smoothed."""
    uniform = uniform_arcs(symbols)
    return uniform if model == "hmm" else arcs(model, uniform, smoothing)


def arcs(model: ChunkModel, counts: Floats, smoothing: float) -> Floats:
    """The arcs that a model estimates from counts, in which every tag must occur."""
    of_pairs = counts.sum(axis=0)
    transitions: Floats = of_pairs / of_pairs.sum(axis=1, keepdims=True)
    if model == "hmm":
        return transitions * hmm_emissions(counts.sum(axis=2), smoothing)[:, :, None]
    return transitions * prlg_emissions(counts, smoothing)


def hmm_emissions(counts: Floats, smoothing: float) -> Floats:
    """P(w|j) = (c(w,j) + λ) / (c(j) + λV') for words; relative frequencies for the tag STOP.

    V' is the number of symbols that are never tagged STOP. A text without segment ends has one
    more of these than it has words.
    """
    of_tags = counts.sum(axis=0)
    others = np.count_nonzero(counts[:, STOP] == 0)
    emissions: Floats = (counts + smoothing) / (of_tags + smoothing * others)
    emissions[:, STOP] = counts[:, STOP] / of_tags[STOP]
    return emissions


def prlg_emissions(counts: Floats, smoothing: float) -> Floats:
    """P(w|j,k) = (c(w,j,k) + λ) / (c(j,k) + λV), where V is the number of all symbols.

    So a little probability goes to words at boundaries and to boundaries among words, which never
    happens.
    """
    emissions: Floats = (counts + smoothing) / (counts.sum(axis=0) + smoothing * len(counts))
    return emissions
