"""Small corpora, and grids over them that take a second."""

from __future__ import annotations

from pathlib import Path

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.sweep.cells import GridCell
from dbpcfg.sweep.gridfile import read_grid

TREES = [*synthetic_trees("center", sentences=12, vocabulary=3)]
SHORT = "chains = 1\niterations = 6\n"


def write_corpora(folder: Path) -> None:
    """A treebank with noun phrases, its words, and another treebank."""
    gold = [str(tree).replace("X1", "NP") for tree in TREES]
    (folder / "adam.trees").write_text("".join(f"{tree}\n" for tree in gold))
    (folder / "words.txt").write_text("".join(f"{' '.join(t.words())}\n" for t in TREES))
    (folder / "eve.trees").write_text("".join(f"{tree}\n" for tree in TREES[:8]))
    (folder / "broken.trees").write_text("(S (N dogs) (V bark)\n(S (N cats)")


def write_grid(folder: Path, text: str, name: str = "grid.toml", short: str = SHORT) -> Path:
    """A grid file beside the corpora."""
    (folder / name).write_text(short + text)
    return folder / name


def cells_of(folder: Path, text: str, short: str = SHORT) -> list[GridCell]:
    return read_grid(write_grid(folder, text, short=short)).cells()


def files_in(folder: Path) -> dict[str, bytes]:
    """All files below a folder, except locks and records."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock" and ".cells" not in path.parts
    }


def times_in(folder: Path) -> dict[str, int]:
    """When each file below a folder was written."""
    return {str(p): p.stat().st_mtime_ns for p in folder.rglob("*") if p.name != ".lock"}
