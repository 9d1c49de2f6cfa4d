"""The columns that people regress on: which there are, and their values for each row of a table.

`dbpcfg.model.measures.WordMeasures` has the columns that every table has; here are the others, and
what becomes of each column if a row has several tokens, such as a word with its comma: costs are
summed, states and probabilities are those of the last token. ``docs/surprisal.md`` defines them:

=================================  =============================================================
``depth_after``                    expected number of fragments in memory, after the word
``storage_d1``, …                  probability of at least d fragments in memory, after the word
``integration_d1``, …              probability that the word ends fragment d, which joins the one
                                   above it (for d = 1: and the sentence)
``end_surprisal``                  of the sentence's end, at its last word
``derivation_entropy``             of all derivations of the whole sentence, before the word
``derivation_entropy_reduction``   by how much that is less after it
``position, length``               number of the row in its sentence; characters in it
``log_frequency``                  of the least frequent token, in a corpus
=================================  =============================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.errors import DbpcfgError
from dbpcfg.model.measures import WordMeasures

Combination = Literal["sum", "last", "least", "words", "kind", "row"]

DERIVATION = ("derivation_entropy", "derivation_entropy_reduction")
"""The columns of Hale's measure."""
FREQUENCY = "log_frequency"
DEFAULT, ALL = "default", "all"
BY_DEPTH = ("storage", "integration")
"""Names that stand for a column for each depth."""
_KINDS = ("end", "word", "class", "unknown")
"""From what a model knows best to what it knows least."""


class MeasureColumn(NamedTuple):
    """A column of measures."""

    name: str
    combination: Combination = "last"
    """What a row of several tokens has."""
    measured: bool = True
    """Whether it depends on the grammar, and is a number: these are averaged."""
    lagged: bool = True
    """Whether spillover adds the values of the words before."""


_SUMMED = ("surprisal", "next_word_entropy_reduction", "lost", DERIVATION[1])
_TEXTS: dict[str, Combination] = {"word": "words", "form": "words", "kind": "kind", "store": "last"}
_NUMBERS: dict[str, Combination] = {
    "source": "last",
    "line": "last",
    "sentence": "last",
    "token": "last",
}
_OF_ROWS: dict[str, Combination] = {"position": "row", "length": "row", FREQUENCY: "least"}


def known_columns(depth: int) -> dict[str, MeasureColumn]:
    """All columns under a memory bound, by their names, in their order."""
    by_depth = [f"{name}_d{d}" for name in BY_DEPTH for d in range(1, depth + 1)]
    names = [*WordMeasures._fields, "depth_after", *by_depth, "end_surprisal", *DERIVATION]
    return {name: _column(name) for name in [*names, *_OF_ROWS]}


def _column(name: str) -> MeasureColumn:
    unmeasured = {**_TEXTS, **_NUMBERS}
    if name in unmeasured:
        return MeasureColumn(name, unmeasured[name], measured=False, lagged=False)
    if name in _OF_ROWS:
        return MeasureColumn(name, _OF_ROWS[name], measured=False, lagged=name != "position")
    summed = name in _SUMMED or name.startswith("integration_d")
    lagged = name not in ("lost", "end_surprisal")
    return MeasureColumn(name, "sum" if summed else "last", lagged=lagged)


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that a user chose."""

    names: Sequence[str] | None = None
    """``default`` stands for several, ``all`` for all measures beside those, ``storage`` and
    ``integration`` for one for each depth; None for the default."""
    hale: bool = False
    """Whether the columns of Hale's measure are added."""
    frequency: LogFrequencies | None = None
    """Frequencies of words; their column is added."""
    spillover: int = 0
    """How many words back the values of the columns are repeated."""
    prefix: str = ""
    """What the names of columns begin with."""

    @property
    def is_default(self) -> bool:
        """Whether nothing was chosen."""
        return self == ColumnChoice()

    def columns(
        self, default: Sequence[str], depth: int, averaged: bool = False
    ) -> list[MeasureColumn]:
        """The columns.

        ``averaged``: whether means over grammars are computed: then there is no column ``store``.
        """
        known = known_columns(depth)
        added = [FREQUENCY] * (self.frequency is not None) + list(DERIVATION) * self.hale
        left_out = {FREQUENCY, *DERIVATION} - set(added) | ({"store"} if averaged else set())
        standing = {name: [x for x in known if x.startswith(f"{name}_d")] for name in BY_DEPTH}
        standing[DEFAULT] = [name for name in [*default, *added] if name not in left_out]
        names_of_rows = {*_TEXTS, *_NUMBERS} - set(default)
        standing[ALL] = [name for name in known if name not in left_out | names_of_rows]
        names = [x for name in self.names or [DEFAULT] for x in standing.get(name, [name])]
        names += [name for name in added if name not in names]
        for name in names:
            if name not in known:
                listed = ", ".join([DEFAULT, ALL, *BY_DEPTH, *known])
                raise DbpcfgError(f"there is no column {name!r}; choose from {listed}")
        if FREQUENCY in names and self.frequency is None:
            raise DbpcfgError(
                f"{FREQUENCY} needs a corpus to count in: give --frequency (in Python frequency=)"
            )
        if averaged and "store" in names:
            raise DbpcfgError(
                "store is a state of one grammar and has no average; leave it out of --columns"
            )
        return [known[name] for name in dict.fromkeys(names)]


def combined(column: MeasureColumn, tokens: Sequence[Any]) -> Any:
    """The cell of a row."""
    return tokens[0] if len(tokens) == 1 else _COMBINING[column.combination](tokens)


def _sum(values: Sequence[float]) -> float:
    return math.inf if math.inf in values else math.fsum(values)


_COMBINING: dict[Combination, Callable[[Sequence[Any]], Any]] = {
    "sum": _sum,
    "last": lambda values: values[-1],
    "least": min,
    "words": " ".join,
    "kind": lambda kinds: max(kinds, key=_KINDS.index),
}
