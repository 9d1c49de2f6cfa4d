"""``convert`` and ``synth`` as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.trees.brackets import read_trees
from tests.cli.small import NEWS
from tests.command import dbpcfg, refused


def test_synth_prints_gold_trees():
    printed = dbpcfg("synth", "center", "-n", "12", "--vocabulary", "3", "--seed", "4")
    assert printed.stderr == ""
    assert list(read_trees(printed.stdout)) == synthetic_trees("center", 12, 3, 4)
    words = dbpcfg("synth", "center", "-n", "12", "--vocabulary", "3", "--seed", "4", "--words")
    assert [line.split() for line in words.stdout.splitlines()] == [
        tree.words() for tree in synthetic_trees("center", 12, 3, 4)
    ]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.mrg").write_text(NEWS)
    return tmp_path


def test_convert(files):
    text = dbpcfg("convert", files / "gold.mrg", "-", "--lowercase")
    assert text.stdout.splitlines() == ["the cat saw a big dog .", "it barked !", "well ..."]
    trees = dbpcfg("convert", files / "gold.mrg", files / "clean.trees", "--no-punctuation")
    assert trees.returncode == 0
    assert (files / "clean.trees").read_text().splitlines() == [
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (DT a) (JJ big) (NN dog)))))",
        "(ROOT (S (NP (PRP It)) (VP (VBD barked))))",
        "(ROOT (INTJ (UH Well)))",
    ]
    assert "exists; --overwrite" in refused("convert", files / "gold.mrg", files / "clean.trees")
    assert "cannot be written" in refused(
        "convert", files / "gold.mrg", files / "missing" / "clean.trees"
    )
    rare = dbpcfg("convert", files / "gold.mrg", "-", "--rare", "1", "--max-length", "2")
    assert rare.stdout.splitlines() == ["<*it> <*ed> <word>", "<*ll> <word>"]
    assert "1 left out (longer than 2 words)" in rare.stderr


def test_skip_broken(tmp_path):
    (tmp_path / "bad.mrg").write_text("(S (N a))\n(S (N b)) Q9X\n(S (N c))\n")
    assert "bad.mrg:2:11: found 'Q9X' outside any bracket" in (
        message := refused("convert", tmp_path / "bad.mrg", "-")
    )
    assert "--skip-broken" in message
    result = dbpcfg("convert", tmp_path / "bad.mrg", "-", "--skip-broken")
    assert result.stdout.splitlines() == ["a", "c"]
    assert "Left out: broken trees (1)." in result.stderr
    assert "bad.mrg:2:11: found 'Q9X' outside any bracket" in result.stderr
    assert "skipped line 2" in result.stderr
    assert dbpcfg("convert", tmp_path / "bad.mrg", "-", "--skip-broken", "-q").stderr == ""


def test_encoding(tmp_path):
    (tmp_path / "old.mrg").write_bytes("(S (N caf\u00e9))\n".encode("latin-1"))
    assert "--encoding iso-8859-1" in refused("convert", tmp_path / "old.mrg", "-")
    result = dbpcfg("convert", tmp_path / "old.mrg", tmp_path / "new.txt", "--encoding", "latin-1")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "new.txt").read_text(encoding="utf-8") == "caf\u00e9\n"
    assert "no encoding 'klingon'" in refused(
        "convert", tmp_path / "old.mrg", "-", "--encoding", "klingon"
    )


GRAPH = (
    "#BOS 1\nThat\tP\t--\tOA\t500\nI\tP\t--\tSB\t501\nknow\tV\t--\tHD\t500\n.\t$.\t--\t--\t0\n"
    "#500\tVP\t--\tHD\t501\n#501\tS\t--\t--\t0\n#EOS 1\n"
)


def test_treebanks_with_gaps(tmp_path):
    """They are read, the changes are reported, and what is written is read back."""
    (tmp_path / "a.export").write_text(GRAPH)
    result = dbpcfg("convert", tmp_path / "a.export", tmp_path / "a.trees")
    assert "Changed: constituents with gaps (1), children raised to close gaps (1)" in result.stderr
    tree = "(ROOT (S (P That) (P I) (VP (V know))) ($. .))\n"
    assert (tmp_path / "a.trees").read_text() == tree
    assert dbpcfg("convert", tmp_path / "a.trees", "-", "--to", "penn").stdout == tree
    result = dbpcfg("evaluate", tmp_path / "a.export", tmp_path / "a.trees", "--format", "json")
    assert result.returncode == 0, result.stderr


def test_a_file_in_another_format_than_the_one_given(tmp_path):
    (tmp_path / "a.parsed").write_text(GRAPH)
    for format in ("penn", "sinica", "alpino", "tigerxml", "conllu", "chat"):
        message = refused("convert", tmp_path / "a.parsed", "-", "--input-format", format)
        assert f"read as {format}, but it begins like export: give --input-format exp" in message
        assert "--skip-broken" not in message
    result = dbpcfg("convert", tmp_path / "a.parsed", "-", "--input-format", "export")
    assert result.stdout == "That I know .\n"
