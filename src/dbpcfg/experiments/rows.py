"""The corpus of a recipe, and the cells of its rows.

The sentences are written to ``corpus.trees``, one tree a line, cleaned of empty elements and
function tags, so all systems get the same. Each row of the table is a grid, whose file is in
``cells``, beside the directory of its cells. A row of dbpcfg has two: ``paper``, where every chain
runs to its end, and ``default``, as `dbpcfg.induce` runs without options.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import PunctuationRule, Sentence, punctuation_mask
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.corpora import CellCorpus
from dbpcfg.experiments.grid import Cell, read_grid
from dbpcfg.experiments.recipe import Recipe, RecipeCorpus, RecipeRow, Selection
from dbpcfg.experiments.runners import GridPlace
from dbpcfg.io.files import reading, writing, written_whole

T = TypeVar("T")

CORPUS = "corpus.trees"

Search = Literal["paper", "default", "runs"]
"""How the cells of a row search; ``"runs"`` of other systems than dbpcfg."""


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
    paths = list(treebank) or list(corpus.paths)
    if not paths:
        raise DbpcfgError(
            f"{recipe.name} needs {corpus.needs}: dbpcfg reproduce {recipe.name} TREEBANK"
        )
    found = read(*paths, **corpus.reading.how(), quiet=True)
    found.trees()  # raises an error if there is a sentence without one
    kept = _sample(_selected(found.sentences, corpus), recipe)
    if not kept:
        raise DbpcfgError(f"no sentence of {', '.join(paths)} is left by the recipe {recipe.name}")
    return [str(sentence.gold_tree()) for sentence in kept]


def _selected(sentences: Sequence[Sentence], corpus: RecipeCorpus) -> list[Sentence]:
    rule: PunctuationRule = corpus.preparation.get("punctuation", "auto")
    words = [punctuation_mask(sentence, rule).count(False) for sentence in sentences]
    gone = set() if corpus.without is None else set(_numbers(words, corpus.without))
    return [sentences[number] for number in _numbers(words, corpus.selection) if number not in gone]


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
    with reading(path):
        same = path.is_file() and path.read_bytes() == content
    if not same:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(path) as file:
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

    def places(self) -> list[tuple[Cell, GridPlace]]:
        """The cells with their numbers in the grid file."""
        return [(cell, GridPlace(self.path, n)) for n, cell in enumerate(self.cells, start=1)]


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
        settings = {"settings": {row.system: dict(row.settings)}} if row.settings else {}
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
    corpus = recipe.corpus
    table = {**corpus.preparation, "path": f"../{CORPUS}", "name": corpus.name}
    if corpus.selection.max_length is not None:
        table["max-length"] = corpus.selection.max_length
    return table


def _write_toml(path: Path, content: dict[str, Any]) -> None:
    import tomli_w

    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            tomli_w.dump(content, file)
