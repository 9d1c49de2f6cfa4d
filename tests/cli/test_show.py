"""``show`` and ``probability`` as a user meets them."""

from __future__ import annotations

import json
import math
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.evaluation.alignment import has_letter_or_digit
from dbpcfg.grammar.exchange.formats import write
from dbpcfg.model.categories import profile
from dbpcfg.model.model import Model
from dbpcfg.model.presentation import as_text
from dbpcfg.model.probabilities import probabilities
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.terminal import draw
from dbpcfg.trees.tree import Tree
from tests.command import COMMAND
from tests.inprocess import InProcess
from tests.strategies import random_grammar

GOLD = [Tree("ROOT", [tree, Tree(".", ["."])]) for tree in synthetic_trees("center", 40, 4)]


@pytest.fixture
def call(monkeypatch, capsys):
    return InProcess(monkeypatch, capsys).call


@pytest.fixture
def refuse(monkeypatch, capsys):
    return InProcess(monkeypatch, capsys).refuse


def a_run(path: Path, **preparation) -> Path:
    dbpcfg.induce(
        dbpcfg.read(path.parent / "gold.mrg"),
        K=3,
        D=2,
        chains=2,
        iterations=20,
        out=path,
        preparation=Preparation(**preparation),
    )
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "gold.mrg").write_text("".join(f"{tree}\n" for tree in GOLD))
    return folder


@pytest.fixture(scope="module")
def run(folder) -> Path:
    return a_run(folder / "run")


@pytest.fixture(scope="module")
def model(run) -> Model:
    return dbpcfg.load(run, samples=True)


# --- show -----------------------------------------------------------------------------------------


def trees_of(run: Path) -> list[Tree]:
    return list(read_trees((run / "trees.txt").read_text()))


def test_a_run_is_shown_with_its_trees(call, run, model):
    out, err = call("show", run)
    assert err == ""
    assert out == as_text(profile(model, trees_of(run))) + "\n"
    assert "counted in the 40 trees of the run" in out.replace("\n", " ")
    assert max(map(len, out.splitlines())) <= 80


def test_a_model_is_shown_by_what_is_expected(call, run, model, tmp_path):
    out, _ = call("show", run / "model.npz")
    assert out == as_text(profile(model)) + "\n"
    write(random_grammar(2, 2, 1.0, 0).named(["NP", "VP"]), tmp_path / "rules.tsv")
    out, _ = call("show", tmp_path / "rules.tsv")
    assert "without a memory bound" in out
    assert "\nNP  █" in out
    assert "within memory depth 3" in call("show", tmp_path / "rules.tsv", "--depth", 3)[0]


def test_the_same_from_python(call, capsys, run):
    shown, _ = call("show", run)
    finished = dbpcfg.induce(
        dbpcfg.read(run.parent / "gold.mrg"), K=3, D=2, chains=2, iterations=20
    )
    finished.show()
    assert capsys.readouterr().out == shown
    sentences = [tree.words() for tree in GOLD[:5]]
    assert finished.parse(sentences) == dbpcfg.load(run).parse(sentences)


def test_trees_are_drawn(call, run):
    plain, _ = call("show", run)
    out, _ = call("show", run, "--trees", 2)
    assert out.startswith(plain)
    pictures = {line.rstrip() for line in draw(trees_of(run)[0]).splitlines()}
    assert any(line.strip() for line in pictures & set(out[len(plain) :].splitlines()))
    for asked, given in ((3, 3), (400, 40)):
        drawn = json.loads(call("show", run, "--trees", asked, "--format", "json")[0])["drawn"]
        assert len(drawn) == given
        assert set(drawn) <= set(map(str, trees_of(run)))


def test_gold_labels(call, run, folder):
    out, _ = call("show", run, "--gold", folder / "gold.mrg", "--format", "json")
    categories = json.loads(out)["categories"]
    words = sum(sum(one["gold"]["tags"].values()) for one in categories)
    assert words == sum(len(tree) - 1 for tree in GOLD)  # without the full stops
    phrases = sum(sum(one["gold"]["phrases"].values()) for one in categories)
    spans = [
        {(s.start, min(s.end, len(tree) - 1)) for s in tree.spans() if s.end - s.start >= 2}
        for tree in trees_of(run)
    ]
    assert phrases == sum(len([s for s in of_one if s[1] - s[0] >= 2]) for of_one in spans)
    text, _ = call("show", run, "--gold", folder / "gold.mrg")
    assert "    tags   " in text
    assert (
        r"Gold labels of categories"
        in call("show", run, "--gold", folder / "gold.mrg", "--format", "latex")[0]
    )


def test_gold_trees_of_all_sentences_or_of_those_kept(call, refuse, folder, tmp_path):
    short = a_run(folder / "short", max_length=4)
    kept = [tree for tree in GOLD if sum(map(has_letter_or_digit, tree.words())) <= 4]
    assert 0 < len(kept) < len(GOLD)
    (tmp_path / "kept.mrg").write_text("".join(f"{tree}\n" for tree in kept))
    whole, _ = call("show", short, "--gold", folder / "gold.mrg")
    assert call("show", short, "--gold", tmp_path / "kept.mrg")[0] == whole
    (tmp_path / "fewer.mrg").write_text(f"{kept[0]}\n")
    said = refuse("show", short, "--gold", tmp_path / "fewer.mrg")
    assert f"the treebank has 1 sentences, the run {len(kept)}: give the treebank" in said
    (tmp_path / "other.mrg").write_text("".join(f"{tree}\n" for tree in kept[::-1]))
    assert "other.mrg:1" in refuse("show", short, "--gold", tmp_path / "other.mrg")


