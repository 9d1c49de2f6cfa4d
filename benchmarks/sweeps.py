"""The tables and figures of the guide that come from sweeps.

    dbpcfg sweep vb.toml
    python benchmarks/sweeps.py spread TREEBANK vb [ANOTHER ...]
    python benchmarks/sweeps.py figure TREEBANK large --to large-k.png
    python benchmarks/sweeps.py bound ADAM adam KEYAKI keyaki --to bound.svg

``spread`` has the mean of scores over seeds, with standard deviations, for each directory of runs
and each bound. ``figure`` has a panel for each measure against K, with a line for each bound;
``bound`` a panel for each treebank and its sweep: scores against the bound, a point for each seed.
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
LINES = {"right": "--", "left": ":"}
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


def draw_bounds(given: list[tuple[str, Path]], path: Path) -> None:
    """A panel for each treebank: F1 and recall of noun phrases, and F1 of branching trees."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(3.6 * len(given), 2.8), layout="constrained")
        for axes, (name, sweep) in zip(np.atleast_1d(figure.subplots(1, len(given))), given):
            treebank = dbpcfg.read(name)
            runs = runs_of(sweep, treebank)
            bounds = sorted({run.depth for run in runs}, key=lambda depth: depth or 99)
            for field, label, colour in (
                ("f1", "F1", "#0f766e"),
                ("phrase_recall", "noun-phrase recall", "#b45309"),
            ):
                values = [[getattr(r, field) for r in runs if r.depth == D] for D in bounds]
                means = [np.mean(v) for v in values]
                axes.plot(range(len(bounds)), means, color=colour, label=label)
                for at, some in enumerate(values):
                    axes.plot([at] * len(some), some, "o", markersize=3, alpha=0.6, color=colour)
            for one in dbpcfg.compare(treebank, ["right", "left"], quiet=True).summaries:
                score = 100 * one.spread("f1").mean
                label, line = f"F1 of {one.name}-branching trees", LINES[one.name]
                axes.axhline(score, linestyle=line, color="#6b746f", linewidth=1, label=label)
            axes.set_xticks(range(len(bounds)), [str(D or "none") for D in bounds])
            axes.set_xlabel("memory bound D")
            axes.set_title(sweep.name, fontsize=9)
            axes.set_ylim(0, 100)
            axes.spines[["top", "right"]].set_visible(False)
        figure.axes[0].legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.5))
        save(figure, path)


def main() -> None:
    """Print a table; draw the figure, if it is asked for."""
    options = argparse.ArgumentParser()
    options.add_argument("what", choices=("spread", "figure", "bound"))
    options.add_argument("treebank")
    options.add_argument("sweeps", type=Path, nargs="+")
    options.add_argument("--to", type=Path, default=Path("figure.png"))
    given = options.parse_args()
    if given.what == "bound":
        words = [given.treebank, *map(str, given.sweeps)]
        draw_bounds([(a, Path(b)) for a, b in zip(words[::2], words[1::2])], given.to)
        return
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
