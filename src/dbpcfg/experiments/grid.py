"""Cells, and grids of them: one run of one system on one corpus each.

A cell of dbpcfg in a grid is a run directory, and has K, D, β and a seed; of other systems only
those that draw random numbers have a seed, and none has the rest, so they are not repeated over it.
The name of a cell says what it is, whatever else is in the grid: ``adam-K15-D2-b0.2-s0``,
``adam-ccl``, ``adam-random-s0``.

In a grid file (TOML) ``K``, ``D``, ``beta``, ``seeds``, ``systems`` and ``corpus`` are a value or a
list. A corpus is a path, or a table with further keys (``[[corpus]]``). Paths are relative to the
file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments import keys
from dbpcfg.experiments.corpora import CellCorpus
from dbpcfg.experiments.keys import MOST_CELLS, Place, TomlFile, texts
from dbpcfg.experiments.systems.registry import SystemSpec, find
from dbpcfg.induction.auto import AUTO
from dbpcfg.induction.induce import Asked
from dbpcfg.induction.learners import learners
from dbpcfg.io.files import reading
from dbpcfg.options import Chaining, Reading, Searching, sorted_out

OWN = "dbpcfg"
"""The system whose cells in a grid are run directories."""

_DEFAULTS = {
    **{name: one.default for name, one in Searching.options().items()},
    **{name: Chaining.options()[name].default for name in ("precision", "aside")},
    "learner": "gibbs",
}
"""Settings of dbpcfg that are the same in all cells, if the file does not have them."""


@dataclass(frozen=True)
class Cell:
    """One cell: plain data, which can be sent to another process or machine."""

    number: int
    """Its place in the grid, from 1."""
    out: str
    """The directory of the results."""
    corpus: CellCorpus
    system: SystemSpec
    K: int | Literal["auto"] | None = None
    """As D and β, of run directories only; K and D are ``"auto"`` if the text chooses."""
    D: int | Literal["auto"] | None = None
    """None for no bound."""
    beta: float | None = None
    """None for a learner that has none."""
    seed: int | None = None
    """None for a system that draws no random numbers."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Other settings than the defaults: of a run directory by the names that `dbpcfg.induce` has
    for them, of a system by its own."""

    @property
    def is_run(self) -> bool:
        """Whether it is a run directory of dbpcfg; of other cells there are trees only."""
        return self.K is not None

    @property
    def name(self) -> str:
        """The name of its directory, which does not depend on the rest of the grid."""
        parts = [self.corpus.name] if self.corpus.name else []
        if self.is_run:
            parts += [f"K{self.K}", f"D{depth_name(self.D)}"]
            parts += [] if self.beta is None else [f"b{short(self.beta)}"]
        else:
            parts.append(self.system.name)
        return "-".join([*parts, *([] if self.seed is None else [f"s{self.seed}"])])

    @property
    def directory(self) -> Path:
        """Where its result is."""
        return Path(self.out) / self.name

    @property
    def model(self) -> dict[str, Any]:
        """The keywords of `dbpcfg.induce` for a run."""
        beta = {} if self.beta is None else {"beta": self.beta}
        K = None if self.K == AUTO else self.K
        own = {"K": K, "D": self.D, "seed": self.seed, "learner": "gibbs"}
        return {**own, **beta, **self.options}

    def settings(self) -> dict[str, Any]:
        """All that its result depends on, by the keys of the grid file; without the files."""
        corpus = self.corpus
        prepared = corpus.preparation.table()
        if self.is_run:
            usual = {}
            if self.options.get("learner") != AUTO:
                learner = learners[self.options.get("learner", "gibbs")]
                usual = {name: one.default for name, one in learner.options().items()}
                usual |= {"precision": learner.usual_precision, "trees": learner.usual_trees}
            axes = {**_DEFAULTS, **usual, **self.options}
            axes |= {"K": self.K, "D": self.D, "beta": self.beta}
        else:  # they get words, not classes of rare ones
            shared = ("lowercase", "max_length", "punctuation", "no_punctuation", "tokens")
            prepared = {name: prepared[name] for name in shared}
            axes = self.system.full_settings(self.options)
        found = {
            "system": self.system.name,
            **prepared,
            **corpus.reading.table(),
            **axes,
            "seed": self.seed,
        }
        return {name.replace("_", "-"): value for name, value in found.items()}


@dataclass(frozen=True)
class Grid:
    """A grid file."""

    path: Path
    out: Path
    """The directory of the sweep."""
    corpora: tuple[CellCorpus, ...]
    systems: tuple[SystemSpec, ...]
    K: tuple[int | Literal["auto"], ...] = (15,)
    D: tuple[int | Literal["auto"] | None, ...] = (2,)
    beta: tuple[float | None, ...] = (0.2,)
    seeds: tuple[int, ...] = (0,)
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of other systems than dbpcfg, by the name of the system."""

    def cells(self) -> list[Cell]:
        """All cells, in the order of the file: by corpus, system, K, D, β and seed."""
        found = enumerate(self._cells(), start=1)
        return [Cell(number, str(self.out), **cell) for number, cell in found]

    def _cells(self) -> Iterator[dict[str, Any]]:
        for corpus, spec in product(self.corpora, self.systems):
            cell = {"corpus": corpus, "system": spec}
            if spec.name == OWN:
                for K, D, beta, seed in product(self.K, self.D, self.beta, self.seeds):
                    axes = {"K": K, "D": D, "beta": beta, "seed": seed}
                    yield {**cell, **axes, "options": self.options}
            else:
                for number in self.seeds if spec.stochastic else (None,):
                    yield {**cell, "seed": number, "options": self.settings.get(spec.name, {})}


