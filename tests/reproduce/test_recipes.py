"""The recipes of the package: they are valid, and their figures agree with each other."""

from __future__ import annotations

import pytest

from dbpcfg.reproduce.grids import row_grids
from dbpcfg.reproduce.recipefile import quick_version, read_recipe, recipe_names
from dbpcfg.reproduce.treebank import write_corpus
from tests.reproduce.small import TREES

NAMES = ["adam", "depth", "eve", "large-k", "np-discovery", "synthetic", "wsj20", "wsj40"]
PUBLISHED = {"adam": 4, "depth": 4, "eve": 8, "np-discovery": 9, "synthetic": 5, "wsj20": 12}
ROUNDING = 0.05


def test_all_recipes_are_there():
    assert recipe_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_figures_have_a_source_and_agree(name):
    recipe = read_recipe(name)
    assert len(recipe.published) == PUBLISHED.get(name, len(recipe.published))
    for one in recipe.published:
        assert one.source.startswith(recipe.table) or "section" in one.source
        P, R, F = (one.figures.get(key) for key in ("precision", "recall", "f1"))
        if None not in (P, R, F):
            low, high = (2 * (P + e) * (R + e) / (P + R + 2 * e) + e for e in (-ROUNDING, ROUNDING))
            assert low - 1e-9 <= F <= high + 1e-9, one
    names = [(one.name, one.score, one.depth) for one in recipe.published]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("depth", "large-k")])
def test_every_published_row_has_one_of_ours(name):
    recipe = read_recipe(name)
    assert all(one.row for one in recipe.published)
    assert len(recipe.seeds) >= 8
    assert recipe.paper == {"inference": "paper", "chains": 4, "trees": "best"}
    assert recipe.default == {}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "depth"])
@pytest.mark.parametrize("quick", [False, True])
def test_the_grids_of_all_rows_are_valid(name, quick, tmp_path):
    recipe = read_recipe(name)
    whole = row_grids(recipe, tmp_path)
    if quick:
        recipe = quick_version(recipe)
        assert recipe.is_quick
    write_corpus(TREES, tmp_path)
    grids = row_grids(recipe, tmp_path)
    numbers = [cell.number for grid in grids for cell in grid.cells]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len({cell.directory for grid in grids for cell in grid.cells}) == len(numbers)
    if quick:
        assert len(numbers) < sum(len(grid.cells) for grid in whole)
