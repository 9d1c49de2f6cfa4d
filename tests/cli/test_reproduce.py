"""``dbpcfg reproduce``, as a user runs it: failures apart, killed and started again."""

import json
from pathlib import Path

import pytest

from dbpcfg.experiments.corpora import forget_corpora
from tests.experiments.small import FAILING, GOLD, RECIPE, times_in, write_recipe


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_recipe(tmp_path)
    return tmp_path


def arguments(place: Path, *more: object) -> list[object]:
    return ["reproduce", place / "mine.toml", place / "tiny.trees", "--out", place / "out", *more]


def test_a_row_that_fails_does_not_harm_the_others(place, command):
    broken = '\n[[rows]]\nname = "Other"\ntrees = "other.trees"\n'
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
    assert fixed["f1"] == pytest.approx(0.4)
    assert fixed["phrase_recall"] is not None
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
    assert "6 of 8 cells already finished" in err
    assert times_in(place / "out" / "cells" / "Right-runs") == before
    (row,) = [row for row in json.loads(out)[0]["rows"] if row["system"] == "Other"]
    assert (row["kind"], row["f1"]) == ("trees of a file", 1.0)


def test_quick_says_so(place, command):
    _, out, _ = command.run(*arguments(place, "--quick", "--only", "Right"))
    assert "[quick run]" in out
    assert out.count("QUICK RUN: a sample") == 2
    assert len((place / "out" / "corpus.trees").read_text().splitlines()) == 5
    assert "QUICK RUN" in (place / "out" / "reproduction.html").read_text()


def test_a_dry_run_runs_nothing(place, command):
    out, _ = command.call(*arguments(place, "--dry-run", "--seeds", "0-3"))
    assert "0 of 10 cells finished" in out
    assert "DB_PCFG-default/tiny-K2-D2-b0.2-s3" in out
    assert not list(place.glob("out/cells/*/tiny*"))


def test_another_corpus_is_noticed(place, command):
    command.call(*arguments(place, "--only", "Right", "-q"))
    (place / "tiny.trees").write_text("".join(f"{tree}\n" for tree in GOLD[:5]))
    forget_corpora()  # files are digested once in a process
    said = command.refuse(*arguments(place, "--only", "Right"))
    assert "another text: its corpus has changed" in said


def test_depths(place, command):
    out, _ = command.call("reproduce", "depth", place / "tiny.trees", "--out", place / "depth")
    assert "full WSJ" in out
    assert "binary to the left, without punctuation" in out
    assert (place / "depth" / "reproduction.html").exists()
