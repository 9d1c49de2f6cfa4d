"""Cells and grids. A cell is one run of one system on one corpus.

A cell of dbpcfg is a run directory, and has K, D, β and a seed. Other systems have no K, D and β,
and only those that draw random numbers have a seed. The name of a cell does not depend on the rest
of the grid: ``adam-K15-D2-b0.2-s0``, ``adam-ccl``, ``adam-random-s0``.

In a grid file (TOML) ``K``, ``D``, ``beta``, ``seeds``, ``systems`` and ``corpus`` are a value or a
list. A corpus is a path, or a table with further keys (``[[corpus]]``). Paths are relative to the
file. Other keys are options of ``induce``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.corpora import CellCorpus
from dbpcfg.induction.auto import AUTO
from dbpcfg.induction.learners import learners
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.io.files import read_errors, read_toml
from dbpcfg.options import (
    LEARNERS,
    REQUIRED,
    Group,
    ModelOptions,
    Option,
    PreprocessingOptions,
    ReadingOptions,
    SearchOptions,
    keywords,
    option,
    read_table,
    split_by_group,
)
from dbpcfg.systems.registry import SystemSpec, find

DBPCFG = "dbpcfg"
"""The name of this package's own system; its cells in a grid are run directories."""
MAX_CELLS = 100_000


@dataclass(frozen=True)
class GridOptions(Group):
    """The keys of a grid file that are not options of ``induce``."""

    corpus: tuple[str | dict[str, Any], ...] = option(REQUIRED, "A path, or a table.")
    K: tuple[int, ...] = option((), "Numbers of categories.", minimum=1)
    D: tuple[int | Literal["none"], ...] = option((), "Memory bounds.", minimum=1)
    beta: tuple[float, ...] = option((), "Dirichlet parameters.", exclusive_minimum=0)
    seeds: tuple[int | str, ...] = option((0,), "Numbers, or ranges such as 0-9.", minimum=0)
    systems: tuple[str, ...] = option((DBPCFG,), "Names of systems.")
    out: str | None = option(None, "Directory of the results.")
    settings: dict[str, dict[str, Any]] | None = option(None, "Tables of settings, by system.")


@dataclass(frozen=True)
class CorpusOptions(Group):
    """The keys of a corpus that are not options of ``induce``."""

    path: tuple[str, ...] = option(REQUIRED, "Files, directories or patterns.")
    name: str | None = option(None, "What names of cells begin with.")
    gold: tuple[str, ...] = option((), "A treebank of the same sentences.")


PREPARATION = keywords((PreprocessingOptions, ReadingOptions))
"""How a corpus is read and preprocessed: keys of one corpus, or defaults for all."""
INDUCTION: dict[str, Option] = {
    **keywords((SearchOptions, *LEARNERS.values())),
    # a time is not the same in every cell
    "budget": replace(SearchOptions.options()["budget"], kind=int | None),
    **{name: ModelOptions.options()[name] for name in ("precision", "held_out")},
    "learner": Option("learner", str, "gibbs", "The learner, or auto."),
}
"""Settings of dbpcfg that are the same in all cells."""
del INDUCTION["beta"]

_DEFAULTS = {
    **{name: one.default for name, one in SearchOptions.options().items()},
    **{name: ModelOptions.options()[name].default for name in ("precision", "held_out")},
    "learner": "gibbs",
}
"""Defaults of the settings of dbpcfg that are the same in all cells."""


@dataclass(frozen=True)
class Cell:
    """One cell, as plain data that can be sent to another process or machine."""

    number: int
    """Its position in the grid, from 1."""
    out: str
    """The directory of the results."""
    corpus: CellCorpus
    system: SystemSpec
    K: int | Literal["auto"] | None = None
    """K, D and β are of run directories only. ``"auto"``: chosen by the text."""
    D: int | Literal["auto"] | None = None
    """None for no bound."""
    beta: float | None = None
    """None for a learner that has none."""
    seed: int | None = None
    """None for a system that draws no random numbers."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from the defaults: keywords of `dbpcfg.induce`, or of the system."""

    @property
    def is_run(self) -> bool:
        """Whether the cell is a run directory of dbpcfg; other cells have only trees."""
        return self.K is not None

    @property
    def name(self) -> str:
        """The name of the cell and of its directory."""
        parts = [self.corpus.name] if self.corpus.name else []
        if self.is_run:
            parts += [f"K{self.K}", f"D{depth_name(self.D)}"]
            parts += [] if self.beta is None else [f"b{short(self.beta)}"]
        else:
            parts.append(self.system.name)
        return "-".join([*parts, *([] if self.seed is None else [f"s{self.seed}"])])

    @property
    def directory(self) -> Path:
        """The directory of the result."""
        return Path(self.out) / self.name

    @property
    def model(self) -> dict[str, Any]:
        """The keywords of `dbpcfg.induce` for a run."""
        beta = {} if self.beta is None else {"beta": self.beta}
        K = None if self.K == AUTO else self.K
        fixed = {"K": K, "D": self.D, "seed": self.seed, "learner": "gibbs"}
        return {**fixed, **beta, **self.options}

    def settings(self) -> dict[str, Any]:
        """All settings that the result depends on, by the keys of the grid file."""
        corpus = self.corpus
        preprocessed = corpus.preprocessing.table()
        if self.is_run:
            defaults = {}
            if self.options.get("learner") != AUTO:
                learner = learners[self.options.get("learner", "gibbs")]
                defaults = {
                    name: learner_option.default
                    for name, learner_option in learner.options().items()
                }
                defaults |= {"precision": learner.default_precision, "trees": learner.default_trees}
            axes = {**_DEFAULTS, **defaults, **self.options}
            axes |= {"K": self.K, "D": self.D, "beta": self.beta}
        else:  # other systems get words, not classes of rare words
            shared = ("lowercase", "max_length", "punctuation", "no_punctuation", "tokens")
            preprocessed = {name: preprocessed[name] for name in shared}
            axes = self.system.full_settings(self.options)
        settings = {
            "system": self.system.name,
            **preprocessed,
            **corpus.reading.table(),
            **axes,
            "seed": self.seed,
        }
        return {name.replace("_", "-"): value for name, value in settings.items()}


