"""Levels of chunks, each trained on the text that the level before has shortened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.systems.upparse.tags import BOUNDARIES, EOS, SEGMENT_END, I
from dbpcfg.systems.upparse.viterbi import best_tags

Train = Callable[[Longs, int], Floats | None]
"""From a sequence of symbols 0, 1, … and their number to arcs, or None if none can be learnt."""


@dataclass
class Cascade:
    """The chunks of all levels, and why there were no more."""

    brackets: list[Longs] = field(default_factory=list)
    """Of each level, half-open pairs of positions in the sequence of level 1."""
    levels: int = 0
    """The number of models that were trained."""
    ended: Literal["all chunked", "no change"] | None = None
    """"all chunked" if no model can be trained, in practice because every segment is one symbol;
    "no change" if the last model finds no chunk."""


def find_chunks(symbols: Longs, words: int, train: Train, separator: int = -1) -> Cascade:
    """Chunk a sequence, replace the chunks by pseudo-words, and repeat until nothing changes.

    If symbol t is a word w, or a pseudo-word made of it, then t + words is the pseudo-word ``=t``.

    ``separator``: the symbol of ";", if it is also kept as a word. A text is passed on with ";"
    after every segment, so it counts as that much more frequent.
    """
    found = Cascade()
    starts = np.arange(len(symbols))  # where each symbol begins in the first sequence
    while True:
        types, numbers, frequencies = _counted(symbols)
        frequencies[types == separator] += np.count_nonzero(symbols < BOUNDARIES) - 1
        arcs = train(numbers, len(types))
        if arcs is None:
            found.ended = "all chunked"
            return found
        found.levels += 1
        with np.errstate(divide="ignore"):
            tags = best_tags(numbers, np.log(arcs))
        begins = np.flatnonzero(tags != I)
        if len(begins) == len(symbols):
            found.ended = "no change"
            return found
        chunk = np.diff(begins, append=len(symbols)) > 1
        starts = starts[begins]
        # A chunk is never last: a boundary is.
        found.brackets.append(np.stack([starts[:-1], starts[1:]], axis=1)[chunk[:-1]])
        heads = most_frequent(frequencies[numbers], begins)
        symbols = symbols[heads] + words * chunk


def most_frequent(frequencies: Longs, begins: Longs) -> Longs:
    """The position of the highest frequency in each piece of an array, the last of equals."""
    n = len(frequencies)
    ranks = frequencies * n + np.arange(n)
    best: Longs = np.maximum.reduceat(ranks, begins)
    return best % n


def _counted(symbols: Longs) -> tuple[Longs, Longs, Longs]:
    """The symbols there are, the sequence numbered by them, and their frequencies.

    Both boundaries are always among them, so that they keep their numbers.
    """
    types, numbers, frequencies = np.unique(
        np.append(symbols, [EOS, SEGMENT_END]), return_inverse=True, return_counts=True
    )
    return types, numbers[:-BOUNDARIES], frequencies
