"""Plots for papers by matplotlib, without pyplot, its state and its windows.

Dollar signs in words and labels are not mathematics; the same data gives the same file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.atomic import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))
MARKS = "os^vDP"
ACCENT, SOFT = "#0b6e69", "#56605d"


def check_file(path: Path, overwrite: bool) -> None:
    """Raise an error if a figure has an unknown format, or would replace a file."""
    require_matplotlib()
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise DbpcfgError(f"{path}: a figure is .svg, .pdf or .png by its name")
    if path.exists() and not overwrite:
        raise DbpcfgError(f"{path} exists; choose another name, or replace it with --overwrite")


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of a width and height in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, path: Path) -> None:
    """Write a figure whole, in the format of its extension."""
    extension = path.suffix[1:]
    dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with written_whole(path) as file:
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
