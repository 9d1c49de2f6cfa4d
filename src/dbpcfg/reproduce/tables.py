"""The paper's table with our rows, the spread of ours, and tests."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from dbpcfg.evaluation.tables import comparison_table
from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.reproduce.depth import QUICK
from dbpcfg.reproduce.groups import NAMES, RunGroup, published_for, quantile
from dbpcfg.reproduce.keys import Measure
from dbpcfg.reproduce.recipe import Published, Recipe, ScoreSet
from dbpcfg.reproduce.result import Reproduction

HEADINGS: dict[Measure, str] = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "phrase-recall": "NP recall",
    "aggregate-f1": "NP agg F1",
    "homogeneity": "Homogeneity",
    "log-likelihood": "log-likelihood per token",
}


def reproduction_tables(result: Reproduction) -> list[Table]:
    """All tables: for each score set the paper's with our rows, the spread of ours, and tests."""
    tables: list[Table] = []
    for score in result.recipe.scores:
        tables.append(_main(result, score))
        spread = _spread(result, score)
        tables += [spread] if spread.rows else []
        if result.tests.get(score.name):
            tables.append(_tests(result, score))
    return tables


def title(recipe: Recipe, score: ScoreSet | None = None) -> str:
    """The title of a table."""
    several = f", {score.name}" if score is not None and len(recipe.scores) > 1 else ""
    quick = " [quick run]" if recipe.is_quick else ""
    return f"{recipe.title}{several} ({recipe.table}){quick}"


def _main(result: Reproduction, score: ScoreSet) -> Table:
    recipe = result.recipe
    columns = [
        Column("System"),
        Column("Kind"),
        Column("Runs", "count"),
        *(_column(measure) for measure in recipe.measures),
        Column("Seconds", "number"),
        Column("Source or remark"),
    ]
    rows: list[Sequence[Cell]] = []
    for published, groups in _by_row(recipe, score, result.groups):
        for one in published:
            figures = [_fraction(one.figures.get(measure)) for measure in recipe.measures]
            rows.append([one.name, "quoted", None, *figures, None, one.source])
        rows += [_group_row(recipe, score, group) for group in groups]
    return Table(title(recipe, score), columns, rows, _notes(result, score))


def _column(measure: Measure) -> Column:
    if measure == "log-likelihood":
        return Column(HEADINGS[measure], "number", "per_token", 3)
    return Column(HEADINGS[measure], "percent", measure.replace("-", "_"))


def _fraction(percentage: float | None) -> float | None:
    return None if percentage is None else percentage / 100


def _group_row(recipe: Recipe, score: ScoreSet, group: RunGroup) -> list[Cell]:
    entry = group.median_entry(score.name, recipe.main)
    figures = [None if entry is None else entry.value(score.name, m) for m in recipe.measures]
    seconds = [one.seconds for one in group.entries if one.seconds is not None]
    cost = statistics.median(seconds) if seconds and not group.flattened else None
    return [group.name, NAMES[group.kind], len(group.entries), *figures, cost, group.remark]


def _by_row(
    recipe: Recipe, score: ScoreSet, groups: Sequence[RunGroup]
) -> list[tuple[list[Published], list[RunGroup]]]:
    """Published rows and ours, those of one system together, in the order of the publication."""
    published = recipe.published_of(score)
    order = dict.fromkeys(one.row or one.name for one in published)
    order |= dict.fromkeys(row.name for row in recipe.rows)
    return [
        (
            [one for one in published if (one.row or one.name) == name],
            [group for group in groups if group.row.name == name],
        )
        for name in order
    ]


def _notes(result: Reproduction, score: ScoreSet) -> list[str]:
    recipe = result.recipe
    main = HEADINGS[recipe.main]
    notes = [
        *([QUICK] if recipe.is_quick else []),
        f"quoted: {recipe.reference}, not run here",
        f"ours: {recipe.corpus.name}, {result.sentences:,} sentences, {result.words:,} words "
        "without punctuation",
        f"figures of ours are those of the run of median {main} (of two the lower); seconds are "
        "of a run with all its chains, wall time, the median",
    ]
    if any(row.own for row in recipe.rows):
        seeds = f"{len(recipe.seeds)} seed{'s' * (len(recipe.seeds) != 1)}"
        if recipe.paper is not None:
            notes.append(
                f"every chain: {seeds}, {_options(recipe.paper)}; greatest likelihood: of the "
                "chains of a seed the one of greatest likelihood, also with MBR trees"
            )
        if recipe.default is not None:
            notes.append(f"default answer: {seeds}, {_options(recipe.default)}")
    notes += [
        f"{row.name}: {_options({**row.axes, **row.settings})}"
        for row in recipe.rows
        if row.axes or row.settings
    ]
    if any(group.flattened for group in result.groups):
        notes.append("-F: flattened by estimated heads, our reading of a step not published")
    return [*notes, *recipe.notes, result.signatures[score.name]]


def _options(options: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{key} = {value}" for key, value in options.items())  # as the file has them
    return shown or "no options (a race, MBR trees)"


def _spread(result: Reproduction, score: ScoreSet) -> Table:
    recipe = result.recipe
    columns = [
        Column("System"),
        Column("Kind"),
        Column("Runs", "count"),
        Column("Measure"),
        *(Column(name, "percent") for name in ("min", "median", "max")),
        Column("Published", "percent"),
        Column("Quantile", "number", decimals=2),
    ]
    rows: list[Sequence[Cell]] = []
    for _, groups in _by_row(recipe, score, result.groups):
        for group in groups:
            quoted = published_for(group, recipe.published_of(score))
            for measure in _spread_measures(recipe):
                rows += _spread_rows(group, score, measure, quoted)
    notes = [
        *([QUICK] if recipe.is_quick else []),
        "quantile: the share of our runs below the published figure, and half of those equal to "
        "it; 0: all of ours are greater, 1: all are less",
        result.signatures[score.name],
    ]
    return Table(f"Spread: {title(recipe, score)}", columns, rows, notes)


def _spread_measures(recipe: Recipe) -> list[Measure]:
    """All scores; not precision and recall, where there is F1."""
    left_out = ["log-likelihood", *(["precision", "recall"] if recipe.main == "f1" else [])]
    return [measure for measure in recipe.measures if measure not in left_out]


def _spread_rows(
    group: RunGroup, score: ScoreSet, measure: Measure, quoted: Published | None
) -> list[list[Cell]]:
    spread = group.spread(score.name, measure)
    if spread is None:
        return []
    figure = None if quoted is None else quoted.figures.get(measure)
    alone = figure is None or spread.number == 1
    place = None if alone else quantile(group.values(score.name, measure), figure or 0.0)
    head: list[Cell] = [group.name, NAMES[group.kind], spread.number, HEADINGS[measure]]
    return [[*head, *spread[1:], _fraction(figure), place]]


def _tests(result: Reproduction, score: ScoreSet) -> Table:
    table = comparison_table(result.tests[score.name])
    notes = [
        *([QUICK] if result.recipe.is_quick else []),
        *table.notes,
        "against the rival of greatest median F1, and against baselines; runs of median F1",
    ]
    name = f"Difference of F1: {title(result.recipe, score)}"
    return Table(name, table.columns, table.rows, notes)
