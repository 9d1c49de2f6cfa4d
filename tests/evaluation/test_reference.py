"""Scores of other systems' trees, and of branching trees, to the digit.

The trees are what public implementations of CCL, UPPARSE and BMMM+DMV print.  They lie in the
folder ``reference`` beside the one that DBPCFG_DATA names, and are not part of the project.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from dbpcfg.evaluation.alignment import has_letter_or_digit
from dbpcfg.evaluation.evaluate import Evaluation, evaluate
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.io.tables import percent
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree
from tests.evaluation.helpers import branching

REFERENCE = Path(os.environ.get("DBPCFG_DATA", "")).parent / "reference"
TAGS = {",", ".", ":", "``", "''", "-LRB-", "-RRB-"}

needs_reference = pytest.mark.skipif(
    not os.environ.get("DBPCFG_DATA") or not (REFERENCE / "README.md").exists(),
    reason="needs trees of other systems in the folder 'reference' beside DBPCFG_DATA",
)

# P, R, F1; matched, predicted, gold; the same three scores without the whole sentence
SCORES = """
synth-0 right 40.0 40.0 40.0 300 750 750 18.2 18.2 18.2
synth-0 left 66.7 66.7 66.7 500 750 750 54.5 54.5 54.5
synth-0 ccl 79.3 35.3 48.9 265 334 750 48.5 11.8 19.0
synth-0 upparse-prlg 91.5 78.9 84.8 592 647 750 87.7 71.3 78.6
synth-0 upparse-hmm 100.0 80.0 88.9 600 600 750 100.0 72.7 84.2
synth-0 dmv 90.5 78.4 84.0 588 650 750 86.2 70.5 77.6
synth-0 bmmm-dmv 99.8 85.6 92.2 642 643 750 99.8 80.4 89.0
synth-1 right 40.0 40.0 40.0 300 750 750 18.2 18.2 18.2
synth-1 left 66.7 66.7 66.7 500 750 750 54.5 54.5 54.5
synth-1 ccl 85.0 36.1 50.7 271 319 750 59.7 12.9 21.2
synth-1 upparse-prlg 91.2 81.3 86.0 610 669 750 87.4 74.5 80.5
synth-1 upparse-hmm 100.0 80.0 88.9 600 600 750 100.0 72.7 84.2
synth-1 dmv 98.4 84.5 91.0 634 644 750 97.7 78.9 87.3
synth-1 bmmm-dmv 99.8 85.9 92.3 644 645 750 99.8 80.7 89.2
wsj-dev right 42.0 55.5 47.8 5234 12475 9438 36.9 50.2 42.6
wsj-dev left 15.2 20.1 17.3 1898 12475 9438 7.9 10.7 9.1
wsj-dev ccl 59.5 61.8 60.6 5831 9796 9438 55.0 57.3 56.1
wsj-dev upparse-prlg 41.1 42.2 41.6 3982 9696 9438 34.3 35.4 34.9
wsj-dev upparse-hmm 34.9 42.4 38.3 4003 11456 9438 28.8 35.6 31.8
adam-dev right 69.9 85.9 77.1 7658 10953 8916 60.7 80.1 69.1
adam-dev left 26.6 32.7 29.3 2915 10953 8916 4.0 5.3 4.6
adam-dev ccl 74.3 77.2 75.7 6882 9261 8916 64.4 67.9 66.1
adam-dev upparse-prlg 66.2 58.4 62.1 5205 7860 8916 49.7 41.4 45.2
adam-dev upparse-hmm 56.7 49.1 52.6 4378 7724 8916 35.0 28.4 31.3
"""


def punctuation(tree: Tree, by_characters: bool) -> tuple[bool, ...]:
    return tuple(
        tag in TAGS or (by_characters and not has_letter_or_digit(word))
        for word, tag in zip(tree.words(), tree.tags())
    )


def branching_trees(gold: list[Tree], marks: list[tuple[bool, ...]], direction: str) -> list[Tree]:
    words = [[w for w, mark in zip(tree.words(), it) if not mark] for tree, it in zip(gold, marks)]
    return [branching(it, direction) for it in words]


@cache
def reference(name: str) -> list[Tree]:
    path = REFERENCE / f"{name}.trees"
    return list(read_trees(path.read_text(encoding="utf-8"), str(path)))


def percentages(evaluation: Evaluation) -> list[str]:
    it = evaluation.score
    return [percent(it.precision), percent(it.recall), percent(it.f1)]


@needs_reference
@pytest.mark.parametrize("row", SCORES.split("\n")[1:-1])
def test_other_systems(row):
    corpus, system, *expected = row.split()
    gold = reference(f"{corpus}.gold")
    marks = [punctuation(tree, by_characters=corpus == "adam-dev") for tree in gold]
    if system in ("right", "left"):
        predicted = branching_trees(gold, marks, system)
    else:
        predicted = reference(f"{corpus}.{system}")
    whole = evaluate(gold, predicted, marks)
    inner = evaluate(gold, predicted, marks, Convention(whole_sentence=False))
    counts = whole.statistics.sum(axis=0)
    found = [*percentages(whole), *map(str, counts.tolist()), *percentages(inner)]
    assert found == expected
    assert (inner.statistics.sum(axis=0) == counts - len(whole.statistics)).all()
