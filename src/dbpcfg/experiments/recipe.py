"""Recipes: how to run a published table again, and the figures of the publication.

A recipe is a TOML file with a corpus, the rows of the table and the published figures. The recipes
of the package are found by name, others by path. Paths in a recipe are relative to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.grid import (
    DBPCFG,
    INDUCTION,
    PREPARATION,
    check_distinct,
    read_seeds,
    system_settings,
)
from dbpcfg.io.files import read_errors, read_toml
from dbpcfg.options import (
    REQUIRED,
    Group,
    option,
    read_table,
)
from dbpcfg.systems.registry import find

Measure = Literal[
    "precision", "recall", "f1", "phrase_recall", "aggregate_f1", "homogeneity", "log_likelihood"
]
"""What a recipe can measure."""
SCORES = tuple(name for name in get_args(Measure) if name != "log_likelihood")
"""The measures that are percentages."""

_maximum = partial(option, None, minimum=1)
_percentage = partial(option, None, "In percent.", minimum=0, maximum=100)


@dataclass(frozen=True)
class Selection(Group):
    """Which sentences of a treebank."""

    max_length: int | None = _maximum("At most so many words, punctuation not counted.")
    half: Literal["first", "second"] | None = option(None, "Half of these; all if not given.")


@dataclass(frozen=True, kw_only=True)
class RecipeCorpus(Selection):
    """The corpus of a recipe."""

    name: str = option(REQUIRED, "Its name.")
    path: tuple[str, ...] = option((), "Its files; the user gives them if the recipe does not.")
    synthetic: Literal["left", "right", "center"] | None = option(None, "A corpus to generate.")
    sentences: int = option(200, "As the next two, of a synthetic corpus.", minimum=1)
    vocabulary: int = option(50, "Words of each kind.", minimum=1)
    seed: int = option(0, "Its seed.", minimum=0)
    needs: str = option("a treebank", "The treebank that the user has to give, in words.")
    without: Selection | None = option(None, "Sentences to leave out: a development set.")
    preparation: Mapping[str, Any] = field(default_factory=dict)
    """How it is read and prepared, by the keywords of the options."""

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The corpus in a table of a recipe."""
        values = read_table(table, {**cls.options(), **PREPARATION}, where)
        corpus = cls(
            **{name: value for name, value in values.items() if name in cls.options()},
            preparation={name: value for name, value in values.items() if name in PREPARATION},
        )
        if not re.fullmatch(r"\w[\w.+-]*", corpus.name):
            raise DbpcfgError(
                f"{where}: a name has letters, digits and . _ + - only, got {corpus.name!r:.80}"
            )
        if corpus.synthetic and corpus.path:
            raise DbpcfgError(f"{where}: a corpus is synthetic or has a path, not both")
        for name in ("sentences", "vocabulary", "seed"):
            if name in values and not corpus.synthetic:
                raise DbpcfgError(f"{where}: {name} is of a synthetic corpus only")
        if corpus.without == Selection():
            raise DbpcfgError(f"{where}: without is empty: give max-length, half or both")
        return corpus


@dataclass(frozen=True)
class ScoreSet(Group):
    """A set of sentences to score: all, or those up to some length."""

    name: str = option(REQUIRED, "Its name in tables.")
    max_length: int | None = _maximum("At most so many words.")


