"""The result of a reproduction: groups of scores, and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.io.progress import Progress
from dbpcfg.reproduce.entries import Entry, RecipeScorer, SystemTrees, cell_entries, trees_in
from dbpcfg.reproduce.grids import RowGrid, grid_corpus
from dbpcfg.reproduce.groups import RunGroup, groups_of
from dbpcfg.reproduce.recipe import Recipe, RecipeRow
from dbpcfg.reproduce.rivals import rival_tests
from dbpcfg.sweep.corpora import load_corpus
from dbpcfg.sweep.record import CellOutcome


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
    task = load_corpus(grid_corpus(recipe, out)).task
    assert task is not None  # the corpus has trees
    scorer = RecipeScorer(recipe, task)
    groups: list[RunGroup] = []
    total = sum(len(grid.cells) for grid in grids)
    with Progress("scoring cells", total, quiet) as progress:
        done = 0
        for row in recipe.rows:
            if row.trees is not None:
                groups += _of_file(row, scorer)
            for grid in (one for one in grids if one.row == row):
                entries: list[Entry] = []
                for cell in grid.cells:
                    if outcomes.get(cell.number, CellOutcome("waiting")).state == "finished":
                        kept = out / "scores" / grid.name / f"{cell.name}.json"
                        entries += cell_entries(scorer, grid.search, cell, kept)
                    done += 1
                    progress.update(done)
                groups += groups_of(grid, entries, outcomes)
    tests = {
        one.name: rival_tests(groups, scorer, one.name, permutations)
        for one in (recipe.scores if "f1" in recipe.measures else ())
    }
    size = task.describe()
    return Reproduction(
        recipe, size["sentences"], size["words"], scorer.signatures(), groups, tests
    )


def _of_file(row: RecipeRow, scorer: RecipeScorer) -> list[RunGroup]:
    """The scores of another program's trees; what is wrong with them is a failure of the row."""
    assert row.trees is not None
    try:
        found = SystemTrees(trees_in(Path(row.trees)))
        entries = list(scorer.entries(found, None))
    except DbpcfgError as error:
        return [RunGroup(row, "trees", False, [], [str(error)])]
    plain, flat = ([e for e in entries if e.flattened is wanted] for wanted in (False, True))
    groups = [RunGroup(row, "trees", False, plain)]
    return [*groups, *([RunGroup(row, "trees", True, flat)] if flat else [])]
