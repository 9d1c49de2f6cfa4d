"""A recipe: what a published table is of, how to run it again, and its figures.

A recipe of the package is found by its name, another one, a TOML file, by its path. Paths in a
recipe are relative to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments import keys
from dbpcfg.experiments.grid import OWN
from dbpcfg.experiments.keys import Analysis, Measure, Place, TomlFile, texts
from dbpcfg.experiments.systems.registry import SystemSpec, find
from dbpcfg.options import Preparing, Reading

_AXES = ("K", "D", "beta")


@dataclass(frozen=True)
class Selection:
    """Which sentences of a treebank."""

    max_length: int | None = None
    """Only sentences of at most so many words, punctuation not counted."""
    half: str | None = None
    """``"first"`` or ``"second"`` half of these; None for all."""


@dataclass(frozen=True)
class RecipeCorpus:
    """The corpus of a recipe."""

    name: str
    paths: tuple[str, ...] = ()
    """Its files, if the recipe has them; the user gives them otherwise."""
    synthetic: str | None = None
    """The synthetic corpus that is made, if it is one."""
    sentences: int = 200
    """As the next two, of a synthetic corpus."""
    vocabulary: int = 50
    seed: int = 0
    needs: str = "a treebank"
    """The treebank that the user has to give, in words."""
    selection: Selection = field(default_factory=Selection)
    without: Selection | None = None
    """Sentences that are left out: a development set."""
    reading: Reading = field(default_factory=Reading)
    preparation: Mapping[str, Any] = field(default_factory=dict)
    """How it is prepared, by the keys of a grid file."""


@dataclass(frozen=True)
class ScoreSet:
    """Sentences that are scored: all, or those of at most so many words."""

    name: str
    max_length: int | None = None


@dataclass(frozen=True)
class RecipeRow:
    """A row of the table that is run again."""

    name: str
    system: str | None = None
    """The name of the system; None if there are trees."""
    trees: str | None = None
    """A file with trees of another program, one for each sentence."""
    axes: Mapping[str, Any] = field(default_factory=dict)
    """K, D and beta of dbpcfg, by the keys of a grid file."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of another system."""
    baseline: bool = False
    """Whether it learns nothing, and so is no rival."""

    @property
    def own(self) -> bool:
        """Whether it is dbpcfg."""
        return self.system == OWN


@dataclass(frozen=True)
class Published:
    """Figures of a publication, as percentages."""

    name: str
    source: str
    """The table and row, or the sentence, that they are quoted from."""
    figures: Mapping[str, float]
    """By measure, or ``share`` and ``sentences`` of a memory depth."""
    score: str | None = None
    """The name of the score set; None for the first."""
    row: str = ""
    """The row of ours that it is compared with."""
    flattened: bool = False
    depth: int | None = None
    least_depth: int | None = None
    """The least of several depths that are counted together."""


@dataclass(frozen=True)
class Quick:
    """What is different in a quick run."""

    sentences: int | None = None
    """At most so many, evenly spaced over the corpus."""
    seeds: Sequence[int] = ()
    paper: Mapping[str, Any] = field(default_factory=dict)
    default: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of other systems, by system."""


@dataclass(frozen=True)
class Recipe:
    """A recipe."""

    path: Path
    title: str
    reference: str
    """The publication."""
    table: str
    """Its table."""
    corpus: RecipeCorpus
    analysis: Analysis = "scores"
    seeds: tuple[int, ...] = (0,)
    measures: tuple[Measure, ...] = ("precision", "recall", "f1")
    flatten: bool = False
    """Whether trees of systems with labelled binary trees are scored flattened, too."""
    notes: tuple[str, ...] = ()
    paper: Mapping[str, Any] | None = None
    """How dbpcfg searches as in the paper: every chain to its end. None: it does not."""
    default: Mapping[str, Any] | None = None
    """How dbpcfg searches for our default answer. None: it does not."""
    quick: Quick = field(default_factory=Quick)
    scores: tuple[ScoreSet, ...] = ()
    rows: tuple[RecipeRow, ...] = ()
    published: tuple[Published, ...] = ()
    is_quick: bool = False

    @property
    def name(self) -> str:
        """Its name: that of the file."""
        return self.path.stem

    @property
    def main(self) -> Measure:
        """The measure by which runs are ranked: F1, or the first."""
        return "f1" if "f1" in self.measures else self.measures[0]

    def published_of(self, score: ScoreSet) -> list[Published]:
        """The published rows of a score set."""
        first = self.scores[0].name
        return [one for one in self.published if (one.score or first) == score.name]


def recipe_names() -> list[str]:
    """The names of the recipes of the package."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir())


