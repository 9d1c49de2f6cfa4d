"""``parse`` and ``generate`` as a user meets them: in files, pipes and terminals."""

from __future__ import annotations

import gzip
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.grammar.exchange.formats import write
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model
from dbpcfg.trees.brackets import read_tree, read_trees
from dbpcfg.trees.terminal import draw
from tests.command import COMMAND
from tests.command import dbpcfg as command_line
from tests.inprocess import InProcess
from tests.stores import memory_depth
from tests.strategies import random_grammar

TEXT = ["A1 b1 c1", "", "b2 (a2) C2 zzz", "c3", "", "a1 b1 b2 c2"]
SENTENCES = [line for line in TEXT if line]


@pytest.fixture
def call(monkeypatch, capsys):
    return InProcess(monkeypatch, capsys).call


@pytest.fixture
def refuse(monkeypatch, capsys):
    return InProcess(monkeypatch, capsys).refuse


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    sentences = [tree.words() for tree in synthetic_trees("center", 40, 4)]
    dbpcfg.induce(sentences, K=3, D=2, chains=2, iterations=20, out=path)
    return path


@pytest.fixture(scope="module")
def model(run) -> Model:
    return dbpcfg.load(run, samples=True)


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(TEXT) + "\n")
    return path


def aligned(trees) -> str:
    """Trees on the lines of their sentences."""
    left = iter(trees)
    return "".join(f"{next(left)}\n" if line else "\n" for line in TEXT)


# --- parse: one tree a line -----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mbr", "mbr-chain", "viterbi", "sample"])
def test_a_tree_on_the_line_of_its_sentence(call, run, model, text, method):
    expected = aligned(model.parse(SENTENCES, method, seed=3))  # compiles the kernels first
    out, err = call("parse", run, text, "--method", method, "--seed", 3)
    assert out == expected
    assert err == ""


def test_words_come_back_as_written(call, run, text):
    out, _ = call("parse", run, text)
    words = [tree.words() for tree in read_trees(out)]
    assert words[0] == ["A1", "b1", "c1"]
    assert words[1] == ["b2", "-LRB-a2-RRB-", "C2", "zzz"]


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input(call, run, text, arguments):
    out, _ = call("parse", run, *arguments, stdin=text.read_bytes())
    assert out == call("parse", run, text)[0]
    assert call("parse", run, *arguments, stdin=b"") == ("", "")
    assert call("parse", run, *arguments, stdin=b"\n\n") == ("\n\n", "")


def test_several_files_and_formats(call, run, text, tmp_path):
    (tmp_path / "more.txt.gz").write_bytes(gzip.compress(b"a1 b1\n"))
    (tmp_path / "trees.mrg").write_text("(S (A a1) (B b1))\n")
    out, _ = call("parse", run, tmp_path / "more.txt.gz", text, tmp_path / "trees.mrg")
    assert out.splitlines()[1:-1] == call("parse", run, text)[0].splitlines()
    assert out.splitlines()[0] == out.splitlines()[-1]


def test_the_model_file_and_another_bound(call, run, model, text):
    for given, bound in (("1", 1), ("none", None)):
        out, _ = call("parse", run / "model.npz", text, "--depth", given, "--method", "viterbi")
        assert out == aligned(replace(model, depth=bound).parse(SENTENCES, "viterbi"))


def test_pictures(call, run, model):
    out, _ = call("parse", run, "--draw", stdin=b"a1 b1 c1\n")
    assert out == draw(model.parse(["a1 b1 c1"])[0]) + "\n\n"


def test_long_lines_and_short_ones(call, run):
    long = "a1 b1 c1 " * 50
    out, err = call("parse", run, stdin=f"{long}\nc1\n{'a1 ' * 1001}\n".encode())
    trees = list(read_trees(out))
    assert [len(tree) for tree in trees] == [150, 1, 1001]
    assert trees[0].is_binary
    assert trees[2].label == "X"
    assert "1 sentence has probability zero, or over 1,000 words, and a flat tree" in err
    assert "first <stdin>:3" in err
    assert "--unknown" not in err


def test_a_text_of_any_length_is_parsed_piece_by_piece(run):
    """The first trees come while the rest of the text is not there yet."""
    command = [*COMMAND, "parse", run, "--method", "sample", "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"a1 b1 c1\n" * 2500)
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(2000)]
        assert len(set(first)) > 1
        rest, _ = process.communicate(b"c1\n")
    assert len(rest.splitlines()) == 501
    assert process.returncode == 0


# --- parse: tables --------------------------------------------------------------------------------


def rows(out: str) -> list[dict[str, str]]:
    head, *lines = out.splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]


@pytest.mark.parametrize("method", ["viterbi", "sample"])
def test_several_trees(call, run, model, text, method):
    found = rows(call("parse", run, text, "-n", 3, "--method", method, "--seed", 5)[0])
    expected = model.parses(SENTENCES, 3, method, seed=5)
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


def test_scores_of_one_tree(call, run, text):
    found = rows(call("parse", run, text, "--scores")[0])
    assert [row["tree"] for row in found] == [
        line for line in call("parse", run, text)[0].splitlines() if line
    ]


def test_samples_go_by_the_seed(call, run, text):
    arguments = ("parse", run, text, "--method", "sample", "-n", 50)
    assert call(*arguments)[0] == call(*arguments, "--threads", 2)[0]
    assert call(*arguments)[0] != call(*arguments, "--seed", 1)[0]


# --- grammars from elsewhere ----------------------------------------------------------------------


