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
    RowGrid,
    Search,
    recipe_corpus,
)
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
    """Trees of one chain, run or file."""

    trees: list[Tree]
    chain: int | None = None
    selected: bool = True
    """Whether it is the chain that its run selects."""
    seconds: float | None = None
    """Of the run, all chains together."""
    per_token: float | None = None
    """Log-likelihood per token."""
    variant: Variant = ""


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

    def runs(self, found: RunTrees, seed: int | None = None) -> Iterator[tuple[str, ScoredRun]]:
        """Scores of trees, with the name of each score set; also flattened, if wanted."""
        variants: list[tuple[Variant, list[Tree]]] = [(found.variant, found.trees)]
        wanted = self.recipe.flatten and found.selected and not found.variant
        if wanted and flattenable(found.trees):
            variants.append(("flattened", flatten(found.trees)))
        further = {"log_likelihood": found.per_token, "seconds": found.seconds}
        for variant, trees in variants:
            for name, task in self.tasks.items():
                measures = {**measured(task.score(trees), SCORES), **further}
                yield name, ScoredRun(measures, seed, found.chain, found.selected, variant)

    def with_source(
        self, score: str, run: ScoredRun, trees: Callable[[], Iterable[RunTrees]]
    ) -> ScoredRun:
        """A run that can be scored again, sentence by sentence, from its trees."""

        def evaluation() -> Evaluation:
            variant = "mbr" if run.variant == "mbr" else ""
            own = next(one for one in trees() if (one.chain, one.variant) == (run.chain, variant))
            flat = run.variant == "flattened"
            return self.tasks[score].score(flatten(own.trees) if flat else own.trees)

        return replace(run, source=evaluation)

    def of_cell(self, grid: RowGrid, cell: Cell, kept: Path) -> list[tuple[str, ScoredRun]]:
        """The scores of a finished cell, which are kept in a file."""
        convention = {"sets": self.signatures(), "flatten": self.recipe.flatten}
        with read_errors(kept):
            there = kept.is_file()
        runs: list[tuple[str, ScoredRun]] = []
        if there:
            try:
                content = read_json(kept, _SCORES)
                if content["convention"] == convention:
                    runs = [(one.pop("score"), ScoredRun(**one)) for one in content["runs"]]
            except (DbpcfgError, TypeError, KeyError, AttributeError):
                pass  # damaged: scored again
        if not runs:
            found = cell_trees(grid.search, cell)
            runs = [run for trees in found for run in self.runs(trees, cell.seed)]
            plain = [{"score": score, **asdict(run)} for score, run in runs]
            plain = [{k: v for k, v in one.items() if k != "source"} for one in plain]
            with write_errors(kept):
                kept.parent.mkdir(parents=True, exist_ok=True)
                write_json(kept, _SCORES, {"convention": convention, "runs": plain})
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
        found = RunTrees(list(read_trees(text, str(path))))
        return [
            (score, self.with_source(score, run, lambda: [found]))
            for score, run in self.runs(found)
        ]


def cell_trees(search: Search, cell: Cell) -> Iterator[RunTrees]:
    """The trees of a finished cell.

    ``search``: how it searched: with ``"paper"`` the trees of every chain are wanted.
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
        best = chain is run.best
        yield RunTrees(run.trees(chain), number, best, seconds, per_token)
        if search == "paper" and best and run.configuration.trees != "mbr":
            same = replace(run, configuration=replace(run.configuration, trees="mbr"))
            yield RunTrees(same.trees(chain), number, best, seconds, per_token, "mbr")


@dataclass(frozen=True, kw_only=True)
class RowGroup(RunGroup):
    """Runs of one row that are comparable; its name has ``-F`` for flattened trees."""

    row: RecipeRow
    kind: GroupKind
    flattened: bool = False

    @property
    def title(self) -> str:
        """Its name and kind."""
        return f"{self.name}, {NAMES[self.kind]}"


def _groups(
    row: RecipeRow,
    search: Search | Literal["trees"],
    runs: Sequence[ScoredRun],
    failures: Mapping[int | None, str],
    missing: int = 0,
) -> list[RowGroup]:
    """The groups of a row's runs; one without runs if none has finished."""
    by_variant = grouped((run.variant, run) for run in runs)
    plain = by_variant.get("", [])
    paper = search == "paper"
    first: GroupKind = "chains" if search == "paper" else search
    best: GroupKind = "selected" if search == "paper" else search
    further: list[tuple[GroupKind, bool, list[ScoredRun]]] = [
        ("selected", False, [run for run in plain if run.selected and paper]),
        ("mbr", False, by_variant.get("mbr", [])),
        (best, True, by_variant.get("flattened", [])),
    ]
    groups = [RowGroup(row.name, plain, failures, missing, row=row, kind=first)]
    for kind, flat, found in further:
        if found:
            name = f"{row.name}-F" if flat else row.name
            groups.append(RowGroup(name, found, row=row, kind=kind, flattened=flat))
    return groups


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