@dataclass(frozen=True)
class RecipeRow(Group):
    """A row of the table to run again."""

    name: str = option(REQUIRED, "Its name in tables.")
    system: str | None = option(None, "The name of the system.")
    trees: str | None = option(None, "A file with trees of another program, one a sentence.")
    K: int | None = option(None, "As the next two, of dbpcfg.", minimum=1)
    D: int | Literal["none", "auto"] = option("auto", "Memory bound.", minimum=1)
    beta: float | None = option(None, "Dirichlet parameter.", exclusive_minimum=0)
    settings: dict[str, Any] | None = option(None, "Settings of another system.")
    baseline: bool = option(False, "It learns nothing, and so is no rival.")

    @property
    def is_dbpcfg(self) -> bool:
        """Whether the row is of dbpcfg."""
        return self.system == DBPCFG

    @property
    def axes(self) -> dict[str, Any]:
        """K, D and beta, those that are given."""
        values = {"K": self.K, "D": None if self.D == "auto" else self.D, "beta": self.beta}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The row in a table of a recipe."""
        row = super().of_table(table, where)
        if (row.system is None) == (row.trees is None):
            raise DbpcfgError(f"{where}: row {row.name!r:.80} needs a system or a file with trees")
        specific = [*row.axes, *(["settings"] if row.settings else [])]
        if row.system is None:
            if specific:
                raise DbpcfgError(f"{where}: row {row.name!r:.80} has trees, so no {specific[0]}")
            return row
        try:
            spec = find(row.system)
            if spec.name == DBPCFG:
                if row.settings:
                    raise DbpcfgError("settings of dbpcfg are K, D, beta, [paper] and [default]")
            elif row.axes:
                raise DbpcfgError(f"{specific[0]} is of dbpcfg; {spec.name} has settings")
            else:
                spec.check_settings(row.settings or {})
        except DbpcfgError as error:
            raise DbpcfgError(f"{where}: {error}") from None
        return replace(row, system=spec.name)


@dataclass(frozen=True)
class Published(Group):
    """Figures of a publication, as percentages."""

    name: str = option(REQUIRED, "Its name in tables.")
    source: str = option(REQUIRED, "The table and row, or the sentence, of the figures.")
    precision: float | None = _percentage()
    recall: float | None = _percentage()
    f1: float | None = _percentage()
    phrase_recall: float | None = _percentage()
    aggregate_f1: float | None = _percentage()
    homogeneity: float | None = _percentage()
    share: float | None = _percentage()
    sentences: int | None = option(None, "The number of sentences of a depth.", minimum=1)
    depth: int | None = option(None, "A memory depth.", minimum=1)
    least_depth: int | None = option(None, "The least of several depths.", minimum=1)
    score: str | None = option(None, "The name of the score set; the first if not given.")
    row: str | None = option(None, "The row of ours to compare with, if its name differs.")
    flattened: bool = option(False, "Trees were flattened.")

    @property
    def figures(self) -> dict[str, float]:
        """The figures that were published, by measure."""
        names = (*get_args(Measure), "share", "sentences")
        values = {name: getattr(self, name, None) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def data(self) -> dict[str, Any]:
        """The row as JSON data."""
        names = ("name", "source", "figures", "score", "row", "flattened", "depth", "least_depth")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Quick(Group):
    """The differences of a quick run."""

    sentences: int | None = _maximum("At most so many, evenly spaced over the corpus.")
    seeds: tuple[int | str, ...] = option((), "Numbers, or ranges such as 0-9.", minimum=0)
    paper: dict[str, Any] | None = option(None, "Options of the paper's search.")
    default: dict[str, Any] | None = option(None, "Options of the default search.")
    settings: dict[str, dict[str, Any]] | None = option(None, "Settings of other systems.")


@dataclass(frozen=True)
class Recipe(Group):
    """A recipe."""

    title: str = option(REQUIRED, "The title of its tables.")
    reference: str = option(REQUIRED, "The publication.")
    where: str = option(REQUIRED, "The table of the publication, or another part of it.")
    corpus: RecipeCorpus = option(REQUIRED, "The corpus.")
    analysis: Literal["scores", "depth"] = option("scores", "What is counted.")
    seeds: tuple[int | str, ...] = option((0,), "Numbers, or ranges such as 0-9.", minimum=0)
    measures: tuple[Measure, ...] = option(("precision", "recall", "f1"), "What is measured.")
    flatten: bool = option(False, "Labelled binary trees are scored flattened, too.")
    notes: tuple[str, ...] = option((), "Lines below the tables.")
    paper: dict[str, Any] | None = option(None, "Options of induce: every chain to its end.")
    default: dict[str, Any] | None = option(None, "Options of induce: our default answer.")
    quick: Quick = option(Quick(), "What is different in a quick run.")
    scores: tuple[ScoreSet, ...] = option((), "Which sentences are scored.")
    rows: tuple[RecipeRow, ...] = option((), "The rows that are run.")
    published: tuple[Published, ...] = option((), "The published figures.")
    path: Path = Path()
    is_quick: bool = False

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return self.path.stem

    @property
    def main(self) -> Measure:
        """The measure by which runs are ranked: F1, or the first."""
        return "f1" if "f1" in self.measures else self.measures[0]

    def published_of(self, score: ScoreSet) -> list[Published]:
        """The published rows of a score set."""
        first = self.scores[0].name
        return [row for row in self.published if (row.score or first) == score.name]

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The recipe in a file, checked for consistency."""
        recipe = super().of_table(table, where)
        quick = recipe.quick
        searches = {"paper": recipe.paper, "default": recipe.default}
        searches |= {"quick: paper": quick.paper, "quick: default": quick.default}
        for name, search in searches.items():
            read_table(search or {}, INDUCTION, name)
        if not recipe.measures:
            raise DbpcfgError("measures is an empty list")
        if recipe.analysis == "scores" and not recipe.rows:
            raise DbpcfgError("there is no [[rows]]: a recipe of scores has systems to run")
        if any(row.is_dbpcfg for row in recipe.rows) and recipe.paper is recipe.default is None:
            raise DbpcfgError("there is neither [paper] nor [default]: say how dbpcfg searches")
        corpus = recipe.corpus
        scores = recipe.scores or (ScoreSet(corpus.name, corpus.max_length),)
        for key, tables in (("scores", scores), ("rows", recipe.rows)):
            check_distinct(key, [entry.name for entry in tables])
        rows = [row.name for row in recipe.rows]
        for entry in recipe.published:
            _check_published(entry, recipe, {"scores": [s.name for s in scores], "rows": rows})
        return replace(
            recipe,
            seeds=read_seeds(recipe.seeds),
            measures=tuple(dict.fromkeys(recipe.measures)),
            quick=replace(
                quick,
                seeds=read_seeds(quick.seeds),
                settings=system_settings(quick.settings or {}),
            ),
            scores=scores,
            published=tuple(
                replace(entry, row=entry.name)
                if entry.row is None and entry.name in rows
                else entry
                for entry in recipe.published
            ),
        )


