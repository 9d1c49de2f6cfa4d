"""How sure a run is: which spans of their trees its chains share.

Labels are not compared, as each chain names its categories in its own way. A span that all chains
have is sure as far as they go; one that only the selected chain has is its own opinion.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.derivations import END, START, Derivations


class SharedSpans:
    """The spans of two words or more, without the whole sentence, of several chains' trees.

    Parameters
    ----------
    trees
        The trees of each chain, by its number.
    """

    def __init__(self, trees: Mapping[int, Derivations]) -> None:
        self.trees = dict(trees)
        first = next(iter(self.trees.values()))
        self.starts = first.corpus.starts
        lengths = np.diff(self.starts)
        self.sentence = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
        """The sentence of each node."""
        self._keys = {number: self._spans(found.nodes) for number, found in self.trees.items()}

    def _spans(self, nodes: Ints) -> tuple[NDArray[np.bool_], Longs]:
        """Which nodes are spans that count, and a number for the span of every node."""
        start, end = nodes[:, START].astype(np.int64), nodes[:, END].astype(np.int64)
        length = np.diff(self.starts)[self.sentence]
        counts = (end - start > 1) & (end - start < length)
        return counts, (self.starts[self.sentence] + start) * (length.max() + 1) + end - start

    def shares(self, chain: int) -> Floats:
        """The share of the other chains that have the span of each node; not a number elsewhere.

        Parameters
        ----------
        chain
            The chain whose nodes they are, in the order of its trees.
        """
        counts, spans = self._keys[chain]
        found = np.zeros(len(spans))
        others = [number for number in self.trees if number != chain]
        for other in others:
            theirs, keys = self._keys[other]
            found += np.isin(spans, keys[theirs])
        shares = found / len(others) if others else np.full(len(spans), np.nan)
        return np.where(counts, shares, np.nan)

    def sentences(self, chain: int) -> Floats:
        """The mean share of each sentence's spans; not a number for those without a span."""
        shares = self.shares(chain)
        known = ~np.isnan(shares)
        size = len(self.starts) - 1
        number = np.bincount(self.sentence[known], minlength=size)
        with np.errstate(invalid="ignore"):
            found: Floats = np.bincount(
                self.sentence[known], weights=shares[known], minlength=size
            ) / np.where(number, number, np.nan)
        return found

    def between(self, chain: int, other: int) -> float:
        """The share of spans that two chains have in common: F1 of one against the other.

        Binary trees of one sentence have equally many spans, so precision, recall and F1 are one
        number. Not a number if there are no spans.
        """
        counts, spans = self._keys[chain]
        theirs, keys = self._keys[other]
        if not counts.any():
            return float("nan")
        return float(np.isin(spans[counts], keys[theirs]).mean())

    def agreement(self, chain: int) -> float | None:
        """The mean share of spans in common with the other chains; None if there are none."""
        others = [self.between(chain, other) for other in self.trees if other != chain]
        return float(np.mean(others)) if others and not np.isnan(others).any() else None
