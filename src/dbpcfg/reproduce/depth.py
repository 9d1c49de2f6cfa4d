"""How many sentences need which memory depth, beside the published shares.

Gold trees are made binary to the right or to the left, with punctuation or without it
(`dbpcfg.evaluation.depths`): a depth depends on both, and publications do not always say which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.evaluation.depths import DepthTable, Direction, depth_table, tree_depth
from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.reproduce.recipe import Recipe

_DIRECTIONS: tuple[Direction, ...] = ("right", "left")


@dataclass(frozen=True)
class DepthAnalysis:
    """The memory depths of the gold trees of a treebank."""

    recipe: Recipe
    sentences: int
    tables: dict[str, DepthTable]
    """By how trees are made binary, and whether punctuation counts."""


def analyse_depths(recipe: Recipe, prepared: Prepared) -> DepthAnalysis:
    """Count the memory depths of gold trees."""
    trees = [sentence.gold_tree() for sentence in prepared.sentences]
    tables: dict[str, DepthTable] = {}
    for direction in _DIRECTIONS:
        for punctuation in (False, True):
            marks = [None] * len(trees) if punctuation else prepared.punctuation
            depths = (tree_depth(t, direction, m) for t, m in zip(trees, marks, strict=True))
            kept = "with punctuation" if punctuation else "without punctuation"
            name = f"binary to the {direction}, {kept}"
            signature = "punct:kept" if punctuation else "punct:removed"
            tables[name] = depth_table(depths, direction, signature)
    return DepthAnalysis(recipe, len(trees), tables)


def depth_tables(analysis: DepthAnalysis) -> list[Table]:
    """The published shares, and ours, depth by depth."""
    recipe = analysis.recipe
    columns = [
        Column("Trees"),
        Column("Kind"),
        Column("Depth"),
        Column("Sentences", "count"),
        Column("%", "percent", "share", decimals=2),
        Column("Source"),
    ]
    rows: list[Sequence[Cell]] = []
    for one in recipe.published:
        depth = str(one.depth) if one.depth is not None else f"{one.least_depth} or more"
        share, number = one.figures.get("share"), one.figures.get("sentences")
        count = None if number is None else int(number)
        fraction = None if share is None else share / 100
        rows.append((one.name, "quoted", depth, count, fraction, one.source))
    for name, table in analysis.tables.items():
        rows += [
            (name, "ours", str(d), found, table.share(d), "")
            for d, found in enumerate(table.counts, start=1)
        ]
        more = sum(table.counts[1:])
        part = more / table.sentences if table.sentences else None
        rows.append((name, "ours", "2 or more", more, part, ""))
    notes = [
        *([QUICK] if recipe.is_quick else []),
        f"quoted: {recipe.reference}",
        f"ours: {recipe.corpus.name}, {analysis.sentences:,} sentences",
        *recipe.notes,
        *dict.fromkeys(table.signature for table in analysis.tables.values()),
    ]
    return [Table(f"{recipe.title} ({recipe.table})", columns, rows, notes)]


QUICK = "QUICK RUN: a sample, few seeds and few iterations; this is not the paper's setting"