def _folder() -> Path:
    return Path(str(files("dbpcfg.experiments") / "recipes"))


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
    file = TomlFile(path, "recipe")
    content = file.content
    file.check(content, keys.RECIPE)
    title, reference, table, of_corpus = (
        file.need(content, key) for key in ("title", "reference", "table", "corpus")
    )
    corpus = _corpus(file, of_corpus)
    rows = _rows(file, content.get("row", []))
    searches = {key: content[key] for key in ("paper", "default") if key in content}
    for key, search in searches.items():
        file.check(search, keys.INDUCTION, Place(key))
    analysis = content.get("analysis", "scores")
    if analysis == "scores" and not rows:
        file.fail("row", "there is no [[row]]: a recipe of scores has systems to run")
    if any(row.own for row in rows) and not searches:
        file.fail("paper", "there is neither [paper] nor [default]: say how dbpcfg searches")
    recipe = Recipe(
        path,
        title,
        reference,
        table,
        corpus,
        analysis,
        tuple(file.values(content, "seeds")) or (0,),
        tuple(dict.fromkeys(content.get("measures", Recipe.measures))),
        **searches,
        flatten=content.get("flatten", False),
        notes=texts(content.get("notes", [])),
        quick=_quick(file, content.get("quick", {})),
        scores=_scores(file, content.get("score", []), corpus),
        rows=rows,
    )
    tables = enumerate(content.get("published", []))
    published = [_published(file, one, recipe, Place("published", n)) for n, one in tables]
    return replace(recipe, published=tuple(published))


def _corpus(file: TomlFile, table: Mapping[str, Any]) -> RecipeCorpus:
    place = Place("corpus")
    file.check(table, keys.RECIPE_CORPUS, place)
    name = file.need(table, "name", place)
    if not re.fullmatch(r"\w[\w.+-]*", name):
        file.fail("name", f"a name has letters, digits and . _ + - only, got {name!r:.80}", place)
    if "synthetic" in table and "path" in table:
        file.fail("path", "a corpus is synthetic or has a path, not both", place)
    made = {key: table[key] for key in ("sentences", "vocabulary", "seed") if key in table}
    if "synthetic" not in table:
        for key in made:
            file.fail(key, f"{key} is of a synthetic corpus only", place)
    without = table.get("without")
    if without is not None:
        file.check(without, keys.SELECTION, Place("corpus.without"))
        if not without:
            file.fail("without", "without is empty: give max-length, half or both", place)
    of_files = Reading.options().values()
    return RecipeCorpus(
        name,
        tuple(str(file.path.parent / path) for path in texts(table.get("path", []))),
        table.get("synthetic"),
        **made,
        needs=table.get("needs", "a treebank"),
        selection=_selection(table),
        without=None if without is None else _selection(without),
        reading=Reading(**{k.name: table[k.key] for k in of_files if k.key in table}),
        preparation={k.key: table[k.key] for k in Preparing.options().values() if k.key in table},
    )


def _selection(table: Mapping[str, Any]) -> Selection:
    return Selection(table.get("max-length"), table.get("half"))


