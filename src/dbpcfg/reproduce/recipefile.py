"""The recipe file, a TOML file: read strictly, with the line of what is wrong.

A recipe of the package is found by its name, another one by its path. Paths in a recipe are
relative to it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import reading
from dbpcfg.reproduce import keys
from dbpcfg.reproduce.recipe import Quick, Recipe, RecipeCorpus, ScoreSet, Selection
from dbpcfg.reproduce.recipetext import TOP, Place, RecipeText
from dbpcfg.reproduce.rows import read_published, read_rows
from dbpcfg.sweep.cells import OWN
from dbpcfg.sweep.gridtext import GridText
from dbpcfg.sweep.keys import CORPUS as PREPARATION
from dbpcfg.sweep.keys import INDUCTION, SEED
from dbpcfg.systems.registry import find

_NEEDED = ("title", "reference", "table", "corpus")


def recipe_names() -> list[str]:
    """The names of the recipes of the package."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir())


def read_recipe(name: str) -> Recipe:
    """Read and check a recipe.

    ``name``: the name of a recipe of the package, or the path of a file.
    """
    path = Path(name)
    if not name.endswith(".toml"):
        if name not in recipe_names():
            raise DbpcfgError(
                f"there is no recipe {name!r:.80}; choose {', '.join(recipe_names())}, or give a "
                "file whose name ends in .toml"
            )
        path = _folder() / f"{name}.toml"
    with reading(path):
        data = path.read_bytes()
    try:
        text = data.decode()
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DbpcfgError(f"{path} is not TOML: {error}") from None
    return _recipe(RecipeText(path, text), content, GridText(path, text))


def quick_version(recipe: Recipe) -> Recipe:
    """A recipe that takes minutes: fewer sentences, seeds and iterations, as the recipe says."""
    quick = recipe.quick
    rows = tuple(
        replace(row, settings={**row.settings, **quick.settings.get(row.system or "", {})})
        for row in recipe.rows
    )
    return replace(
        recipe,
        seeds=tuple(quick.seeds) or recipe.seeds[:2],
        paper=None if recipe.paper is None else {**recipe.paper, **quick.paper},
        default=None if recipe.default is None else {**recipe.default, **quick.default},
        rows=rows,
        is_quick=True,
    )


def _folder() -> Path:
    return Path(str(files("dbpcfg.reproduce") / "recipes"))


def _recipe(file: RecipeText, content: Mapping[str, Any], grid: GridText) -> Recipe:
    file.check(content, keys.RECIPE)
    for key in _NEEDED:
        file.need(content, key, TOP)
    corpus = _corpus(file, content["corpus"])
    scores = _scores(file, content.get("score", []), corpus)
    rows = read_rows(file, content.get("row", []))
    searches: dict[str, Any] = {}
    for key in ("paper", "default"):
        if key in content:
            file.check(content[key], INDUCTION, Place(key))
            searches[key] = content[key]
    analysis = content.get("analysis", "scores")
    if analysis == "scores" and not rows:
        file.fail("row", "there is no [[row]]: a recipe of scores has systems to run")
    if any(row.own for row in rows) and not searches:
        file.fail("paper", "there is neither [paper] nor [default]: say how dbpcfg searches")
    recipe = Recipe(
        file.path,
        content["title"],
        content["reference"],
        content["table"],
        corpus,
        analysis,
        _seeds(file, grid, content, TOP) or (0,),
        **searches,
        flatten=content.get("flatten", False),
        notes=_texts(content.get("notes", [])),
        quick=_quick(file, grid, content.get("quick", {})),
        scores=scores,
        rows=rows,
    )
    if "measures" in content:
        recipe = replace(recipe, measures=tuple(dict.fromkeys(content["measures"])))
    return replace(recipe, published=read_published(file, content.get("published", []), recipe))


def _seeds(
    file: RecipeText, grid: GridText, table: Mapping[str, Any], place: Place
) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(grid.values(table, "seeds", SEED)))
    except DbpcfgError as error:
        problem = re.sub(r"^.*?: ", "", str(error), count=1)
        file.fail("seeds", problem, place)


def _corpus(file: RecipeText, table: Mapping[str, Any]) -> RecipeCorpus:
    place = Place("corpus")
    file.check(table, keys.CORPUS, place)
    name = file.need(table, "name", place)
    if not re.fullmatch(r"\w[\w.+-]*", name):
        problem = f"a name has letters, digits and . _ + - only, got {name!r:.80}"
        file.fail("name", problem, place)
    if "synthetic" in table and "path" in table:
        file.fail("path", "a corpus is synthetic or has a path, not both", place)
    made = ("sentences", "vocabulary", "seed")
    for key in made:
        if key in table and "synthetic" not in table:
            file.fail(key, f"{key} is of a synthetic corpus only", place)
    without = table.get("without")
    if without is not None:
        file.check(without, keys.SELECTION, Place("corpus.without"))
        if not without:
            file.fail("without", "without is empty: give max-length, half or both", place)
    paths = tuple(str(file.path.parent / path) for path in _texts(table.get("path", [])))
    return RecipeCorpus(
        name,
        paths,
        table.get("synthetic"),
        **{key: table[key] for key in made if key in table},
        needs=table.get("needs", "a treebank"),
        selection=_selection(table),
        without=None if without is None else _selection(without),
        preparation={key: table[key] for key in PREPARATION if key in table},
    )


def _selection(table: Mapping[str, Any]) -> Selection:
    return Selection(table.get("max-length"), table.get("half"))


def _scores(
    file: RecipeText, tables: Sequence[Mapping[str, Any]], corpus: RecipeCorpus
) -> tuple[ScoreSet, ...]:
    found: list[ScoreSet] = []
    for number, table in enumerate(tables):
        place = Place("score", number)
        file.check(table, keys.SCORE, place)
        name = file.need(table, "name", place)
        if name in [one.name for one in found]:
            file.fail("name", f"two [[score]] have the name {name!r:.80}", place)
        found.append(ScoreSet(name, table.get("max-length")))
    return tuple(found) or (ScoreSet(corpus.name, corpus.selection.max_length),)


def _quick(file: RecipeText, grid: GridText, table: Mapping[str, Any]) -> Quick:
    place = Place("quick")
    file.check(table, keys.QUICK, place)
    for key in ("paper", "default"):
        file.check(table.get(key, {}), INDUCTION, Place(f"quick.{key}"))
    settings: dict[str, Mapping[str, Any]] = {}
    for name, given in table.get("settings", {}).items():
        try:
            spec = find(name)
            spec.check_settings(given)
        except DbpcfgError as error:
            file.fail(name, str(error), Place(f"quick.settings.{name}"))
        if spec.name == OWN:
            file.fail(name, "dbpcfg has [quick.paper] and [quick.default]", Place("quick"))
        settings[spec.name] = given
    return Quick(
        table.get("sentences"),
        _seeds(file, grid, table, place),
        table.get("paper", {}),
        table.get("default", {}),
        settings,
    )


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
