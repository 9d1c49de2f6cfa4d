"""The page of a run: one HTML file, which loads no others.

Words of corpora are in the file only within one JSON text, in which every character that is special
in HTML is escaped; the page's script turns them into text nodes, never into markup. The page's
content security policy forbids requests and all other scripts.

The data of a page or a figure, as JSON can hold it.

===============  ===========================================================  ==================
``run``          verdict, text, settings, versions, the command to repeat it  `runs`
``chains``       traces, R-hat, effective sample size                         `runs`
``scores``       of chains and baselines, by length; None without gold        `scores`
``others``       other systems on the text; None without a comparison         `scores`
``grammar``      categories with words, rules, sides and depths               `runs`
``meanings``     categories against gold labels; None without gold            `runs`
``sentences``    words and trees, packed                                      `sentences`
``modes``        the other survivors, and where their trees differ            `runs`
``memory``       depths that sentences need                                   `runs`
===============  ===========================================================  ==================
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

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.induction.run import Run
from dbpcfg.io.files import atomic_write, read_errors, write_errors
from dbpcfg.io.progress import Progress
from dbpcfg.model.profile import as_json
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.report.runs import (
    MAX_ITEMS,
    gold_labels,
    grammar_profile,
    memory,
    modes,
    overview,
    traces,
)
from dbpcfg.report.scores import BASELINES, match_comparison, scores
from dbpcfg.report.sentences import pack, sentences
from dbpcfg.version import __version__

STYLES = ("page.css", "figures.css")
PROGRAM = tuple(
    f"{part}.js"
    for part in (
        *("dom", "packing", "figure", "charts", "tree", "store", "overview", "chains", "scores"),
        *("other_systems", "grammar", "sentences", "modes", "memory", "main"),
    )
)
EXPLORE_STYLES = (*STYLES, "explore.css")
EXPLORE_PROGRAM = tuple(
    f"{part}.js"
    for part in ("dom", "figure", "tree", "store", "grammar", "words", "panel", "explore")
)
"""Of the page of ``dbpcfg explore``."""
MARK = '<meta name="generator" content="dbpcfg report'
"""By which an existing page is recognised."""

_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def as_page(data: dict[str, Any]) -> str:
    """The page as text, from the data of `collect`."""
    return _assembled("page.html", STYLES, PROGRAM, data)


def explore_page(data: dict[str, Any]) -> str:
    """The page of ``dbpcfg explore`` as text."""
    return _assembled("explore.html", EXPLORE_STYLES, EXPLORE_PROGRAM, data)


def _assembled(
    page: str, styles: Sequence[str], scripts: Sequence[str], data: dict[str, Any]
) -> str:
    program = "\n".join(map(_part, scripts))
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode("ascii")
    return Template(_part(page)).substitute(
        generator=f'{MARK} {__version__}">',
        program_digest=digest,
        style=style_sheet(styles),
        data=safe_json(data),
        program=program,
    )


def style_sheet(styles: Sequence[str] = STYLES) -> str:
    """The styles of the page, which other pages use too."""
    return "\n".join(map(_part, styles))


def safe_json(data: object) -> str:
    """JSON in which characters that are special in HTML, and lone surrogates, are escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.translate(_ESCAPED)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def check_free(path: Path, overwrite: bool) -> None:
    """Raise an error if the page cannot be written, or would replace another kind of file."""
    if path.is_dir():
        raise DbpcfgError(f"{path} is a directory; give the name of a file for the page")
    if not path.resolve().parent.is_dir():
        raise DbpcfgError(f"there is no directory {path.parent} for the page; make it first")
    if overwrite or not path.exists():
        return
    with read_errors(path), path.open("rb") as file:
        ours = MARK.encode() in file.read(2000)
    if not ours:
        raise DbpcfgError(
            f"{path} exists and is not a report; choose another --out, or replace it with "
            "--overwrite"
        )


def write_page(data: dict[str, Any], path: Path) -> None:
    """Write a page."""
    with write_errors(path), atomic_write(path) as file:
        file.write(as_page(data).encode())


def report_run(
    run: Run, path: Path, gold: Gold | None, overwrite: bool, quiet: bool | None
) -> None:
    """Write the page of a run, which need not have a directory."""
    check_free(path, overwrite)
    here = (path.parent / "config.toml").exists()
    folder = path.parent if here else path.with_suffix("")  # how the page calls the run
    write_page(collect(run, folder, gold, quiet), path)


def _part(name: str) -> str:
    return (files("dbpcfg.report") / "page" / name).read_text(encoding="utf-8")


def collect(
    run: Run,
    path: Path,
    gold: Gold | None = None,
    quiet: bool | None = True,
    comparison: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Collect the data of a finished run, with gold trees and a comparison if there are any."""
    with Progress("trees and counts", 2, quiet) as progress:
        derivations = run.answer
        trees = [as_tree(derivations[s], words) for s, words in enumerate(run.corpus.words)]
        categories = grammar_profile(run, trees, gold)
        progress.update(1)
        data: dict[str, Any] = {
            "run": overview(run, path),
            "chains": traces(run),
            "scores": None,
            "others": None,
            "grammar": as_json(categories, MAX_ITEMS),
            "meanings": gold_labels(categories),
            "sentences": sentences(run, derivations, gold),
            "modes": modes(run),
            "memory": memory(derivations, categories, gold),
        }
        progress.update(2)
    if gold is not None:
        with Progress("scored", len(run.survivors) + len(BASELINES) + 1, quiet) as progress:
            data["scores"] = scores(run, gold, progress.update)
        data["sentences"]["f1"] = pack(data["scores"].pop("each"))
    if comparison is not None:
        data["others"] = match_comparison(comparison, run, gold, data["scores"])
    return data
