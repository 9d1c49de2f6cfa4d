"""How sure a run is: which spans of their trees its chains share.

Labels are not compared, as each chain names its categories in its own way. A span that all chains
have is sure as far as they go; one that only the selected chain has is its own opinion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.parsing.derivations import END, START, Derivations


class SharedSpans:
    """The spans of two words or more, without the whole sentence, of several chains' trees.

    ``trees``: the trees of each chain, by its number; all of the same sentences.
    """

    def __init__(self, trees: Mapping[int, Derivations]) -> None:
        self.trees = dict(trees)
        starts = next(iter(self.trees.values())).corpus.starts
        lengths = np.diff(starts)
        self.sentence = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
        """The sentence of each node."""
        self.spans = np.maximum(lengths - 2, 0)
        """The number of spans of each sentence: binary trees all have equally many."""
        self._first, self._length = starts[self.sentence], lengths[self.sentence]
        self._keys = {number: self._spans(found) for number, found in self.trees.items()}

    def _spans(self, trees: Derivations) -> Longs:
        """A number for the span of every node, the same for equal spans; -1 for those left out."""
        start = trees.nodes[:, START].astype(np.int64)
        width = trees.nodes[:, END] - start
        number = (self._first + start) * (self._length.max(initial=0) + 1) + width
        return np.where((width > 1) & (width < self._length), number, -1)

    def shares(self, chain: int, others: Iterable[int] | None = None) -> Floats:
        """The share of the other chains that have the span of each node; nan for those left out.

        ``chain``: the chain whose nodes they are, in the order of its trees.
        ``others``: the chains that it is compared with; by default all others.
        """
        spans = self._keys[chain]
        chosen = [n for n in self.trees if n != chain] if others is None else list(others)
        found = np.zeros(len(spans))
        for other in chosen:
            found += np.isin(spans, self._keys[other])
        return np.where(spans >= 0, found / (len(chosen) or np.nan), np.nan)

    def sentences(self, chain: int, others: Iterable[int] | None = None) -> Floats:
        """The mean share of each sentence's spans; nan for those without a span.

        ``others``: the chains that it is compared with; by default all others.
        """
        shares = self.shares(chain, others)
        counted = self._keys[chain] >= 0
        total = np.bincount(
            self.sentence[counted], weights=shares[counted], minlength=len(self.spans)
        )
        found: Floats = total / np.where(self.spans, self.spans, np.nan)
        return found

    def between(self, chain: int, other: int) -> float:
        """The share of spans that two chains have in common: F1 of one against the other.

        Binary trees of one sentence have equally many spans, so precision, recall and F1 are one
        number. It is nan if there are no spans.
        """
        spans = self._keys[chain]
        spans = spans[spans >= 0]
        return float(np.isin(spans, self._keys[other]).mean()) if len(spans) else float("nan")

    def agreement(self, chain: int) -> float | None:
        """The mean share of spans in common with the other chains; None if there are none."""
        others = [self.between(chain, other) for other in self.trees if other != chain]
        return float(np.mean(others)) if others and not np.isnan(others).any() else None
