"""A published table, run again: the scores of its cells, their groups, and tests.

Scores of finished cells are cached in ``scores``, as scoring many chains takes minutes.

A row of dbpcfg has several groups of scores: all chains of all seeds (one chain is a run of the
paper); for each seed the chain of greatest likelihood, with the trees of its best sample, as in
the paper, and with MBR trees; and the default answer. All figures of a group are those of its run
of median F1, or means over the two runs in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.flattening import flatten, flattenable
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.experiments.corpora import Task, load_corpus
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.recipe import (
    SCORES,
    Published,
    Recipe,
    RecipeRow,
)
from dbpcfg.experiments.recipe_cells import RowGrid, Search, recipe_corpus
from dbpcfg.experiments.results import WAITING, CellOutcome, CellRecord, saved_trees
from dbpcfg.experiments.scores import (
    RunGroup,
    ScoredRun,
    Variant,
    grouped,
    measured,
    paired_tests,
    spread,
)
from dbpcfg.induction.directory import finished_run, run_times
from dbpcfg.io.files import finite, read_errors, read_json, write_errors, write_json
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


class RunTrees(NamedTuple):
    """The trees of a chain, a run or a file."""

    trees: list[Tree]
    chain: int | None = None
    selected: bool = True
    """Whether the run selects this chain."""
    seconds: float | None = None
    """The time of the run with all its chains."""
    per_token: float | None = None
    """Log-likelihood per token."""
    variant: Variant = ""


class RecipeScorer:
    """Scores trees on each score set of a recipe."""

    def __init__(self, recipe: Recipe, task: Task) -> None:
        self.recipe = recipe
        self.tasks = {
            score_set.name: replace(
                task, convention=replace(task.convention, max_length=score_set.max_length)
            )
            if score_set.max_length is not None
            else task
            for score_set in recipe.scores
        }

    def signatures(self) -> dict[str, str]:
        """The convention of each score set."""
        return {name: task.convention.signature() for name, task in self.tasks.items()}

    def runs(self, run_trees: RunTrees, seed: int | None = None) -> Iterator[tuple[str, ScoredRun]]:
        """Score trees on each score set, also after flattening if the recipe says so."""
        variants: list[tuple[Variant, list[Tree]]] = [(run_trees.variant, run_trees.trees)]
        flatten_too = self.recipe.flatten and run_trees.selected and not run_trees.variant
        if flatten_too and flattenable(run_trees.trees):
            variants.append(("flattened", flatten(run_trees.trees)))
        other_measures = {"log_likelihood": run_trees.per_token, "seconds": run_trees.seconds}
        for variant, trees in variants:
            for name, task in self.tasks.items():
                measures = {**measured(task.score(trees), SCORES), **other_measures}
                yield name, ScoredRun(measures, seed, run_trees.chain, run_trees.selected, variant)

    def with_source(
        self, score: str, run: ScoredRun, trees: Callable[[], Iterable[RunTrees]]
    ) -> ScoredRun:
        """The run with a function that scores its trees sentence by sentence, for tests."""

        def evaluation() -> Evaluation:
            variant = "mbr" if run.variant == "mbr" else ""
            run_trees = next(
                candidate
                for candidate in trees()
                if (candidate.chain, candidate.variant) == (run.chain, variant)
            )
            flattened = run.variant == "flattened"
            return self.tasks[score].score(
                flatten(run_trees.trees) if flattened else run_trees.trees
            )

        return replace(run, source=evaluation)

    def of_cell(self, grid: RowGrid, cell: Cell, path: Path) -> list[tuple[str, ScoredRun]]:
        """The scores of a finished cell, cached in a file."""
        convention = {"sets": self.signatures(), "flatten": self.recipe.flatten}
        with read_errors(path):
            exists = path.is_file()
        runs: list[tuple[str, ScoredRun]] = []
        if exists:
            try:
                content = read_json(path, _SCORES)
                if content["convention"] == convention:
                    runs = [(entry.pop("score"), ScoredRun(**entry)) for entry in content["runs"]]
            except (DbpcfgError, TypeError, KeyError, AttributeError):
                pass  # the file is damaged: score again
        if not runs:
            cell_runs = cell_trees(grid.search, cell)
            runs = [run for trees in cell_runs for run in self.runs(trees, cell.seed)]
            entries = [{"score": score, **asdict(run)} for score, run in runs]
            entries = [{k: v for k, v in entry.items() if k != "source"} for entry in entries]
            with write_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_json(path, _SCORES, {"convention": convention, "runs": entries})
        return [
            (score, self.with_source(score, run, lambda: cell_trees(grid.search, cell)))
            for score, run in runs
        ]

    def of_file(self, row: RecipeRow) -> list[tuple[str, ScoredRun]]:
        """The scores of another program's trees."""
        assert row.trees is not None
        path = self.recipe.path.parent / row.trees
        with read_errors(path):
            text = path.read_text(encoding="utf-8", errors="surrogatepass")
        run_trees = RunTrees(list(read_trees(text, str(path))))
        return [
            (score, self.with_source(score, run, lambda: [run_trees]))
            for score, run in self.runs(run_trees)
        ]


