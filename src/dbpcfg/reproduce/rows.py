"""The rows of a recipe, and the published figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.reproduce import keys
from dbpcfg.reproduce.recipe import Published, Recipe, RecipeRow
from dbpcfg.reproduce.recipetext import Place, RecipeText
from dbpcfg.sweep.cells import OWN
from dbpcfg.systems.registry import find

_AXES = ("K", "D", "beta")


def read_rows(file: RecipeText, tables: Sequence[Mapping[str, Any]]) -> tuple[RecipeRow, ...]:
    """The rows of a recipe."""
    rows: dict[str, RecipeRow] = {}
    for number, table in enumerate(tables):
        place = Place("row", number)
        file.check(table, keys.ROW, place)
        row = _row(file, table, place)
        if row.name in rows:
            file.fail("name", f"two [[row]] have the name {row.name!r:.80}", place)
        rows[row.name] = row
    return tuple(rows.values())


def _row(file: RecipeText, table: Mapping[str, Any], place: Place) -> RecipeRow:
    name = file.need(table, "name", place)
    if ("system" in table) == ("trees" in table):
        file.fail("system", f"row {name!r:.80} needs a system or a file with trees", place)
    baseline, settings = table.get("baseline", False), table.get("settings", {})
    if "trees" in table:
        for key in (*_AXES, "settings"):
            if key in table:
                file.fail(key, f"row {name!r:.80} has trees, so it has no {key}", place)
        return RecipeRow(name, trees=str(file.path.parent / table["trees"]), baseline=baseline)
    try:
        spec = find(table["system"])
    except DbpcfgError as error:
        file.fail("system", str(error), place)
    if spec.name == OWN:
        if settings:
            file.fail("settings", "settings of dbpcfg are K, D, beta, [paper] and [default]", place)
        axes = {key: table[key] for key in _AXES if key in table}
        return RecipeRow(name, spec.name, axes=axes, baseline=baseline)
    for key in _AXES:
        if key in table:
            problem = f"{key} is of dbpcfg; {spec.name} has settings, as in settings = {{ … }}"
            file.fail(key, problem, place)
    try:
        spec.check_settings(settings)
    except DbpcfgError as error:
        file.fail("settings", str(error), place)
    return RecipeRow(name, spec.name, settings=settings, baseline=baseline)


def read_published(
    file: RecipeText, tables: Sequence[Mapping[str, Any]], recipe: Recipe
) -> tuple[Published, ...]:
    """The published figures of a recipe."""
    found = []
    for number, table in enumerate(tables):
        place = Place("published", number)
        file.check(table, keys.PUBLISHED, place)
        found.append(_published(file, table, recipe, place))
    return tuple(found)


def _published(
    file: RecipeText, table: Mapping[str, Any], recipe: Recipe, place: Place
) -> Published:
    name, source = (file.need(table, key, place) for key in ("name", "source"))
    depths = recipe.analysis == "depth"
    wanted = ("share", "sentences") if depths else recipe.measures
    figures = {
        key: float(table[key]) for key in (*keys.SCORES, "share", "sentences") if key in table
    }
    for key in figures:
        if key not in wanted:
            file.fail(key, f"{key} is not measured: measures are {', '.join(wanted)}", place)
    if not figures:
        file.fail("name", f"{name!r:.80} has no figure: give {', '.join(wanted)}", place)
    if depths != ("depth" in table or "least-depth" in table):
        problem = "depth or least-depth is needed" if depths else "depths are of another analysis"
        file.fail("depth", problem, place)
    score = table.get("score")
    sets = [one.name for one in recipe.scores]
    if score is not None and score not in sets:
        file.fail("score", f"there is no [[score]] {score!r:.80}: {', '.join(sets)}", place)
    rows = [row.name for row in recipe.rows]
    if "row" in table and table["row"] not in rows:
        file.fail("row", f"there is no [[row]] {table['row']!r:.80}: {', '.join(rows)}", place)
    return Published(
        name,
        source,
        figures,
        score,
        table.get("row", name if name in rows else ""),
        table.get("flattened", False),
        table.get("depth"),
        table.get("least-depth"),
    )
