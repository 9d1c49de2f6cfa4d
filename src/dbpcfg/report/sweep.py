"""A plot of several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.experiments.grid import depth_name
from dbpcfg.induction.run import Run
from dbpcfg.io.files import finite, write_errors
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.report.figures import (
    ACCENT,
    DASHES,
    MARKS,
    SOFT,
    new_figure,
    save,
    style,
)
from dbpcfg.report.scores import BASELINES, scores


def write_sweep(rows: Sequence[RunSummary], path: Path) -> None:
    """Plot F1 against K, a line for each D, with the range over chains.

    ``path``: the file; its extension is the format.
    """
    scored = any(row.f1 is not None for row in rows)
    with write_errors(path), style():
        figure, axes = new_figure(4.8, 3.4)
        for number, depth in enumerate(
            dict.fromkeys(row.depth for row in sorted(rows, key=sort_key))
        ):
            here = [row for row in sorted(rows, key=sort_key) if row.depth == depth]
            if scored:
                here = [row for row in here if row.f1 is not None]
            x = [row.categories for row in here]
            y = [100 * row.f1 if row.f1 is not None else row.per_token for row in here]
            look = {"marker": MARKS[number % len(MARKS)], "linestyle": DASHES[number % len(DASHES)]}
            axes.plot(x, y, color=ACCENT if number == 0 else SOFT, label=depth_name(depth), **look)
            for row in here if scored else []:
                if row.spread:
                    low, high = row.spread
                    axes.vlines(row.categories, 100 * low, 100 * high, color=SOFT, linewidth=0.75)
        axes.set_xlabel("categories K")
        axes.set_ylabel(
            "F1 (%), with the range over chains" if scored else "log-likelihood per token"
        )
        axes.set_xticks(sorted({row.categories for row in rows}))
        axes.legend(title="bound D", frameon=False)
        save(figure, path)


@dataclass(frozen=True)
class RunSummary:
    """The result of one run."""

    name: str
    categories: int
    depth: int | None
    chains: int
    """The number of chains that began."""
    survivors: int
    """The number of chains that ran to the end: fewer, in a race."""
    per_token: float
    """Mean log-likelihood of the selected chain after burn-in, per token."""
    rhat: float | None
    f1: float | None
    """None without gold trees."""
    spread: tuple[float, float] | None
    """The range of F1 over the chains that ran to the end."""
    signature: str
    """The convention of F1."""
    digest: str
    """Of the text."""


def summarise_run(
    name: str, run: Run, treebank: Sequence[Sentence] | None, gold: str, quiet: bool = True
) -> RunSummary:
    """Summarise a run, and score it if there is a treebank."""
    f1, spread, signature = None, None, ""
    if treebank is not None:
        systems = len(run.survivors) + len(BASELINES) + 1
        with Progress(f"{name}: scored", systems, quiet) as progress:
            found = scores(run, run.match_gold(treebank, gold), progress.update)
        f1 = next(one["f1"] for one in found["systems"] if one.get("selected"))
        spread = found["spread"] and (found["spread"][0], found["spread"][2])
        signature = found["signature"]
    settings = run.configuration.model
    return RunSummary(
        name,
        settings.categories,
        settings.depth,
        len(run.chains),
        len(run.survivors),
        run.best.mean_log_likelihood / len(run.corpus.learned.tokens),
        finite(run.convergence().rhat),
        f1,
        spread,
        signature,
        str(run.configuration.corpus.get("digest")),
    )


def run_tables(rows: Sequence[RunSummary]) -> list[Table]:
    """A table of all runs in the order of D and K; grids of K against D if there is one."""
    scored = any(row.f1 is not None for row in rows)
    raced = any(row.survivors != row.chains for row in rows)
    columns = [
        Column("Run"),
        Column("K", "count"),
        Column("D", "count"),
        Column("chains", "count"),
        *([Column("survivors", "count")] if raced else []),
        Column("log-likelihood per token", "number", "per_token", 3),
        Column("R-hat", "number", decimals=2),
    ]
    if scored:
        columns += [Column("F1", "percent"), Column("from", "percent"), Column("to", "percent")]
    body: list[tuple[Cell, ...]] = []
    for row in sorted(rows, key=sort_key):
        cells: tuple[Cell, ...] = (
            *(row.name, row.categories, depth_name(row.depth), row.chains),
            *([row.survivors] if raced else []),
            *(row.per_token, row.rhat),
        )
        body.append((*cells, row.f1, *(row.spread or (None, None))) if scored else cells)
    tables = [Table("Runs", columns, body, _notes(rows, scored))]
    if is_grid(rows):
        if _same_text(rows):
            title = "Log-likelihood per token"
            tables.append(_grid(title, rows, lambda row: row.per_token, "number"))
        if scored:
            tables.append(_grid("F1 of the selected chain", rows, lambda row: row.f1, "percent"))
    return tables


def sort_key(row: RunSummary) -> tuple[float, int, str]:
    """Depth, no bound last, then categories."""
    return (float("inf") if row.depth is None else row.depth, row.categories, row.name)


def is_grid(rows: Sequence[RunSummary]) -> bool:
    """Whether there is more than one K or D, and at most one run for each pair."""
    pairs = [(row.categories, row.depth) for row in rows]
    return len(set(pairs)) == len(pairs) > 1


def _grid(
    title: str, rows: Sequence[RunSummary], value: Callable[[RunSummary], float | None], kind: str
) -> Table:
    depths = list(dict.fromkeys(row.depth for row in sorted(rows, key=sort_key)))
    found = {(row.categories, row.depth): value(row) for row in rows}
    columns = [Column("K", "count")]
    for depth in depths:
        name = f"D = {depth_name(depth)}"
        if kind == "percent":
            columns.append(Column(name, "percent"))
        else:
            columns.append(Column(name, "number", decimals=3))
    categories = sorted({row.categories for row in rows})
    return Table(title, columns, [(K, *(found.get((K, d)) for d in depths)) for K in categories])


def _same_text(rows: Sequence[RunSummary]) -> bool:
    return len({row.digest for row in rows}) == 1


def _notes(rows: Sequence[RunSummary], scored: bool) -> list[str]:
    notes = []
    if scored:
        raced = any(row.survivors != row.chains for row in rows)
        over = "chains of the run that ran to the end" if raced else "all chains of the run"
        notes.append(f"F1 is the selected chain's; from and to are over {over}")
        notes += dict.fromkeys(row.signature for row in rows if row.signature)
    if not _same_text(rows):
        notes.append(
            "these runs learned from different text or prepared it differently: "
            "their log-likelihoods are not comparable"
        )
    return notes
