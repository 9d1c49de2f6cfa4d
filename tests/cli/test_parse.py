"""``parse`` as a user meets it: in files, pipes and terminals."""

import gzip
import os
import pty
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dbpcfg.trees.brackets import read_tree, read_trees
from dbpcfg.trees.printing import draw
from tests.command import COMMAND
from tests.stores import memory_depth

TEXT = ["A1 b1 c1", "", "b2 (a2) C2 zzz", "c3", "", "a1 b1 b2 c2"]


SENTENCES = [line for line in TEXT if line]


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(TEXT) + "\n")
    return path


def aligned(trees) -> str:
    """Trees on the lines of their sentences."""
    left = iter(trees)
    return "".join(f"{next(left)}\n" if line else "\n" for line in TEXT)


# --- one tree per line ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mbr", "mbr-chain", "viterbi", "sample"])
def test_a_tree_on_the_line_of_its_sentence(call, center_run, center_model, text, method):
    expected = aligned(
        center_model.parse(SENTENCES, method, seed=3, quiet=True)
    )  # compiles the kernels first
    out, err = call("parse", center_run, text, "--method", method, "--seed", 3)
    assert out == expected
    assert "does not know 1 of 12 words because punctuation is attached, such as '(a2)'" in err
    assert call("parse", center_run, text, "--method", method, "--seed", 3, "-q") == (out, "")
    words = [tree.words() for tree in read_trees(out)]
    assert words[:2] == [["A1", "b1", "c1"], ["b2", "-LRB-a2-RRB-", "C2", "zzz"]]


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input(call, center_run, text, arguments):
    out, _ = call("parse", center_run, *arguments, stdin=text.read_bytes())
    assert out == call("parse", center_run, text)[0]
    assert call("parse", center_run, *arguments, stdin=b"") == ("", "")
    assert call("parse", center_run, *arguments, stdin=b"\n\n") == ("\n\n", "")


