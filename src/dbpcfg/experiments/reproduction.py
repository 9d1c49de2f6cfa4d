"""A reproduction as tables, JSON and LaTeX: the published figures beside ours.

``reproduction.json`` has all entries, published figures, tests and the printed tables;
``reproduction.tex`` has the tables for LaTeX.

An analysis of memory depths counts the sentences of each depth. The depth depends on whether gold
trees are made binary to the right or to the left, and on punctuation (`dbpcfg.evaluation.depths`);
publications do not always say which they use.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dbpcfg.corpus.preprocessing import PreprocessedCorpus
from dbpcfg.evaluation.depths import DepthTable, Direction, depth_table, tree_depth
from dbpcfg.evaluation.tables import comparison_table
from dbpcfg.experiments.recipe import Measure, Published, Recipe, ScoreSet
from dbpcfg.experiments.reproduce import NAMES, Reproduction, RowGroup, published_for, quantile
from dbpcfg.experiments.scores import spread
from dbpcfg.io.files import atomic_write, write_errors, write_json
from dbpcfg.io.tables import Cell, Column, Table, plural, render

FORMAT = "dbpcfg reproduction"
QUICK = "QUICK RUN: a sample, few seeds and few iterations; this is not the paper's setting"
_DIRECTIONS: tuple[Direction, ...] = ("right", "left")

HEADINGS: dict[Measure, str] = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "phrase_recall": "NP recall",
    "aggregate_f1": "NP agg F1",
    "homogeneity": "Homogeneity",
    "log_likelihood": "log-likelihood per token",
}


def reproduction_tables(result: Reproduction) -> list[Table]:
    """All tables: for each score set the paper's with our rows, the spread of ours, and tests."""
    tables: list[Table] = []
    for score in result.recipe.scores:
        tables.append(_main(result, score))
        of_runs = _spread(result, score)
        tables += [of_runs] if of_runs.rows else []
        if result.tests.get(score.name):
            tables.append(_tests(result, score))
    return tables


def title(recipe: Recipe, score: ScoreSet | None = None) -> str:
    """The title of a table."""
    set_name = f", {score.name}" if score is not None and len(recipe.scores) > 1 else ""
    quick = " [quick run]" if recipe.is_quick else ""
    return f"{recipe.title}{set_name} ({recipe.where}){quick}"


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
    for published, groups in _by_row(recipe, score, result.groups[score.name]):
        for row in published:
            figures = [_fraction(row.figures.get(measure)) for measure in recipe.measures]
            rows.append([row.name, "quoted", None, *figures, None, row.source])
        rows += [_group_row(recipe, group) for group in groups]
    return Table(title(recipe, score), columns, rows, _notes(result, score))


def _column(measure: Measure) -> Column:
    if measure == "log_likelihood":
        return Column(HEADINGS[measure], "number", "per_token", 3)
    return Column(HEADINGS[measure], "percent", measure)


def _fraction(percentage: float | None) -> float | None:
    return None if percentage is None else percentage / 100


def _group_row(recipe: Recipe, group: RowGroup) -> list[Cell]:
    figures = [group.at_median(measure, recipe.main) for measure in recipe.measures]
    seconds = group.values("seconds")
    cost = statistics.median(seconds) if seconds and not group.flattened else None
    return [group.name, NAMES[group.kind], len(group.runs), *figures, cost, group.note]


