"""What more categories bring: a table and a figure of a sweep over K and D.

    dbpcfg sweep large.toml
    python benchmarks/large_k.py large TREEBANK --figure large-k.png

with ``K = [30, 45, 60, 90]`` and ``D = [1, 2, "none"]`` in the grid. Seconds per iteration are of
wall time, by the dates of a run's files.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import dbpcfg
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.results import run_times
from dbpcfg.report.plotting import save, style


class Measured(NamedTuple):
    """One run."""

    depth: int | None
    categories: int
    log_likelihood: float
    """Per token, the mean over retained iterations."""
    f1: float
    phrase_recall: float
    homogeneity: float
    seconds: float
    """Per iteration."""


PANELS = {
    "log_likelihood": "log-likelihood per token",
    "f1": "F1",
    "phrase_recall": "recall of noun phrases",
    "homogeneity": "homogeneity of labels",
    "seconds": "seconds per iteration",
}


def measured(path: Path, treebank: str) -> Measured:
    """The figures of a run."""
    run = finished_run(path)
    scores = dbpcfg.evaluate(treebank, run.trees(), "both", quiet=True)
    times, iterations = run_times(path), sum(chain.iteration for chain in run.chains)
    return Measured(
        run.configuration.model.depth,
        run.configuration.model.categories,
        run.best.mean_log_likelihood / int(run.corpus.forms.lengths.sum()),
        100 * scores.score.f1,
        100 * scores.recall.recall,
        100 * scores.constituents.score().homogeneity,
        times[2] / iterations if times else float("nan"),
    )


def draw(runs: list[Measured], path: Path) -> None:
    """A panel for each measure, a line for each bound."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9, 2.2), layout="constrained")
        for axes, (name, title) in zip(figure.subplots(1, len(PANELS)), PANELS.items()):
            for depth, mark in ((1, "o-"), (2, "s-"), (None, "^-")):
                line = sorted(
                    (run.categories, getattr(run, name)) for run in runs if run.depth == depth
                )
                label = "no bound" if depth is None else f"D = {depth}"
                axes.plot(*zip(*line), mark, markersize=3, linewidth=1, label=label)
            axes.set_title(title, fontsize=8)
            axes.set_xlabel("K")
            axes.set_xticks(sorted({run.categories for run in runs}))
            axes.spines[["top", "right"]].set_visible(False)
            if name == "seconds":
                axes.set_yscale("log")
        figure.axes[0].legend(frameon=False)
        save(figure, path)


def main() -> None:
    """Print a line for each run, and draw them."""
    options = argparse.ArgumentParser()
    options.add_argument("sweep", type=Path)
    options.add_argument("treebank")
    options.add_argument("--figure", type=Path)
    given = options.parse_args()
    runs = [measured(path.parent, given.treebank) for path in given.sweep.glob("*/config.toml")]
    print("\t".join(Measured._fields))
    for run in sorted(runs, key=lambda run: (run.categories, run.depth or 99)):
        print("\t".join(str(x) if x is None or type(x) is int else f"{x:.3f}" for x in run))
    if given.figure:
        draw(runs, given.figure)


if __name__ == "__main__":
    main()
