"""UPPARSE against what the original program prints, sentence by sentence.

The inputs and trees lie in the folder ``reference`` beside the one that DBPCFG_DATA names, and are
not part of the project.
"""

import os
from pathlib import Path

import pytest

from dbpcfg.systems.upparse import Upparse
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree

REFERENCE = Path(os.environ.get("DBPCFG_DATA", "")).parent / "reference"

needs_reference = pytest.mark.skipif(
    not os.environ.get("DBPCFG_DATA") or not (REFERENCE / "README.md").exists(),
    reason="needs trees of other systems in the folder 'reference' beside DBPCFG_DATA",
)


def brackets(tree: Tree) -> set[tuple[int, int]]:
    return {(start, end) for start, end, _ in tree.spans() if end - start > 1}


@needs_reference
@pytest.mark.parametrize(
    ("corpus", "model", "levels", "ended"),
    [
        ("synth-0", "prlg", 4, "all chunked"),
        ("synth-0", "hmm", 3, "all chunked"),
        ("synth-1", "prlg", 4, "all chunked"),
        ("synth-1", "hmm", 3, "all chunked"),
        ("wsj-dev", "prlg", 6, "no change"),
        ("wsj-dev", "hmm", 4, "all chunked"),
        ("adam-dev", "prlg", 6, "no change"),
        ("adam-dev", "hmm", 4, "no change"),
    ],
)
def test_same_trees_as_the_original(corpus, model, levels, ended):
    text = (REFERENCE / f"{corpus}.txt").read_text(encoding="utf-8")
    path = REFERENCE / f"{corpus}.upparse-{model}.trees"
    expected = list(read_trees(path.read_text(encoding="utf-8"), str(path)))
    system = Upparse(model).fit([line.split() for line in text.splitlines()])
    found = system.trees()
    assert [tree.words() for tree in found] == [tree.words() for tree in expected]
    pairs = enumerate(zip(found, expected))
    different = [n for n, (ours, theirs) in pairs if brackets(ours) != brackets(theirs)]
    assert different == []
    assert (system.cascade.levels, system.cascade.ended) == (levels, ended)
