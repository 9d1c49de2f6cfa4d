"""``baseline`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.systems.ccl import CCL
from dbpcfg.trees.brackets import read_trees

NEWS = """\
( (S (NP-SBJ (DT The) (NN Cat)) (VP (VBD saw) (NP (CD $) (CD 3))) (. .)))
( (S (NP (PRP It)) (VP (VBD barked)) (. !)))
"""


@pytest.fixture
def center(tmp_path: Path) -> Path:
    path = tmp_path / "center.trees"
    path.write_text("".join(f"{tree}\n" for tree in synthetic_trees("center", 40, 5)))
    return path


@pytest.fixture
def news(tmp_path: Path) -> Path:
    (tmp_path / "news.mrg").write_text(NEWS)
    return tmp_path / "news.mrg"


def test_baselines_print_trees_in_words_as_written(command, news):
    for system, words in [
        ("right", ["The Cat saw $ 3", "It barked"]),
        ("ccl", ["The Cat saw $ 3", "It barked"]),
        ("upparse", ["The Cat saw $ 3", "It barked"]),
        ("upparse-hmm", ["The Cat saw $ 3", "It barked"]),
        ("balanced", ["The Cat saw $ 3", "It barked"]),
    ]:
        trees = read_trees(command.call("baseline", system, news, "--quiet")[0])
        assert [" ".join(tree.words()) for tree in trees] == words


def test_options_of_single_systems(command, news, center):
    kept, _ = command.call("baseline", "right", news, "--keep-punctuation", "--max-length", 2)
    assert kept == "(X (X It) (X (X barked) (X !)))\n"
    dollars, _ = command.call("baseline", "ccl", news, "--currency", "--quiet")
    assert "$" not in dollars
    sentences = [tree.words() for tree in read_trees(center.read_text())]
    for options, faithful in [((), True), (("--mended",), False)]:
        printed, _ = command.call("baseline", "ccl", center, *options)
        expected = CCL(faithful=faithful).fit(sentences).trees()
        assert printed.splitlines() == [str(tree) for tree in expected]
    one, _ = command.call("baseline", "random", center, "--seed", 1)
    two, _ = command.call("baseline", "random", center, "--seed", 2)
    assert one != two


def test_baselines_are_ready_to_be_scored(command, center, tmp_path):
    (tmp_path / "ccl.trees").write_text(command.call("baseline", "ccl", center)[0])
    shown, _ = command.call("evaluate", center, tmp_path / "ccl.trees", "--format", "json")
    compared, _ = command.call("compare", center, "--systems", "ccl", "--format", "json")
    evaluated, row = json.loads(shown)[0]["rows"][0], json.loads(compared)[0]["rows"][0]
    assert row["f1"] == evaluated["f1"]


def test_what_baseline_refuses(command, news):
    said = command.refuse("baseline", "bmmm", news)
    assert "no system 'bmmm'; choose from right, left, balanced, random, ccl, upparse-prlg" in said
    assert "dbpcfg," not in said
    assert "run it with `dbpcfg induce`" in command.refuse("baseline", "dbpcfg", news)
    assert "--mended is for ccl; upparse-prlg has no such option" in command.refuse(
        *("baseline", "upparse", news, "--mended")
    )
    assert (
        "--keep-punctuation is for branching trees; ccl handles punctuation itself"
        in command.refuse(*("baseline", "ccl", news, "--keep-punctuation"))
    )
    assert "nowhere.txt" in command.refuse("baseline", "ccl", "nowhere.txt")
