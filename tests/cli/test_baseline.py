"""``baseline`` as a user meets it."""

import json
from pathlib import Path

import pytest

from dbpcfg.corpus.tagged import read_tagged, tagged_format
from dbpcfg.systems.bmmm import BMMM
from dbpcfg.systems.ccl import CCL
from dbpcfg.trees.brackets import read_trees


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


# --- bmmm -------------------------------------------------------------------------------------

ODD = "The 1/2 dogs / bark .\nthe CATS sleep !\n? !\n"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    (tmp_path / "odd.txt").write_text(ODD)
    return tmp_path / "odd.txt"


def bmmm(command, *arguments) -> str:
    return command.call("baseline", "bmmm", *arguments, "--set", "iterations=12", "--quiet")[0]


def test_tagged_text_has_words_as_written(command, odd):
    lines = bmmm(command, odd, "--set", "classes=4").splitlines()
    pairs = [[token.rpartition("/")[::2] for token in line.split()] for line in lines]
    assert [" ".join(word for word, _ in line) for line in pairs] == ODD.splitlines()
    assert {tag for line in pairs for _, tag in line} <= set("0123")
    assert pairs[0][0][1] == pairs[1][0][1]  # one class for The and the
    expected = BMMM(4, 12).fit([line.lower().split() for line in ODD.splitlines()])
    assert [[tag for _, tag in line] for line in pairs] == [
        [*map(str, tags)] for tags in expected.tags()
    ]


def test_formats_of_tagged_text(command, odd, tmp_path):
    text = bmmm(command, odd)
    tokens = [token.rpartition("/")[::2] for token in text.split()]
    tsv = bmmm(command, odd, "--format", "tsv")
    assert [tuple(line.split("\t")) for line in tsv.splitlines() if line] == tokens
    conllu = bmmm(command, odd, "--format", "conllu")
    rows = [line.split("\t") for line in conllu.splitlines() if line]
    assert [(row[1], row[4]) for row in rows] == tokens
    assert {tuple(row[2:4] + row[5:]) for row in rows} == {("_",) * 7}
    (tmp_path / "tagged.conllu").write_text(conllu)
    back, _ = command.call("convert", tmp_path / "tagged.conllu", "-", "--to", "text", "--quiet")
    assert back == ODD
    for name, content in (("a.txt", text), ("b.txt", tsv), ("c.conllu", conllu)):
        (tmp_path / name).write_text(content)
        read = read_tagged(str(tmp_path / name), tagged_format(str(tmp_path / name)))
        assert [(word, tag) for one in read for word, tag in zip(one.words, one.tags)] == tokens
        assert [len(one.words) for one in read] == [6, 4, 2]


def test_options_of_bmmm(command, odd):
    assert bmmm(command, odd) == bmmm(command, odd, "--seed", 0)
    assert bmmm(command, odd) != bmmm(command, odd, "--seed", 1)
    words = [token.rpartition("/")[0] for token in bmmm(command, odd, "--no-punctuation").split()]
    assert words == [*["The", "1/2", "dogs", "bark", "the", "CATS", "sleep"], "?", "!"]
    assert bmmm(command, odd, "--set", "faithful=true").count("\n") == 3
    cased = bmmm(command, odd, "--no-lowercase", "--set", "classes=1")
    assert {token.rpartition("/")[2] for token in cased.split()} == {"0"}
    for option in (("--no-punctuation",), ("--format", "tsv")):
        said = command.refuse("baseline", "ccl", odd, *option)
        assert f"{option[0]} is for bmmm and dmv; ccl has no such option" in said
    said = command.refuse("baseline", "bmmm", odd, "--keep-punctuation")
    assert "bmmm handles punctuation itself" in said


CONLLU = """\
1\tDogs\t_\tNOUN\tNNS\t_\t2\tdep\t_\t_
2\tbark\t_\tVERB\tVBP\t_\t0\troot\t_\t_
3\t.\t_\tPUNCT\t.\t_\t2\tdep\t_\t_

1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_

"""


def test_dmv_reads_and_writes_conllu(command, tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU)
    shown, notes = command.call("baseline", "dmv", tmp_path / "a.conllu", "--format", "conllu")
    assert "dmv learns from parts of speech" in notes
    rows = [line.split("\t") for line in shown.splitlines() if line]
    given = [line.split("\t") for line in CONLLU.splitlines() if line]
    assert [row[1:5] for row in rows] == [row[1:5] for row in given]
    assert [row[0] for row in rows] == ["1", "2", "3", "1"]
    assert sorted(row[6] for row in rows[:3]).count("0") == 1
    bare, _ = command.call(
        *("baseline", "dmv", tmp_path / "a.conllu", "--format", "conllu", "--no-punctuation", "-q")
    )
    assert [line.split("\t")[1] for line in bare.splitlines() if line] == ["Dogs", "bark", "Yes"]


@pytest.mark.parametrize(("column", "label"), [("upos", "INTJ"), ("xpos", "UH"), ("form", "yes")])
def test_dmv_prints_trees_labelled_by_tags(command, tmp_path, column, label):
    (tmp_path / "a.conllu").write_text(CONLLU)
    shown, _ = command.call("baseline", "dmv", tmp_path / "a.conllu", "--tags", column, "-q")
    first, second = read_trees(shown)
    assert first.words() == ["Dogs", "bark", "."]
    assert str(second) == f"({label} Yes)"


def test_options_of_dmv(command, odd):
    _, notes = command.call("baseline", "dmv", odd)
    assert "dmv learns from words, as the text has no parts of speech" in notes
    said = command.refuse("baseline", "dmv", odd, "--tags", "xpos")
    assert "odd.txt:1: the sentence has no tags in column XPOS" in said
    assert "dmv prints trees, conllu, not tsv" in command.refuse(
        *("baseline", "dmv", odd, "--format", "tsv")
    )
    assert "--tags is for dmv; bmmm has no" in command.refuse(
        *("baseline", "bmmm", odd, "--tags", "form")
    )