def _scores(
    file: TomlFile, tables: Sequence[Mapping[str, Any]], corpus: RecipeCorpus
) -> tuple[ScoreSet, ...]:
    found: dict[str, ScoreSet] = {}
    for number, table in enumerate(tables):
        place = Place("score", number)
        file.check(table, keys.SCORE, place)
        name = file.need(table, "name", place)
        if name in found:
            file.fail("name", f"two [[score]] have the name {name!r:.80}", place)
        found[name] = ScoreSet(name, table.get("max-length"))
    return tuple(found.values()) or (ScoreSet(corpus.name, corpus.selection.max_length),)


def _quick(file: TomlFile, table: Mapping[str, Any]) -> Quick:
    file.check(table, keys.QUICK, Place("quick"))
    for key in ("paper", "default"):
        file.check(table.get(key, {}), keys.INDUCTION, Place(f"quick.{key}"))
    settings: dict[str, Mapping[str, Any]] = {}
    for name, given in table.get("settings", {}).items():
        spec = _system(file, name, given, name, Place(f"quick.settings.{name}"))
        if spec.name == OWN:
            file.fail(name, "dbpcfg has [quick.paper] and [quick.default]", Place("quick"))
        settings[spec.name] = given
    return Quick(
        table.get("sentences"),
        file.values(table, "seeds", Place("quick")),
        table.get("paper", {}),
        table.get("default", {}),
        settings,
    )


def _system(
    file: TomlFile, name: str, settings: Mapping[str, Any], key: str, place: Place
) -> SystemSpec:
    """A system whose settings are right; ``key`` is what is wrong if they are not."""
    try:
        spec = find(name)
    except DbpcfgError as error:
        file.fail("system" if key == "settings" else key, error, place)
    try:
        if spec.name != OWN:
            spec.check_settings(settings)
    except DbpcfgError as error:
        file.fail(key, error, place)
    return spec


def _rows(file: TomlFile, tables: Sequence[Mapping[str, Any]]) -> tuple[RecipeRow, ...]:
    rows: dict[str, RecipeRow] = {}
    for number, table in enumerate(tables):
        place = Place("row", number)
        file.check(table, keys.ROW, place)
        row = _row(file, table, place)
        if row.name in rows:
            file.fail("name", f"two [[row]] have the name {row.name!r:.80}", place)
        rows[row.name] = row
    return tuple(rows.values())


def _row(file: TomlFile, table: Mapping[str, Any], place: Place) -> RecipeRow:
    name = file.need(table, "name", place)
    if ("system" in table) == ("trees" in table):
        file.fail("system", f"row {name!r:.80} needs a system or a file with trees", place)
    baseline, settings = table.get("baseline", False), table.get("settings", {})
    axes = {key: table[key] for key in _AXES if key in table}
    if "trees" in table:
        for key in [*axes, *(["settings"] if settings else [])]:
            file.fail(key, f"row {name!r:.80} has trees, so it has no {key}", place)
        return RecipeRow(name, trees=str(file.path.parent / table["trees"]), baseline=baseline)
    spec = _system(file, table["system"], settings, "settings", place)
    if spec.name == OWN:
        if settings:
            file.fail("settings", "settings of dbpcfg are K, D, beta, [paper] and [default]", place)
    else:
        for key in axes:
            problem = f"{key} is of dbpcfg; {spec.name} has settings, as in settings = {{ … }}"
            file.fail(key, problem, place)
    return RecipeRow(name, spec.name, axes=axes, settings=settings, baseline=baseline)


def _published(file: TomlFile, table: Mapping[str, Any], recipe: Recipe, place: Place) -> Published:
    file.check(table, keys.PUBLISHED, place)
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
    names = {"score": [one.name for one in recipe.scores], "row": [r.name for r in recipe.rows]}
    for key, known in names.items():
        if key in table and table[key] not in known:
            file.fail(key, f"there is no [[{key}]] {table[key]!r:.80}: {', '.join(known)}", place)
    return Published(
        name,
        source,
        figures,
        table.get("score"),
        table.get("row", name if name in names["row"] else ""),
        table.get("flattened", False),
        table.get("depth"),
        table.get("least-depth"),
    )
