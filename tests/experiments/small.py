"""Small corpora, and grids and a recipe over them that take seconds."""

from pathlib import Path

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.experiments.grid import Cell, read_grid

TREES = [*synthetic_trees("center", sentences=12, vocabulary=3)]
GOLD = [str(tree).replace("X1", "NP") for tree in TREES]
SHORT = "chains = 1\niterations = 6\n"


def write_corpora(folder: Path) -> None:
    """A treebank with noun phrases, its words, and another treebank."""
    (folder / "adam.trees").write_text("".join(f"{tree}\n" for tree in GOLD))
    (folder / "words.txt").write_text("".join(f"{' '.join(t.words())}\n" for t in TREES))
    (folder / "eve.trees").write_text("".join(f"{tree}\n" for tree in TREES[:8]))
    (folder / "broken.trees").write_text("(S (N dogs) (V bark)\n(S (N cats)")


def write_grid(folder: Path, text: str, name: str = "grid.toml", short: str = SHORT) -> Path:
    """A grid file beside the corpora."""
    (folder / name).write_text(short + text)
    return folder / name


def cells_of(folder: Path, text: str, short: str = SHORT) -> list[Cell]:
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


RECIPE = """\
title = "Made up"
reference = "Nobody (1999)"
where = "Table 9"
seeds = [0, 1]
flatten = true
measures = ["precision", "recall", "f1", "phrase-recall"]

[corpus]
name = "tiny"
needs = "a small treebank"

[paper]
inference = "paper"
chains = 2
iterations = 6
trees = "best"

[default]
budget = 100

[quick]
sentences = 5
seeds = 3
paper = { iterations = 4 }

[[rows]]
name = "DB & PCFG"
system = "dbpcfg"
K = 2
D = 2

[[rows]]
name = "Chunks"
system = "upparse"
settings = { smoothing = 0.2 }

[[rows]]
name = "Right"
system = "right"
baseline = true

[[published]]
name = "DB & PCFG"
precision = 60.0
recall = 60.0
f1 = 60.0
source = "Table 9, row 1"

[[published]]
name = "Right"
f1 = 40.0
source = "Table 9, row 2"

[[published]]
name = "Oracle"
f1 = 99.9
source = "Table 9, row 3"
"""

FAILING = """
[[rows]]
name = "Broken"
system = "bmmm-dmv"
settings = { classes = 0 }
"""


def write_recipe(folder: Path, text: str = RECIPE, name: str = "mine.toml") -> Path:
    """A recipe beside its treebank."""
    (folder / "tiny.trees").write_text("".join(f"{tree}\n" for tree in GOLD))
    (folder / name).write_text(text)
    return folder / name


class Watched:
    """Notes what happens to cells, and does something when the first has begun to run."""

    def __init__(self, action=lambda: None) -> None:
        self.events: list[tuple[str, int]] = []
        self.action, self.acted = action, False

    def on_begin(self, cell):
        self.events.append(("begun", cell.number))

    def on_progress(self, cell, share):
        assert 0 <= share <= 1
        if not self.acted:
            self.acted = True
            self.action()

    def on_poll(self):
        pass

    def on_end(self, cell, outcome):
        self.events.append((outcome.state, cell.number))