def depth_name(depth: int | str | None) -> str:
    """The name of a bound: its number, or ``none``."""
    return "none" if depth is None else str(depth)


def short(number: float) -> str:
    """A number in few digits, but not another one: 0.2, 1, 1e-05."""
    text = f"{number:g}"
    return text if float(text) == number else repr(number)


def read_grid(path: Path) -> Grid:
    """Read and check a grid file.

    Returns the grid. Whether its corpora can be read is not known yet.
    """
    file = TomlFile(path, "grid")
    content = file.content
    file.check(content, keys.GRID)
    options = {key.replace("-", "_"): content[key] for key in keys.INDUCTION if key in content}
    axes = {key: file.values(content, key) for key in keys.AXES}
    axes["D"] = [None if depth == "none" else depth for depth in axes["D"]]
    axes["beta"] = list(map(float, axes["beta"]))
    axes["systems"] = _systems(file, axes["systems"] or [OWN])
    if options.get("learner") == AUTO:
        usual: tuple[Any, Any, float | None] = AUTO, AUTO, None
    else:
        with reading(path):
            learner = learners[options.get("learner", "gibbs")]
        beta = 0.2 if "beta" in learner.options() else None
        usual = learner.usual_categories, learner.usual_depth, beta
    for key, value in zip(("K", "D", "beta"), usual, strict=True):
        axes[key] = axes[key] or [value]
    grid = Grid(
        path,
        path.parent / content.get("out", path.stem),
        tuple(_corpora(file)),
        **{key: tuple(values) for key, values in axes.items() if values},
        options=options,
        settings=_settings(file, content.get("settings", {})),
    )
    others = [spec.name for spec in grid.systems if spec.name != OWN]
    if others and any(corpus.preparation.brackets for corpus in grid.corpora):
        file.fail("systems", f"{others[0]} cannot use known brackets; make two grids")
    _check_cells(grid)
    return grid


def _systems(file: TomlFile, names: list[str]) -> list[SystemSpec]:
    found: dict[str, SystemSpec] = {}
    for name in names:
        try:
            spec = find(name)
        except DbpcfgError as error:
            file.fail("systems", error)
        if spec.name in found:
            file.fail("systems", f"systems has {spec.name!r} twice")
        found[spec.name] = spec
    return list(found.values())