@dataclass(frozen=True)
class Grid:
    """A grid file."""

    path: Path
    out: Path
    """The directory of the sweep."""
    corpora: tuple[CellCorpus, ...]
    systems: tuple[SystemSpec, ...]
    K: tuple[int | Literal["auto"], ...]
    D: tuple[int | Literal["auto"] | None, ...]
    beta: tuple[float | None, ...]
    seeds: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of other systems than dbpcfg, by the name of the system."""

    def cells(self) -> list[Cell]:
        """All cells, in the order of the file: by corpus, system, K, D, β and seed."""
        numbered = enumerate(self._cells(), start=1)
        return [Cell(number, str(self.out), **cell) for number, cell in numbered]

    def _cells(self) -> Iterator[dict[str, Any]]:
        for corpus, spec in product(self.corpora, self.systems):
            cell = {"corpus": corpus, "system": spec}
            if spec.name == DBPCFG:
                for K, D, beta, seed in product(self.K, self.D, self.beta, self.seeds):
                    axes = {"K": K, "D": D, "beta": beta, "seed": seed}
                    yield {**cell, **axes, "options": self.options}
            else:
                for number in self.seeds if spec.stochastic else (None,):
                    yield {**cell, "seed": number, "options": self.settings.get(spec.name, {})}


def depth_name(depth: int | str | None) -> str:
    """A memory bound as text; ``none`` for no bound."""
    return "none" if depth is None else str(depth)


def short(number: float) -> str:
    """A number in as few digits as identify it: 0.2, 1, 1e-05."""
    text = f"{number:g}"
    return text if float(text) == number else repr(number)


def read_grid(path: Path) -> Grid:
    """Read and check a grid file, but not its corpora."""
    content = read_toml(path)
    with read_errors(path):
        grid = _grid(path, content)
        for cell in grid.cells():
            if cell.is_run and cell.corpus is grid.corpora[0] and cell.seed == max(grid.seeds):
                _check_settings(cell)
    return grid


def _grid(path: Path, content: Mapping[str, Any]) -> Grid:
    allowed = {**GridOptions.options(), **INDUCTION, **PREPARATION}
    given = read_table(content, allowed, "")
    options = {name: given[name] for name in INDUCTION if name in given}
    shared = {name: given[name] for name in PREPARATION if name in given}
    keys = GridOptions(**{k: v for k, v in given.items() if k in GridOptions.options()})
    for name in ("corpus", "K", "D", "beta", "seeds", "systems"):
        values = getattr(keys, name)
        if name in given and not values:
            raise DbpcfgError(f"{name} is an empty list; give a value, or leave {name} out")
        if name != "corpus":
            check_distinct(name, values)
    axes: dict[str, tuple[Any, ...]] = {"K": keys.K, "D": keys.D, "beta": keys.beta}
    axes["D"] = tuple(None if depth == "none" else depth for depth in keys.D)
    if options.get("learner") == AUTO:
        defaults: tuple[Any, Any, float | None] = AUTO, AUTO, None
    else:
        learner = learners[options.get("learner", "gibbs")]
        beta = 0.2 if "beta" in learner.options() else None
        defaults = learner.default_categories, learner.default_depth, beta
    for name, value in zip(axes, defaults, strict=True):
        axes[name] = axes[name] or (value,)
    systems = tuple(map(find, keys.systems))
    check_distinct("systems", [spec.name for spec in systems])
    seeds = read_seeds(keys.seeds)
    grid = Grid(
        path,
        path.parent / (keys.out or path.stem),
        tuple(_corpora(path.parent, keys.corpus, shared)),
        systems,
        **axes,
        seeds=seeds,
        options=options,
        settings=system_settings(keys.settings or {}),
    )
    number = len(grid.K) * len(grid.D) * len(grid.beta) * len(grid.seeds)
    if number * len(grid.corpora) * len(grid.systems) > MAX_CELLS:
        raise DbpcfgError(f"there are more than {MAX_CELLS:,} cells; make several grids")
    others = [spec.name for spec in grid.systems if spec.name != DBPCFG]
    if others and any(corpus.preprocessing.brackets for corpus in grid.corpora):
        raise DbpcfgError(f"{others[0]} cannot use known brackets; make two grids")
    return grid


def check_distinct(name: str, values: Sequence[Any]) -> None:
    """Raise an error if a list has a value twice."""
    for value, times in Counter(values).items():
        if times > 1:
            raise DbpcfgError(f"{name} has {value!r:.80} twice")


def read_seeds(values: Sequence[int | str]) -> tuple[int, ...]:
    """Read seeds, which are numbers or ranges such as ``"0-9"``."""
    seeds: list[int] = []
    for value in values:
        limits = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", str(value).strip())
        first, last = (int(limits[1]), int(limits[2] or limits[1])) if limits else (1, 0)
        if last < first and not isinstance(value, int):
            raise DbpcfgError(f"seeds are numbers, or ranges such as 0-9, got {value!r:.80}")
        if last - first >= MAX_CELLS:
            raise DbpcfgError(f"seeds has more than {MAX_CELLS:,} numbers: {value!r}")
        seeds += [value] if isinstance(value, int) else range(first, last + 1)
    check_distinct("seeds", seeds)
    return tuple(seeds)


def system_settings(tables: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Check the settings of systems other than dbpcfg."""
    settings: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        spec = find(name)
        spec.check_settings(table)
        if spec.name == DBPCFG:
            raise DbpcfgError(f"settings are of other systems; {DBPCFG} has keys of its own, as K")
        if spec.name in settings:
            raise DbpcfgError(f"settings has {spec.name!r} twice")
        settings[spec.name] = table
    return settings


