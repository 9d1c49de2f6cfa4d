"""DMV against what pr-toolkit prints for the same tags, sentence by sentence.

Tags and heads lie in the folder ``reference`` beside the one that DBPCFG_DATA names, and are not
part of the project.
"""

import os
from pathlib import Path

import pytest

from dbpcfg.systems.dmv import DMV
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.dependencies import tree_from_heads

REFERENCE = Path(os.environ.get("DBPCFG_DATA", "")).parent / "reference"

needs_reference = pytest.mark.skipif(
    not os.environ.get("DBPCFG_DATA") or not (REFERENCE / "README.md").exists(),
    reason="needs heads of other systems in the folder 'reference' beside DBPCFG_DATA",
)
inputs = pytest.mark.parametrize(
    "name", ["synth-0.dmv", "synth-0.bmmm-dmv", "synth-1.dmv", "synth-1.bmmm-dmv"]
)


def lines(name):
    return (REFERENCE / name).read_text(encoding="utf-8").splitlines()


def numbers(line, less=0):
    return tuple(int(number) - less for number in line.split())


def best(name):
    """For each sentence all heads that the original finds equally good; those it printed first."""
    printed = [numbers(line, 1) for line in lines(f"{name}.heads")]
    ties = [line.split("\t")[1:] for line in lines(f"{name}.ties")]
    return [(one, *(numbers(tie, 1) for tie in tied)) for one, tied in zip(printed, ties)]


def fitted(name, **settings):
    tags = [numbers(line) for line in lines(f"{name}.tags")]
    return [tuple(heads.tolist()) for heads in DMV(**settings).fit(tags).heads()]


def brackets(tree):
    return {(start, end) for start, end, _ in tree.spans() if end - start > 1}


@needs_reference
@inputs
def test_same_heads_as_the_original(name):
    pairs = zip(fitted(name), best(name), strict=True)
    assert [ours for ours, allowed in pairs if ours not in allowed] == []


@needs_reference
def test_other_settings_give_other_heads():
    """A negative control: the comparison notices a wrong smoothing and a missing iteration."""
    right = best("synth-0.dmv")
    for settings in ({"backoff": 0.999}, {"iterations": 2}):
        pairs = zip(fitted("synth-0.dmv", **settings), right)
        assert sum(ours not in allowed for ours, allowed in pairs) > 0


@needs_reference
@inputs
def test_same_trees_from_the_same_heads(name):
    words = [line.split() for line in lines(f"{name.split('.')[0]}.txt")]
    text = (REFERENCE / f"{name}.trees").read_text(encoding="utf-8")
    for sentence, heads, theirs in zip(words, best(name), read_trees(text, name), strict=True):
        ours = tree_from_heads(sentence, heads[0])
        assert ours.words() == theirs.words() == sentence
        assert brackets(ours) == brackets(theirs)
