"""A published table, run again: the scores of its cells, their groups, and tests.

Scores of a finished cell are kept in ``scores``, as scoring many chains takes minutes.

A row of dbpcfg has several groups of scores: every chain of every seed (each is a run as the
paper's), of each seed the chain of greatest likelihood, with the trees of its best sample, as in
the paper, and with MBR trees; and the default answer. P, R and the other figures of a group are
those of its run of median F1, so that they are of one tree for each sentence; of an even number of
runs they are means of the two in the middle.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.flattening import flatten, flattenable
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.experiments.comparison import measured
from dbpcfg.experiments.corpora import Task, load_corpus
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.keys import MEASURES
from dbpcfg.experiments.recipe import Published, Recipe, RecipeRow
from dbpcfg.experiments.results import (
    WAITING,
    CellOutcome,
    CellRecord,
    middle_runs,
    saved_trees,
    spread,
)
from dbpcfg.experiments.rows import RowGrid, Search, recipe_corpus
from dbpcfg.induction.directory import finished_run, run_times
from dbpcfg.io.files import finite, read_json, reading, write_json, writing
from dbpcfg.io.progress import Progress
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree

_SCORES = "dbpcfg scores of a reproduction"
GroupKind = Literal["chains", "selected", "mbr", "default", "runs", "trees"]

NAMES: dict[GroupKind, str] = {
    "chains": "every chain",
    "selected": "greatest likelihood",
    "mbr": "greatest likelihood, MBR",
    "default": "default answer",
    "runs": "every run",
    "trees": "trees of a file",
}
"""What tables call the groups."""


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

    def of_cell(self, grid: RowGrid, cell: Cell, kept: Path) -> list[Entry]:
        """The scores of a finished cell, which are kept in a file."""
        convention = {"sets": self.signatures(), "flatten": self.recipe.flatten}
        with reading(kept):
            there = kept.is_file()
        if there:
            try:
                content = read_json(kept, _SCORES)
                if content["convention"] == convention:
                    return [Entry(**one, cell=cell.number) for one in content["entries"]]
            except (DbpcfgError, TypeError, KeyError):
                pass  # damaged: scored again
        found = cell_trees(grid.search, cell)
        entries = [entry for trees in found for entry in self.entries(trees, cell.seed)]
        plain = [{k: v for k, v in asdict(entry).items() if k != "cell"} for entry in entries]
        with writing(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_json(kept, _SCORES, {"convention": convention, "entries": plain})
        return [replace(entry, cell=cell.number) for entry in entries]


def _measured(evaluation: Evaluation) -> dict[str, float | None]:
    labelled = len(evaluation.constituents.induced) > 1
    found = {
        "homogeneity": evaluation.constituents.score().homogeneity if labelled else math.nan,
        **{
            name: measured(evaluation, name.replace("-", "_"))
            for name in MEASURES
            if name not in ("homogeneity", "log-likelihood")
        },
    }
    return {name: finite(value) for name, value in found.items()}


def cell_trees(search: Search, cell: Cell) -> Iterator[SystemTrees]:
    """The trees of a finished cell.

    ``search``: how it searched: with ``"paper"`` the trees of every chain are wanted.
    """
    if search == "runs":
        outcome = CellRecord(cell).found(None)
        assert outcome.result is not None
        yield SystemTrees(saved_trees(cell), seconds=outcome.result.seconds)
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


def _trees_in(row: RecipeRow) -> list[Tree]:
    """The trees of another program, one a line."""
    assert row.trees is not None
    path = Path(row.trees)
    with reading(path):
        text = path.read_text(encoding="utf-8", errors="surrogatepass")
    return list(read_trees(text, str(path)))


@dataclass(frozen=True)
class RunGroup:
    """Runs of one row that are comparable: they differ in their seed or chain."""

    row: RecipeRow
    kind: GroupKind
    flattened: bool
    entries: Sequence[Entry]
    failures: Sequence[str] = ()
    """Why cells failed."""
    missing: int = 0
    """Cells that have not finished, without those that failed."""
    grid: RowGrid | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The name of the row, with ``-F`` for flattened trees."""
        return f"{self.row.name}-F" if self.flattened else self.row.name

    def values(self, score: str, measure: str) -> list[float]:
        """The values of all entries that have one."""
        found = [entry.value(score, measure) for entry in self.entries]
        return [value for value in found if value is not None]

    def middle(self, score: str, measure: str) -> list[Entry]:
        """The entry of median value; of an even number the two in the middle, the lower first."""
        having = [entry for entry in self.entries if entry.value(score, measure) is not None]
        return middle_runs(having, lambda entry: entry.value(score, measure) or 0.0)

    def figure(self, score: str, main: str, measure: str) -> float | None:
        """A measure of the run that is median by ``main``; of two in the middle the mean."""
        found = [entry.value(score, measure) for entry in self.middle(score, main)]
        known = [value for value in found if value is not None]
        return statistics.fmean(known) if known and len(known) == len(found) else None

    @property
    def remark(self) -> str:
        """What went wrong, in words."""
        parts = [f"failed: {why}" for why in dict.fromkeys(self.failures)]
        if self.missing:
            parts.append(f"{self.missing} not finished")
        return "; ".join(parts)

    def evaluation(self, scorer: RecipeScorer, score: str) -> Evaluation | None:
        """The scores of the run of median F1, sentence by sentence, for a test."""
        middle = self.middle(score, "f1")
        return scorer.tasks[score].score(self._trees(middle[0])) if middle else None

    def _trees(self, entry: Entry) -> list[Tree]:
        if self.grid is None:
            return _trees_in(self.row)
        (cell,) = (cell for cell in self.grid.cells if cell.number == entry.cell)
        for found in cell_trees(self.grid.search, cell):
            if (found.chain, found.mbr) == (entry.chain, entry.mbr):
                return flatten(found.trees) if entry.flattened else found.trees
        raise AssertionError(f"{cell.name} has no chain {entry.chain}")


