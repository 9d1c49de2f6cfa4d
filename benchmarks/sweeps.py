"""The tables and the figure of the guide that come from sweeps.

    dbpcfg sweep vb.toml
    python benchmarks/sweeps.py spread TREEBANK vb [ANOTHER ...]
    python benchmarks/sweeps.py figure TREEBANK large --to large-k.png

``spread`` has the mean of scores over seeds, with standard deviations, for each directory of runs
and each bound. ``figure`` has a panel for each measure against K, with a line for each bound.
Seconds are of wall time, by the dates of a run's files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dbpcfg
from dbpcfg.corpus.reading import Corpus
from dbpcfg.induction.directory import finished_run, run_times
from dbpcfg.report.figures import save, style


class Measured(NamedTuple):
    """One run; scores in percent."""

    depth: int | None
    categories: int
    log_likelihood: float
    """Per token, the mean over retained iterations."""
    f1: float
    phrase_recall: float
    homogeneity: float
    v_measure: float
    seconds: float
    iteration_seconds: float


PANELS = {
    "log_likelihood": "log-likelihood per token",
    "f1": "F1",
    "phrase_recall": "recall of noun phrases",
    "homogeneity": "homogeneity of labels",
    "iteration_seconds": "seconds per iteration",
}
SPREAD = ("f1", "phrase_recall", "v_measure")


def measured(path: Path, treebank: Corpus) -> Measured:
    """The figures of a run."""
    run = finished_run(path)
    gold = run.match_gold(treebank.sentences).trees
    scores = dbpcfg.evaluate(gold, run.trees(), run.corpus.punctuation, quiet=True)
    labels, model = scores.constituents.score(), run.configuration.model
    times, iterations = run_times(path), sum(chain.iteration for chain in run.chains)
    seconds = times[2] if times else float("nan")
    return Measured(
        model.depth,
        model.categories,
        run.best.mean_log_likelihood / int(run.corpus.forms.lengths.sum()),
        *(100 * x for x in (scores.score.f1, scores.recall.recall)),
        *(100 * x for x in (labels.homogeneity, labels.v_measure)),
        seconds,
        seconds / iterations,
    )


def runs_of(sweep: Path, treebank: Corpus) -> list[Measured]:
    """All finished runs of a sweep, by K and D."""
    paths = sorted(path.parent for path in sweep.glob("*/model.npz"))
    runs = [measured(path, treebank) for path in paths]
    return sorted(runs, key=lambda run: (run.categories, run.depth or 99))


def spread_lines(runs: list[Measured]) -> Iterator[str]:
    """A line of a table for each K and D."""
    for (K, D), same in groupby(runs, key=lambda run: (run.categories, run.depth)):
        group, cells = list(same), []
        for name in SPREAD:
            values = [getattr(run, name) for run in group]
            spread = f" ({np.std(values, ddof=1):.1f})" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.1f}{spread}")
        seconds = np.median([run.seconds for run in group])
        yield " | ".join([str(K), str(D or "none"), str(len(group)), *cells, f"{seconds:.0f}"])


def draw(runs: list[Measured], path: Path) -> None:
    """A panel for each measure, a line for each bound."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9, 2.2), layout="constrained")
        for axes, (name, title) in zip(figure.subplots(1, len(PANELS)), PANELS.items()):
            for depth, mark in ((1, "o-"), (2, "s-"), (None, "^-")):
                line = [(run.categories, getattr(run, name)) for run in runs if run.depth == depth]
                label = "no bound" if depth is None else f"D = {depth}"
                axes.plot(*zip(*line), mark, markersize=3, linewidth=1, label=label)
            axes.set_title(title, fontsize=8)
            axes.set_xlabel("K")
            axes.set_xticks(sorted({run.categories for run in runs}))
            axes.spines[["top", "right"]].set_visible(False)
            if name == "iteration_seconds":
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter("{x:g}")
        figure.axes[0].legend(frameon=False)
        save(figure, path)


def main() -> None:
    """Print a table; draw the figure, if it is asked for."""
    options = argparse.ArgumentParser()
    options.add_argument("what", choices=("spread", "figure"))
    options.add_argument("treebank")
    options.add_argument("sweeps", type=Path, nargs="+")
    options.add_argument("--to", type=Path, default=Path("figure.png"))
    given = options.parse_args()
    treebank = dbpcfg.read(given.treebank)
    for sweep in given.sweeps:
        runs = runs_of(sweep, treebank)
        if given.what == "spread":
            print(f"{sweep.name}: K | D | runs | {' | '.join(SPREAD)} | seconds")
            print("\n".join(spread_lines(runs)), flush=True)
            continue
        print(" | ".join(Measured._fields))
        for run in runs:
            print(" | ".join(str(x) if x is None or type(x) is int else f"{x:.3f}" for x in run))
        draw(runs, given.to)


if __name__ == "__main__":
    main()
