"""The corpus and the cells of a recipe, written as files: what ``dbpcfg reproduce`` runs.

The sentences are written to ``corpus.trees``, one tree a line, without empty elements and function
tags, so all systems get the same. Each row of the table is a grid: its file is in ``cells``, beside
the directory of its cells. A row of dbpcfg has two grids: ``paper``, where every chain runs to its
end, and ``default``, which runs as `dbpcfg.induce` does without options.
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
from dbpcfg.experiments.scheduling import CellInFile
from dbpcfg.io.files import atomic_write, read_errors, write_errors
from dbpcfg.options import PreprocessingOptions, ReadingOptions, split_by_group

T = TypeVar("T")

CORPUS = "corpus.trees"
Search = Literal["paper", "default", "runs"]
"""How the cells of a row search: as in the paper, or by default; ``"runs"`` for other systems."""


def recipe_trees(recipe: Recipe, treebank: Sequence[str] = ()) -> list[str]:
    """The gold trees of a recipe, in brackets.

    ``treebank``: files, directories or patterns; by default those of the recipe.
    """
    corpus = recipe.corpus
    if corpus.synthetic is not None:
        if treebank:
            raise DbpcfgError(
                f"the corpus of {recipe.name} is made by the recipe; leave the treebank out"
            )
        trees = synthetic_trees(corpus.synthetic, corpus.sentences, corpus.vocabulary, corpus.seed)
        return [str(tree) for tree in _sample(trees, recipe)]
    paths = list(treebank) or [str(recipe.path.parent / path) for path in corpus.path]
    if not paths:
        raise DbpcfgError(
            f"{recipe.name} needs {corpus.needs}: dbpcfg reproduce {recipe.name} TREEBANK"
        )
    (reading,), _ = split_by_group(corpus.preparation, (ReadingOptions,))
    corpus_read = read(*paths, **ReadingOptions(**reading).how(), quiet=True)
    corpus_read.trees()  # raises an error if there is a sentence without one
    sentences = _sample(_selected(corpus_read.sentences, corpus), recipe)
    if not sentences:
        raise DbpcfgError(f"no sentence of {', '.join(paths)} is left by the recipe {recipe.name}")
    return [str(sentence.gold_tree()) for sentence in sentences]


def _selected(sentences: Sequence[Sentence], corpus: RecipeCorpus) -> list[Sentence]:
    rule: PunctuationRule = corpus.preparation.get("punctuation", "auto")
    words = [punctuation_mask(sentence, rule).count(False) for sentence in sentences]
    left_out = set() if corpus.without is None else set(_numbers(words, corpus.without))
    return [sentences[number] for number in _numbers(words, corpus) if number not in left_out]


def _numbers(words: Sequence[int], selection: Selection) -> list[int]:
    """The numbers of the sentences in a selection; the first half has the odd one."""
    max_length = selection.max_length
    fitting = [
        number for number, length in enumerate(words) if max_length is None or length <= max_length
    ]
    middle = (len(fitting) + 1) // 2
    if selection.half is None:
        return fitting
    return fitting[:middle] if selection.half == "first" else fitting[middle:]


def _sample(items: Sequence[T], recipe: Recipe) -> list[T]:
    """All items, or evenly spaced ones in a quick run."""
    size = recipe.quick.sentences if recipe.is_quick else None
    if size is None or len(items) <= size:
        return list(items)
    return [items[number * len(items) // size] for number in range(size)]


def write_corpus(trees: Sequence[str], out: Path) -> Path:
    """Write gold trees to a file, unless it already has them."""
    path = out / CORPUS
    content = "".join(f"{tree}\n" for tree in trees).encode("utf-8", "surrogatepass")
    with read_errors(path):
        is_there = path.is_file() and path.read_bytes() == content
    if not is_there:
        with write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as file:
                file.write(content)
    return path


@dataclass(frozen=True)
class RowGrid:
    """The cells of a row, which differ only in their seed."""

    row: RecipeRow
    search: Search
    path: Path
    """The grid file."""
    cells: tuple[Cell, ...]
    """Numbered through all rows."""

    def cells_in_file(self) -> list[tuple[Cell, CellInFile]]:
        """The cells with their numbers in the grid file."""
        return [(cell, CellInFile(self.path, n)) for n, cell in enumerate(self.cells, start=1)]


def row_grids(recipe: Recipe, out: Path, only: Collection[str] = ()) -> list[RowGrid]:
    """Write the grid files of all rows.

    Rows that have trees of another program are not run.

    ``only``: the names of the rows to write; all if empty.
    """
    names = [row.name for row in recipe.rows]
    for name in only:
        if name not in names:
            raise DbpcfgError(f"{recipe.name} has no row {name!r:.80}; it has {', '.join(names)}")
    grids: list[RowGrid] = []
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
            grids.append(RowGrid(row, search, path, tuple(numbered)))
            number += len(cells)
    return grids


def _file_name(name: str, names: Sequence[str]) -> str:
    """A valid and unique file name for a row."""

    def plain(name: str) -> str:
        return re.sub(r"[^\w.+-]+", "_", name).strip("._-") or "row"

    alike = [other for other in names if plain(other).casefold() == plain(name).casefold()]
    return plain(name) if alike[0] == name else f"{plain(name)}-{alike.index(name) + 1}"


def _contents(recipe: Recipe, row: RecipeRow) -> list[tuple[Search, dict[str, Any]]]:
    corpus = [_corpus_table(recipe)]
    base = {"systems": row.system, "seeds": list(recipe.seeds), "corpus": corpus}
    if not row.is_dbpcfg:
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
    (preprocessing,), _ = split_by_group(recipe.corpus.preparation, (PreprocessingOptions,))
    changed = PreprocessingOptions(**preprocessing).changed()
    return {**changed, "path": f"../{CORPUS}", "name": recipe.corpus.name}


def _write_toml(path: Path, content: dict[str, Any]) -> None:
    import tomli_w

    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            tomli_w.dump(content, file)
