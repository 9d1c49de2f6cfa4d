"""The page of a reproduction: a plot of all runs and the published figures, and the tables.

It is one file, without programs and links to others; plots are SVG.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from dbpcfg.experiments.recipe import Recipe
from dbpcfg.experiments.reproduce import Reproduction, published_for
from dbpcfg.experiments.reproduction import HEADINGS, QUICK, DepthAnalysis, title
from dbpcfg.io.files import atomic_write, write_errors
from dbpcfg.io.tables import Table
from dbpcfg.report.assemble import style_sheet
from dbpcfg.version import __version__

_STYLE = """
.strips { max-width: 100%; height: auto; font: 13px var(--text); }
.strips text { fill: var(--ink); } .strips .tick { fill: var(--soft); }
.strips .grid { stroke: var(--line); } .strips .range { stroke: var(--soft); }
.strips circle { fill: var(--accent); fill-opacity: .35; stroke: var(--accent); }
.strips .published { fill: var(--wrong); stroke: var(--raised); }
figure { margin: 0 0 2rem; } main table { margin-bottom: .5rem; }
main table caption { text-align: left; padding: 0 0 .5rem; font-weight: 600; color: var(--ink); }
main .table { margin-bottom: 2rem; } td, th { padding: .25rem .625rem; }
"""

_WIDTH, _LABELS, _RIGHT, _ROW, _TOP, _BOTTOM = 820, 270, 30, 26, 12, 44
_STEPS = (1, 2, 5, 10, 20)
"""Percentages between two lines."""
_MAX_LINES = 9


class StripRow(NamedTuple):
    """A row of the plot."""

    label: str
    values: Sequence[float]
    """Percentages, a circle for each."""
    published: float | None = None
    """A percentage, a diamond."""


def strip_plot(rows: Sequence[StripRow], axis: str) -> str:
    """Draw rows of points.

    Returns the element ``svg``; empty if there is nothing to draw.
    """
    numbers = [x for row in rows for x in (*row.values, row.published) if x is not None]
    if not numbers:
        return ""
    step = _step(min(numbers), max(numbers))
    low, high = (math.floor(min(numbers) / step) * step, math.ceil(max(numbers) / step) * step)
    high = max(high, low + step)
    height = _TOP + _ROW * len(rows) + _BOTTOM

    def x(value: float) -> float:
        return _LABELS + (value - low) / (high - low) * (_WIDTH - _LABELS - _RIGHT)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" '
        f'aria-label="{escape(axis)} of every run, and published figures" class="strips">'
    ]
    bottom = height - _BOTTOM
    for line in range(round((high - low) / step) + 1):
        value = low + line * step
        parts.append(
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{_TOP}" '
            f'y2="{bottom}"/><text class="tick" x="{x(value):.1f}" y="{bottom + 16}" '
            f'text-anchor="middle">{value:g}</text>'
        )
    for number, row in enumerate(rows):
        parts += _row(row, _TOP + _ROW * number + _ROW / 2, x)
    middle = (x(low) + x(high)) / 2
    parts.append(
        f'<text class="tick" x="{middle:.1f}" y="{bottom + 34}" text-anchor="middle">'
        f"{escape(axis)} (%); ○ ours, ◆ published</text></svg>"
    )
    return "".join(parts)


def _row(row: StripRow, y: float, x: Callable[[float], float]) -> list[str]:
    parts = [
        f'<text x="{_LABELS - 14}" y="{y + 4:.1f}" text-anchor="end">{escape(row.label)}</text>'
    ]
    if row.values:
        ends = x(min(row.values)), x(max(row.values))
        parts.append(
            f'<line class="range" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    if row.published is not None:  # below circles, which can be seen through
        at, r = x(row.published), 7
        parts.append(
            f'<path class="published" d="M{at:.1f} {y - r:.1f}l{r} {r}l{-r} {r}l{-r} {-r}z">'
            f"<title>published {row.published:g}</title></path>"
        )
    parts += [
        f'<circle cx="{x(value):.1f}" cy="{y:.1f}" r="4.5"><title>{value:.1f}</title></circle>'
        for value in row.values
    ]
    return parts


def _step(low: float, high: float) -> int:
    for step in _STEPS:
        if (high - low) / step <= _MAX_LINES:
            return step
    return _STEPS[-1]


def score_figures(result: Reproduction) -> list[tuple[str, str]]:
    """A plot of each measure of a reproduction, with its caption."""
    recipe, found = result.recipe, []
    shown = [recipe.main] if recipe.main == "f1" else recipe.measures
    for score in recipe.scores:
        for measure in (one for one in shown if one != "log_likelihood"):
            rows = []
            for group in result.groups[score.name]:
                quoted = published_for(group, recipe.published_of(score))
                rows.append(
                    StripRow(
                        group.title,
                        [100 * value for value in group.values(measure)],
                        None if quoted is None else quoted.figures.get(measure),
                    )
                )
            heading = HEADINGS[measure]
            found.append((f"{heading}: {title(recipe, score)}", strip_plot(rows, heading)))
    return found


def depth_figures(analysis: DepthAnalysis) -> list[tuple[str, str]]:
    """A plot of the shares of memory depths, with its caption."""
    kept = "without punctuation"
    quoted = {one.depth: one.figures.get("share") for one in analysis.recipe.published}
    ours = [table for name, table in analysis.tables.items() if name.endswith(kept)]
    deepest = max((len(table.counts) for table in ours), default=0)
    rows = [
        StripRow(f"depth {d}", [100 * table.share(d) for table in ours], quoted.get(d))
        for d in range(1, deepest + 1)
    ]
    caption = f"Sentences that need each memory depth, {kept}, binary to the right and left"
    return [(caption, strip_plot(rows, "sentences"))]


def write_reproduction_page(
    recipe: Recipe, tables: Sequence[Table], figures: Sequence[tuple[str, str]], out: Path
) -> Path:
    """Write ``reproduction.html``."""
    path = out / "reproduction.html"
    with write_errors(path), atomic_write(path) as file:
        file.write(_page(recipe, tables, figures).encode("utf-8", "surrogatepass"))
    return path


def _page(recipe: Recipe, tables: Sequence[Table], figures: Sequence[tuple[str, str]]) -> str:
    drawn = "".join(
        f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, drawing in figures
        if drawing
    )
    shown = "".join(f'<div class="table scroll">{table.html()}</div>' for table in tables)
    warning = f'<div class="verdict wary"><p>{escape(QUICK)}</p></div>' if recipe.is_quick else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="dbpcfg reproduce {__version__}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(recipe.title)}</title>
<style>
{style_sheet()}{_STYLE}</style>
</head>
<body>
<header class="masthead">
  <p class="eyebrow">dbpcfg reproduce {escape(recipe.name)}</p>
  <h1>{escape(recipe.title)}</h1>
  <p class="lead">{escape(recipe.where)} of {escape(recipe.reference)}, run again.</p>
</header>
<main id="content">{warning}
<section aria-labelledby="figures"><h2 id="figures">Every run</h2>{drawn}</section>
<section aria-labelledby="tables"><h2 id="tables">Tables</h2>{shown}</section>
</main>
<footer><p>dbpcfg {__version__}</p></footer>
</body>
</html>
"""