def cell_trees(search: Search, cell: Cell) -> Iterator[RunTrees]:
    """The trees of a finished cell.

    ``search``: how it searched; with ``"paper"`` there are trees of every chain.
    """
    if search == "runs":
        outcome = CellRecord(cell).outcome(None)
        assert outcome.result is not None
        yield RunTrees(saved_trees(cell), seconds=outcome.result.seconds)
        return
    run = finished_run(cell.directory)
    times, tokens = run_times(cell.directory), len(run.corpus.learned.tokens)
    seconds = times and times[2]
    for chain in run.survivors if search == "paper" else [run.best]:
        number, per_token = chain.settings.chain, finite(chain.mean_log_likelihood / tokens)
        is_best = chain is run.best
        yield RunTrees(run.trees(chain), number, is_best, seconds, per_token)
        if search == "paper" and is_best and run.configuration.trees != "mbr":
            mbr_run = replace(run, configuration=replace(run.configuration, trees="mbr"))
            yield RunTrees(mbr_run.trees(chain), number, is_best, seconds, per_token, "mbr")


@dataclass(frozen=True, kw_only=True)
class RowGroup(RunGroup):
    """Comparable runs of one row; the name ends in ``-F`` for flattened trees."""

    row: RecipeRow
    kind: GroupKind
    flattened: bool = False

    @property
    def title(self) -> str:
        """The name and the kind."""
        return f"{self.name}, {NAMES[self.kind]}"


def _groups(
    row: RecipeRow,
    search: Search | Literal["trees"],
    runs: Sequence[ScoredRun],
    failures: Mapping[int | None, str],
    missing: int = 0,
) -> list[RowGroup]:
    """Group the runs of a row; there is one empty group if no run has finished."""
    by_variant = grouped((run.variant, run) for run in runs)
    unflattened = by_variant.get("", [])
    paper = search == "paper"
    main_kind: GroupKind = "chains" if search == "paper" else search
    best_kind: GroupKind = "selected" if search == "paper" else search
    other_groups: list[tuple[GroupKind, bool, list[ScoredRun]]] = [
        ("selected", False, [run for run in unflattened if run.selected and paper]),
        ("mbr", False, by_variant.get("mbr", [])),
        (best_kind, True, by_variant.get("flattened", [])),
    ]
    groups = [RowGroup(row.name, unflattened, failures, missing, row=row, kind=main_kind)]
    for kind, flattened, group_runs in other_groups:
        if group_runs:
            name = f"{row.name}-F" if flattened else row.name
            groups.append(RowGroup(name, group_runs, row=row, kind=kind, flattened=flattened))
    return groups


def quantile(values: Sequence[float], published: float) -> float:
    """The share of our values below a published percentage, plus half of those equal to it.

    It is 0 if all of ours are greater, 1 if all are less, and nan without values.

    ``values``: our values, as fractions; rounded to the digits of the published one.
    """
    if not values:
        return math.nan
    digits = len(f"{published!r}".partition(".")[2])
    rounded = [round(100 * value, digits) for value in values]
    less, equal = sum(value < published for value in rounded), rounded.count(published)
    return (less + equal / 2) / len(rounded)


