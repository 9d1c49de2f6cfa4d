"""The keys of a grid file, and what each of them may be: options of ``induce`` by their names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from dbpcfg.corpus.formats import readers
from dbpcfg.corpus.preparation import Scheme
from dbpcfg.corpus.sentence import PunctuationRule
from dbpcfg.induction.chain import TreeChoice
from dbpcfg.induction.criteria import Criterion
from dbpcfg.induction.search import InferenceName
from dbpcfg.induction.settings import Initial, LearnerName, ParserName
from dbpcfg.parsing.chart.layout import Precision


class ValueKind(NamedTuple):
    """What a value may be."""

    fits: Callable[[Any], bool]
    wanted: str
    """The same in words."""


def whole(least: int, wanted: str = "") -> ValueKind:
    """A whole number."""
    return ValueKind(
        lambda value: type(value) is int and value >= least,
        f"{wanted or 'a whole number'} from {least} up",
    )


def choice(kind: Any) -> ValueKind:
    """One of the values of a ``Literal``."""
    names = get_args(kind)
    return ValueKind(
        lambda value: isinstance(value, str) and value in names,
        f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}",
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any, least: float) -> bool:
    return type(value) in (int, float) and least <= value < math.inf


FLAG = ValueKind(lambda value: type(value) is bool, "true or false")
TEXT = ValueKind(_is_text, "a text")
TEXTS = ValueKind(
    lambda value: _is_text(value) or (_is_list(value) and all(map(_is_text, value))),
    "a text or a list of texts",
)
SEED = whole(0)
DEPTH = ValueKind(
    lambda value: value == "none" or whole(1).fits(value), "a whole number from 1 up, or 'none'"
)
BETA = ValueKind(lambda value: _is_number(value, 0) and value > 0, "a number above 0")


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


AXES: dict[str, ValueKind] = {
    "K": whole(1),
    "D": DEPTH,
    "beta": BETA,
    "seeds": SEED,
    "systems": TEXT,
}
"""What the grid is over, besides corpora: each is a value or a list."""

CORPUS: dict[str, ValueKind] = {
    "max-length": whole(1),
    "lowercase": FLAG,
    "punctuation": choice(PunctuationRule),
    "numbers": FLAG,
    "rare": whole(0),
    "scheme": choice(Scheme),
    "no-punctuation": FLAG,
    "input-format": ValueKind(
        lambda value: isinstance(value, str) and value in readers,
        f"a format: {', '.join(readers.own)}",
    ),
    "skip-broken": FLAG,
    "encoding": TEXT,
    "speaker": TEXTS,
    "exclude-speaker": TEXTS,
}
"""How a corpus is read and prepared: of one corpus, or of all that do not say otherwise."""

ONE_CORPUS: dict[str, ValueKind] = {"path": TEXTS, "name": TEXT, "gold": TEXTS}
"""What only a single corpus has."""

INDUCTION: dict[str, ValueKind] = {
    "budget": whole(1, "a number of iterations (a time is not the same in every cell)"),
    "chains": whole(1),
    "iterations": whole(1),
    "inference": choice(InferenceName),
    "select": choice(Criterion),
    "aside": whole(0),
    "trees": choice(TreeChoice),
    "exact": FLAG,
    "sample-beta": FLAG,
    "initial": choice(Initial),
    "restarts": whole(0),
    "restart-iterations": whole(1),
    "anneal": whole(0),
    "temperature": ValueKind(lambda value: _is_number(value, 1), "a number from 1 up"),
    "curriculum": whole(0),
    "parser": choice(ParserName),
    "precision": choice(Precision),
    "learner": choice(LearnerName),
    "batch": whole(0),
    "step": ValueKind(lambda value: _is_number(value, 0.5), "a number above 0.5, at most 1"),
    "smoothing": ValueKind(lambda value: _is_number(value, 0), "a number from 0 up"),
    "word-categories": whole(0),
    "rank": whole(0),
    "rate": ValueKind(lambda value: _is_number(value, 0), "a number above 0"),
    "patience": whole(1),
}
"""Settings of dbpcfg that are the same in all cells."""

SETTINGS = ValueKind(
    lambda value: isinstance(value, dict) and all(isinstance(v, dict) for v in value.values()),
    "a table for each system, as in [settings.bmmm-dmv]",
)

GRID = ("corpus", *AXES, "out", *INDUCTION, *CORPUS, "settings")
"""All keys at the top of the file."""
