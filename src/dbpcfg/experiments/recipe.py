"""A recipe: a grid for each row of a published table, and the figures of the publication.

A recipe of the package is found by its name, another one, a TOML file, by its path. Paths in a
recipe are relative to it.

Its sentences are written to ``corpus.trees``, one tree a line, cleaned of empty elements and
function tags, so all systems get the same. Each row of the table is a grid, whose file is in
``cells``, beside the directory of its cells. A row of dbpcfg has two: ``paper``, where every chain
runs to its end, and ``default``, as `dbpcfg.induce` runs without options.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import PunctuationRule, Sentence, punctuation_mask
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.corpora import CellCorpus
from dbpcfg.experiments.grid import (
    INDUCTION,
    OWN,
    PREPARATION,
    Cell,
    check_distinct,
    read_grid,
    read_seeds,
    system_settings,
)
from dbpcfg.experiments.runners import CellInFile
from dbpcfg.io.files import atomic_write, read_errors, read_toml, write_errors
from dbpcfg.options import (
    REQUIRED,
    Group,
    PreprocessingOptions,
    ReadingOptions,
    option,
    read_table,
    split_by_group,
)
from dbpcfg.systems.registry import find

T = TypeVar("T")

CORPUS = "corpus.trees"

Measure = Literal[
    "precision", "recall", "f1", "phrase_recall", "aggregate_f1", "homogeneity", "log_likelihood"
]
"""What a recipe measures: brackets, noun phrases, labels of constituents, log-likelihood."""
SCORES = tuple(name for name in get_args(Measure) if name != "log_likelihood")
"""The measures that are percentages."""
Search = Literal["paper", "default", "runs"]
"""How the cells of a row search; ``"runs"`` of other systems than dbpcfg."""

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
        given = read_table(table, {**cls.options(), **PREPARATION}, where)
        corpus = cls(
            **{name: value for name, value in given.items() if name in cls.options()},
            preparation={name: value for name, value in given.items() if name in PREPARATION},
        )
        if not re.fullmatch(r"\w[\w.+-]*", corpus.name):
            raise DbpcfgError(
                f"{where}: a name has letters, digits and . _ + - only, got {corpus.name!r:.80}"
            )
        if corpus.synthetic and corpus.path:
            raise DbpcfgError(f"{where}: a corpus is synthetic or has a path, not both")
        for name in ("sentences", "vocabulary", "seed"):
            if name in given and not corpus.synthetic:
                raise DbpcfgError(f"{where}: {name} is of a synthetic corpus only")
        if corpus.without == Selection():
            raise DbpcfgError(f"{where}: without is empty: give max-length, half or both")
        return corpus


@dataclass(frozen=True)
class ScoreSet(Group):
    """Sentences that are scored: all, or those of at most so many words."""

    name: str = option(REQUIRED, "Its name in tables.")
    max_length: int | None = _maximum("At most so many words.")


@dataclass(frozen=True)
class RecipeRow(Group):
    """A row of the table that is run again."""

    name: str = option(REQUIRED, "Its name in tables.")
    system: str | None = option(None, "The name of the system.")
    trees: str | None = option(None, "A file with trees of another program, one a sentence.")
    K: int | None = option(None, "As the next two, of dbpcfg.", minimum=1)
    D: int | Literal["none", "auto"] = option("auto", "Memory bound.", minimum=1)
    beta: float | None = option(None, "Dirichlet parameter.", exclusive_minimum=0)
    settings: dict[str, Any] | None = option(None, "Settings of another system.")
    baseline: bool = option(False, "It learns nothing, and so is no rival.")

    @property
    def own(self) -> bool:
        """Whether it is dbpcfg."""
        return self.system == OWN

    @property
    def axes(self) -> dict[str, Any]:
        """K, D and beta, as far as they are given."""
        given = {"K": self.K, "D": None if self.D == "auto" else self.D, "beta": self.beta}
        return {name: value for name, value in given.items() if value is not None}

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The row in a table of a recipe."""
        row = super().of_table(table, where)
        if (row.system is None) == (row.trees is None):
            raise DbpcfgError(f"{where}: row {row.name!r:.80} needs a system or a file with trees")
        given = [*row.axes, *(["settings"] if row.settings else [])]
        if row.system is None:
            if given:
                raise DbpcfgError(f"{where}: row {row.name!r:.80} has trees, so no {given[0]}")
            return row
        try:
            spec = find(row.system)
            if spec.name == OWN:
                if row.settings:
                    raise DbpcfgError("settings of dbpcfg are K, D, beta, [paper] and [default]")
            elif row.axes:
                raise DbpcfgError(f"{given[0]} is of dbpcfg; {spec.name} has settings")
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
        given = {name: getattr(self, name, None) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def data(self) -> dict[str, Any]:
        """The same as plain data."""
        names = ("name", "source", "figures", "score", "row", "flattened", "depth", "least_depth")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Quick(Group):
    """What is different in a quick run."""

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

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The recipe in a file, with what must fit together checked."""
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
        if any(row.own for row in recipe.rows) and recipe.paper is recipe.default is None:
            raise DbpcfgError("there is neither [paper] nor [default]: say how dbpcfg searches")
        corpus = recipe.corpus
        scores = recipe.scores or (ScoreSet(corpus.name, corpus.max_length),)
        for key, tables in (("scores", scores), ("rows", recipe.rows)):
            check_distinct(key, [one.name for one in tables])
        rows = [row.name for row in recipe.rows]
        for one in recipe.published:
            _check_published(one, recipe, {"scores": [s.name for s in scores], "rows": rows})
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
                replace(one, row=one.name) if one.row is None and one.name in rows else one
                for one in recipe.published
            ),
        )


def _check_published(one: Published, recipe: Recipe, names: Mapping[str, Sequence[str]]) -> None:
    where = f"published {one.name!r:.80}"
    depths = recipe.analysis == "depth"
    wanted = ("share", "sentences") if depths else recipe.measures
    for name in one.figures:
        if name not in wanted:
            raise DbpcfgError(f"{where}: {name} is not measured: measures are {', '.join(wanted)}")
    if not one.figures:
        raise DbpcfgError(f"{where} has no figure: give {', '.join(wanted)}")
    if depths == (one.depth is one.least_depth is None):
        what = "depth or least-depth is needed" if depths else "depths are of another analysis"
        raise DbpcfgError(f"{where}: {what}")
    for key, wanted_name in (("scores", one.score), ("rows", one.row)):
        if wanted_name is not None and wanted_name not in names[key]:
            known = ", ".join(names[key])
            raise DbpcfgError(f"{where}: there is no [[{key}]] {wanted_name!r:.80}: {known}")


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
    """A recipe that takes minutes: fewer sentences, seeds and iterations, as the recipe says."""
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


def recipe_trees(recipe: Recipe, treebank: Sequence[str] = ()) -> list[str]:
    """The gold trees of a recipe, in brackets.

    ``treebank``: the user's treebank: files, directories or patterns; those of the recipe if there
    are none.
    """
    corpus = recipe.corpus
    if corpus.synthetic is not None:
        if treebank:
            raise DbpcfgError(
                f"the corpus of {recipe.name} is made by the recipe; leave the treebank out"
            )
        made = synthetic_trees(corpus.synthetic, corpus.sentences, corpus.vocabulary, corpus.seed)
        return [str(tree) for tree in _sample(made, recipe)]
    paths = list(treebank) or [str(recipe.path.parent / path) for path in corpus.path]
    if not paths:
        raise DbpcfgError(
            f"{recipe.name} needs {corpus.needs}: dbpcfg reproduce {recipe.name} TREEBANK"
        )
    (how,), _ = split_by_group(corpus.preparation, (ReadingOptions,))
    found = read(*paths, **ReadingOptions(**how).how(), quiet=True)
    found.trees()  # raises an error if there is a sentence without one
    kept = _sample(_selected(found.sentences, corpus), recipe)
    if not kept:
        raise DbpcfgError(f"no sentence of {', '.join(paths)} is left by the recipe {recipe.name}")
    return [str(sentence.gold_tree()) for sentence in kept]


def _selected(sentences: Sequence[Sentence], corpus: RecipeCorpus) -> list[Sentence]:
    rule: PunctuationRule = corpus.preparation.get("punctuation", "auto")
    words = [punctuation_mask(sentence, rule).count(False) for sentence in sentences]
    gone = set() if corpus.without is None else set(_numbers(words, corpus.without))
    return [sentences[number] for number in _numbers(words, corpus) if number not in gone]


def _numbers(words: Sequence[int], selection: Selection) -> list[int]:
    """The sentences of a selection; of an odd number the first half has one more."""
    most = selection.max_length
    fitting = [number for number, length in enumerate(words) if most is None or length <= most]
    middle = (len(fitting) + 1) // 2
    if selection.half is None:
        return fitting
    return fitting[:middle] if selection.half == "first" else fitting[middle:]


def _sample(items: Sequence[T], recipe: Recipe) -> list[T]:
    """All items, or in a quick run some that are evenly spaced."""
    most = recipe.quick.sentences if recipe.is_quick else None
    if most is None or len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]


def write_corpus(trees: Sequence[str], out: Path) -> Path:
    """Write gold trees, unless the file has them already."""
    path = out / CORPUS
    content = "".join(f"{tree}\n" for tree in trees).encode("utf-8", "surrogatepass")
    with read_errors(path):
        same = path.is_file() and path.read_bytes() == content
    if not same:
        with write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as file:
                file.write(content)
    return path


@dataclass(frozen=True)
class RowGrid:
    """The cells of a row, which differ in their seed."""

    row: RecipeRow
    search: Search
    path: Path
    """The grid file."""
    cells: tuple[Cell, ...]
    """Numbered through all rows."""

    def places(self) -> list[tuple[Cell, CellInFile]]:
        """The cells with their numbers in the grid file."""
        return [(cell, CellInFile(self.path, n)) for n, cell in enumerate(self.cells, start=1)]


def row_grids(recipe: Recipe, out: Path, only: Collection[str] = ()) -> list[RowGrid]:
    """Write the grid files of all rows.

    ``only``: the names of the rows that are wanted; all if there are none.
    Returns in the order of the recipe. Rows that have trees of another program are not run.
    """
    names = [row.name for row in recipe.rows]
    for name in only:
        if name not in names:
            raise DbpcfgError(f"{recipe.name} has no row {name!r:.80}; it has {', '.join(names)}")
    found: list[RowGrid] = []
    number = 1
    for row in recipe.rows:
        if row.system is None or (only and row.name not in only):
            continue
        for search, content in _contents(recipe, row):
            path = out / "cells" / f"{_file_name(row.name, names)}-{search}.toml"
            _write_toml(path, content)
            try:
                cells = read_grid(path).cells()
            except DbpcfgError as error:
                raise DbpcfgError(f"row {row.name!r} of {recipe.path}: {error}") from None
            numbered = [replace(cell, number=number + n) for n, cell in enumerate(cells)]
            found.append(RowGrid(row, search, path, tuple(numbered)))
            number += len(cells)
    return found


def _file_name(name: str, names: Sequence[str]) -> str:
    """A name that files can have, which no other row has."""

    def plain(name: str) -> str:
        return re.sub(r"[^\w.+-]+", "_", name).strip("._-") or "row"

    same = [other for other in names if plain(other).casefold() == plain(name).casefold()]
    return plain(name) if same[0] == name else f"{plain(name)}-{same.index(name) + 1}"


def _contents(recipe: Recipe, row: RecipeRow) -> list[tuple[Search, dict[str, Any]]]:
    corpus = [_corpus_table(recipe)]
    base = {"systems": row.system, "seeds": list(recipe.seeds), "corpus": corpus}
    if not row.own:
        settings = {"settings": {row.system: row.settings}} if row.settings else {}
        return [("runs", {**base, **settings})]
    searches: list[tuple[Search, dict[str, Any]]] = []
    if recipe.paper is not None:
        searches.append(("paper", {**base, **row.axes, **recipe.paper}))
    if recipe.default is not None:
        searches.append(("default", {**base, **row.axes, **recipe.default}))
    return searches


def recipe_corpus(recipe: Recipe, out: Path) -> CellCorpus:
    """The corpus of all cells."""
    path = out / "cells" / "corpus.toml"
    _write_toml(path, {"corpus": [_corpus_table(recipe)]})
    return read_grid(path).corpora[0]


def _corpus_table(recipe: Recipe) -> dict[str, Any]:
    (given,), _ = split_by_group(recipe.corpus.preparation, (PreprocessingOptions,))
    changed = PreprocessingOptions(**given).changed()
    return {**changed, "path": f"../{CORPUS}", "name": recipe.corpus.name}


def _write_toml(path: Path, content: dict[str, Any]) -> None:
    import tomli_w

    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            tomli_w.dump(content, file)