def _check_published(
    published: Published, recipe: Recipe, names: Mapping[str, Sequence[str]]
) -> None:
    location = f"published {published.name!r:.80}"
    depths = recipe.analysis == "depth"
    measures = ("share", "sentences") if depths else recipe.measures
    for name in published.figures:
        if name not in measures:
            raise DbpcfgError(
                f"{location}: {name} is not measured: measures are {', '.join(measures)}"
            )
    if not published.figures:
        raise DbpcfgError(f"{location} has no figure: give {', '.join(measures)}")
    if depths == (published.depth is published.least_depth is None):
        problem = "depth or least-depth is needed" if depths else "depths are of another analysis"
        raise DbpcfgError(f"{location}: {problem}")
    for key, wanted in (("scores", published.score), ("rows", published.row)):
        if wanted is not None and wanted not in names[key]:
            choices = ", ".join(names[key])
            raise DbpcfgError(f"{location}: there is no [[{key}]] {wanted!r:.80}: {choices}")


def recipe_names() -> list[str]:
    """The names of the recipes of the package."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir())


def _folder() -> Path:
    return Path(str(files("dbpcfg.experiments") / "recipes"))


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
    content = read_toml(path)
    with read_errors(path):
        return replace(Recipe.of_table(content, ""), path=path)


def quick_version(recipe: Recipe) -> Recipe:
    """The quick version of a recipe: fewer sentences, seeds and iterations."""
    quick, settings = recipe.quick, recipe.quick.settings or {}
    rows = [
        replace(row, settings={**(row.settings or {}), **settings.get(row.system or "", {})})
        for row in recipe.rows
    ]
    return replace(
        recipe,
        seeds=quick.seeds or recipe.seeds[:2],
        paper=None if recipe.paper is None else {**recipe.paper, **(quick.paper or {})},
        default=None if recipe.default is None else {**recipe.default, **(quick.default or {})},
        rows=tuple(rows),
        is_quick=True,
    )
