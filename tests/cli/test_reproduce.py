"""``dbpcfg reproduce``, as a user runs it: failures apart, killed and started again."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.test_interruption import alive, children
from tests.command import COMMAND, dbpcfg, refused
from tests.experiments.small import FAILING, GOLD, RECIPE, times_in, write_recipe


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_recipe(tmp_path)
    return tmp_path


def arguments(place: Path, *more: object) -> list[object]:
    return ["reproduce", place / "mine.toml", place / "tiny.trees", "--out", place / "out", *more]


def records(place: Path) -> dict[str, str]:
    """The state of every cell."""
    found = (place / "out" / "cells").glob("*/.cells/*/cell.json")
    return {
        f"{path.parents[2].name}/{path.parent.name}": json.loads(path.read_text())["state"]
        for path in found
    }


def test_a_row_that_fails_does_not_harm_the_others(place, command):
    broken = '\n[[row]]\nname = "Other"\ntrees = "other.trees"\n'
    write_recipe(place, RECIPE + FAILING + broken)
    code, out, err = command.run(*arguments(place))
    assert code == 1
    assert "failed: Broken: " in err
    assert "failed: Other: " in err
    assert "No such file" in err
    data = json.loads((place / "out" / "reproduction.json").read_text())
    groups = {(g["row"], g["kind"], g["flattened"]): g for g in data["groups"]}
    assert len(groups["DB & PCFG", "chains", False]["runs"]) == 4
    assert len(groups["DB & PCFG", "default", False]["runs"]) == 2
    assert len(groups["DB & PCFG", "selected", True]["runs"]) == 2
    assert len(groups["Right", "runs", False]["runs"]) == 1
    assert groups["Broken", "runs", False]["failures"]
    (fixed,) = groups["Right", "runs", False]["runs"]
    assert fixed["figures"]["tiny"]["f1"] == pytest.approx(0.4)
    assert fixed["figures"]["tiny"]["phrase-recall"] is not None
    assert {(t["ours"], t["against"]) for t in data["tests"]} >= {
        ("DB & PCFG, default answer", "Chunks"),
        ("DB & PCFG, default answer", "Right"),
    }
    main, spread, tests = data["tables"]
    assert [row["kind"] for row in main["rows"] if row["system"] == "Oracle"] == ["quoted"]
    assert "Table 9, row 3" in out
    quoted = [row for row in spread["rows"] if row["published"] is not None]
    assert {(row["system"], row["published"]) for row in quoted} == {
        ("DB & PCFG", 0.6),
        ("Right", 0.4),
    }
    assert all(0 <= row["p"] <= 1 for row in tests["rows"])
    latex = (place / "out" / "reproduction.tex").read_text()
    assert r"DB \& PCFG & quoted & -- & 60.0 & 60.0 & 60.0" in latex
    page = (place / "out" / "reproduction.html").read_text()
    assert "DB &amp; PCFG, every chain" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")

    (place / "other.trees").write_text("".join(f"{tree}\n" for tree in GOLD))
    before = times_in(place / "out" / "cells" / "Right-runs")
    code, out, err = command.run(*arguments(place, "--format", "json"))
    assert code == 1
    assert "6 of 8 cells were finished before" in err
    assert times_in(place / "out" / "cells" / "Right-runs") == before
    (row,) = [row for row in json.loads(out)[0]["rows"] if row["system"] == "Other"]
    assert (row["kind"], row["f1"]) == ("trees of a file", 1.0)


def test_killed_in_the_middle_and_started_again(place):
    """6 cells: the rest only is run."""
    command = [*COMMAND, *map(str, arguments(place))]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    said = [process.stderr.readline() for _ in range(3)]
    workers = children(process.pid) if Path("/proc/self/task").exists() else []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert b"3 of 6 cells" in said[-1]
    until = time.monotonic() + 20
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    kept = [name for name, state in records(place).items() if state == "finished"]
    assert 3 <= len(kept) < 6
    before = {name: times_in(place / "out" / "cells" / name) for name in kept}
    again = dbpcfg(*arguments(place))
    assert again.returncode == 0, again.stderr
    assert f"{len(kept)} of 6 cells were finished before" in again.stderr
    assert again.stderr.count(" finished (") == 6 - len(kept)
    assert {name: times_in(place / "out" / "cells" / name) for name in kept} == before
    assert set(records(place).values()) == {"finished"}
    once_more = dbpcfg(*arguments(place, "-q"))
    assert once_more.stdout == again.stdout


def test_quick_says_so(place, command):
    _, out, _ = command.run(*arguments(place, "--quick", "--only", "Right"))
    assert "[quick run]" in out
    assert out.count("QUICK RUN: a sample") == 2
    assert len((place / "out" / "corpus.trees").read_text().splitlines()) == 5
    assert "QUICK RUN" in (place / "out" / "reproduction.html").read_text()


def test_a_dry_run_runs_nothing(place, command):
    out, _ = command.call(*arguments(place, "--dry-run", "--seeds", "0-3"))
    assert "0 of 10 cells are finished" in out
    assert "DB_PCFG-default/tiny-K2-D2-b0.2-s3" in out
    assert not list(place.glob("out/cells/*/tiny*"))


def test_another_corpus_is_noticed(place, command):
    command.call(*arguments(place, "--only", "Right", "-q"))
    (place / "tiny.trees").write_text("".join(f"{tree}\n" for tree in GOLD[:5]))
    said = refused(*arguments(place, "--only", "Right"))  # files are digested once in a process
    assert "another text: its corpus has changed" in said


def test_mistakes(place, command):
    assert "needs a small treebank" in command.refuse("reproduce", place / "mine.toml")
    assert "eve needs Penn-style trees of the Eve" in command.refuse("reproduce", "eve")
    assert "there is no recipe 'eden'" in command.refuse("reproduce", "eden")
    assert "No such file" in command.refuse("reproduce", place / "mine.toml", "none.mrg")
    assert "has no row 'Left'" in command.refuse(*arguments(place, "--only", "Left"))
    assert "seeds as a text" in command.refuse(*arguments(place, "--seeds", "x"))
    said = command.refuse(*arguments(place, "--cluster", "local:2", "--jobs", "2"))
    assert "--jobs is for this machine" in said


def test_depths(place, command):
    out, _ = command.call("reproduce", "depth", place / "tiny.trees", "--out", place / "depth")
    assert "full WSJ" in out
    assert "binary to the left, without punctuation" in out
    assert (place / "depth" / "reproduction.html").exists()


@pytest.mark.slow
def test_on_a_cluster(place):
    done = dbpcfg(*arguments(place, "--cluster", "local:2"))
    assert done.returncode == 0, done.stderr
    assert len(records(place)) == 6
    here = dbpcfg(*arguments(place, "--out", place / "here", "-q"))
    assert [line.split("  ")[0] for line in here.stdout.splitlines()] == [
        line.split("  ")[0] for line in done.stdout.splitlines()
    ]