def _by_row(
    recipe: Recipe, score: ScoreSet, groups: Sequence[RowGroup]
) -> list[tuple[list[Published], list[RowGroup]]]:
    """Published rows and our groups for each system, in the order of the publication."""
    published = recipe.published_of(score)
    order = dict.fromkeys(row.row or row.name for row in published)
    order |= dict.fromkeys(row.name for row in recipe.rows)
    return [
        (
            [row for row in published if (row.row or row.name) == name],
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
        f"ours: {recipe.corpus.name}, {plural(result.sentences, 'sentence')}, "
        f"{plural(result.words, 'word')} "
        "without punctuation",
        f"figures of ours are those of the run of median {main} (of an even number the mean "
        "of the two in the middle); seconds are of a run with all its chains, wall time, the "
        "median",
    ]
    if any(row.is_dbpcfg for row in recipe.rows):
        seeds = plural(len(recipe.seeds), "seed")
        if recipe.paper is not None:
            notes.append(
                f"every chain: {seeds}, {_options(recipe.paper)}; greatest likelihood: of the "
                "chains of a seed the one of greatest likelihood, also with MBR trees"
            )
        if recipe.default is not None:
            notes.append(f"default answer: {seeds}, {_options(recipe.default)}")
    notes += [
        f"{row.name}: {_options({**row.axes, **(row.settings or {})})}"
        for row in recipe.rows
        if row.axes or row.settings
    ]
    if any(group.flattened for group in result.groups[score.name]):
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
    for _, groups in _by_row(recipe, score, result.groups[score.name]):
        for group in groups:
            quoted = published_for(group, recipe.published_of(score))
            for measure in _spread_measures(recipe):
                rows += _spread_rows(group, measure, quoted)
    notes = [
        *([QUICK] if recipe.is_quick else []),
        "quantile: the share of our runs below the published figure, and half of those equal to "
        "it; 0: all of ours are greater, 1: all are less",
        result.signatures[score.name],
    ]
    return Table(f"Spread: {title(recipe, score)}", columns, rows, notes)


def _spread_measures(recipe: Recipe) -> list[Measure]:
    """The measures of the spread: all scores, but not precision and recall if there is F1."""
    left_out = ["log_likelihood", *(["precision", "recall"] if recipe.main == "f1" else [])]
    return [measure for measure in recipe.measures if measure not in left_out]


def _spread_rows(group: RowGroup, measure: Measure, quoted: Published | None) -> list[list[Cell]]:
    values = group.values(measure)
    if not values:
        return []
    figure = None if quoted is None else quoted.figures.get(measure)
    position = None if figure is None or len(values) == 1 else quantile(values, figure)
    labels: list[Cell] = [group.name, NAMES[group.kind], len(values), HEADINGS[measure]]
    summary = spread(values)
    return [
        [*labels, summary.minimum, summary.median, summary.maximum, _fraction(figure), position]
    ]


def _tests(result: Reproduction, score: ScoreSet) -> Table:
    table = comparison_table(result.tests[score.name])
    notes = [
        *([QUICK] if result.recipe.is_quick else []),
        *table.notes,
        "against the rival of greatest median F1, and against baselines; runs of median F1",
    ]
    name = f"Difference of F1: {title(result.recipe, score)}"
    return Table(name, table.columns, table.rows, notes)


@dataclass(frozen=True)
class DepthAnalysis:
    """The memory depths of the gold trees of a treebank."""

    recipe: Recipe
    sentences: int
    tables: dict[str, DepthTable]
    """By the direction of binarisation and the treatment of punctuation."""


def analyse_depths(recipe: Recipe, preprocessed: PreprocessedCorpus) -> DepthAnalysis:
    """Count the memory depths of gold trees."""
    trees = [sentence.gold_tree() for sentence in preprocessed.sentences]
    tables: dict[str, DepthTable] = {}
    for direction in _DIRECTIONS:
        for punctuation in (False, True):
            marks = [None] * len(trees) if punctuation else preprocessed.punctuation
            depths = (tree_depth(t, direction, m) for t, m in zip(trees, marks, strict=True))
            words = "with punctuation" if punctuation else "without punctuation"
            name = f"binary to the {direction}, {words}"
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
    for row in recipe.published:
        depth = str(row.depth) if row.depth is not None else f"{row.least_depth} or more"
        share, number = row.figures.get("share"), row.figures.get("sentences")
        count = None if number is None else int(number)
        fraction = None if share is None else share / 100
        rows.append((row.name, "quoted", depth, count, fraction, row.source))
    for name, table in analysis.tables.items():
        rows += [
            (name, "ours", str(d), number_of_trees, table.share(d), "")
            for d, number_of_trees in enumerate(table.counts, start=1)
        ]
        deeper = sum(table.counts[1:])
        fraction = deeper / table.sentences if table.sentences else None
        rows.append((name, "ours", "2 or more", deeper, fraction, ""))
    notes = [
        *([QUICK] if recipe.is_quick else []),
        f"quoted: {recipe.reference}",
        f"ours: {recipe.corpus.name}, {plural(analysis.sentences, 'sentence')}",
        *recipe.notes,
        *dict.fromkeys(table.signature for table in analysis.tables.values()),
    ]
    return [Table(f"{recipe.title} ({recipe.where})", columns, rows, notes)]


def write_reproduction(
    recipe: Recipe, tables: Sequence[Table], data: Mapping[str, Any], out: Path
) -> list[Path]:
    """Write JSON and LaTeX.

    ``data``: further entries of the JSON file, `scores_data` or `depths_data`.
    """
    content = {
        "recipe": recipe.name,
        "title": recipe.title,
        "reference": recipe.reference,
        "table": recipe.where,
        "quick": recipe.is_quick,
        "published": [row.data() for row in recipe.published],
        **data,
        "tables": [table.json() for table in tables],
    }
    written = [out / "reproduction.json", out / "reproduction.tex"]
    with write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        write_json(written[0], FORMAT, content)
        with atomic_write(written[1]) as file:
            file.write(f"{render(tables, 'latex')}\n".encode("utf-8", "surrogatepass"))
    return written


def depths_data(analysis: DepthAnalysis) -> dict[str, Any]:
    """An analysis of depths as JSON data."""
    return {"depths": {name: list(table.counts) for name, table in analysis.tables.items()}}


def scores_data(result: Reproduction) -> dict[str, Any]:
    """All scores and tests as JSON data."""
    return {
        "sentences": result.sentences,
        "words": result.words,
        "signatures": dict(result.signatures),
        "groups": [
            {
                "score": score,
                "row": group.row.name,
                "system": group.row.system,
                "kind": group.kind,
                "flattened": group.flattened,
                "failures": list(group.failures.values()),
                "missing": group.missing,
                "runs": [
                    {"seed": run.seed, "chain": run.chain, "selected": run.selected, **run.measures}
                    for run in group.runs
                ],
            }
            for score, groups in result.groups.items()
            for group in groups
        ],
        "tests": [
            {"score": score, "ours": names[0], "against": names[1], **asdict(test)}
            for score, tests in result.tests.items()
            for names, test in tests.items()
        ],
    }
