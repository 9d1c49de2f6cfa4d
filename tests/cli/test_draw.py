"""``draw`` as a user meets it."""

import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree
from tests.command import dbpcfg

TREES = """\
( (S (NP-SBJ (DT The) (NN <script>)) (VP (VBD saw) (NP (-NONE- *T*-1)) (NP & \\input{x} %)) (. .)))
(X (X a_b) -LRB-)
(UH well)
"""


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    (tmp_path / "gold.mrg").write_text(TREES)
    return tmp_path / "gold.mrg"


def test_trees_in_the_terminal(printed, trees):
    shown = printed("draw", trees, "-n", "1", "--from", "2")
    assert shown == "    X\n ┌──┴──┐\n X     │\n │     │\na_b  -LRB-\n"
    plain = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    in_ascii = dbpcfg("draw", trees, "-n", "1", "--from", "2", env=plain)
    assert ".--+--." in in_ascii.stdout
    everything = printed("draw", "-", stdin=TREES.encode())
    assert "<script>" in everything
    assert "well" in everything
    assert "NP-SBJ" not in everything
    raw = printed("draw", trees, "--raw")
    assert "NP-SBJ" in raw
    assert "*T*-1" in raw


def test_svg_of_one_tree_and_of_several(printed, refuse, trees, tmp_path):
    page = ET.fromstring(printed("draw", trees, "--as", "svg", "-n", "1", "--quiet"))
    shown = [element.text for element in page.iter("{http://www.w3.org/2000/svg}text")]
    assert shown[-7:] == ["The", "<script>", "saw", "&", r"\input{x}", "%", "."]
    out = tmp_path / "pictures"
    assert printed("draw", trees, "--as", "svg", "--out", out, "--quiet") == ""
    assert sorted(path.name for path in out.iterdir()) == ["1.svg", "2.svg", "3.svg"]
    assert "well" in (out / "3.svg").read_text()
    said = refuse("draw", trees, "--as", "svg", "--out", out, "--from", "2")
    assert "2.svg exists; --overwrite replaces it" in said
    printed("draw", trees, "--as", "svg", "--out", tmp_path / "one.svg", "-n", "1")
    assert (tmp_path / "one.svg").read_text().startswith("<svg")


def test_latex(printed, trees, tmp_path):
    shown = printed("draw", trees, "--as", "forest", "--quiet")
    assert shown.count(r"\begin{forest}") == 3
    assert r"[{\textbackslash{}input\{x\}}]" in shown
    assert r"[{a\_b}]" in shown
    assert r"[{\%}]" in shown
    printed("draw", trees, "--as", "qtree", "--document", "--out", tmp_path / "trees.tex")
    document = (tmp_path / "trees.tex").read_text()
    assert document.startswith(r"\documentclass")
    assert document.count(r"\Tree") == 3
    assert r"{\&}" in document


def test_brackets_for_evalb(printed, trees):
    lines = printed("draw", trees, "--as", "evalb", "--quiet").splitlines()
    assert lines[1:] == ["(TOP (X (X a_b) (XX -LRB-)))", "(TOP (UH well))"]
    (tree,) = read_trees(lines[0])
    assert tree.label == "TOP"
    assert all(tree.tags())


def test_the_trees_of_a_run(printed, tmp_path):
    (tmp_path / "trees.txt").write_text(f"{Tree('X', ['a', 'b'])}\n")
    (tmp_path / "chains.tsv").write_text("not a tree")
    assert printed("draw", tmp_path, "--as", "evalb") == "(TOP (X (XX a) (XX b)))\n"