def test_only_a_run_has_trees(refuse, run, folder, tmp_path):
    for arguments in (["--trees", 2], ["--gold", folder / "gold.mrg"]):
        said = refuse("show", run / "model.npz", *arguments)
        assert "only the directory of a run has trees" in said
    shutil.copytree(run, tmp_path / "copy")
    (tmp_path / "copy" / "trees.txt").write_text("(X0 (X1 a)")
    assert "trees.txt:1" in refuse("show", tmp_path / "copy")
    (tmp_path / "copy" / "trees.txt").unlink()
    assert "trees.txt cannot be read: No such file" in refuse("show", tmp_path / "copy")


def terminal_output(columns: int, *arguments: object, **environment: str) -> str:
    """What a command writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    surroundings = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **environment}
    for name in {"NO_COLOR"} - set(environment):
        surroundings.pop(name, None)
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs, env=surroundings
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            more = os.read(ours, 1 << 16)
        except OSError:  # how a terminal ends
            break
        if not more:
            break
        data += more
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return data.decode().replace("\r\n", "\n")


def test_names_are_bold_on_a_terminal(run, model):
    expected = profile(model, trees_of(run))
    assert terminal_output(50, "show", run) == as_text(expected, 50, bold=True) + "\n"


def test_no_color_is_respected(run, model):
    plain = as_text(profile(model, trees_of(run)), 100) + "\n"
    assert terminal_output(100, "show", run, NO_COLOR="1") == plain


# --- probability ----------------------------------------------------------------------------------

TEXT = b"a1 b1 c1\n\nC2 zzz\na1 b1 b2 c2\n"
SENTENCES = ["a1 b1 c1", "C2 zzz", "a1 b1 b2 c2"]


def test_a_table_of_sums(call, run, model, tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT)
    out, err = call("probability", run, tmp_path / "text.txt")
    assert err == ""
    row = out.splitlines()[3].split()
    true = model.probability(SENTENCES)
    assert row[:4] == ["all", "3", "9", "11.1"]
    assert float(row[4]) == pytest.approx(true.log_probability, abs=0.05)
    (figures,) = json.loads(call("probability", run, "--format", "json", stdin=TEXT)[0])[0]["rows"]
    assert figures["log_probability"] == pytest.approx(true.log_probability)
    assert figures["perplexity"] == pytest.approx(math.exp(-true.log_probability / 9))
    assert figures["perplexity_with_ends"] == pytest.approx(math.exp(-true.log_probability / 12))
    assert "\\begin{table}" in call("probability", run, "--format", "latex", stdin=TEXT)[0]


def test_a_row_for_each_sentence(call, run, model):
    out, _ = call("probability", run, "--each", stdin=TEXT)
    head, *lines = (line.split("\t") for line in out.splitlines())
    assert head[:3] == ["source", "line", "sentence"]
    expected = list(probabilities(model, SENTENCES))
    for n, (line, one) in enumerate(zip(lines, expected, strict=True)):
        row = dict(zip(head, line))
        assert (row["line"], row["sentence"]) == (str((1, 3, 4)[n]), str(n + 1))
        assert (row["tokens"], row["unknown"]) == (str(one.tokens), str(one.unknown))
        assert float(row["log_probability"]) == pytest.approx(one.log_probability, rel=1e-10)
        assert float(row["bits_per_word"]) == pytest.approx(one.bits_per_word, rel=1e-10)


def test_the_mean_over_the_chain(call, run, model):
    out, _ = call("probability", run, "--chain", "--each", stdin=TEXT)
    logs = [float(line.split("\t")[-2]) for line in out.splitlines()[1:]]
    expected = [one.log_probability for one in probabilities(model, SENTENCES, chain=True)]
    assert logs == pytest.approx(expected, rel=1e-10)
    out, _ = call("probability", run, "--chain", stdin=TEXT)
    assert f"the mean under {len(model.samples)} grammars of the chain" in out


def test_impossible_sentences_are_told_of(call, tmp_path):
    write(random_grammar(2, 2, 1.0, 0), tmp_path / "rules.tsv")
    out, _ = call("probability", tmp_path / "rules.tsv", stdin=b"w0 w1\nw0 new\n")
    rows = [line.split() for line in out.splitlines()[3:5]]
    assert [row[0] for row in rows] == ["all", "possible"]
    assert rows[0][4:] == ["-inf", "inf", "inf", "inf"]
    assert rows[1][1:4] == ["1", "2", "0.0"]
    assert "sentences of probability zero: 1" in out
    out, _ = call("probability", tmp_path / "rules.tsv", "--each", stdin=b"new\n")
    assert out.splitlines()[1].split("\t")[-2:] == ["-Inf", "Inf"]
    out, _ = call(
        "probability", tmp_path / "rules.tsv", "--unknown", "0.1", stdin=b"w0 w1\nw0 new\n"
    )
    assert "possible" not in out


def test_text_that_has_no_probability(refuse, run, tmp_path):
    for text in (b"", b"\n \n"):
        assert "there is no sentence in this text" in refuse("probability", run, stdin=text)
    too_long = b"a1\n" + b"a1 " * 1001
    assert "sentence 2 has 1,001 words" in refuse("probability", run, stdin=too_long)
    shutil.copy(run / "model.npz", tmp_path)
    assert "samples.npz" in refuse("probability", tmp_path, "--chain", stdin=TEXT)
    assert "No such option" in refuse("probability", run, "--eech")
