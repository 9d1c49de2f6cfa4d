"""The columns of surprisal: how each is computed, combined over tokens, and averaged over grammars.

``docs/surprisal.md`` has the formulas. *Before* a word means given the words of the sentence before
it, *after* it means given the word as well; entropies are in bits. Undefined values, such as those
after a word of probability zero, are nan.

A column of your own is a `SurprisalColumn` that is added to `COLUMNS`, by a program or by an entry
point of the group ``dbpcfg.columns``; it can then be chosen by its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dbpcfg.corpus.stimuli import END
from dbpcfg.errors import DbpcfgError
from dbpcfg.registry import Registry

if TYPE_CHECKING:
    from dbpcfg.model.surprisal import MeasuredSentence


def last(values: Sequence[Any]) -> Any:
    """The last of the values of a row's tokens, for states and probabilities."""
    return values[-1]


def total(values: Sequence[float]) -> float:
    """The sum of the values of a row's tokens, for costs."""
    return math.inf if math.inf in values else math.fsum(values)


@dataclass(frozen=True)
class SurprisalColumn:
    """A column of surprisal."""

    help: str
    """Its definition, in a line."""
    values: Callable[..., Any]
    """Called with a `MeasuredSentence`: a value for each token, and a last one for the end."""
    combine: Callable[[Sequence[Any]], Any] | None = last
    """The value of a row of several tokens, such as a word with its comma; None if ``values`` are
    of rows already."""
    average: Literal["mean", "same", "none"] = "mean"
    """Over several grammars: mean and standard deviation, the same in all, or undefined."""
    lagged: bool = True
    """Whether spillover repeats the values of the words before."""
    by_depth: bool = False
    """Whether there is a column for each depth, such as ``name_d1``; ``values`` is then called with
    the sentence and the depth."""
    option: str = ""
    """The option that adds it, or the name of its group; without one of them it is left out."""
    needs: Collection[str] = ()
    """What it needs besides the chart: ``"bound"``, ``"entropies"`` of next words,
    ``"stores"``, ``"derivations"``."""

    def cells(self, measured: MeasuredSentence) -> list[Any]:
        """The cell of each row of a sentence."""
        computed = self.values(measured)
        values = computed.tolist() if isinstance(computed, np.ndarray) else list(computed)
        spans, combine = measured.rows.spans, self.combine
        if combine is None:
            return values
        if len(spans) >= len(measured.forms):  # tokens are rows
            return values[: len(spans)]
        return [
            values[start] if end == start + 1 else combine(values[start:end])
            for start, end in spans
        ]


COLUMNS: Registry[SurprisalColumn] = Registry("column of surprisal", "columns", {})
"""All columns, in order."""

PLACES = ("source", "line", "sentence", "token", "word")
"""The location of a word, which a table of stimuli has in columns of its own."""
MEASURES = (
    *("form", "kind", "surprisal", "next_word_entropy", "next_word_entropy_reduction"),
    *("end_probability", "depth", "fork", "join"),
)
DEFAULT = (*PLACES, *MEASURES)
"""The columns of a text if none are chosen."""
OF_SENTENCES = ("token", "word", *MEASURES)
"""The columns of a table of sentences."""
OF_WORDS = ("position", *MEASURES, "end_surprisal")
"""The columns of a table of words."""


def known_columns(depth: int | None) -> dict[str, SurprisalColumn]:
    """All columns under a memory bound, by their names."""
    columns = {}
    for name in COLUMNS.names():
        column = COLUMNS[name]
        if not column.by_depth:
            columns[name] = column
            continue
        for d in range(1, (depth or 0) + 1):
            values = partial(column.values, depth=d)
            columns[f"{name}_d{d}"] = replace(column, values=values, by_depth=False)
    return columns


def choose(
    wanted: Sequence[str] | None,
    default: Sequence[str],
    depth: int | None,
    options: Sequence[str] = (),
    averaged: bool = False,
) -> dict[str, SurprisalColumn]:
    """The columns that a user names, by their names.

    ``wanted``: ``default``, ``all``, ``stores`` and names of columns by depth each name several;
    None for the default.
    ``depth``: the memory bound; None for no bound.
    ``options``: the given options that add columns.
    ``averaged``: whether means over grammars are computed.
    """
    known = known_columns(depth)
    added = [name for option in options for name in known if known[name].option == option]
    hidden = {
        name
        for name, column in known.items()
        if (column.option and name not in added)
        or (averaged and column.average == "none")
        or (depth is None and "bound" in column.needs)
    }
    groups = {
        "default": _without(hidden, [*default, *added]),
        "all": _without(hidden | set(PLACES) - set(default), known),
        "stores": [
            name
            for name, column in known.items()
            if column.option == "stores" and not (averaged and column.average == "none")
        ],
    }
    for name in COLUMNS.names():
        if COLUMNS[name].by_depth and depth is not None:
            groups[name] = [f"{name}_d{d}" for d in range(1, depth + 1)]
    names = [x for name in wanted or ["default"] for x in groups.get(name, [name])]
    for name in [*names, *added]:
        if depth is None and name in COLUMNS and "bound" in COLUMNS[name].needs:
            raise DbpcfgError(
                f"{name} needs a memory bound, and this model has none: choose one with --depth, "
                "such as --depth 2 (in Python, depth=2)"
            )
        if name not in known:
            raise DbpcfgError(
                f"there is no column {name!r}; choose from {', '.join([*groups, *known])}"
            )
        if averaged and known[name].average == "none":
            raise DbpcfgError(f"{name} has no average over grammars; leave it out of --columns")
    return {name: known[name] for name in dict.fromkeys([*names, *added])}


def _without(hidden: Collection[str], names: Collection[str]) -> list[str]:
    return [name for name in names if name not in hidden]


