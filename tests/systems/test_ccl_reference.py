"""CCL against the trees of its public implementation, bracket by bracket.

They lie in the folder ``reference`` beside the one that DBPCFG_DATA names, and are not part of the
project.
"""

import os
from pathlib import Path

import pytest

from dbpcfg.systems.ccl import CCL
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree

REFERENCE = Path(os.environ.get("DBPCFG_DATA", "")).parent / "reference"

needs_reference = pytest.mark.skipif(
    not os.environ.get("DBPCFG_DATA") or not (REFERENCE / "README.md").exists(),
    reason="needs trees of other systems in the folder 'reference' beside DBPCFG_DATA",
)


def reference(name: str) -> tuple[list[list[str]], list[Tree]]:
    text = (REFERENCE / f"{name}.txt").read_text(encoding="utf-8")
    path = REFERENCE / f"{name}.ccl.trees"
    trees = list(read_trees(path.read_text(encoding="utf-8"), str(path)))
    return [line.split() for line in text.splitlines()], trees


def spans(tree: Tree) -> set[tuple[int, int]]:
    return {(s.start, s.end) for s in tree.spans() if s.end - s.start > 1}


@needs_reference
@pytest.mark.parametrize("name", ["synth-0", "synth-1", "wsj-dev", "adam-dev"])
def test_brackets_are_the_same(name):
    sentences, expected = reference(name)
    found = CCL().fit(sentences).trees()
    assert [tree.words() for tree in found] == [tree.words() for tree in expected]
    different = [
        n for n, (ours, theirs) in enumerate(zip(found, expected)) if spans(ours) != spans(theirs)
    ]
    assert different == []


@needs_reference
@pytest.mark.parametrize("name", ["wsj-dev", "adam-dev"])
def test_not_without_the_slip(name):
    """Negative control: the comparison notices a slip that few would."""
    sentences, expected = reference(name)
    found = CCL(faithful=False).fit(sentences).trees()
    assert any(spans(ours) != spans(theirs) for ours, theirs in zip(found, expected))
