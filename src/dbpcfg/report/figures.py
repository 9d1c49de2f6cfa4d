"""Figures for papers by matplotlib, without pyplot and its global state.

Dollar signs in words and labels are not mathematics; equal data give equal files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.run import Run
from dbpcfg.io.files import atomic_write, write_errors
from dbpcfg.io.progress import Progress
from dbpcfg.report.runs import traces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))
MARKS = "os^vDP"
ACCENT, SOFT = "#0b6e69", "#56605d"
DROPPED = "#c4c8c5"
"""For the lines of chains that were dropped from a race."""
FORMATS = ("pdf", "svg")
MAX_LABELS = 22
LONGEST_NAME = 40
"""Longer names of systems are cut, as the plot needs the room."""

Draw = Callable[[dict[str, Any], "Axes"], None]


def check_file(path: Path, overwrite: bool) -> None:
    """Raise an error if a figure has an unknown format, or would replace a file."""
    require_matplotlib()
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise DbpcfgError(f"{path}: a figure is .svg, .pdf or .png by its name")
    if path.exists() and not overwrite:
        raise DbpcfgError(f"{path} exists; choose another name, or replace it with --overwrite")


def plot_run(run: Run) -> Figure:
    """A figure of a run's chains: their traces, and the brackets that each pair shares."""
    require_matplotlib()
    from matplotlib.figure import Figure

    class Shown(Figure):
        def _repr_png_(self) -> bytes:  # without pyplot, notebooks would show no picture
            picture = BytesIO()
            self.savefig(picture, format="png", dpi=120)
            return picture.getvalue()

    numbers = [chain.settings.chain for chain in run.survivors]
    with style():
        figure = Shown(figsize=(8, 3.2) if len(numbers) > 1 else (4.8, 3.2), layout="constrained")
        if len(numbers) == 1:
            _traces({"chains": traces(run)}, figure.subplots())
            return figure
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _traces({"chains": traces(run)}, left)
        shared = [[100 * run.shared.between(a, b) for b in numbers] for a in numbers]
        right.imshow(shared, cmap="Greys", vmin=0, vmax=250)
        for r, row in enumerate(shared):
            for c, share in enumerate(row):
                right.text(c, r, f"{share:.0f}", ha="center", va="center", fontsize=7)
        right.set_xticks(range(len(numbers)), map(str, numbers))
        right.set_yticks(range(len(numbers)), map(str, numbers))
        right.set_xlabel("chain")
        right.set_ylabel("chain")
        right.set_title("brackets shared (%)", fontsize=8)
    return figure


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of a width and height in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of its extension."""
    extension = path.suffix[1:]
    dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with atomic_write(path) as file:
        figure.savefig(file, format=extension, metadata=dates.get(extension, {}), dpi=200)


@contextmanager
def style() -> Iterator[None]:
    """Settings of matplotlib for all figures drawn inside."""
    plt = require_matplotlib()
    settings = {
        "font.size": 8,
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "dbpcfg",
        "pdf.fonttype": 42,
    }
    with plt.rc_context(settings):
        yield


def require_matplotlib() -> Any:
    """Import matplotlib; raises an error that says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise DbpcfgError(
            "figures are drawn with matplotlib, which is not installed: "
            "pip install 'dbpcfg[report]'"
        ) from None
    return matplotlib


def write_figures(data: dict[str, Any], folder: Path, quiet: bool = True) -> list[Path]:
    """Write all figures for which there is data, into a folder that is made if necessary."""
    drawn = [name for name in _FIGURES if _has(data, name)]
    paths: list[Path] = []
    with write_errors(folder), Progress("figures", len(drawn), quiet) as progress, style():
        folder.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(drawn, start=1):
            figure, axes = new_figure(*_size(name, data))
            _FIGURES[name](data, axes)
            for extension in FORMATS:
                path = folder / f"{name}.{extension}"
                save(figure, path)
                paths.append(path)
            progress.update(number)
    return paths


def check_folder(folder: Path, overwrite: bool) -> None:
    """Raise an error if figures cannot be written, or would replace other files."""
    require_matplotlib()
    if folder.exists() and not folder.is_dir():
        raise DbpcfgError(f"{folder} is a file; give a directory for the figures")
    for name in _FIGURES:
        for extension in FORMATS:
            check_file(folder / f"{name}.{extension}", overwrite)


