"""A figure of minimal pairs: the accuracy of each model by paradigm, for each score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dbpcfg.io.files import write_errors
from dbpcfg.model.pairs import SCORES, MinimalPairs
from dbpcfg.report.figures import ACCENT, MARKS, SOFT, save, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_pairs(found: MinimalPairs) -> Figure:
    """A panel for each score: a row for each paradigm, a mark with its interval for each model."""
    from matplotlib.figure import Figure

    names = [*found.paradigms, None] if len(found.paradigms) > 1 else [*found.paradigms]
    height = 0.9 + len(names) * (0.16 + 0.1 * len(found.models))
    figure = Figure(figsize=(7.2, height), layout="constrained")
    panels = figure.subplots(1, len(SCORES), sharex=True, sharey=True)
    step = 0.7 / len(found.models)
    for axes, (score, heading) in zip(panels, SCORES.items(), strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        axes.axvline(50, color=SOFT, linewidth=0.75, linestyle=":")
        for number, model in enumerate(found.models):
            values = [found.accuracy(score, name, model) for name in names]
            y = [row + (number - (len(found.models) - 1) / 2) * step for row in range(len(names))]
            color = ACCENT if number == 0 else SOFT
            axes.hlines(
                y, [100 * v.low for v in values], [100 * v.high for v in values], color=color
            )
            axes.plot(
                [100 * v.accuracy for v in values],
                y,
                linestyle="none",
                marker=MARKS[number % len(MARKS)],
                markersize=3.5,
                color=color,
                label=model,
            )
        axes.set_title(heading, fontsize=8)
        axes.set_xlim(-3, 103)
    panels[0].set_yticks(range(len(names)), [name or "all" for name in names])
    panels[0].invert_yaxis()
    panels[1].set_xlabel("accuracy (%), with 95% intervals")
    if len(found.models) > 1:
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=2,
            frameon=False,
        )
    return figure


def write_pairs(found: MinimalPairs, path: Path) -> None:
    """Write the figure; the extension of the file is the format."""
    with write_errors(path), style():
        save(plot_pairs(found), path)
