"""Long rows of whole numbers as short text: the bytes of the smallest type, in base64.

Whether a comparison is of the text that a run learned from.

A comparison has a digest of its gold trees; a run has gold trees only if they are given with it.
Without them, only the numbers of sentences and words are compared.

One HTML file from its parts; it loads nothing.

Words from corpora are data. They are in the file only within one JSON text, in which every
character that has a meaning in HTML is escaped; the page's program turns them into text nodes and
never into markup. The page's content security policy forbids requests and all other programs.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.experiments.corpora import Task
from dbpcfg.induction.run import Run
from dbpcfg.io.files import reading, writing, written_whole
from dbpcfg.version import __version__


def pack(numbers: Sequence[int] | NDArray[Any]) -> dict[str, str]:
    """Pack numbers from 0 up, each in 1, 2 or 4 bytes, least byte first."""
    array = np.asarray(numbers, dtype=np.int64)
    most = int(array.max(initial=0))
    type_code = "u1" if most < 2**8 else "u2" if most < 2**16 else "u4"
    data = base64.b64encode(array.astype(f"<{type_code}").tobytes())
    return {"type": type_code, "data": data.decode("ascii")}


def match_comparison(
    comparison: dict[str, Any], run: Run, gold: Gold | None, scores: dict[str, Any] | None
) -> dict[str, Any]:
    """Match a comparison with a run.

    ``gold``: the gold trees of its sentences, if there are any.
    ``scores``: its scores, if there are any.
    ``dict``: the comparison, and ``same``: whether it is of the same text, None if only numbers
    could be compared; ``differences``; ``same_case``: whether both learned from words in lower case
    or both as written; ``own``: the run's own score, None unless it is of the same gold trees by
    the same convention.
    """
    differences = _differences(comparison["corpus"], run, gold)
    same = False if differences else (True if gold is not None else None)
    lowercase = run.configuration.preparation.lowercase
    return {
        **comparison,
        "same": same,
        "differences": differences,
        "same_case": comparison["corpus"]["lowercase"] == lowercase,
        "own": _own(comparison, scores) if same and scores else None,
    }


def _differences(corpus: dict[str, Any], run: Run, gold: Gold | None) -> list[str]:
    marks = run.corpus.punctuation if gold is None else gold.punctuation
    ours = {
        "sentences": len(run.corpus.words),
        "words": sum(mark.count(False) for mark in marks),
    }
    found = [
        f"it has {corpus[what]:,} {what}{'' if what == 'sentences' else ' without punctuation'}, "
        f"the run {number:,}"
        for what, number in ours.items()
        if corpus[what] != number
    ]
    if not found and gold is not None and corpus["digest"] != _digest(run, gold):
        found = ["its gold trees, or which of their words are punctuation, are not those given"]
    return found


def _digest(run: Run, gold: Gold) -> str:
    """The digest of a comparison on these gold trees."""
    prepared = Prepared(gold.sentences, [], gold.punctuation, run.configuration.preparation)
    return Task(prepared, gold.convention, ()).digest


def _own(comparison: dict[str, Any], scores: dict[str, Any]) -> dict[str, Any] | None:
    if _convention(comparison["signature"]) != _convention(scores["signature"]):
        return None
    one = next(one for one in scores["systems"] if one.get("selected"))
    return None if one["f1"] is None else {"chain": one["chain"], "f1": one["f1"]}


def _convention(signature: str) -> list[str]:
    """Its parts without the length limit, which the same sentences are within, and the version."""
    parts = signature.split("|")
    return [part for part in parts if not part.startswith(("length:", "dbpcfg:"))]


STYLES = ("page.css", "figures.css")
PROGRAM = (
    *("dom.js", "packing.js", "figure.js", "charts.js", "tree.js", "overview.js", "chains.js"),
    *(
        "scores.js",
        "other_systems.js",
        "grammar.js",
        "sentences.js",
        "modes.js",
        "memory.js",
        "main.js",
    ),
)
MARK = '<meta name="generator" content="dbpcfg report'
"""Pages are recognised by this."""

_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def as_page(data: dict[str, Any]) -> str:
    """The page as text, from the data of `collect`."""
    program = "\n".join(_part(name) for name in PROGRAM)
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode("ascii")
    return Template(_part("page.html")).substitute(
        generator=f'{MARK} {__version__}">',
        program_digest=digest,
        style=style_sheet(),
        data=safe_json(data),
        program=program,
    )


def style_sheet() -> str:
    """The styles of the page, for other pages of one file."""
    return "\n".join(_part(name) for name in STYLES)


def safe_json(data: object) -> str:
    """JSON in which characters that have a meaning in HTML are escaped.

    Lone surrogates, which no file can hold, are escaped as well.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.translate(_ESCAPED)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def check_free(path: Path, overwrite: bool) -> None:
    """Raise an error if the page cannot be written, or would replace another file.

    ``overwrite``: whether a file that is not a report may be replaced.
    """
    if path.is_dir():
        raise DbpcfgError(f"{path} is a directory; give the name of a file for the page")
    if not path.resolve().parent.is_dir():
        raise DbpcfgError(f"there is no directory {path.parent} for the page; make it first")
    if overwrite or not path.exists():
        return
    with reading(path), path.open("rb") as file:
        ours = MARK.encode() in file.read(2000)
    if not ours:
        raise DbpcfgError(
            f"{path} exists and is no report; choose another --out, or replace it with --overwrite"
        )


def write_page(data: dict[str, Any], path: Path) -> None:
    """Write a page, whole or not at all."""
    with writing(path), written_whole(path) as file:
        file.write(as_page(data).encode())


def _part(name: str) -> str:
    return (files("dbpcfg.report") / "page" / name).read_text(encoding="utf-8")
