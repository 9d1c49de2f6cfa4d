"""Plots for papers by matplotlib: no pyplot, so no state and no window.

Dollar signs in words and labels are dollar signs, and the same data gives the same file.
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
    """Refuse to replace a figure, or to draw one of an unknown kind."""
    require_matplotlib()
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise DbpcfgError(f"{path}: a figure is .svg, .pdf or .png by its name")
    if path.exists() and not overwrite:
        raise DbpcfgError(f"{path} exists; choose another name, or replace it with --overwrite")


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of so many inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, path: Path) -> None:
    """Write a figure whole, of the kind that its name says."""
    kind = path.suffix[1:]
    no_date: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with written_whole(path) as file:
        figure.savefig(file, format=kind, metadata=no_date, dpi=200)


@contextmanager
def style() -> Iterator[None]:
    """Settings for all that is drawn within."""
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
    """Matplotlib, or a word on how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise DbpcfgError(
            "figures are drawn with matplotlib, which is not installed: "
            "pip install 'dbpcfg[report]'"
        ) from None
    return matplotlib