def published_for(group: RowGroup, published: Iterable[Published]) -> Published | None:
    """The published figures that a group is compared with."""
    for one in published:
        if one.row == group.row.name and one.flattened == group.flattened:
            return one
    return None


def _tests(groups: Sequence[RowGroup], permutations: int) -> dict[tuple[str, str], PairedTest]:
    """Test our answers against the best rival and the baselines.

    The best rival is the system of greatest median F1 that learns and is not dbpcfg. Returns tests
    of F1 by the names of both; none if there is no rival.
    """
    scored = [one for one in groups if one.values("f1") and not one.flattened]
    ours = {one.title: one for one in scored if one.row.own and one.kind != "chains"}
    others = [one for one in scored if not one.row.own]
    rivals = [one for one in others if not one.row.baseline]
    rivals.sort(key=lambda one: spread(one.values("f1")).median)
    against = [*rivals[-1:], *(one for one in others if one.row.baseline)]
    pairs = [(name, other.name) for name in ours for other in against]
    return paired_tests({**ours, **{one.name: one for one in against}}, pairs, permutations)


@dataclass(frozen=True)
class Reproduction:
    """A table, run again."""

    recipe: Recipe
    sentences: int
    words: int
    """Without punctuation."""
    signatures: Mapping[str, str]
    """The convention of each score set."""
    groups: Mapping[str, Sequence[RowGroup]]
    """Of each score set."""
    tests: Mapping[str, Mapping[tuple[str, str], PairedTest]] = field(default_factory=dict)
    """Of each score set: ours against the best rival and the baselines."""

    @property
    def failed(self) -> list[RowGroup]:
        """The groups of which cells failed."""
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
    """Score all finished cells, and test ours against the best rival."""
    task = load_corpus(recipe_corpus(recipe, out)).task
    assert task is not None  # the corpus has trees
    scorer = RecipeScorer(recipe, task)
    groups: dict[str, list[RowGroup]] = {one.name: [] for one in recipe.scores}
    total = sum(len(grid.cells) for grid in grids)

    def add(row: RecipeRow, search: Any, runs: list[tuple[str, ScoredRun]], *states: Any) -> None:
        of_set = grouped(runs)
        for score, found in groups.items():
            found += _groups(row, search, of_set.get(score, []), *states)

    with Progress("scoring cells", total, quiet) as progress:
        done = 0
        for row in recipe.rows:
            if row.trees is not None:
                try:
                    add(row, "trees", scorer.of_file(row), {})
                except DbpcfgError as error:  # what is wrong with them is a failure of the row
                    add(row, "trees", [], {None: str(error)})
            for grid in (one for one in grids if one.row == row):
                runs: list[tuple[str, ScoredRun]] = []
                failures: dict[int | None, str] = {}
                missing = 0
                for cell in grid.cells:
                    outcome = outcomes.get(cell.number, WAITING)
                    if outcome.state == "finished":
                        kept = out / "scores" / grid.path.stem / f"{cell.name}.json"
                        runs += scorer.of_cell(grid, cell, kept)
                    elif outcome.state == "failed":
                        failures[cell.seed] = outcome.reason
                    else:
                        missing += 1
                    done += 1
                    progress.update(done)
                add(row, grid.search, runs, failures, missing)
    tests = {
        score: _tests(found, permutations)
        for score, found in (groups.items() if "f1" in recipe.measures else ())
    }
    size = task.describe()
    return Reproduction(
        recipe, size["sentences"], size["words"], scorer.signatures(), groups, tests
    )