def _corpora(
    folder: Path, entries: Sequence[str | dict[str, Any]], shared: Mapping[str, Any]
) -> list[CellCorpus]:
    names: dict[str, str] = {}
    corpora = []
    for number, entry in enumerate(entries, start=1):
        location = f"corpus {number}"
        table = {"path": entry} if isinstance(entry, str) else entry
        for key in table:
            if key in GridOptions.options() or key.replace("-", "_") in INDUCTION:
                raise DbpcfgError(f"{location} has {key!r}; move {key} above the first [[corpus]]")
        values = read_table(table, {**CorpusOptions.options(), **PREPARATION}, location)
        corpus = _corpus(folder, values, shared, location)
        name = corpus.name.casefold()
        if name in names:
            raise DbpcfgError(
                f"{names[name]} and {corpus.paths[0]} would both be called {corpus.name!r}: give "
                "one of them another name, as in [[corpus]] with path and name"
            )
        names[name] = corpus.paths[0]
        corpora.append(corpus)
    return corpora


def _corpus(
    folder: Path, values: Mapping[str, Any], shared: Mapping[str, Any], location: str
) -> CellCorpus:
    groups = (CorpusOptions, Preprocessing, ReadingOptions)
    (corpus_options, preprocessing, reading), _ = split_by_group({**shared, **values}, groups)
    keys = CorpusOptions(**corpus_options)
    if not keys.path:
        raise DbpcfgError(f"{location}: path is an empty list")
    if "-" in (*keys.path, *keys.gold):
        raise DbpcfgError(f"{location}: a corpus of a grid is a file, not standard input")
    paths, gold = (tuple(str(folder / path) for path in names) for names in (keys.path, keys.gold))
    name = _name(keys, location)
    return CellCorpus(name, paths, gold, ReadingOptions(**reading), Preprocessing(**preprocessing))


def _name(keys: CorpusOptions, location: str) -> str:
    """The name of a corpus, by default that of its file."""
    base = re.sub(r"\.(gz|bz2|xz)$", "", Path(keys.path[0]).name)
    base_name = keys.name or (base if keys.path[0].endswith("/") else Path(base).stem)
    name = re.sub(r"[^\w.+-]+", "_", base_name).lstrip(".-")
    if not re.search(r"\w", name.replace("_", "")):
        raise DbpcfgError(f"{location}: no name can be made from {base_name!r:.80}: give it a name")
    if keys.name and name != base_name:
        raise DbpcfgError(
            f"{location}: a name has letters, digits and . _ + - only, got {base_name!r:.80}"
        )
    return name


def _check_settings(cell: Cell) -> None:
    """Raise an error for settings that are wrong for any corpus."""
    (model_options, search_options), learner_options = split_by_group(
        cell.model, (ModelOptions, SearchOptions)
    )
    learner = learner_options.pop("learner", "gibbs")
    InductionPlan(
        learner, learner_options, ModelOptions(**model_options), SearchOptions(**search_options)
    )
