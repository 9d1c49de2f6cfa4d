"""A plot of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbpcfg.files.faults import writing
from dbpcfg.report.plotting import (
    ACCENT,
    DASHES,
    MARKS,
    SOFT,
    new_figure,
    save,
    style,
)
from dbpcfg.report.sweep import RunSummary, depth_name, sort_key


def write_sweep(rows: Sequence[RunSummary], path: Path) -> None:
    """Plot F1 against K, a line for each D, with the range over chains.

    ``path``: the file; its extension is the format.
    """
    scored = any(row.f1 is not None for row in rows)
    with writing(path), style():
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
