"""A small treebank, and a recipe over it that takes seconds."""

from __future__ import annotations

from pathlib import Path

from dbpcfg.corpus.synthetic import synthetic_trees

TREES = [str(t).replace("X1", "NP") for t in synthetic_trees("center", 12, vocabulary=3)]

RECIPE = """\
title = "Made up"
reference = "Nobody (1999)"
table = "Table 9"
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

[[row]]
name = "DB & PCFG"
system = "dbpcfg"
K = 2
D = 2

[[row]]
name = "Chunks"
system = "upparse"
settings = { smoothing = 0.2 }

[[row]]
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
[[row]]
name = "Broken"
system = "bmmm-dmv"
settings = { classes = 0 }
"""


def write_recipe(folder: Path, text: str = RECIPE, name: str = "mine.toml") -> Path:
    """A recipe beside its treebank."""
    (folder / "tiny.trees").write_text("".join(f"{tree}\n" for tree in TREES))
    (folder / name).write_text(text)
    return folder / name
