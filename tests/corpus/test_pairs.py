"""Files of minimal pairs."""

import gzip
import json

import pytest

from dbpcfg.corpus.pairs import MinimalPair, pairs_for, read_pairs
from dbpcfg.errors import DbpcfgError

BLIMP = [
    {"sentence_good": "The dogs bark.", "sentence_bad": "The dogs barks.", "UID": "agreement"},
    {"sentence_good": "Who left?", "sentence_bad": "Left who?", "UID": "questions", "pair_id": 1},
]


def texts(pairs):
    return [(" ".join(p.good.words), " ".join(p.bad.words), p.paradigm) for p in pairs]


def write(folder, text, name):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def json_lines(items):
    return "".join(json.dumps(item) + "\n" for item in items)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz", "a.txt"])
def test_blimp(tmp_path, name):
    found = read_pairs([write(tmp_path, json_lines(BLIMP), name)])
    assert texts(found) == [
        ("The dogs bark.", "The dogs barks.", "agreement"),
        ("Who left?", "Left who?", "questions"),
    ]
    assert found[1].good.line == 2


@pytest.mark.parametrize("name", ["agreement.txt", "agreement.txt.gz", "agreement"])
def test_zorro(tmp_path, name):
    text = "the dogs barks .\nthe dogs bark .\n\na cats .\na cat .\n"
    found = read_pairs([write(tmp_path, text, name)])
    assert texts(found) == [
        ("the dogs bark .", "the dogs barks .", "agreement"),
        ("a cat .", "a cats .", "agreement"),
    ]
    assert (found[1].bad.line, found[1].good.line) == (4, 5)


def test_tables(tmp_path):
    path = write(tmp_path, 'n;yes;no;kind\n1;"a b";b a;order\n2;c d;d c;rest\n', "t.csv")
    assert texts(read_pairs([path], "yes", "no")) == [("a b", "b a", "t"), ("c d", "d c", "t")]
    found = read_pairs([path], "yes", "no", "kind")
    assert [pair.paradigm for pair in found] == ["order", "rest"]
    blimp = write(tmp_path, "UID\tsentence_good\tsentence_bad\nx\ta\tb\n", "blimp.tsv")
    assert texts(read_pairs([blimp])) == [("a", "b", "x")]
    unnamed = write(tmp_path, "yes,no\na,b\n", "table")
    assert texts(read_pairs([unnamed], "yes", "no")) == [("a", "b", "table")]
    keys = write(tmp_path, json_lines([{"yes": "a", "no": "b"}]), "keys.jsonl")
    assert texts(read_pairs([keys], "yes", "no")) == [("a", "b", "keys")]


def test_directories_and_patterns(tmp_path):
    for name in ("b.txt", "a.txt", "notes.md", ".hidden.txt"):
        write(tmp_path, "x y\ny x\n", name)
    assert [pair.paradigm for pair in read_pairs([tmp_path])] == ["a", "b"]
    assert len(read_pairs([tmp_path / "*.txt"])) == 2
    with pytest.raises(DbpcfgError, match="given twice"):
        read_pairs([tmp_path, tmp_path / "a.txt"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DbpcfgError, match=r"there are no files in this directory.*\.jsonl"):
        read_pairs([tmp_path / "empty"])


@pytest.mark.parametrize(
    ("name", "text", "columns", "message"),
    [
        ("a.txt", "x\ny\nz\n", (), r"a\.txt: found 3 lines, expected pairs"),
        ("a.txt", "x\n", (), r"a\.txt: found 1 line, expected pairs"),
        ("a.jsonl", json_lines(BLIMP) + "{\n", (), r"a\.jsonl:3: found '\{', expected a JSON"),
        ("a.jsonl", '{"sentence_good": "x"}', (), r"a\.jsonl:1: no text under 'sentence_bad'"),
        ("a.jsonl", '{"a": " ", "b": "x"}', ("a", "b"), r"a\.jsonl:1: no text under 'a'"),
        ("a.csv", "a,b\nx,y\n", (), "no column 'sentence_good', which --good names"),
        ("a.csv", "a,b\nx,y\n", ("a", "c"), "no column 'c', which --bad names.*'a', 'b'"),
        ("a.csv", "a,b\nx,y\n", ("a", "b", "p"), "no column 'p', which --paradigm names"),
        ("a.csv", "a,b\nx,\n", ("a", "b"), r"a\.csv:2: the cell of 'b' is empty"),
        ("a.csv", "a,b\nx\n", ("a", "b"), r"a\.csv:2: found 1 cell, expected 2"),
        ("a.csv", "a,b\n", ("a", "b"), "there is no pair in this file"),
        ("a.csv", "a,b\nx,y\n", ("a",), "give both --good and --bad"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, name, text, columns, message):
    with pytest.raises(DbpcfgError, match=message):
        read_pairs([write(tmp_path, text, name)], *columns)


def test_pairs_in_python(tmp_path):
    path = write(tmp_path, "x y\ny x\n", "a.txt")
    (pair,) = pairs_for(path)
    assert pairs_for([pair]) == pairs_for([str(path)]) == [pair]
    (made,) = pairs_for([("the dogs bark", "the dogs barks")])
    assert isinstance(made, MinimalPair)
    assert made.bad.words == ("the", "dogs", "barks")
    for wrong in ([("x", " ")], ["x", ("y", "z")], [("x", "y", "z")], [3]):
        with pytest.raises(DbpcfgError, match="pair 1 is"):
            pairs_for(wrong)
