"""CESS and AnCora brackets, on made-up sentences."""

import pytest

from dbpcfg.corpus.punctuation import punctuation_mask
from dbpcfg.corpus.readers.cess import read_cess
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Notes
from dbpcfg.errors import DbpcfgError, TreeSyntaxError

BANK = """
(
  (S
    (sn-SUJ
      (da0ms0 El el)
      (ncms000 perro perro))
    (grup.verb
      (vmip3s0 ladra ladrar))
    (Fpa -Fpa- -Fpa-)
    (rg hoy hoy)
    (Fpt -Fpt- -Fpt-)
    (Fp . .)))
(
  (S
    (sn.e-SUJ *0*)
    (vmip3p0 cantan cantar)))
"""


def test_words_and_tags():
    first, second = read_cess(BANK, "f")
    assert first.words == ("El", "perro", "ladra", "-LRB-", "hoy", "-RRB-", ".")
    assert first.tags == ("da0ms0", "ncms000", "vmip3s0", "Fpa", "rg", "Fpt", "Fp")
    assert str(first.tree).startswith("(ROOT (S (sn (da0ms0 El) (ncms000 perro)) (grup.verb (vmip")
    assert punctuation_mask(first) == (False, False, False, True, False, True, True)
    assert str(second.tree) == "(ROOT (S (vmip3p0 cantan)))"
    assert (first.line, second.line) == (2, 13)
    kept = list(read_cess(BANK, "f", function_tags=True, empty_elements=True))[1]
    assert str(kept.tree) == "(ROOT (S (sn.e-SUJ *0*) (vmip3p0 cantan)))"


def test_longer_leaves_are_kept_and_counted():
    notes = Notes()
    (sentence,) = read_cess("(S (X a b c))", notes=notes)
    assert sentence.words == ("a", "b", "c")
    assert notes.dropped == {"leaves of more than a word and its lemma (kept as words)": 1}


def test_broken_trees():
    notes = Notes()
    assert len(list(read_cess(BANK + "(S (a b b)\n", "f", broken="skip", notes=notes))) == 2
    assert [part.line for part in notes.skipped] == [17]
    with pytest.raises(TreeSyntaxError, match="--skip-broken"):
        list(read_cess(BANK + "(S (a b b)\n", "f"))


def test_files(tmp_path):
    (tmp_path / "a.tbf").write_bytes(BANK.replace("El", "\u00c9l").encode("latin-1"))
    with pytest.raises(DbpcfgError, match="--encoding iso-8859-1"):
        read(tmp_path)
    corpus = read(tmp_path, encoding="latin-1")
    assert corpus.formats == ("cess",)
    assert corpus[0].words[0] == "\u00c9l"
    assert len(corpus.trees()) == 2
    (tmp_path / "b").write_text(BANK)
    assert read(tmp_path / "b").formats == ("cess",)