_KINDS = ("end", "word", "class", "unknown")
"""From the best known to the least known."""


def _reduction(s: MeasuredSentence) -> Any:
    certain = np.isfinite(s.prefixes.logs[-1])
    return s.entropies - np.append(s.entropies[1:], 0.0 if certain else np.nan)


def _storage(s: MeasuredSentence, depth: int) -> Any:
    depths = s.prefixes.depths
    unknown = np.full(depths.shape[1], np.nan)
    return np.vstack([depths[1:], unknown])[:, depth:].sum(axis=1)


def _depth(s: MeasuredSentence) -> Any:
    depths = s.prefixes.depths
    return depths @ np.arange(depths.shape[1])


def _end_surprisal(s: MeasuredSentence) -> Any:
    surprisal = np.full(s.tokens, np.nan)
    surprisal[-2] = s.surprisal[-1]
    return surprisal


def _length(s: MeasuredSentence) -> list[float]:
    words = len(s.forms)
    return [
        sum(map(len, text.split())) if first < words else math.nan
        for text, (first, _) in zip(s.rows.texts, s.rows.spans, strict=True)
    ]


def _log_frequency(s: MeasuredSentence) -> list[float]:
    if s.frequencies is None:
        raise DbpcfgError(
            "log_frequency needs a corpus to count in: give --frequency (in Python frequency=)"
        )
    return [*map(s.frequencies.of, s.sentence.words), math.nan]


def _fixed(help: str, values: Callable[[MeasuredSentence], Any], **options: Any) -> SurprisalColumn:
    """A column that does not depend on the grammar."""
    return SurprisalColumn(help, values, **{"average": "same", "lagged": False, **options})


_STORES: dict[str, Any] = {"option": "stores", "needs": ("bound", "stores")}
_DERIVATIONS: dict[str, Any] = {"option": "hale", "needs": ("bound", "derivations")}
_OWN = {
    "source": _fixed("the file", lambda s: [s.sentence.source] * s.tokens),
    "line": _fixed("the line where the sentence begins", lambda s: [s.sentence.line] * s.tokens),
    "sentence": _fixed("number of the sentence in the text", lambda s: [s.number] * s.tokens),
    "token": _fixed("number of the token in the sentence", lambda s: range(1, s.tokens + 1)),
    "word": _fixed("the word as written", lambda s: [*s.sentence.words, END], combine=" ".join),
    "form": _fixed(
        "what the model sees", lambda s: [*(x.form for x in s.forms), END], combine=" ".join
    ),
    "kind": _fixed(
        "word, class, unknown or end",
        lambda s: [*(x.kind for x in s.forms), "end"],
        combine=lambda kinds: max(kinds, key=_KINDS.index),
    ),
    "surprisal": SurprisalColumn(
        "−log₂ P(word | the words before it)", lambda s: s.surprisal, total
    ),
    "next_word_entropy": SurprisalColumn(
        "uncertainty about the next word, or the end, before the word",
        lambda s: s.entropies,
        needs=("entropies",),
    ),
    "next_word_entropy_reduction": SurprisalColumn(
        "its decrease from this word to the next; can be negative",
        _reduction,
        total,
        needs=("entropies",),
    ),
    "end_probability": SurprisalColumn(
        "probability that the sentence ends before this word", lambda s: s.prefixes.ended
    ),
    "depth": SurprisalColumn(
        "expected fragments in memory, before the word", _depth, needs=("bound",)
    ),
    "fork": SurprisalColumn(
        "probability of a fork at the word, given the word", lambda s: s.prefixes.fork
    ),
    "join": SurprisalColumn(
        "probability of a join at the word, given the word", lambda s: s.prefixes.join
    ),
    "depth_after": SurprisalColumn(
        "expected fragments in memory, after the word",
        lambda s: np.append(_depth(s)[1:], np.nan),
        needs=("bound",),
    ),
    "storage": SurprisalColumn(
        "probability of at least d fragments in memory, after the word",
        _storage,
        by_depth=True,
        needs=("bound",),
    ),
    "integration": SurprisalColumn(
        "probability that the word ends fragment d, which joins the one above it",
        lambda s, depth: s.prefixes.closed[:, depth],
        total,
        by_depth=True,
        needs=("bound",),
    ),
    "store": SurprisalColumn(
        "the most probable state of memory, before the word",
        lambda s: s.stores(),
        average="none",
        lagged=False,
        **_STORES,
    ),
    "store_probability": SurprisalColumn(
        "its probability", lambda s: s.trace.best_probability, **_STORES
    ),
    "store_entropy": SurprisalColumn(
        "uncertainty about the state of memory, before the word",
        lambda s: s.store_entropies,
        **_STORES,
    ),
    "end_surprisal": SurprisalColumn(
        "surprisal of the sentence's end, at its last word", _end_surprisal, lagged=False
    ),
    "derivation_entropy": SurprisalColumn(
        "entropy of all derivations of the whole sentence, before the word (Hale 2006)",
        lambda s: s.derivation_entropies[:-1],
        **_DERIVATIONS,
    ),
    "derivation_entropy_reduction": SurprisalColumn(
        "its decrease from this word to the next",
        lambda s: s.derivation_entropies[:-1] - s.derivation_entropies[1:],
        total,
        **_DERIVATIONS,
    ),
    "position": _fixed(
        "number of the row in its sentence",
        lambda s: range(1, len(s.rows.spans) + 1),
        combine=None,
    ),
    "length": _fixed("characters in the row", _length, combine=None, lagged=True),
    "log_frequency": _fixed(
        "of the least frequent token, in a corpus",
        _log_frequency,
        combine=min,
        lagged=True,
        option="frequency",
    ),
}
for _name, _column in _OWN.items():
    COLUMNS.add(_name, _column)