def _traces(data: dict[str, Any], axes: Axes) -> None:
    for number, chain in enumerate(data["chains"]["chains"]):
        x = [1 + n * chain["every"] for n in range(len(chain["logs"]))]
        chosen = chain["selected"]
        if not chain["survived"]:
            axes.plot(x, chain["logs"], color=DROPPED, linewidth=0.5, zorder=1)
            continue
        axes.plot(
            *(x, chain["logs"]),
            color=ACCENT if chosen else SOFT,
            linestyle="-" if chosen else DASHES[number % len(DASHES)],
            linewidth=1.5 if chosen else 0.75,
            zorder=3 if chosen else 2,
            label=f"{chain['chain']}{' (selected)' if chosen else ''}",
        )
    survivors = [chain for chain in data["chains"]["chains"] if chain["survived"]]
    sampled, (iteration, _) = data["chains"]["sampled"], data["chains"]["iteration"]
    for burn_in in sorted({chain["burn_in"] for chain in survivors if sampled}):
        axes.axvline(burn_in, color=SOFT, linestyle=":", linewidth=0.75)
    rungs = data["chains"]["rungs"][:-1]
    for rung in rungs:
        axes.axvline(rung["iterations"], color=DROPPED, linewidth=0.75, zorder=1)
    axes.locator_params("x", integer=True)
    marks = ["dotted: burn-in ends"] * sampled + ["pale: chains are dropped"] * bool(rungs)
    axes.set_xlabel(f"{iteration} ({'; '.join(marks)})" if marks else iteration)
    axes.set_ylabel("log-likelihood")
    axes.legend(title="chain", frameon=False, fontsize=7)


def _likelihood_f1(data: dict[str, Any], axes: Axes) -> None:
    means = {chain["chain"]: chain["mean_log_likelihood"] for chain in data["chains"]["chains"]}
    for one in data["scores"]["systems"]:
        if one["kind"] == "chain" and one["f1"] is not None:
            point = (means[one["chain"]], 100 * one["f1"])
            chosen = one["selected"]
            axes.plot(*point, "D" if chosen else "o", color=ACCENT if chosen else SOFT)
            axes.annotate(str(one["chain"]), point, (5, 5), textcoords="offset points")
    label = "mean log-likelihood after burn-in" if data["chains"]["sampled"] else "log-likelihood"
    axes.set_xlabel(f"{label} (diamond: selected)")
    axes.set_ylabel("F1 (%)")


