"""``compare`` as a user meets it."""

import json
import signal
import subprocess

import pytest

from tests.command import COMMAND, dbpcfg


def test_every_system_at_once(command, center):
    options = ("-K", 5, "--chains", 2, "--iterations", 9, "--runs", 2, "--permutations", 100)
    few = ("uhhmm.iterations=9", *(f"bmmm-dmv.{it}=3" for it in ("classes", "generations", "em")))
    settings = [word for one in (*few, "bmmm-dmv.iterations=30") for word in ("--set", one)]
    shown, notes = command.call("compare", center, *options, *settings, "--format", "json")
    systems, spread, tests, tags = json.loads(shown)
    rows = {row["system"]: row for row in systems["rows"]}
    assert list(rows) == [
        *("right", "left", "balanced", "random"),
        *("ccl", "upparse-prlg", "upparse-hmm", "bmmm-dmv", "uhhmm", "dbpcfg"),
    ]
    assert [rows[name]["f1"] for name in ("right", "left", "balanced")] == pytest.approx(
        [0.4, 2 / 3, 8 / 15]
    )
    assert {name: row["runs"] for name, row in rows.items() if row["runs"] > 1} == {
        "random": 2,
        "bmmm-dmv": 2,
        "uhhmm": 2,
        "dbpcfg": 2,
    }
    assert all(row["seconds"] > 0 and row["megabytes"] > 10 for row in rows.values())
    random = {"random", "bmmm-dmv", "uhhmm", "dbpcfg"}
    assert {row["system"] for row in spread["rows"]} == random
    assert len(tests["rows"]) == 9
    tagged = {row["system"]: row for row in tags["rows"]}
    assert tags["title"] == "Word categories"
    assert tagged.keys() == {"bmmm-dmv", "uhhmm", "dbpcfg"}  # the others have no tags
    assert all(row["runs"] == 2 and 0 < row["v_measure"] <= 1 for row in tagged.values())
    assert all(0 < row["many_to_one"] <= 1 for row in tagged.values())
    best = max(rows.values(), key=lambda row: row["f1"])["system"]
    assert {row["system"].split()[0] for row in tests["rows"]} == {best}
    assert any("labels:no|average:corpus|root:counted" in note for note in systems["notes"])
    assert any("K = 5, D = auto, chains = 2, iterations = 9" in note for note in systems["notes"])
    assert "dbpcfg-s1:" in notes


def test_resuming(command, center, tmp_path):
    arguments = ("compare", center, "--systems", "left,random", "--out", tmp_path / "out")
    first, _ = command.call(*arguments, "--runs", 1)
    trees = tmp_path / "out" / "random-s0" / "trees.txt"
    written = trees.stat().st_mtime_ns
    again, notes = command.call(*arguments, "--runs", 1)
    assert again == first
    assert "random-s0: kept from before" in notes
    assert trees.stat().st_mtime_ns == written


def test_interrupted(center, tmp_path):
    """Ctrl-C keeps finished runs, and the message says how to resume."""
    out = tmp_path / "out"
    arguments = [*COMMAND, "compare", center, "--out", out, "--systems"]
    endless = ["left,dbpcfg", "--iterations", "1000000", "--runs", "1"]
    process = subprocess.Popen(
        [*map(str, arguments), *endless], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert any(line.startswith("left: ") for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGINT)  # while it starts the other, or waits for it
    shown, notes = process.communicate(timeout=600)
    assert process.returncode == 130
    assert shown == ""
    assert f"stopped; finished runs are in {out}; the same command resumes" in notes
    assert "Traceback" not in notes
    assert not list(out.glob("dbpcfg*"))
    gone_on = dbpcfg("compare", center, "--out", out, "--systems", "left,right")
    assert "left: kept from before" in gone_on.stderr


def test_settings_by_name_go_before_options(command, center):
    given = ("--systems", "dbpcfg", "--runs", 1, "-K", 4, "--chains", 1, "--iterations", 4)
    named = ("--set", "dbpcfg.K=3", "--set", "dbpcfg.rare=1")
    shown, _ = command.call("compare", center, *given, *named, "--format", "json")
    (note,) = [note for note in json.loads(shown)[0]["notes"] if note.startswith("dbpcfg: ")]
    assert "learner = auto, K = 3, D = auto" in note
    assert "rare = 1" in note