def _groups(
    grid: RowGrid, entries: Sequence[Entry], outcomes: Mapping[int, CellOutcome]
) -> list[RunGroup]:
    """The groups of a row's cells; one without entries if none has finished."""
    states = [outcomes[cell.number] for cell in grid.cells if cell.number in outcomes]
    failures = [outcome.reason for outcome in states if outcome.state == "failed"]
    finished = sum(outcome.state == "finished" for outcome in states)
    left = len(grid.cells) - finished - len(failures)
    plain = [entry for entry in entries if not entry.flattened and not entry.mbr]
    kind: GroupKind = "selected" if grid.search == "paper" else grid.search
    further: list[tuple[GroupKind, bool, list[Entry]]] = []
    if grid.search == "paper":
        further.append(("selected", False, [entry for entry in plain if entry.selected]))
    further.append(("mbr", False, [entry for entry in entries if entry.mbr]))
    further.append((kind, True, [entry for entry in entries if entry.flattened]))
    first: GroupKind = "chains" if grid.search == "paper" else grid.search
    return [
        RunGroup(grid.row, first, False, plain, failures, left, grid),
        *(RunGroup(grid.row, *group, grid=grid) for group in further if group[2]),
    ]


def _groups_of_file(row: RecipeRow, scorer: RecipeScorer) -> list[RunGroup]:
    """The scores of another program's trees; what is wrong with them is a failure of the row."""
    try:
        entries = list(scorer.entries(SystemTrees(_trees_in(row)), None))
    except DbpcfgError as error:
        return [RunGroup(row, "trees", False, [], [str(error)])]
    return [RunGroup(row, "trees", entry.flattened, [entry]) for entry in entries]


def quantile(values: Sequence[float], published: float) -> float:
    """Where a published percentage lies among ours: the share below it, and half of those equal.

    ``values``: our values, as fractions. They are rounded to the digits of the published one.
    Returns from 0, all of ours are greater, to 1, all are less; nan without values.
    """
    if not values:
        return math.nan
    digits = len(f"{published!r}".partition(".")[2])
    ours = [round(100 * value, digits) for value in values]
    less, equal = sum(x < published for x in ours), ours.count(published)
    return (less + equal / 2) / len(ours)


def published_for(group: RunGroup, published: Iterable[Published]) -> Published | None:
    """The published figures that a group is compared with."""
    for one in published:
        if one.row == group.row.name and one.flattened == group.flattened:
            return one
    return None


def _tests(
    groups: Sequence[RunGroup], scorer: RecipeScorer, score: str, permutations: int
) -> dict[tuple[str, str], PairedTest]:
    """Test our answers against the best rival and the baselines.

    The best rival is the system of greatest median F1 that learns and is not dbpcfg. Returns tests
    of F1 by the names of both; none if there is no rival.
    """
    ours = [one for one in groups if one.row.own and one.kind != "chains" and not one.flattened]
    others = [one for one in groups if not one.row.own and not one.flattened]
    rivals = [one for one in others if not one.row.baseline and one.values(score, "f1")]
    rivals.sort(key=lambda one: spread(one.values(score, "f1")).median)
    against = [*rivals[-1:], *(one for one in others if one.row.baseline)]
    scored = [(other.name, other.evaluation(scorer, score)) for other in against]
    tests: dict[tuple[str, str], PairedTest] = {}
    for group in ours:
        mine = group.evaluation(scorer, score)
        for name, theirs in scored:
            if mine is not None and theirs is not None:
                names = f"{group.name}, {NAMES[group.kind]}", name
                tests[names] = mine.compare(theirs, permutations)
    return tests


@dataclass(frozen=True)
class Reproduction:
    """A table, run again."""

    recipe: Recipe
    sentences: int
    words: int
    """Without punctuation."""
    signatures: Mapping[str, str]
    """The convention of each score set."""
    groups: Sequence[RunGroup]
    tests: Mapping[str, Mapping[tuple[str, str], PairedTest]] = field(default_factory=dict)
    """Of each score set: ours against the best rival and the baselines."""

    @property
    def failed(self) -> list[RunGroup]:
        """The groups of which cells failed."""
        return [group for group in self.groups if group.failures]


def collect(
    recipe: Recipe,
    grids: Sequence[RowGrid],
    outcomes: Mapping[int, CellOutcome],
    out: Path,
    *,
    permutations: int = 10_000,
    quiet: bool = True,
) -> Reproduction:
    """Score all finished cells, and test ours against the best rival."""
    task = load_corpus(recipe_corpus(recipe, out)).task
    assert task is not None  # the corpus has trees
    scorer = RecipeScorer(recipe, task)
    groups: list[RunGroup] = []
    total = sum(len(grid.cells) for grid in grids)
    with Progress("scoring cells", total, quiet) as progress:
        done = 0
        for row in recipe.rows:
            if row.trees is not None:
                groups += _groups_of_file(row, scorer)
            for grid in (one for one in grids if one.row == row):
                entries: list[Entry] = []
                for cell in grid.cells:
                    if outcomes.get(cell.number, WAITING).state == "finished":
                        kept = out / "scores" / grid.path.stem / f"{cell.name}.json"
                        entries += scorer.of_cell(grid, cell, kept)
                    done += 1
                    progress.update(done)
                groups += _groups(grid, entries, outcomes)
    tests = {
        one.name: _tests(groups, scorer, one.name, permutations)
        for one in (recipe.scores if "f1" in recipe.measures else ())
    }
    size = task.describe()
    return Reproduction(
        recipe, size["sentences"], size["words"], scorer.signatures(), groups, tests
    )
