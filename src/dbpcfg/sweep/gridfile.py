"""The grid file, a TOML file: read strictly, with the line of what is wrong.

``K``, ``D``, ``beta``, ``seeds``, ``systems`` and ``corpus`` are a value or a list. A corpus is a
path, or a table with further keys (``[[corpus]]``). Paths are relative to the file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.search import chosen
from dbpcfg.induction.settings import ChainSettings, Configuration, settings_for
from dbpcfg.io.files import reading
from dbpcfg.sweep import keys
from dbpcfg.sweep.cells import OWN, Grid, GridCell, GridCorpus
from dbpcfg.sweep.gridtext import MOST_CELLS, GridText
from dbpcfg.systems.registry import SystemSpec, find

_PREPARATION = tuple(field.name for field in fields(Preparation))
_SEARCH = ("inference", "budget", "chains", "iterations", "select")


def read_grid(path: Path) -> Grid:
    """Read and check a grid file.

    Returns the grid. Whether its corpora can be read is not known yet.
    """
    with reading(path):
        data = path.read_bytes()
    try:
        text = data.decode()
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DbpcfgError(f"{path} is not TOML: {error}") from None
    file = GridText(path, text)
    file.check_known(content, keys.GRID)
    others = {"out": keys.TEXT, "settings": keys.SETTINGS}
    for key, kind in {**keys.INDUCTION, **keys.CORPUS, **others}.items():
        file.check(content, key, kind)
    options = {key.replace("-", "_"): content[key] for key in keys.INDUCTION if key in content}
    axes = {key: file.values(content, key, kind) for key, kind in keys.AXES.items()}
    if options.get("learner") == "neural":
        usual = settings_for("neural")
        axes["K"] = axes["K"] or [usual.categories]
        options.setdefault("exact", usual.exact)
    grid = Grid(
        path,
        path.parent / content.get("out", path.stem),
        tuple(_corpora(file, content)),
        **{key: tuple(values) for key, values in _converted(file, axes).items() if values},
        options=options,
        settings=_settings(file, content.get("settings", {})),
    )
    _check_cells(grid)
    return grid


def _converted(file: GridText, axes: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The axes as the grid has them, none of their values twice."""
    found: dict[str, list[Any]] = {
        **axes,
        "D": [None if depth == "none" else depth for depth in axes["D"]],
        "beta": list(map(float, axes["beta"])),
        "systems": [_system(file, name) for name in axes["systems"]],
    }
    for key, values in found.items():
        seen: set[Any] = set()
        for number, value in enumerate(values):
            name = value.name if isinstance(value, SystemSpec) else value
            if name in seen:
                file.fail(key, f"{key} has {axes[key][number] if key == 'D' else name!r} twice")
            seen.add(name)
    return found


def _system(file: GridText, name: str) -> SystemSpec:
    try:
        return find(name)
    except DbpcfgError as error:
        file.fail("systems", str(error))


def _settings(
    file: GridText, given: Mapping[str, Mapping[str, Any]]
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


def _corpora(file: GridText, content: Mapping[str, Any]) -> list[GridCorpus]:
    found = content.get("corpus")
    if found is None:
        raise DbpcfgError(f"{file.path}: there is no corpus; give one, as in corpus = 'adam.mrg'")
    given = found if isinstance(found, list) else [found]
    if not given:
        file.fail("corpus", "corpus is an empty list; give a path, or a list of them")
    shared = {key: content[key] for key in keys.CORPUS if key in content}
    corpora = [_corpus(file, one, number, shared) for number, one in enumerate(given)]
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


def _corpus(file: GridText, given: Any, number: int, shared: Mapping[str, Any]) -> GridCorpus:
    table = {"path": given} if isinstance(given, str) else given
    if not isinstance(table, dict):
        file.fail("corpus", f"a corpus is a path or a table, got {given!r:.80}")
    known = {**keys.ONE_CORPUS, **keys.CORPUS}
    file.check_known(table, list(known), number)
    for key, kind in known.items():
        file.check(table, key, kind, number)
    if "path" not in table:
        file.fail("corpus", f"corpus {number + 1} has no path", number)
    all_keys = {key.replace("-", "_"): value for key, value in {**shared, **table}.items()}
    paths, gold = (_paths(file, all_keys.get(key, []), number) for key in ("path", "gold"))
    preparation = Preparation(**{key: all_keys[key] for key in _PREPARATION if key in all_keys})
    return GridCorpus(
        _name(file, table, number),
        paths,
        gold,
        all_keys.get("input_format"),
        all_keys.get("skip_broken", False),
        all_keys.get("encoding"),
        _texts(all_keys.get("speaker", [])),
        _texts(all_keys.get("exclude_speaker", [])),
        preparation,
    )


def _texts(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _paths(file: GridText, value: str | list[str], number: int) -> tuple[str, ...]:
    found = _texts(value)
    if "-" in found:
        file.fail("path", "a corpus of a grid is a file, not standard input", number)
    return tuple(str(file.path.parent / path) for path in found)


def _name(file: GridText, table: Mapping[str, Any], number: int) -> str:
    """The name of a corpus in names of cells: given, or from its path."""
    path = _texts(table["path"])[0]
    base = re.sub(r"\.(gz|bz2|xz)$", "", Path(path).name)
    given = table.get("name", base if path.endswith("/") else Path(base).stem)
    name = re.sub(r"[^\w.+-]+", "_", given).lstrip(".-")
    if not re.search(r"\w", name.replace("_", "")):
        file.fail(
            "corpus", f"no name can be made from {given!r:.80}: give the corpus a name", number
        )
    if "name" in table and name != given:
        file.fail("name", f"a name has letters, digits and . _ + - only, got {given!r:.80}", number)
    return name


def _check_cells(grid: Grid) -> None:
    number = len(grid.K) * len(grid.D) * len(grid.beta) * len(grid.seeds)
    if number * len(grid.corpora) * len(grid.systems) > MOST_CELLS:
        raise DbpcfgError(f"{grid.path} has more than {MOST_CELLS:,} cells; make several grids")
    with reading(grid.path):
        for cell in grid.cells():
            if cell.own and cell.corpus is grid.corpora[0] and cell.seed == max(grid.seeds):
                _check_settings(cell)


def _check_settings(cell: GridCell) -> None:
    """Raise an error for settings that cannot be, whatever is in the corpus."""
    assert cell.system == OWN
    assert cell.K is not None
    assert cell.beta is not None
    assert cell.seed is not None
    options = dict(cell.options)
    search = {key: options.pop(key) for key in _SEARCH if key in options}
    trees = options.pop("trees", "mbr")
    model = ChainSettings(cell.K, cell.D, cell.beta, cell.seed, **options)
    chains, schedule, budget, select = chosen(model, **search)
    Configuration(model, schedule, cell.corpus.preparation, chains, trees, budget, select)