def _settings(
    file: TomlFile, given: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """The settings of systems other than dbpcfg, by the names of the systems."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, table in given.items():
        try:
            spec = find(name)
            spec.check_settings(table)
        except DbpcfgError as error:
            file.fail("settings", f"settings: {error}")
        if spec.name == OWN:
            file.fail("settings", f"settings of {OWN} are keys at the top of the grid, as K is")
        if spec.name in found:
            file.fail("settings", f"settings has {spec.name!r} twice")
        found[spec.name] = table
    return found


def _corpora(file: TomlFile) -> list[CellCorpus]:
    found = file.content.get("corpus")
    if found is None:
        raise DbpcfgError(f"{file.path}: there is no corpus; give one, as in corpus = 'adam.mrg'")
    given = found if isinstance(found, list) else [found]
    if not given:
        file.fail("corpus", "corpus is an empty list; give a path, or a list of them")
    corpora = [_corpus(file, one, Place("corpus", number)) for number, one in enumerate(given)]
    places: dict[str, str] = {}
    for corpus in corpora:
        place = corpus.name.casefold()
        if place in places:
            file.fail(
                "corpus",
                f"{places[place]} and {corpus.paths[0]} would both be called {corpus.name!r}: give "
                "one of them another name, as in [[corpus]] with path and name",
            )
        places[place] = corpus.paths[0]
    return corpora


def _corpus(file: TomlFile, given: Any, place: Place) -> CellCorpus:
    table = {"path": given} if isinstance(given, str) else given
    if not isinstance(table, dict):
        file.fail("corpus", f"a corpus is a path or a table, got {given!r:.80}")
    file.check(table, keys.GRID_CORPUS, place)
    if "path" not in table:
        file.fail("corpus", f"corpus {place.number + 1} has no path", place)
    shared = {key: file.content[key] for key in keys.PREPARATION if key in file.content}
    all_keys = {key.replace("-", "_"): value for key, value in {**shared, **table}.items()}
    (prepared, reading), rest = sorted_out(all_keys, (Preparation, Reading))
    paths, gold = (_paths(file, texts(rest.get(key, [])), place) for key in ("path", "gold"))
    name = _name(file, table, place)
    return CellCorpus(name, paths, gold, Reading(**reading), Preparation(**prepared))


def _paths(file: TomlFile, found: tuple[str, ...], place: Place) -> tuple[str, ...]:
    if "-" in found:
        file.fail("path", "a corpus of a grid is a file, not standard input", place)
    return tuple(str(file.path.parent / path) for path in found)


def _name(file: TomlFile, table: Mapping[str, Any], place: Place) -> str:
    """The name of a corpus in names of cells: given, or from its path."""
    path = texts(table["path"])[0]
    base = re.sub(r"\.(gz|bz2|xz)$", "", Path(path).name)
    given = table.get("name", base if path.endswith("/") else Path(base).stem)
    name = re.sub(r"[^\w.+-]+", "_", given).lstrip(".-")
    if not re.search(r"\w", name.replace("_", "")):
        problem = f"no name can be made from {given!r:.80}: give the corpus a name"
        file.fail("corpus", problem, place)
    if "name" in table and name != given:
        file.fail("name", f"a name has letters, digits and . _ + - only, got {given!r:.80}", place)
    return name


def _check_cells(grid: Grid) -> None:
    number = len(grid.K) * len(grid.D) * len(grid.beta) * len(grid.seeds)
    if number * len(grid.corpora) * len(grid.systems) > MOST_CELLS:
        raise DbpcfgError(f"{grid.path} has more than {MOST_CELLS:,} cells; make several grids")
    with reading(grid.path):
        for cell in grid.cells():
            if cell.is_run and cell.corpus is grid.corpora[0] and cell.seed == max(grid.seeds):
                _check_settings(cell)


def _check_settings(cell: Cell) -> None:
    """Raise an error for settings that are impossible whatever the corpus contains."""
    (chaining, searching), own = sorted_out(cell.model, (Chaining, Searching))
    learner = own.pop("learner", "gibbs")
    Asked(learner, own, Chaining(**chaining), Searching(**searching))