@pytest.fixture
def rules(tmp_path) -> Path:
    write(random_grammar(2, 2, 1.0, 0).named(["NP", "VP"]), tmp_path / "rules.tsv")
    return tmp_path / "rules.tsv"


def test_sentences_that_a_rule_table_does_not_have(call, rules):
    text = b"w0 w1 w0\n\nw0 new w1\nnew\n"
    out, err = call("parse", rules, stdin=text)
    lines = out.splitlines()
    assert {node.label for node in read_tree(lines[0]).nodes()} <= {"NP", "VP"}
    assert lines[1:] == ["", "(X w0 new w1)", "(X new)"]
    assert "2 sentences have probability zero" in err
    assert "first <stdin>:3; are words unknown? --unknown 0.000001" in err
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


# --- generate -------------------------------------------------------------------------------------


def test_sentences_are_the_words_of_trees(call, run, model):
    sentences, err = call("generate", run, "-n", 20, "--seed", 4)
    trees, _ = call("generate", run, "-n", 20, "--seed", 4, "--trees")
    assert err == ""
    found = list(read_trees(trees))
    assert found == model.generate(20, 4)
    assert sentences.splitlines() == [" ".join(tree.words()) for tree in found]
    assert call("generate", run, "-n", 5, "--seed", 4)[0].splitlines() == sentences.splitlines()[:5]
    assert call("generate", run, "-n", 20, "--seed", 5)[0] != sentences
    assert max(map(memory_depth, found)) <= 2
    assert "<unknown>" not in sentences


def test_short_sentences(call, run):
    sentences, _ = call("generate", run, "-n", 50, "--max-length", 3)
    lengths = [len(line.split()) for line in sentences.splitlines()]
    assert len(lengths) == 50
    assert max(lengths) == 3


def test_unknown_words_if_asked_for(call, run):
    assert "<unknown>" in call("generate", run, "-n", 2000, "--with-unknown")[0]


# --- pipes and terminals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", ["parse {run} {text}", "generate {run} -n 100000", "parse {run} --scores {text}"]
)
def test_a_reader_that_goes_away_is_no_error(run, tmp_path, arguments):
    (tmp_path / "long.txt").write_text("a1 b1 c1\n" * 5000)
    command = arguments.format(run=run, text=tmp_path / "long.txt")
    done = subprocess.run(
        f"{sys.executable} -m dbpcfg {command} -q | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_what_is_typed_is_answered_at_once(run, model):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1"}
    with subprocess.Popen(
        [*COMMAND, "parse", str(run)],
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
            assert process.stdout.readline() == f"{model.parse([line])[0]}\n"
        os.write(ours, b"\x04")
        assert process.wait(timeout=60) == 0
    os.close(ours)


def test_output_is_utf8_wherever_it_goes(run):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = command_line("parse", run, input="häuser\n", env=environment, encoding="utf-8")
    assert "häuser" in done.stdout, done.stderr


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "best"], "'mbr-chain', 'viterbi'"),
        (["-n", "2"], "-n 2 needs --method viterbi"),
        (["-n", "20000", "--method", "viterbi"], "1 to 10,000 trees, not 20,000"),
        (["--draw", "--scores"], "--draw goes without --scores"),
        (["--depth", "0"], "--depth must be a number from 1 up, or 'none'"),
        (["--depth", "two"], "got 'two'"),
        (["--unknown", "2"], "--unknown must be a probability below 1"),
        (["--scorse"], "No such option"),
        (["none.txt"], "none.txt: cannot be read (No such file"),
        (["--threads", "0"], "--threads"),
    ],
)
def test_a_wrong_option_of_parse(refuse, run, arguments, said):
    assert said in refuse("parse", run, *arguments)


def test_there_is_no_such_run(refuse, tmp_path):
    said = refuse("parse", tmp_path / "none")
    assert "none cannot be read: No such file" in said
    assert "there is no model.npz in it" in refuse("generate", tmp_path)
    (tmp_path / "config.toml").write_text("")
    for command in ("parse", "generate", "show", "probability"):
        assert "not finished: go on with it by `dbpcfg resume" in refuse(command, tmp_path)


def test_a_broken_model(refuse, run, tmp_path):
    data = (run / "model.npz").read_bytes()
    for name, broken in (("cut.npz", data[: len(data) // 2]), ("text.npz", b"some text\n")):
        (tmp_path / name).write_bytes(broken)
        for command in ("parse", "generate", "show", "probability"):
            assert name in refuse(command, tmp_path / name)


def test_a_chain_needs_a_run(refuse, rules, run, tmp_path):
    assert "is one grammar" in refuse("parse", rules, "--method", "mbr-chain")
    (tmp_path / "model.npz").write_bytes((run / "model.npz").read_bytes())
    assert "samples.npz" in refuse("parse", tmp_path / "model.npz", "--method", "mbr-chain")


def test_bad_bytes_are_told_with_their_line(refuse, run):
    said = refuse("parse", run, stdin=b"a1 b1\nc1 \xff\n")
    assert "<stdin>:2: found the byte 0xff, which is not UTF-8" in said


def test_a_length_that_no_sentence_has(refuse, tmp_path):
    binary = [[[0, 0], [0, 1.0]], [[0, 0], [0, 0]]]
    grammar = Grammar([1.0, 0.0], binary, [[0.0], [1.0]], Vocabulary(("a",)))
    write(grammar, tmp_path / "two.json")
    assert "no sentence of 1 words or fewer" in refuse(
        "generate", tmp_path / "two.json", "--max-length", 1
    )
