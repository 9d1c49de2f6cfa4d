"""The scores of the trees of a cell: of every chain, of the selected one, flattened.

Scores of a finished cell are kept in ``scores``, as scoring many chains takes minutes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from dbpcfg.comparison.data import finite
from dbpcfg.comparison.store import RUN, Job
from dbpcfg.comparison.summary import ScoredRun
from dbpcfg.comparison.task import Task
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.flattening import flatten, flattenable
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.results import run_times
from dbpcfg.io.files import read_json, reading, write_json, writing
from dbpcfg.reproduce.grids import Search
from dbpcfg.reproduce.keys import MEASURES
from dbpcfg.reproduce.recipe import Recipe
from dbpcfg.sweep.cells import GridCell
from dbpcfg.systems.registry import find
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree

_FORMAT = "dbpcfg scores of a reproduction"


class SystemTrees(NamedTuple):
    """Trees of one chain, run or file."""

    trees: list[Tree]
    chain: int | None = None
    selected: bool = True
    """Whether it is the chain that its run selects."""
    seconds: float | None = None
    """Of the run, all chains together."""
    per_token: float | None = None
    """Log-likelihood per token."""
    mbr: bool = False
    """Whether these are MBR trees of a chain whose own trees are others."""


@dataclass(frozen=True)
class Entry:
    """The scores of some trees."""

    seed: int | None
    chain: int | None
    selected: bool
    flattened: bool
    seconds: float | None
    figures: Mapping[str, Mapping[str, float | None]]
    """By score set and measure: fractions, and the log-likelihood per token."""
    mbr: bool = False
    """Whether these are MBR trees of a chain whose own trees are others."""
    cell: int | None = None
    """The number of its cell."""

    def value(self, score: str, measure: str) -> float | None:
        """One figure; None if it is undefined."""
        return self.figures[score].get(measure)


class RecipeScorer:
    """Scores trees on all score sets of a recipe."""

    def __init__(self, recipe: Recipe, task: Task) -> None:
        self.recipe = recipe
        self.tasks = {
            one.name: replace(task, convention=replace(task.convention, max_length=one.max_length))
            if one.max_length is not None
            else task
            for one in recipe.scores
        }

    def signatures(self) -> dict[str, str]:
        """The convention of each score set."""
        return {name: task.convention.signature() for name, task in self.tasks.items()}

    def evaluate(self, trees: list[Tree], score: str) -> Evaluation:
        """Score trees on one score set."""
        return self.tasks[score].score(trees)

    def entries(self, found: SystemTrees, seed: int | None) -> Iterator[Entry]:
        """The scores of trees; those of flattened trees too, if the recipe wants them."""
        plain = Entry(seed, found.chain, found.selected, False, found.seconds, {}, found.mbr)
        yield replace(plain, figures=self._figures(found.trees, found.per_token))
        wanted = self.recipe.flatten and found.selected and not found.mbr
        if wanted and flattenable(found.trees):
            figures = self._figures(flatten(found.trees), found.per_token)
            yield replace(plain, flattened=True, figures=figures)

    def _figures(self, trees: list[Tree], per_token: float | None) -> dict[str, Any]:
        return {
            name: {**_measured(task.score(trees)), "log-likelihood": per_token}
            for name, task in self.tasks.items()
        }


def _measured(evaluation: Evaluation) -> dict[str, float | None]:
    run = ScoredRun(None, evaluation, 0.0, 0.0, None, "")
    labelled = len(evaluation.constituents.induced) > 1
    found = {
        "homogeneity": evaluation.constituents.score().homogeneity if labelled else math.nan,
        **{
            name: run.value(name.replace("-", "_"))
            for name in MEASURES
            if name not in ("homogeneity", "log-likelihood")
        },
    }
    return {name: finite(value) for name, value in found.items()}


def cell_trees(search: Search, cell: GridCell) -> Iterator[SystemTrees]:
    """The trees of a finished cell.

    ``search``: how it searched: with ``"paper"`` the trees of every chain are wanted.
    """
    if search == "runs":
        yield _stored(cell)
        return
    run = finished_run(cell.directory)
    times, tokens = run_times(cell.directory), len(run.corpus.forms.tokens)
    seconds = times and times[2]
    for chain in run.survivors if search == "paper" else [run.best]:
        number, per_token = chain.settings.chain, finite(chain.mean_log_likelihood / tokens)
        best = chain is run.best
        yield SystemTrees(run.trees(chain), number, best, seconds, per_token)
        if search == "paper" and best and run.configuration.trees != "mbr":
            same = replace(run, configuration=replace(run.configuration, trees="mbr"))
            yield SystemTrees(same.trees(chain), number, best, seconds, per_token, mbr=True)


def _stored(cell: GridCell) -> SystemTrees:
    spec = find(cell.system)
    name = Job(spec, cell.seed, {}).name
    record = read_json(cell.directory / f"{name}.json", RUN)
    return SystemTrees(trees_in(cell.directory / f"{name}.trees"), seconds=float(record["seconds"]))


def trees_in(path: Path) -> list[Tree]:
    """The trees in a file, one a line."""
    with reading(path):
        text = path.read_text(encoding="utf-8", errors="surrogatepass")
    return list(read_trees(text, str(path)))


def cell_entries(scorer: RecipeScorer, search: Search, cell: GridCell, kept: Path) -> list[Entry]:
    """The scores of a finished cell, which are kept in a file."""
    convention = {"sets": scorer.signatures(), "flatten": scorer.recipe.flatten}
    with reading(kept):
        there = kept.is_file()
    if there:
        try:
            content = read_json(kept, _FORMAT)
            if content["convention"] == convention:
                return [Entry(**one, cell=cell.number) for one in content["entries"]]
        except (DbpcfgError, TypeError, KeyError):
            pass  # damaged: scored again
    entries = [
        entry for found in cell_trees(search, cell) for entry in scorer.entries(found, cell.seed)
    ]
    plain = [{k: v for k, v in asdict(entry).items() if k != "cell"} for entry in entries]
    with writing(kept):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_json(kept, _FORMAT, {"convention": convention, "entries": plain})
    return [replace(entry, cell=cell.number) for entry in entries]
