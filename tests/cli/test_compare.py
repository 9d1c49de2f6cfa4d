"""``baseline`` and ``compare`` as a user meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.systems.ccl import CCL
from dbpcfg.trees.brackets import read_trees
from tests.command import COMMAND, dbpcfg
from tests.evaluation.test_reference import REFERENCE, SCORES, needs_reference

NEWS = """\
( (S (NP-SBJ (DT The) (NN Cat)) (VP (VBD saw) (NP (CD $) (CD 3))) (. .)))
( (S (NP (PRP It)) (VP (VBD barked)) (. !)))
"""


@pytest.fixture
def center(tmp_path: Path) -> Path:
    path = tmp_path / "center.trees"
    path.write_text("".join(f"{tree}\n" for tree in synthetic_trees("center", 40, 5)))
    return path


@pytest.fixture
def news(tmp_path: Path) -> Path:
    (tmp_path / "news.mrg").write_text(NEWS)
    return tmp_path / "news.mrg"


# --- baseline ---------------------------------------------------------------------------------


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


def test_what_baseline_refuses(command, news):
    said = command.refuse("baseline", "bmmm", news)
    assert "no system 'bmmm'; choose from right, left, balanced, random, ccl, upparse-prlg" in said
    assert "dbpcfg," not in said
    assert "run it with `dbpcfg induce`" in command.refuse("baseline", "dbpcfg", news)
    assert "--mended is for ccl; upparse-prlg has no such option" in command.refuse(
        *("baseline", "upparse", news, "--mended")
    )
    assert (
        "--keep-punctuation is for branching trees; ccl handles punctuation itself"
        in command.refuse(*("baseline", "ccl", news, "--keep-punctuation"))
    )
    assert "nowhere.txt" in command.refuse("baseline", "ccl", "nowhere.txt")


# --- compare ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_system_at_once(command, center):
    options = ("-K", 5, "--chains", 2, "--iterations", 30, "--runs", 2, "--permutations", 100)
    shown, notes = command.call("compare", center, *options, "--format", "json")
    systems, spread, tests = json.loads(shown)
    rows = {row["system"]: row for row in systems["rows"]}
    assert list(rows) == [
        *("right", "left", "balanced", "random"),
        *("ccl", "upparse-prlg", "upparse-hmm", "uhhmm", "dbpcfg"),
    ]
    assert [rows[name]["f1"] for name in ("right", "left", "balanced")] == pytest.approx(
        [0.4, 2 / 3, 8 / 15]
    )
    assert {name: row["runs"] for name, row in rows.items() if row["runs"] > 1} == {
        "random": 2,
        "uhhmm": 2,
        "dbpcfg": 2,
    }
    assert all(row["seconds"] > 0 and row["megabytes"] > 10 for row in rows.values())
    assert {row["system"] for row in spread["rows"]} == {"random", "uhhmm", "dbpcfg"}
    assert len(tests["rows"]) == 8
    best = max(rows.values(), key=lambda row: row["f1"])["system"]
    assert {row["system"].split()[0] for row in tests["rows"]} == {best}
    assert any("labels:no|average:corpus|root:counted" in note for note in systems["notes"])
    assert any("K = 5, D = 2, chains = 2, iterations = 30" in note for note in systems["notes"])
    assert "dbpcfg-1:" in notes


def test_latex_is_whole(command, center):
    shown, notes = command.call(
        *("compare", center, "--systems", "right,upparse", "--format", "latex", "--quiet")
    )
    assert notes == ""
    tables = shown.split(r"\begin{table}")[1:]
    assert len(tables) == 2
    for table in tables:
        columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", table)[1])
        rows = [line for line in table.splitlines() if " & " in line]
        assert len(rows) >= 2
        assert all(line.endswith(r"\\") and line.count("&") == columns - 1 for line in rows)
        assert table.count("{") - table.count(r"\{") == table.count("}") - table.count(r"\}")


def test_resuming(command, center, tmp_path):
    arguments = ("compare", center, "--systems", "left,random", "--out", tmp_path / "out")
    first, _ = command.call(*arguments, "--runs", 1)
    written = (tmp_path / "out" / "random-0.json").stat().st_mtime_ns
    again, notes = command.call(*arguments, "--runs", 1)
    assert again == first
    assert "random-0: kept from before" in notes
    assert (tmp_path / "out" / "random-0.json").stat().st_mtime_ns == written
    other = tmp_path / "other.trees"
    other.write_text("".join(center.read_text().splitlines(keepends=True)[1:]))
    said = command.refuse("compare", other, "--out", tmp_path / "out")
    assert "results on another corpus (40 sentences" in said
    assert "choose another --out" in said
    said = command.refuse(*arguments, "--max-length", 4)
    assert "--max-length none, not 4" in said


def test_what_compare_refuses(command, center, tmp_path):
    assert "no system 'bmmm'; choose from" in command.refuse(
        *("compare", center, "--systems", "right,bmmm")
    )
    assert "no system to compare" in command.refuse("compare", center, "--systems", ",")
    assert "nowhere.mrg" in command.refuse("compare", tmp_path / "nowhere.mrg")
    (tmp_path / "plain.txt").write_text("the cat saw a dog\n")
    assert "plain.txt:1: the sentence has no tree" in command.refuse(
        *("compare", tmp_path / "plain.txt")
    )
    assert "--depth must be a number" in command.refuse("compare", center, "-D", "deep")
    assert "no sentence of 2 words or fewer" in command.refuse("compare", center, "--max-length", 2)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.md").write_text("mine")
    assert "is not a comparison" in command.refuse("compare", center, "--out", tmp_path / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written(command, center, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    said = command.refuse("compare", center, "--out", tmp_path / "closed" / "out")
    assert "cannot be written" in said


def test_interrupted(center, tmp_path):
    """Ctrl-C keeps finished runs, and the message says how to resume."""
    out = tmp_path / "out"
    arguments = [*COMMAND, "compare", center, "--out", out, "--systems"]
    endless = ["left,dbpcfg", "--iterations", "1000000", "--runs", "1"]
    process = subprocess.Popen(
        [*map(str, arguments), *endless], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not (out / "left.json").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.5)  # into the run of the other
    process.send_signal(signal.SIGINT)
    shown, notes = process.communicate(timeout=30)
    assert process.returncode == 130
    assert shown == ""
    assert f"stopped; finished runs are in {out}; the same command resumes" in notes
    assert "Traceback" not in notes
    assert not list(out.glob("dbpcfg*"))
    gone_on = dbpcfg("compare", center, "--out", out, "--systems", "left,right")
    assert "left: kept from before" in gone_on.stderr


@pytest.mark.slow
@needs_reference
def test_newswire_to_the_digit(command):
    """CCL and UPPARSE score as the public implementations' trees do."""
    expected = {
        row.split()[1]: row.split()[2:5] for row in SCORES.splitlines() if row.startswith("wsj-dev")
    }
    shown, _ = command.call(
        *("compare", REFERENCE / "wsj-dev.gold.trees", "--systems", ",".join(expected)),
        *("--permutations", 10, "--quiet"),
    )
    systems, *_ = shown.split("\n\n")
    rows = {line.split()[0]: line.split()[2:5] for line in systems.splitlines()}
    assert {name: rows[name] for name in expected} == expected
