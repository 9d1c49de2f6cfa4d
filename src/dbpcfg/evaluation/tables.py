"""Evaluations as tables: one row for each system, signatures as notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbpcfg.evaluation.depths import DepthTable
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.evaluation.labels import Contingency
from dbpcfg.evaluation.parseval import Score
from dbpcfg.evaluation.significance import PairedTest
from dbpcfg.io.tables import Column, Table, percent, plural

_SYSTEM = Column("System")


def evaluation_tables(
    systems: Mapping[str, Evaluation], tagged: Mapping[str, Contingency] | None = None
) -> list[Table]:
    """Every table of systems evaluated on the same gold trees.

    ``tagged``: the tags of systems that give tags only, by name.
    """
    tags = {
        name: evaluation.tags
        for name, evaluation in systems.items()
        if has_labels(evaluation) or has_tags(evaluation)
    }
    tags |= tagged or {}
    words = [labels_table("Word categories", tags)] if tags else []
    if not systems:
        return words
    tables = [
        score_table({name: evaluation.score for name, evaluation in systems.items()}),
        phrases_table(systems),
    ]
    constituents = {
        name: evaluation.constituents
        for name, evaluation in systems.items()
        if has_labels(evaluation)
    }
    if constituents:
        tables.append(labels_table("Constituent labels", constituents))
    depths = {name: evaluation.predicted_depths for name, evaluation in systems.items()}
    gold = {"gold": next(iter(systems.values())).gold_depths}
    return [*tables, *words, depths_table(gold | depths)]


def has_labels(evaluation: Evaluation) -> bool:
    """Whether a system has more than one label for constituents."""
    return len(evaluation.constituents.induced) > 1


def has_tags(evaluation: Evaluation) -> bool:
    """Whether a system has more than one tag for words."""
    return len(evaluation.tags.induced) > 1


def score_table(scores: Mapping[str, Score], title: str = "PARSEVAL") -> Table:
    """Precision, recall, F1 and the counts behind them."""
    columns = [
        _SYSTEM,
        Column("P", "score", "precision"),
        Column("R", "score", "recall"),
        Column("F1", "score", "f1"),
        *(Column(name, "count") for name in ("matched", "predicted", "gold", "sentences")),
        Column("left out", "count"),
    ]
    rows = [
        (
            *(name, score.precision, score.recall, score.f1),
            *(score.matched, score.predicted, score.gold, score.sentences, score.skipped.total),
        )
        for name, score in scores.items()
    ]
    left_out = [f"left out: {score.skipped}" for score in scores.values() if score.skipped.total]
    return Table(
        title,
        columns,
        rows,
        _distinct([*left_out, *(score.signature for score in scores.values())]),
    )


def phrases_table(systems: Mapping[str, Evaluation]) -> Table:
    """Recall and aggregate F1 of a gold category, and the induced labels chosen for it."""
    categories = ", ".join(_distinct(evaluation.recall.category for evaluation in systems.values()))
    columns = [
        _SYSTEM,
        Column("Recall", "score"),
        Column("Agg. P", "score", "aggregate_precision"),
        Column("Agg. R", "score", "aggregate_recall"),
        Column("Agg. F1", "score", "aggregate_f1"),
        Column("Labels", "text"),
    ]
    rows = []
    for name, evaluation in systems.items():
        aggregate = evaluation.aggregate
        labels = ", ".join(
            f"{choice.label} ({percent(choice.precision)})" for choice in aggregate.chosen
        )
        figures = (aggregate.precision, aggregate.recall, aggregate.f1, labels or None)
        rows.append(
            (name, evaluation.recall.recall, *(figures if has_labels(evaluation) else (None,) * 4))
        )
    recalls = [evaluation.recall for evaluation in systems.values()]
    notes = [
        f"no gold phrase is called {recall.category}; --category chooses another label, of "
        f"{', '.join(recall.others)}"
        for recall in recalls
        if recall.others
    ]
    notes += [f"recall {recall.signature}" for recall in recalls]
    notes += [f"aggregate {evaluation.aggregate.signature}" for evaluation in systems.values()]
    return Table(f"{categories} discovery", columns, rows, _distinct(notes))


def labels_table(title: str, tables: Mapping[str, Contingency]) -> Table:
    """Many-to-one accuracy, homogeneity, completeness and V-measure."""
    columns = [
        _SYSTEM,
        *(Column(name, "score") for name in ("Many-to-one", "Homogeneity", "Completeness")),
        Column("V", "score", "v_measure"),
        *(Column(name, "count") for name in ("Items", "Induced labels", "Gold labels")),
    ]
    rows = []
    for name, table in tables.items():
        score = table.score()
        measures = (score.many_to_one, score.homogeneity, score.completeness, score.v_measure)
        rows.append((name, *measures, score.items, len(table.induced), len(table.gold)))
    return Table(title, columns, rows, _distinct(table.signature for table in tables.values()))


def depths_table(depths: Mapping[str, DepthTable]) -> Table:
    """The number and share of trees that need each memory depth."""
    deepest = max((len(table.counts) for table in depths.values()), default=0)
    columns = [Column("Trees"), Column("Depth", "count"), Column("Number", "count")]
    rows = [
        (name, depth, (*table.counts, *[0] * deepest)[depth - 1], table.share(depth))
        for name, table in depths.items()
        for depth in range(1, deepest + 1)
    ]
    notes = _distinct(table.signature for table in depths.values())
    return Table("Memory depth", [*columns, Column("%", "percent", "share")], rows, notes)


def comparison_table(comparisons: Mapping[tuple[str, str], PairedTest]) -> Table:
    """Paired permutation tests between named systems."""
    columns = [
        _SYSTEM,
        Column("against"),
        Column("F1", "percent"),
        Column("its F1", "percent", "against_f1"),
        Column("difference", "percent"),
        Column("p", "number", decimals=4),
    ]
    rows = [
        (*names, test.first, test.second, test.difference, test.p)
        for names, test in comparisons.items()
    ]
    notes = (
        f"paired permutation test, {plural(test.permutations, 'permutation')}, seed {test.seed}; "
        f"{test.signature}"
        for test in comparisons.values()
    )
    return Table("Difference of F1", columns, rows, _distinct(notes))


def intervals_table(systems: Mapping[str, Evaluation], seed: int = 0) -> Table:
    """Bootstrap intervals of precision, recall and F1."""
    columns = [_SYSTEM]
    for name in ("P", "R", "F1"):
        columns += [Column(f"{name} {end}", "percent") for end in ("from", "to")]
    rows, notes = [], []
    for name, evaluation in systems.items():
        intervals = evaluation.intervals(seed=seed)
        rows.append((name, *intervals.precision, *intervals.recall, *intervals.f1))
        notes.append(
            f"{100 * intervals.level:.0f}% intervals by bootstrap over sentences, "
            f"{intervals.resamples} resamples, seed {seed}; {evaluation.convention.signature()}"
        )
    return Table("Intervals", columns, rows, _distinct(notes))


def _distinct(notes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(notes))
