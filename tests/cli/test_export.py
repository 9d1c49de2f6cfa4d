"""``export``, ``draw`` and ``bound`` as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.bounded import bounded_pcfg
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.exchange.formats import read_grammar, write
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model, load
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree
from tests.command import dbpcfg, refused
from tests.grammar.tables import assert_same
from tests.strategies import random_grammar

WORDS = ("<script>", "&", r"\input{x}", "%", "_", "(", "[", "]", "é", '"')
TREES = """\
( (S (NP-SBJ (DT The) (NN <script>)) (VP (VBD saw) (NP (-NONE- *T*-1)) (NP & \\input{x} %)) (. .)))
(X (X a_b) -LRB-)
(UH well)
"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """A model of three categories over words that mean something elsewhere, as a file."""
    drawn = random_grammar(3, len(WORDS), 0.5, 2)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(WORDS))
    model = Model(grammar, depth=2)
    model.save(tmp_path / "model.npz")
    return model


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    (tmp_path / "gold.mrg").write_text(TREES)
    return tmp_path / "gold.mrg"


def printed(*arguments: object, **options) -> str:
    result = dbpcfg(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


# --- export ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g.tsv", "g.json", "g.pcfg"])
def test_what_is_exported_is_the_grammar(model, tmp_path, name):
    result = dbpcfg("export", tmp_path / "model.npz", tmp_path / name)
    assert (result.returncode, result.stdout) == (0, "")
    note = "Learned under a memory bound of 2, which these rules do not have."
    assert result.stderr == note + "\n"
    assert note in (tmp_path / name).read_text()
    copy = read_grammar(tmp_path / name)
    if name == "g.pcfg":  # NLTK's notation has no place for the order of words
        assert set(copy.vocabulary.words) == set(WORDS)
    else:
        assert_same(copy, model.grammar)
        again = printed("export", tmp_path / name, "-", "--as", name[2:], "--quiet")
        assert_same(load(tmp_path / name).grammar, model.grammar)
        (tmp_path / f"again.{name[2:]}").write_text(again)
        assert_same(read_grammar(tmp_path / f"again.{name[2:]}"), model.grammar)


def test_a_run_can_be_exported(model, tmp_path):
    (tmp_path / "run").mkdir()
    os.rename(tmp_path / "model.npz", tmp_path / "run" / "model.npz")
    shown = printed("export", tmp_path / "run", "-")
    assert shown.splitlines()[1] == "kind\tparent\tleft\tright\tprobability"
    assert shown.splitlines()[2] == f"root\tT\tX0\t\t{float(model.grammar.root[0])!r}"


def test_rules_below_a_threshold_are_left_out_and_that_is_said(model, tmp_path):
    result = dbpcfg("export", tmp_path / "model.npz", tmp_path / "g.tsv", "--threshold", "0.05")
    assert (
        "rules, those less probable than 0.05; the others of each symbol were scaled to sum to 1"
        in (result.stderr)
    )
    assert result.stderr.splitlines()[1] in (tmp_path / "g.tsv").read_text()
    short = read_grammar(tmp_path / "g.tsv")
    assert (short.binary > 0).sum() == (model.grammar.binary >= 0.05).sum()
    said = refused("export", tmp_path / "model.npz", "-", "--threshold", "0.9")
    assert "the greatest threshold that leaves every symbol a rule is" in said
    assert "above 0" in refused("export", tmp_path / "model.npz", "-", "--threshold", "0")


def test_the_grammar_under_a_bound_is_written_out(model, tmp_path):
    result = dbpcfg("export", tmp_path / "model.npz", tmp_path / "g.tsv", "-D", "1")
    assert result.stderr == "The grammar under a memory bound of 1, written out.\n"
    assert_same(read_grammar(tmp_path / "g.tsv"), bounded_pcfg(model.grammar, 1))


def test_nothing_is_overwritten_by_accident(model, tmp_path):
    (tmp_path / "g.tsv").write_text("precious")
    said = refused("export", tmp_path / "model.npz", tmp_path / "g.tsv")
    assert "g.tsv exists; --overwrite replaces it" in said
    assert (tmp_path / "g.tsv").read_text() == "precious"
    printed("export", tmp_path / "model.npz", tmp_path / "g.tsv", "--overwrite", "--quiet")
    assert_same(read_grammar(tmp_path / "g.tsv"), model.grammar)


def test_exports_that_cannot_be(model, tmp_path):
    npz = tmp_path / "model.npz"
    assert "expected .tsv, .json, .pcfg, .nltk" in refused("export", npz, tmp_path / "g.txt")
    assert "'tsv', 'json', 'nltk'" in refused("export", npz, "-", "--as", "xml")
    assert "cannot be written: No such file" in refused("export", npz, tmp_path / "no" / "g.tsv")
    assert "cannot be read" in refused("export", tmp_path / "other.npz", "-")
    (tmp_path / "broken.tsv").write_text(
        "kind\tparent\tleft\tright\tprobability\nword\tN\ta\t\tx\n"
    )
    said = refused("export", tmp_path / "broken.tsv", "-")
    assert "broken.tsv:2: found 'x', expected a probability from 0 to 1" in said
    both = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary(("'\"",)))
    write(both, tmp_path / "both.tsv")
    assert "NLTK cannot read the word" in refused(
        "export", tmp_path / "both.tsv", "-", "--as", "nltk"
    )


# --- draw -----------------------------------------------------------------------------------------


def test_trees_in_the_terminal(trees):
    shown = printed("draw", trees, "-n", "1", "--from", "2", env={**os.environ, "PYTHONUTF8": "1"})
    assert shown == "    X\n ┌──┴──┐\n X     │\n │     │\na_b  -LRB-\n"
    plain = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert ".--+--." in printed("draw", trees, "-n", "1", "--from", "2", env=plain)
    everything = printed("draw", "-", input=TREES, env={**os.environ, "PYTHONUTF8": "1"})
    assert "<script>" in everything
    assert "well" in everything
    assert "NP-SBJ" not in everything
    assert "NP-SBJ" in printed("draw", trees, "--raw")
    assert "*T*-1" in printed("draw", trees, "--raw")


def test_svg_of_one_tree_and_of_several(trees, tmp_path):
    page = ET.fromstring(printed("draw", trees, "--as", "svg", "-n", "1", "--quiet"))
    shown = [element.text for element in page.iter("{http://www.w3.org/2000/svg}text")]
    assert shown[-7:] == ["The", "<script>", "saw", "&", r"\input{x}", "%", "."]
    assert "3 pictures do not fit into one file" in refused("draw", trees, "--as", "svg")
    out = tmp_path / "pictures"
    assert printed("draw", trees, "--as", "svg", "--out", out, "--quiet") == ""
    assert sorted(path.name for path in out.iterdir()) == ["1.svg", "2.svg", "3.svg"]
    assert "well" in (out / "3.svg").read_text()
    said = refused("draw", trees, "--as", "svg", "--out", out, "--from", "2")
    assert "2.svg exists; --overwrite replaces it" in said
    printed("draw", trees, "--as", "svg", "--out", tmp_path / "one.svg", "-n", "1")
    assert (tmp_path / "one.svg").read_text().startswith("<svg")


def test_latex(trees, tmp_path):
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


def test_brackets_for_evalb(trees):
    lines = printed("draw", trees, "--as", "evalb", "--quiet").splitlines()
    assert lines[1:] == ["(TOP (X (X a_b) (XX -LRB-)))", "(TOP (UH well))"]
    (tree,) = read_trees(lines[0])
    assert tree.label == "TOP"
    assert all(tree.tags())


def test_the_trees_of_a_run(tmp_path):
    (tmp_path / "trees.txt").write_text(f"{Tree('X', ['a', 'b'])}\n")
    (tmp_path / "chains.tsv").write_text("not a tree")
    assert printed("draw", tmp_path, "--as", "evalb") == "(TOP (X (XX a) (XX b)))\n"


def test_drawings_that_cannot_be(trees, tmp_path):
    assert "has 3 trees, so none from number 4 on" in refused("draw", trees, "--from", "4", "-q")
    assert "none.mrg cannot be read: No such file" in refused("draw", tmp_path / "none.mrg")
    assert "--document is for LaTeX" in refused("draw", trees, "--document", "-q")
    assert "'svg'" in refused("draw", trees, "--as", "png")
    assert "-n" in refused("draw", trees, "-n", "0")
    (tmp_path / "broken.mrg").write_text("(S (NP a)")
    assert "broken.mrg:1:1: found the end of the text" in refused("draw", tmp_path / "broken.mrg")
    (tmp_path / "text.txt").write_text("just some words\n")
    assert "outside any bracket" in refused("draw", tmp_path / "text.txt")
    (tmp_path / "file").write_text("")
    said = refused("draw", trees, "--as", "svg", "--out", tmp_path / "file" / "x", "-q")
    assert "cannot be made: Not a directory" in said
    said = refused("draw", trees, "--as", "evalb", "--out", tmp_path / "no" / "x", "-q")
    assert "cannot be written: No such file" in said


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    (tmp_path / "many.mrg").write_text("(X (X a) (X b))\n" * 20_000)
    command = f"{sys.executable} -m dbpcfg draw {tmp_path / 'many.mrg'} --as evalb | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("(TOP (X (X a) (X b)))\n", "")


# --- bound ----------------------------------------------------------------------------------------


def test_what_bounds_keep(model, tmp_path):
    shown = json.loads(
        printed("bound", tmp_path / "model.npz", "--depths", "1,2, 4", "--format", "json")
    )
    rows = shown[0]["rows"]
    assert [row["depth"] for row in rows] == [1, 2, 4, "none"]
    for row in rows[:-1]:
        mass = fitting_mass(model.grammar, containment(model.grammar, row["depth"]))
        assert row["derivations"] == pytest.approx(mass, rel=1e-12)
    text = printed("bound", tmp_path / "model.npz")
    assert text.startswith("Probability that a bound on memory keeps\ndepth  fits,")
    assert r"\toprule" in printed("bound", tmp_path / "model.npz", "--format", "latex")


def test_h_and_the_bounded_rules(model, tmp_path):
    arguments = ("bound", tmp_path / "model.npz", "--format", "json", "--depths", "1,2")
    tables = json.loads(printed(*arguments, "--show", "h"))
    assert [table["title"] for table in tables] == [
        "h(s,d,c) with a bound of 1",
        "h(s,d,c) with a bound of 2",
    ]
    assert tables[1]["rows"][0]["l3"] == pytest.approx(containment(model.grammar, 2)[4, 0])
    few, all_rules = (
        json.loads(printed(*arguments, "--show", "grammar", "--top", top))[0]["rows"]
        for top in (2, 0)
    )
    assert len(few) == 4 * 2
    assert len(all_rules) == 3 + 3 * (9 + len(WORDS))
    latex = printed(
        "bound", tmp_path / "model.npz", "--show", "grammar", "--format", "latex", "--top", 0
    )
    assert r"\textbackslash{}input\{x\}" in latex


def test_bounds_that_cannot_be(model, tmp_path):
    npz = tmp_path / "model.npz"
    for depths in ("1,", "one", "-1", "²"):
        assert "whole numbers with commas" in refused("bound", npz, "--depths", depths)
    assert "at least 1, got 0" in refused("bound", npz, "--depths", "0")
    assert "at most 1,000, got 999,999,999" in refused("bound", npz, "--depths", "999999999")
    assert "'mass', 'h', 'grammar'" in refused("bound", npz, "--show", "everything")
    endless = Grammar(np.ones(1), np.ones((1, 1, 1)), np.zeros((1, 1)), Vocabulary(("a",)))
    write(endless, tmp_path / "endless.tsv")
    assert "No derivation of this grammar ends" in printed("bound", tmp_path / "endless.tsv")
    said = refused("bound", tmp_path / "endless.tsv", "--show", "grammar")
    assert "no tree of this grammar fits a depth bound of 1" in said