def test_sentences_in_place_of_files(call, center_run, center_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trees = center_model.parse(SENTENCES[:2], quiet=True)
    out, err = call("parse", center_run, *SENTENCES[:2])
    assert out.splitlines() == list(map(str, trees))
    assert SENTENCES[0] in err
    assert "read as a sentence" in err
    assert call("parse", center_run, *SENTENCES[:2], "-q") == (out, "")
    Path(SENTENCES[0]).write_text("c3\n")  # a file of that name is a file
    of_file, err = call("parse", center_run, SENTENCES[0])
    assert of_file == call("parse", center_run, stdin=b"c3\n")[0] != out
    assert "sentence" not in err


def test_several_files_and_formats(call, center_run, text, tmp_path):
    (tmp_path / "more.txt.gz").write_bytes(gzip.compress(b"a1 b1\n"))
    (tmp_path / "trees.mrg").write_text("(S (A a1) (B b1))\n")
    out, _ = call("parse", center_run, tmp_path / "more.txt.gz", text, tmp_path / "trees.mrg")
    assert out.splitlines()[1:-1] == call("parse", center_run, text)[0].splitlines()
    assert out.splitlines()[0] == out.splitlines()[-1]


def test_the_model_file_and_another_bound(call, center_run, center_model, text):
    for given, bound in (("1", 1), ("none", None)):
        out, _ = call(
            "parse", center_run / "model.npz", text, "--depth", given, "--method", "viterbi"
        )
        assert out == aligned(
            replace(center_model, depth=bound).parse(SENTENCES, "viterbi", quiet=True)
        )


def test_a_text_of_unknown_words(call, center_run):
    for line, said in ((b"x1 y1 b1", "note: the model does not know 2 of 3 words"), (b"x1 b1", "")):
        _, err = call("parse", center_run, "--unknown", "0.1", stdin=line)
        assert said in err
        assert ("not know" in err) == bool(said)
    assert call("parse", center_run, "--unknown", "0.1", "-q", stdin=b"x1")[1] == ""


def test_pictures(call, center_run, center_model):
    out, _ = call("parse", center_run, "--draw", stdin=b"a1 b1 c1\n")
    assert out == draw(center_model.parse(["a1 b1 c1"])[0]) + "\n\n"


def test_long_lines_and_short_ones(call, center_run):
    long = "a1 b1 c1 " * 30
    out, err = call("parse", center_run, stdin=f"{long}\nc1\n{'a1 ' * 1001}\n".encode())
    trees = list(read_trees(out))
    assert [len(tree) for tree in trees] == [90, 1, 1001]
    assert trees[0].is_binary
    assert trees[2].label == "X"
    assert "1 sentence has probability zero, or over 1,000 words, and a flat tree" in err
    assert "first <stdin>:3" in err
    assert "--unknown" not in err


def test_a_text_of_any_length_is_parsed_piece_by_piece(center_run):
    """The first trees come while the rest of the text is not there yet."""
    command = [*COMMAND, "parse", center_run, "--method", "sample", "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"a1 b1 c1\n" * 2500)
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(2000)]
        assert len(set(first)) > 1
        rest, _ = process.communicate(b"c1\n")
    assert len(rest.splitlines()) == 501
    assert process.returncode == 0


def test_what_is_typed_is_answered_at_once(center_run, center_model):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1"}
    with subprocess.Popen(
        [*COMMAND, "parse", str(center_run)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        os.close(theirs)
        assert "Ctrl-D ends" in process.stderr.readline()
        for line in ("a1 b1 c1", "c1"):
            os.write(ours, f"{line}\n".encode())
            assert process.stdout.readline() == f"{center_model.parse([line])[0]}\n"
        os.write(ours, b"\x04")
        assert process.wait(timeout=600) == 0
    os.close(ours)


# --- tables ---------------------------------------------------------------------------------------


def rows(out: str) -> list[dict[str, str]]:
    head, *lines = out.splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]


@pytest.mark.parametrize("method", ["viterbi", "sample"])
def test_several_trees(call, center_run, center_model, text, method):
    found = rows(call("parse", center_run, text, "-n", 3, "--method", method, "--seed", 5)[0])
    expected = center_model.parses(SENTENCES, 3, method, seed=5, quiet=True)
    assert len(found) == 12
    for row, (number, rank) in zip(found, [(n, r) for n in range(4) for r in range(3)]):
        one = expected[number][rank]
        assert read_tree(row["tree"]).spans() == one.tree.spans()
        assert float(row["log_probability"]) == pytest.approx(one.log_probability, rel=1e-10)
        assert float(row["posterior"]) == pytest.approx(one.posterior, rel=1e-10)
        place = (str(text), (1, 3, 4, 6)[number], number + 1, rank + 1)
        assert [row[name] for name in ("source", "line", "sentence", "rank")] == list(
            map(str, place)
        )


def test_scores_of_one_tree_and_samples_by_the_seed(call, center_run, text):
    found = rows(call("parse", center_run, text, "--scores")[0])
    trees = call("parse", center_run, text)[0].splitlines()
    assert [row["tree"] for row in found] == [line for line in trees if line]
    arguments = ("parse", center_run, text, "--method", "sample", "-n", 50)
    assert call(*arguments)[0] == call(*arguments, "--threads", 2)[0]
    assert call(*arguments)[0] != call(*arguments, "--seed", 1)[0]


# --- grammars from elsewhere ----------------------------------------------------------------------


def test_sentences_that_a_rule_table_does_not_have(call, rules):
    text = b"w0 w1 w0\n\nw0 new w1\nnew\n"
    out, err = call("parse", rules, stdin=text)
    lines = out.splitlines()
    assert {node.label for node in read_tree(lines[0]).nodes()} <= {"NP", "VP"}
    assert lines[1:] == ["", "(X w0 new w1)", "(X new)"]
    assert "2 sentences have probability zero" in err
    assert "first <stdin>:3; if words are unknown, try --unknown 0.000001" in err
    assert call("parse", rules, "-q", stdin=text)[1] == ""
    found = rows(call("parse", rules, "--method", "viterbi", "-n", 2, stdin=text)[0])
    assert [(r["sentence"], r["log_probability"], r["posterior"]) for r in found[2:]] == [
        ("2", "-Inf", "0"),
        ("3", "-Inf", "0"),
    ]
    out, err = call("parse", rules, "--unknown", "0.01", "--depth", 1, stdin=text)
    trees = [read_tree(line) for line in out.splitlines() if line]
    assert all(tree.is_binary and memory_depth_of(tree) == 1 for tree in trees)
    assert err == ""


def memory_depth_of(tree) -> int:
    return memory_depth(tree.relabel({"NP": "X0", "VP": "X1"}.__getitem__))


# --- mistakes -------------------------------------------------------------------------------------


def test_a_chain_needs_a_run(refuse, center_run, tmp_path):
    (tmp_path / "model.npz").write_bytes((center_run / "model.npz").read_bytes())
    assert "samples.npz" in refuse("parse", tmp_path / "model.npz", "--method", "mbr-chain")


def test_bytes_that_are_not_utf8_are_reported_with_their_line(refuse, center_run):
    said = refuse("parse", center_run, stdin=b"a1 b1\nc1 \xff\n")
    assert "<stdin>:2: found the byte 0xff, which is not UTF-8" in said


# --- known brackets -------------------------------------------------------------------------------


def test_known_brackets(call, refuse, center_run):
    def spans(stdin: bytes, *options: object) -> list[set[tuple[int, int]]]:
        out, _ = call("parse", center_run, "--brackets", "text", *options, stdin=stdin)
        return [{(i, j) for i, j, _ in tree.spans()} for tree in read_trees(out)]

    (right,) = spans(b"a1 [b1 b2 c1]\n")
    (left,) = spans(b"[a1 b1] [b2 c1]\n", "--method", "viterbi")
    assert (1, 4) in right
    assert {(0, 2), (2, 4)} <= left
    error = refuse("parse", center_run, "--brackets", "text", stdin=b"a1 b1\na1 b1] c1\n")
    assert "<stdin>:2: found 'b1]', which closes a bracket that was not opened" in error
    skipping = ("parse", center_run, "--brackets", "text", "--skip-broken")
    out, err = call(*skipping, stdin=b"a1 b1] c1\n[a1 b1] c1\n")
    assert out.startswith("\n(")
    assert err.startswith("<stdin>:1: found 'b1]', which closes a bracket that was not opened")
    assert err.endswith("; skipped\n")
    deep = b"a1 [[b1 b2] c1] a2\n"
    error = refuse("parse", center_run, "-D", 1, "--brackets", "text", stdin=deep)
    assert "<stdin>:1: no tree within the bound has the brackets [b1 b2] [b1 b2 c1]" in error
    out, _ = call(*skipping, "-D", 1, stdin=deep)
    assert out == "(X a1 b1 b2 c1 a2)\n"
