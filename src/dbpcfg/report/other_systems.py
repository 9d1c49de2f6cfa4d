"""Other systems on the text of a run, from a directory that ``dbpcfg compare`` wrote.

A file may come from anyone, so the entries that a page shows are taken from it one by one, each
checked for its type.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dbpcfg.comparison.data import comparison_data
from dbpcfg.comparison.summary import MEASURES
from dbpcfg.errors import DbpcfgError

FIGURES = ("mean", "sd", "min", "max")


def read_comparison(directory: Path) -> dict[str, Any]:
    """Read a comparison for a page."""
    if not directory.is_dir():
        what = "is a file" if directory.exists() else "does not exist"
        raise DbpcfgError(
            f"{directory} {what}; give the directory that `dbpcfg compare --out` wrote"
        )
    if not any((directory / name).exists() for name in ("task.json", "comparison.json")):
        raise DbpcfgError(
            f"{directory} is not a comparison: it has no comparison.json; give the directory that "
            "`dbpcfg compare --out` wrote"
        )
    content = comparison_data(directory)
    try:
        return _checked(content)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DbpcfgError(
            f"{directory / 'comparison.json'} is not as `dbpcfg compare --out` writes it "
            f"({type(error).__name__}: {error}); run the comparison again with the same --out, "
            "which keeps what is finished"
        ) from None


def _checked(content: dict[str, Any]) -> dict[str, Any]:
    corpus = content["corpus"]
    systems = [_system(one) for one in content["systems"]]
    if not systems:
        raise ValueError("there is no system in it")
    tests = [_test(one) for one in content["tests"]]
    # The best first, among equals in their order; those without a score last.
    systems.sort(key=lambda one: math.inf if one["f1"]["mean"] is None else -one["f1"]["mean"])
    return {
        "corpus": {
            "digest": _text(corpus["digest"]),
            "sentences": _count(corpus["sentences"]),
            "words": _count(corpus["words"]),
            "lowercase": bool(corpus["lowercase"]),
        },
        "signature": _text(content["signature"]),
        "category": _text(content["category"]),
        "systems": systems,
        "tests": sorted(tests, key=lambda one: (one["difference"] is None, one["difference"])),
    }


def _system(one: dict[str, Any]) -> dict[str, Any]:
    spread = one["spread"]
    settings = [f"{name} = {value}" for name, value in one["settings"].items()]
    return {
        "name": _text(one["name"]),
        "about": "; ".join([_text(one["summary"]), _text(one["reference"]), ", ".join(settings)]),
        "runs": len(one["runs"]),
        **{m: {figure: _number(spread[m][figure]) for figure in FIGURES} for m in MEASURES},
        "peak_bytes": _number(one["peak_bytes"]),
        "failures": [
            {"seed": _number(failure["seed"]), "message": _text(failure["message"])}
            for failure in one["failures"]
        ],
    }


def _test(one: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: _text(one[name]) for name in ("system", "against")},
        **{name: _number(one[name]) for name in ("f1", "against_f1", "difference", "p")},
        **{name: _count(one[name]) for name in ("permutations", "seed")},
    }


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} in place of a text")
    return value


def _number(value: object) -> float | None:
    """A number, or None for what is undefined."""
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise TypeError(f"{value!r:.60} in place of a number")
    return value  # type: ignore[return-value]


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise TypeError(f"{value!r:.60} in place of a whole number")
    return value
