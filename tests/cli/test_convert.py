"""``convert`` and ``synth`` as a user meets them."""

from pathlib import Path

import pytest

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.trees.brackets import read_trees
from tests.cli.small import NEWS


def test_synth_prints_gold_trees(call):
    printed = call("synth", "center", "-n", "12", "--vocabulary", "3", "--seed", "4")
    assert printed[1] == ""
    assert list(read_trees(printed[0])) == synthetic_trees("center", 12, 3, 4)
    words = call("synth", "center", "-n", "12", "--vocabulary", "3", "--seed", "4", "--words")
    assert [line.split() for line in words[0].splitlines()] == [
        tree.words() for tree in synthetic_trees("center", 12, 3, 4)
    ]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.mrg").write_text(NEWS)
    return tmp_path


def test_convert(call, files):
    text = call("convert", files / "gold.mrg", "-", "--lowercase")
    assert text[0].splitlines() == ["the cat saw a big dog .", "it barked !", "well ..."]
    call("convert", files / "gold.mrg", files / "clean.trees", "--no-punctuation")
    assert (files / "clean.trees").read_text().splitlines() == [
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (DT a) (JJ big) (NN dog)))))",
        "(ROOT (S (NP (PRP It)) (VP (VBD barked))))",
        "(ROOT (INTJ (UH Well)))",
    ]
    rare = call("convert", files / "gold.mrg", "-", "--rare", "1", "--max-length", "2")
    assert rare[0].splitlines() == ["<*it> <*ed> <word>", "<*ll> <word>"]
    assert "1 left out (longer than 2 words)" in rare[1]


def test_skip_broken(call, refuse, tmp_path):
    (tmp_path / "bad.mrg").write_text("(S (N a))\n(S (N b)) Q9X\n(S (N c))\n")
    assert "bad.mrg:2:11: found 'Q9X' outside any bracket" in (
        message := refuse("convert", tmp_path / "bad.mrg", "-")
    )
    assert "--skip-broken" in message
    result = call("convert", tmp_path / "bad.mrg", "-", "--skip-broken")
    assert result[0].splitlines() == ["a", "c"]
    assert "Left out: broken trees (1)." in result[1]
    assert "bad.mrg:2:11: found 'Q9X' outside any bracket" in result[1]
    assert "skipped line 2" in result[1]
    assert call("convert", tmp_path / "bad.mrg", "-", "--skip-broken", "-q")[1] == ""


def test_encoding(call, refuse, tmp_path):
    (tmp_path / "old.mrg").write_bytes("(S (N \u0436\u0443\u043a))\n".encode("koi8-r"))
    assert "--encoding iso-8859-1" in refuse("convert", tmp_path / "old.mrg", "-")
    call("convert", tmp_path / "old.mrg", tmp_path / "new.txt", "--encoding", "koi8-r")
    assert (tmp_path / "new.txt").read_text(encoding="utf-8") == "\u0436\u0443\u043a\n"


GRAPH = (
    "#BOS 1\nThat\tP\t--\tOA\t500\nI\tP\t--\tSB\t501\nknow\tV\t--\tHD\t500\n.\t$.\t--\t--\t0\n"
    "#500\tVP\t--\tHD\t501\n#501\tS\t--\t--\t0\n#EOS 1\n"
)


def test_treebanks_with_gaps(call, tmp_path):
    """They are read, the changes are reported, and what is written is read back."""
    (tmp_path / "a.export").write_text(GRAPH)
    result = call("convert", tmp_path / "a.export", tmp_path / "a.trees")
    assert "Changed: constituents with gaps (1), children raised to close gaps (1)" in result[1]
    tree = "(ROOT (S (P That) (P I) (VP (V know))) ($. .))\n"
    assert (tmp_path / "a.trees").read_text() == tree
    assert call("convert", tmp_path / "a.trees", "-", "--to", "penn")[0] == tree
    result = call("evaluate", tmp_path / "a.export", tmp_path / "a.trees", "--format", "json")


def test_a_file_in_another_format_than_the_one_given(call, refuse, tmp_path):
    (tmp_path / "a.parsed").write_text(GRAPH)
    for format in ("penn", "sinica", "alpino", "tigerxml", "conllu", "chat"):
        message = refuse("convert", tmp_path / "a.parsed", "-", "--input-format", format)
        assert f"read as {format}, but it begins like export: give --input-format exp" in message
        assert "--skip-broken" not in message
    result = call("convert", tmp_path / "a.parsed", "-", "--input-format", "export")
    assert result[0] == "That I know .\n"


def test_several_files_are_a_pattern_in_quotes(refuse):
    message = refuse("convert", "a.cha", "b.cha", "out.txt")
    assert "quote a pattern" in message
    assert "dbpcfg convert '*.cha' out.txt" in message
