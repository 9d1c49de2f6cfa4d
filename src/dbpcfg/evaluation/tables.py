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
    tags = {name: it.tags for name, it in systems.items() if has_labels(it) or has_tags(it)}
    tags |= tagged or {}
    words = [labels_table("Word categories", tags)] if tags else []
    if not systems:
        return words
    tables = [score_table({name: it.score for name, it in systems.items()}), phrases_table(systems)]
    constituents = {name: it.constituents for name, it in systems.items() if has_labels(it)}
    if constituents:
        tables.append(labels_table("Constituent labels", constituents))
    depths = {name: it.predicted_depths for name, it in systems.items()}
    gold = {"gold": next(iter(systems.values())).gold_depths}
    return [*tables, *words, depths_table(gold | depths)]


def has_labels(evaluation: Evaluation) -> bool:
    """Whether a system labels its constituents: one label for all does not count."""
    return len(evaluation.constituents.induced) > 1


def has_tags(evaluation: Evaluation) -> bool:
    """Whether a system gives words tags: one tag for all does not count."""
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
            *(name, it.precision, it.recall, it.f1),
            *(it.matched, it.predicted, it.gold, it.sentences, it.skipped.total),
        )
        for name, it in scores.items()
    ]
    left_out = [f"left out: {it.skipped}" for it in scores.values() if it.skipped.total]
    return Table(
        title, columns, rows, _distinct([*left_out, *(it.signature for it in scores.values())])
    )


def phrases_table(systems: Mapping[str, Evaluation]) -> Table:
    """Recall and aggregate F1 of a gold category, and the induced labels that are pooled for it."""
    categories = ", ".join(_distinct(it.recall.category for it in systems.values()))
    columns = [
        _SYSTEM,
        Column("Recall", "score"),
        Column("Agg. P", "score", "aggregate_precision"),
        Column("Agg. R", "score", "aggregate_recall"),
        Column("Agg. F1", "score", "aggregate_f1"),
        Column("Labels", "text"),
    ]
    rows = []
    for name, it in systems.items():
        pool = it.aggregate
        labels = ", ".join(f"{one.label} ({percent(one.precision)})" for one in pool.chosen)
        figures = (pool.precision, pool.recall, pool.f1, labels or None)
        rows.append((name, it.recall.recall, *(figures if has_labels(it) else (None,) * 4)))
    notes = [f"recall {it.recall.signature}" for it in systems.values()]
    notes += [f"aggregate {it.aggregate.signature}" for it in systems.values()]
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
        it = table.score()
        measures = (it.many_to_one, it.homogeneity, it.completeness, it.v_measure)
        rows.append((name, *measures, it.items, len(table.induced), len(table.gold)))
    return Table(title, columns, rows, _distinct(it.signature for it in tables.values()))


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
    rows = [(*names, it.first, it.second, it.difference, it.p) for names, it in comparisons.items()]
    notes = (
        f"paired permutation test, {plural(it.permutations, 'permutation')}, seed {it.seed}; "
        f"{it.signature}"
        for it in comparisons.values()
    )
    return Table("Difference of F1", columns, rows, _distinct(notes))


def intervals_table(systems: Mapping[str, Evaluation], seed: int = 0) -> Table:
    """Bootstrap intervals of precision, recall and F1."""
    columns = [_SYSTEM]
    for name in ("P", "R", "F1"):
        columns += [Column(f"{name} {end}", "percent") for end in ("from", "to")]
    rows, notes = [], []
    for name, it in systems.items():
        intervals = it.intervals(seed=seed)
        rows.append((name, *intervals.precision, *intervals.recall, *intervals.f1))
        notes.append(
            f"{100 * intervals.level:.0f}% intervals by bootstrap over sentences, "
            f"{intervals.resamples} resamples, seed {seed}; {it.convention.signature()}"
        )
    return Table("Intervals", columns, rows, _distinct(notes))


def _distinct(notes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(notes))
