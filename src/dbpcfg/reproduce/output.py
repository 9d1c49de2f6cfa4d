"""What a reproduction writes: JSON, LaTeX and a page.

========================  ====================================================================
``reproduction.json``     all entries, published figures, tests, and the printed tables
``reproduction.tex``      the tables for LaTeX
``reproduction.html``     the page
========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbpcfg.io.files import write_json, writing, written_whole
from dbpcfg.io.tables import Table, render
from dbpcfg.reproduce.depth import DepthAnalysis, depth_tables
from dbpcfg.reproduce.figure import StripRow, strip_plot
from dbpcfg.reproduce.groups import NAMES, published_for
from dbpcfg.reproduce.page import page
from dbpcfg.reproduce.recipe import Recipe
from dbpcfg.reproduce.result import Reproduction
from dbpcfg.reproduce.tables import HEADINGS, reproduction_tables, title

FORMAT = "dbpcfg reproduction"
FILES = ("reproduction.json", "reproduction.tex", "reproduction.html")
_PUNCTUATION = "without punctuation"


def write_reproduction(result: Reproduction, out: Path) -> list[Table]:
    """Write a reproduction of scores."""
    tables = reproduction_tables(result)
    _write(result.recipe, tables, _figures(result), _data(result), out)
    return tables


def write_depths(analysis: DepthAnalysis, out: Path) -> list[Table]:
    """Write an analysis of depths."""
    tables = depth_tables(analysis)
    quoted = {one.depth: one.figures.get("share") for one in analysis.recipe.published}
    ours = [t for name, t in analysis.tables.items() if name.endswith(_PUNCTUATION)]
    deepest = max((len(table.counts) for table in ours), default=0)
    rows = [
        StripRow(f"depth {d}", [100 * table.share(d) for table in ours], quoted.get(d))
        for d in range(1, deepest + 1)
    ]
    caption = f"Sentences that need each memory depth, {_PUNCTUATION}, binary to the right and left"
    data = {"depths": {name: list(table.counts) for name, table in analysis.tables.items()}}
    figures = [(caption, strip_plot(rows, "sentences"))]
    _write(analysis.recipe, tables, figures, data, out)
    return tables


def _write(
    recipe: Recipe,
    tables: Sequence[Table],
    figures: Sequence[tuple[str, str]],
    data: Mapping[str, Any],
    out: Path,
) -> None:
    content = {
        "recipe": recipe.name,
        "title": recipe.title,
        "reference": recipe.reference,
        "table": recipe.table,
        "quick": recipe.is_quick,
        "published": [asdict(one) for one in recipe.published],
        **data,
        "tables": [table.json() for table in tables],
    }
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / FILES[0], FORMAT, content)
        texts = render(tables, "latex") + "\n", page(recipe, tables, figures)
        for name, text in zip(FILES[1:], texts, strict=True):
            with written_whole(out / name) as file:
                file.write(text.encode("utf-8", "surrogatepass"))


def _data(result: Reproduction) -> dict[str, Any]:
    return {
        "sentences": result.sentences,
        "words": result.words,
        "signatures": dict(result.signatures),
        "groups": [
            {
                "row": group.row.name,
                "system": group.row.system,
                "kind": group.kind,
                "flattened": group.flattened,
                "failures": list(group.failures),
                "missing": group.missing,
                "runs": [_run(asdict(entry)) for entry in group.entries],
            }
            for group in result.groups
        ],
        "tests": [
            {"score": score, "ours": names[0], "against": names[1], **asdict(test)}
            for score, tests in result.tests.items()
            for names, test in tests.items()
        ],
    }


def _run(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in ("cell", "flattened")}


def _figures(result: Reproduction) -> list[tuple[str, str]]:
    recipe, found = result.recipe, []
    shown = [recipe.main] if recipe.main == "f1" else recipe.measures
    for score in recipe.scores:
        for measure in (one for one in shown if one != "log-likelihood"):
            rows = []
            for group in result.groups:
                quoted = published_for(group, recipe.published_of(score))
                rows.append(
                    StripRow(
                        f"{group.name}, {NAMES[group.kind]}",
                        [100 * value for value in group.values(score.name, measure)],
                        None if quoted is None else quoted.figures.get(measure),
                    )
                )
            heading = HEADINGS[measure]
            found.append((f"{heading}: {title(recipe, score)}", strip_plot(rows, heading)))
    return found
