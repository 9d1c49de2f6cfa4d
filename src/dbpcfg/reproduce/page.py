"""A page with tables and figures: one file, without programs and links to others."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dbpcfg.io.tables import Table
from dbpcfg.report.assemble import style_sheet
from dbpcfg.reproduce.depth import QUICK
from dbpcfg.reproduce.recipe import Recipe
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


def page(recipe: Recipe, tables: Sequence[Table], figures: Sequence[tuple[str, str]]) -> str:
    """Write the page."""
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
  <p class="lead">{escape(recipe.table)} of {escape(recipe.reference)}, run again.</p>
</header>
<main id="content">{warning}
<section aria-labelledby="figures"><h2 id="figures">Every run</h2>{drawn}</section>
<section aria-labelledby="tables"><h2 id="tables">Tables</h2>{shown}</section>
</main>
<footer><p>dbpcfg {__version__}</p></footer>
</body>
</html>
"""