def published_for(group: RowGroup, published: Iterable[Published]) -> Published | None:
    """The published figures that a group is compared with."""
    for row in published:
        if row.row == group.row.name and row.flattened == group.flattened:
            return row
    return None


def _tests(groups: Sequence[RowGroup], permutations: int) -> dict[tuple[str, str], PairedTest]:
    """Test dbpcfg against the best rival and the baselines.

    The best rival is the other learning system of greatest median F1. There are no tests if there
    is none.
    """
    scored = [group for group in groups if group.values("f1") and not group.flattened]
    ours = {
        group.title: group for group in scored if group.row.is_dbpcfg and group.kind != "chains"
    }
    others = [group for group in scored if not group.row.is_dbpcfg]
    rivals = [group for group in others if not group.row.baseline]
    rivals.sort(key=lambda group: spread(group.values("f1")).median)
    opponents = [*rivals[-1:], *(group for group in others if group.row.baseline)]
    pairs = [(name, opponent.name) for name in ours for opponent in opponents]
    return paired_tests({**ours, **{group.name: group for group in opponents}}, pairs, permutations)


@dataclass(frozen=True)
class Reproduction:
    """The results of running a table again."""

    recipe: Recipe
    sentences: int
    words: int
    """Without punctuation."""
    signatures: Mapping[str, str]
    """The convention of each score set."""
    groups: Mapping[str, Sequence[RowGroup]]
    """The groups of each score set."""
    tests: Mapping[str, Mapping[tuple[str, str], PairedTest]] = field(default_factory=dict)
    """For each score set, dbpcfg against the best rival and the baselines."""

    @property
    def failed(self) -> list[RowGroup]:
        """The groups with failed cells."""
        return [group for group in next(iter(self.groups.values())) if group.failures]


def collect(
    recipe: Recipe,
    grids: Sequence[RowGrid],
    outcomes: Mapping[int, CellOutcome],
    out: Path,
    *,
    permutations: int = 10_000,
    quiet: bool = True,
) -> Reproduction:
    """Score all finished cells, and test dbpcfg against the best rival."""
    task = load_corpus(recipe_corpus(recipe, out)).task
    assert task is not None  # the corpus has trees
    scorer = RecipeScorer(recipe, task)
    groups: dict[str, list[RowGroup]] = {item.name: [] for item in recipe.scores}
    total = sum(len(grid.cells) for grid in grids)

    def add(row: RecipeRow, search: Any, runs: list[tuple[str, ScoredRun]], *states: Any) -> None:
        of_set = grouped(runs)
        for score, score_groups in groups.items():
            score_groups += _groups(row, search, of_set.get(score, []), *states)

    with Progress("scoring cells", total, quiet) as progress:
        finished = 0
        for row in recipe.rows:
            if row.trees is not None:
                try:
                    add(row, "trees", scorer.of_file(row), {})
                except DbpcfgError as error:  # a damaged file is a failed row
                    add(row, "trees", [], {None: str(error)})
            for grid in (item for item in grids if item.row == row):
                runs: list[tuple[str, ScoredRun]] = []
                failures: dict[int | None, str] = {}
                missing = 0
                for cell in grid.cells:
                    outcome = outcomes.get(cell.number, WAITING)
                    if outcome.state == "finished":
                        path = out / "scores" / grid.path.stem / f"{cell.name}.json"
                        runs += scorer.of_cell(grid, cell, path)
                    elif outcome.state == "failed":
                        failures[cell.seed] = outcome.reason
                    else:
                        missing += 1
                    finished += 1
                    progress.update(finished)
                add(row, grid.search, runs, failures, missing)
    tests = {
        score: _tests(score_groups, permutations)
        for score, score_groups in (groups.items() if "f1" in recipe.measures else ())
    }
    size = task.describe()
    return Reproduction(
        recipe, size["sentences"], size["words"], scorer.signatures(), groups, tests
    )
