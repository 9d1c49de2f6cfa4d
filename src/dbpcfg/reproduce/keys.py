"""The keys of a recipe, and what each of them may be."""

from __future__ import annotations

from typing import Any, Literal, get_args

from dbpcfg.sweep.keys import (
    BETA,
    DEPTH,
    FLAG,
    SEED,
    TEXT,
    TEXTS,
    ValueKind,
    choice,
    whole,
)
from dbpcfg.sweep.keys import CORPUS as PREPARATION

Measure = Literal[
    "precision", "recall", "f1", "phrase-recall", "aggregate-f1", "homogeneity", "log-likelihood"
]
"""What is measured: brackets, noun phrases, labels of constituents, log-likelihood per token."""
MEASURES: tuple[Measure, ...] = get_args(Measure)
SCORES = tuple(name for name in MEASURES if name != "log-likelihood")
"""The measures that are percentages."""

Half = Literal["first", "second"]
Analysis = Literal["scores", "depth"]
Synthetic = Literal["left", "right", "center"]


def _is_percentage(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 100


PERCENTAGE = ValueKind(_is_percentage, "a percentage from 0 to 100")
TABLE = ValueKind(lambda value: isinstance(value, dict), "a table")
TABLES = ValueKind(
    lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    "tables, each under its own heading in two pairs of brackets",
)
_MEASURE = choice(Measure)
_MEASURES = ValueKind(
    lambda value: isinstance(value, list) and bool(value) and all(map(_MEASURE.fits, value)),
    f"a list of {_MEASURE.wanted}",
)

RECIPE: dict[str, ValueKind] = {
    "title": TEXT,
    "reference": TEXT,
    "table": TEXT,
    "analysis": choice(Analysis),
    "seeds": ValueKind(lambda value: isinstance(value, int | str | list), "numbers or a range"),
    "measures": _MEASURES,
    "flatten": FLAG,
    "notes": TEXTS,
    "corpus": TABLE,
    "paper": TABLE,
    "default": TABLE,
    "quick": TABLE,
    "score": TABLES,
    "row": TABLES,
    "published": TABLES,
}
"""At the top of the file."""

SELECTION: dict[str, ValueKind] = {"max-length": whole(1), "half": choice(Half)}
"""Which sentences: of those of at most so many words, all, or the first or second half."""

CORPUS: dict[str, ValueKind] = {
    "name": TEXT,
    "path": TEXTS,
    "synthetic": choice(Synthetic),
    "sentences": whole(1),
    "vocabulary": whole(1),
    "seed": SEED,
    "needs": TEXT,
    "without": TABLE,
    **SELECTION,
    **PREPARATION,
}
QUICK: dict[str, ValueKind] = {
    "sentences": whole(1),
    "seeds": RECIPE["seeds"],
    "paper": TABLE,
    "default": TABLE,
    "settings": TABLE,
}
SCORE: dict[str, ValueKind] = {"name": TEXT, "max-length": whole(1)}
ROW: dict[str, ValueKind] = {
    "name": TEXT,
    "system": TEXT,
    "trees": TEXT,
    "K": whole(1),
    "D": DEPTH,
    "beta": BETA,
    "settings": TABLE,
    "baseline": FLAG,
}
PUBLISHED: dict[str, ValueKind] = {
    "name": TEXT,
    "source": TEXT,
    "score": TEXT,
    "row": TEXT,
    "flattened": FLAG,
    **dict.fromkeys(SCORES, PERCENTAGE),
    "depth": whole(1),
    "least-depth": whole(1),
    "share": PERCENTAGE,
    "sentences": whole(1),
}
