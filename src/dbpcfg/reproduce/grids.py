"""A sweep for each row of the table: its grid file, and its cells.

A row of dbpcfg has two: ``paper``, where every chain runs to its end, and ``default``, as
`dbpcfg.induce` runs without options. Grid files are in ``cells``, each beside the directory of its
cells, so all commands for sweeps and runs read them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import writing, written_whole
from dbpcfg.reproduce.recipe import Recipe, RecipeRow
from dbpcfg.reproduce.treebank import CORPUS
from dbpcfg.sweep.cells import GridCell, GridCorpus
from dbpcfg.sweep.gridfile import read_grid

Search = Literal["paper", "default", "runs"]
"""How the cells of a row search; ``"runs"`` of other systems than dbpcfg."""


@dataclass(frozen=True)
class RowGrid:
    """The cells of a row, which differ in their seed."""

    row: RecipeRow
    search: Search
    path: Path
    """The grid file."""
    cells: tuple[GridCell, ...]
    """Numbered through all rows."""
    first: int
    """The number of the first cell."""

    @property
    def name(self) -> str:
        """The name of the grid file, without its extension."""
        return self.path.stem

    def places(self) -> dict[int, tuple[Path, int]]:
        """The grid file of each cell and its number there, by its number here."""
        return {cell.number: (self.path, cell.number - self.first + 1) for cell in self.cells}


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
    first = 1
    for row in recipe.rows:
        if row.system is None or (only and row.name not in only):
            continue
        for search, content in _contents(recipe, row):
            path = out / "cells" / f"{file_name(row.name, names)}-{search}.toml"
            _write(path, content)
            try:
                cells = read_grid(path).cells()
            except DbpcfgError as error:
                raise DbpcfgError(f"row {row.name!r} of {recipe.path}: {error}") from None
            numbered = [replace(cell, number=first + n) for n, cell in enumerate(cells)]
            found.append(RowGrid(row, search, path, tuple(numbered), first))
            first += len(cells)
    return found


def grid_corpus(recipe: Recipe, out: Path) -> GridCorpus:
    """The corpus of all cells."""
    path = out / "cells" / "corpus.toml"
    _write(path, {"corpus": [_corpus_table(recipe)]})
    return read_grid(path).corpora[0]


def file_name(name: str, names: Sequence[str]) -> str:
    """A name that files can have, which no other row has."""
    place = _plain(name)
    same = [other for other in names if _plain(other).casefold() == place.casefold()]
    return place if same[0] == name else f"{place}-{same.index(name) + 1}"


def _plain(name: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", name).strip("._-") or "row"


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


def _corpus_table(recipe: Recipe) -> dict[str, Any]:
    corpus = recipe.corpus
    table = {**corpus.preparation, "path": f"../{CORPUS}", "name": corpus.name}
    if corpus.selection.max_length is not None:
        table["max-length"] = corpus.selection.max_length
    for key in ("input-format", "encoding", "speaker", "exclude-speaker", "skip-broken"):
        table.pop(key, None)  # of the files that it was made from
    return table


def _write(path: Path, content: dict[str, Any]) -> None:
    import tomli_w

    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            tomli_w.dump(content, file)
