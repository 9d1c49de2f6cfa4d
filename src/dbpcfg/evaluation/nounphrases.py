"""Noun-phrase recall (the paper's section 5.3), and the same for any gold category.

How many gold constituents of the category, at all levels and not just the lowest, are spans of the
predicted tree, whatever their labels there?  Distinct spans of two words or more count, the whole
sentence like any other; as in PARSEVAL, every system is credited with that one.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbpcfg.evaluation.brackets import Pair
from dbpcfg.files.table import percent

__all__ = ["Recall", "count_found"]


@dataclass(frozen=True, slots=True)
class Recall:
    """How many gold constituents of a category are spans of the predicted trees."""

    category: str
    """The gold category."""
    found: int
    """Gold constituents that are spans of the predicted trees."""
    gold: int
    """All gold constituents."""
    signature: str
    """The convention."""

    @property
    def recall(self) -> float:
        """The share found; nan if there are none to find."""
        return self.found / self.gold if self.gold else float("nan")

    def __str__(self) -> str:
        counts = f"found {self.found}, gold {self.gold}"
        return f"{self.category} recall {percent(self.recall)} ({counts}) {self.signature}"


def count_found(trees: Pair, category: str) -> tuple[int, int]:
    """Count the gold constituents of a category in one sentence.

    Returns how many are spans of the predicted tree, and how many there are.
    """
    gold = [
        span for span, labels in trees.gold.items() if category in labels and span[1] - span[0] >= 2
    ]
    whole = (0, trees.words)
    return sum(span in trees.predicted or span == whole for span in gold), len(gold)