def _lengths(data: dict[str, Any], axes: Axes) -> None:
    rows = data["scores"]["lengths"]
    for number, name in enumerate(data["scores"]["compared"]):
        y = [float("nan") if row["f1"][name] is None else 100 * row["f1"][name] for row in rows]
        axes.plot(
            *([(row["from"] + row["to"]) / 2 for row in rows], y),
            color=SOFT if number else ACCENT,
            marker=MARKS[number % len(MARKS)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=0.75 if number else 1.5,
            markersize=3.5,
            label=name,
        )
    axes.set_xlabel("words in the sentence")
    axes.set_ylabel("F1 (%)")
    axes.set_ylim(0, 105)
    axes.locator_params("x", integer=True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False, fontsize=7)


def _categories(data: dict[str, Any], axes: Axes) -> None:
    categories = data["grammar"]["categories"][::-1]
    shares = [100 * one["counted"]["share"] for one in categories]
    axes.barh([one["name"] for one in categories], shares, color=ACCENT)
    for row, one in enumerate(categories):
        words = ", ".join(item["word"] for item in one["words"][:5])
        if one["counted"]["word_share"] and one["counted"]["word_share"] >= 0.015:
            axes.annotate(
                words, (shares[row], row), (4, 0), textcoords="offset points", va="center"
            )
    axes.set_xlabel("share of all nodes (%)")
    axes.margins(x=0.5)


def _heat_map(which: str) -> Draw:
    def draw(data: dict[str, Any], axes: Axes) -> None:
        table = data["meanings"][which]
        order = [one["name"] for one in data["grammar"]["categories"]]
        rows = [name for name in order if name in table["categories"]]
        labels = table["labels"][:MAX_LABELS]
        shares = []
        for name in rows:
            counts = table["counts"][table["categories"].index(name)]
            shares.append([100 * n / max(1, sum(counts)) for n in counts[:MAX_LABELS]])
        axes.imshow(shares, cmap="Greys", vmin=0, vmax=150, aspect="auto")
        for r, row in enumerate(shares):
            for c, share in enumerate(row):
                if share >= 1:
                    axes.text(c, r, f"{share:.0f}", ha="center", va="center", fontsize=6)
        axes.set_xticks(range(len(labels)), labels, rotation=60, ha="right")
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel(f"gold {which} (each row: % of the category's uses)")

    return draw


def _depths(data: dict[str, Any], axes: Axes) -> None:
    series = data["memory"]["series"]
    deepest = max(len(one["shares"]) for one in series)
    width = 0.8 / len(series)
    white = {"color": "white", "edgecolor": ACCENT}
    looks: list[dict[str, Any]] = [{"color": ACCENT}, white, {"color": SOFT}]
    for number, one in enumerate(series):
        values = [100 * share for share in one["shares"]] + [0] * (deepest - len(one["shares"]))
        x = [depth + 1 + (number - (len(series) - 1) / 2) * width for depth in range(deepest)]
        axes.bar(x, values, width, label=one["name"], **looks[number % len(looks)])
    axes.set_xlabel("memory depth")
    axes.set_ylabel("sentences (%)")
    axes.set_xticks(range(1, deepest + 1))
    axes.legend(frameon=False, fontsize=7)


def _systems(data: dict[str, Any], axes: Axes) -> None:
    systems = [one for one in data["others"]["systems"] if one["f1"]["mean"] is not None][::-1]
    for row, one in enumerate(systems):
        best = row == len(systems) - 1
        mean, low, high = (100 * one["f1"][figure] for figure in ("mean", "min", "max"))
        colour = ACCENT if best else SOFT
        if one["runs"] > 1:
            axes.errorbar(mean, row, xerr=[[mean - low], [high - mean]], color=colour, capsize=3)
        axes.plot(mean, row, "D" if best else "o", color=colour, mfc=colour if best else "white")
    own = data["others"]["own"]
    if own is not None:
        axes.axvline(100 * own["f1"], color=SOFT, linestyle=":", linewidth=0.75)
    names = [one["name"] for one in systems]
    short = [n if len(n) <= LONGEST_NAME else f"{n[: LONGEST_NAME - 1]}…" for n in names]
    axes.set_yticks(range(len(systems)), short)
    axes.set_xlabel(f"F1 (%), range over runs{' (dotted: the run)' if own else ''}")
    axes.margins(x=0.1, y=0.5 / max(1, len(systems)))


_FIGURES: dict[str, Draw] = {
    "traces": _traces,
    "loglikelihood-f1": _likelihood_f1,
    "f1-by-length": _lengths,
    "systems": _systems,
    "categories": _categories,
    "categories-phrases": _heat_map("phrases"),
    "categories-tags": _heat_map("tags"),
    "depths": _depths,
}


def _has(data: dict[str, Any], name: str) -> bool:
    """Whether there is data for a figure."""
    scores, others, meanings = data["scores"], data["others"], data["meanings"]
    if name in ("loglikelihood-f1", "f1-by-length"):
        return bool(scores and (name == "loglikelihood-f1" or scores["lengths"]))
    if name == "systems":
        return bool(others and others["systems"][0]["f1"]["mean"] is not None)
    if name.startswith("categories-"):
        return bool(meanings and meanings[name.split("-")[1]]["labels"])
    return True


def _size(name: str, data: dict[str, Any]) -> tuple[float, float]:
    """Width and height in inches: a column of a paper, more for many rows and columns."""
    K = len(data["grammar"]["categories"])
    if name == "categories":
        return 5.5, 1 + 0.22 * K
    if name.startswith("categories-"):
        labels = min(MAX_LABELS, len(data["meanings"][name.split("-")[1]]["labels"]))
        return 1.5 + 0.3 * labels, 1.4 + 0.2 * K
    if name == "systems":
        return 4.8, 0.8 + 0.25 * len(data["others"]["systems"])
    return 4.8, 3.2
