"""``export`` as a user meets it."""

import os

import pytest

from dbpcfg.grammar.bounded import bounded_pcfg
from dbpcfg.grammar.exchange import read_grammar
from dbpcfg.model.files import load
from tests.cli.small import ODD_WORDS
from tests.grammar.tables import assert_same


@pytest.mark.parametrize("name", ["g.tsv", "g.pcfg"])
def test_what_is_exported_is_the_grammar(call, printed, odd_model, tmp_path, name):
    note = "Learned under a memory bound of 2, which these rules do not have."
    assert call("export", tmp_path / "model.npz", tmp_path / name) == ("", note + "\n")
    assert note in (tmp_path / name).read_text()
    copy = read_grammar(tmp_path / name)
    if name == "g.pcfg":  # NLTK's notation has no place for the order of words
        assert set(copy.vocabulary.words) == set(ODD_WORDS)
    else:
        assert_same(copy, odd_model.grammar)
        again = printed("export", tmp_path / name, "-", "--as", name[2:], "--quiet")
        assert_same(load(tmp_path / name).grammar, odd_model.grammar)
        (tmp_path / f"again.{name[2:]}").write_text(again)
        assert_same(read_grammar(tmp_path / f"again.{name[2:]}"), odd_model.grammar)


def test_a_run_can_be_exported(printed, odd_model, tmp_path):
    (tmp_path / "run").mkdir()
    os.rename(tmp_path / "model.npz", tmp_path / "run" / "model.npz")
    shown = printed("export", tmp_path / "run", "-")
    assert shown.splitlines()[1] == "kind\tparent\tleft\tright\tprobability"
    assert shown.splitlines()[2] == f"root\tT\tX0\t\t{float(odd_model.grammar.root[0])!r}"


def test_rules_below_a_threshold_are_left_out_and_that_is_said(call, refuse, odd_model, tmp_path):
    _, err = call("export", tmp_path / "model.npz", tmp_path / "g.tsv", "--threshold", "0.05")
    assert "less probable than 0.05; the others of each symbol were scaled to sum to 1" in err
    assert err.splitlines()[1] in (tmp_path / "g.tsv").read_text()
    short = read_grammar(tmp_path / "g.tsv")
    assert (short.binary > 0).sum() == (odd_model.grammar.binary >= 0.05).sum()
    said = refuse("export", tmp_path / "model.npz", "-", "--threshold", "0.9")
    assert "the greatest threshold that leaves every symbol a rule is" in said
    assert "above 0" in refuse("export", tmp_path / "model.npz", "-", "--threshold", "0")


def test_the_grammar_under_a_bound_is_written_out(call, odd_model, tmp_path):
    _, err = call("export", tmp_path / "model.npz", tmp_path / "g.tsv", "-D", "1")
    assert err == "The grammar under a memory bound of 1, written out.\n"
    assert_same(read_grammar(tmp_path / "g.tsv"), bounded_pcfg(odd_model.grammar, 1))


def test_nothing_is_overwritten_by_accident(printed, refuse, odd_model, tmp_path):
    (tmp_path / "g.tsv").write_text("precious")
    said = refuse("export", tmp_path / "model.npz", tmp_path / "g.tsv")
    assert "g.tsv exists; --overwrite replaces it" in said
    assert (tmp_path / "g.tsv").read_text() == "precious"
    printed("export", tmp_path / "model.npz", tmp_path / "g.tsv", "--overwrite", "--quiet")
    assert_same(read_grammar(tmp_path / "g.tsv"), odd_model.grammar)
