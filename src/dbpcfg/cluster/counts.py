"""Rule counts as they travel: only those that are not zero, if that is less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbpcfg.grammar.pcfg import RuleCounts
from dbpcfg.numerics.kernels import Ints, Longs


@dataclass(frozen=True)
class Sparse:
    """An array of counts."""

    places: Ints | None
    """Where there are counts, in the flat array; None if all are there."""
    values: NDArray[np.integer]

    def add_to(self, whole: Longs | Ints) -> None:
        """Add them to an array, of which no part is a copy."""
        flat = whole.reshape(-1)
        if self.places is None:
            flat += self.values
        else:
            flat[self.places] += self.values


def sparse(counts: Longs | Ints) -> Sparse:
    """Counts to be sent: 8 bytes for each that is not zero, or 4 for each, if that is less."""
    flat = counts.reshape(-1)
    kind = np.int32 if flat.max(initial=0) < 2**31 else np.int64
    places = np.flatnonzero(flat)
    if 2 * len(places) >= len(flat) or len(flat) >= 2**31:
        return Sparse(None, flat.astype(kind))
    return Sparse(places.astype(np.int32), flat[places].astype(kind))


@dataclass(frozen=True)
class SentCounts:
    """The counts of all rules."""

    root: Sparse
    binary: Sparse
    lexical: Sparse

    @classmethod
    def of(cls, counts: RuleCounts) -> SentCounts:
        """Counts to be sent."""
        return cls(sparse(counts.root), sparse(counts.binary), sparse(counts.lexical))

    def add_to(self, whole: RuleCounts) -> None:
        """Add them to others. Sums of whole numbers are the same in any order."""
        self.root.add_to(whole.root)
        self.binary.add_to(whole.binary)
        self.lexical.add_to(whole.lexical)
