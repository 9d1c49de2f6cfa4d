"""Permutation tests of dbpcfg against the best rival, and against baselines.

The best rival is the system of greatest median F1 that learns and is not dbpcfg. A test needs one
tree for each sentence, so runs of median F1 are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.flattening import flatten
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.reproduce.entries import Entry, RecipeScorer, cell_trees, trees_in
from dbpcfg.reproduce.groups import NAMES, RunGroup
from dbpcfg.trees.tree import Tree


def rival_tests(
    groups: Sequence[RunGroup], scorer: RecipeScorer, score: str, permutations: int = 10_000
) -> dict[tuple[str, str], PairedTest]:
    """Test our answers against the best rival and the baselines.

    ``dict``: tests of F1 by the names of both; empty if there is no rival.
    """
    ours = [one for one in groups if one.row.own and one.kind != "chains" and not one.flattened]
    others = [one for one in groups if not one.row.own and not one.flattened]
    rivals = [one for one in others if not one.row.baseline]
    against = [*_best(rivals, score), *(one for one in others if one.row.baseline)]
    tests: dict[tuple[str, str], PairedTest] = {}
    scored = {id(one): _median(one, scorer, score) for one in against}
    for group in ours:
        mine = _median(group, scorer, score)
        for other in against:
            theirs = scored[id(other)]
            if mine is not None and theirs is not None:
                names = f"{group.name}, {NAMES[group.kind]}", other.name
                tests[names] = mine.compare(theirs, permutations)
    return tests


def _best(groups: Sequence[RunGroup], score: str) -> list[RunGroup]:
    found = [(spread.median, one) for one in groups if (spread := one.spread(score, "f1"))]
    return [max(found, key=lambda pair: pair[0])[1]] if found else []


def _median(group: RunGroup, scorer: RecipeScorer, score: str) -> Evaluation | None:
    entry = group.median_entry(score, "f1")
    return None if entry is None else scorer.evaluate(_trees(group, entry), score)


def _trees(group: RunGroup, entry: Entry) -> list[Tree]:
    if group.grid is None:
        assert group.row.trees is not None
        return trees_in(Path(group.row.trees))
    (cell,) = (cell for cell in group.grid.cells if cell.number == entry.cell)
    for found in cell_trees(group.grid.search, cell):
        if (found.chain, found.mbr) == (entry.chain, entry.mbr):
            return flatten(found.trees) if entry.flattened else found.trees
    raise AssertionError(f"{cell.name} has no chain {entry.chain}")
