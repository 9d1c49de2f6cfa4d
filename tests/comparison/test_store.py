"""What is finished is kept, found again, and not mixed with anything else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.comparison.compare import compare
from dbpcfg.comparison.data import comparison_data
from dbpcfg.comparison.task import Task
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from tests.comparison.fakes import spec
from tests.comparison.test_compare import corpus_of

TASK = Task.of(corpus_of(synthetic_trees("center", 12, 3)))


def counting(path: Path):
    return spec("Counts", stochastic=True, file=str(path / "runs"))


def test_finished_runs_are_not_run_again(tmp_path):
    out, said = tmp_path / "out", []
    first = compare(TASK, ["left", counting(tmp_path)], runs=2, out=out)
    times = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    again = compare(TASK, ["left", counting(tmp_path)], runs=4, out=out, report=said.append)
    assert (tmp_path / "runs").read_text().split() == ["0", "1", "2", "3"]
    changed = {p.name for p in out.iterdir() if p.stat().st_mtime_ns != times.get(p.name)}
    assert changed == {
        *("counts-2.json", "counts-2.trees", "counts-3.json", "counts-3.trees", "comparison.json")
    }
    assert sum("kept from before" in line for line in said) == 3
    assert again.summaries[0].runs[0].seconds == first.summaries[0].runs[0].seconds
    assert again.summaries[1].spread("f1").mean == first.summaries[1].spread("f1").mean
    names = [system["name"] for system in comparison_data(out)["systems"]]
    assert names == ["left", "counts"]


def test_what_is_kept_of_a_run(tmp_path):
    compare(TASK, ["ccl"], out=tmp_path)
    record = json.loads((tmp_path / "ccl.json").read_text())
    assert record["system"] == "ccl"
    assert record["seed"] is None
    assert record["settings"] == {"faithful": True, "currency_is_punctuation": False}
    assert record["seconds"] > 0
    assert record["peak_bytes"] > 10_000_000
    assert record["corpus"] == TASK.digest()
    assert len((tmp_path / "ccl.trees").read_text().splitlines()) == 12


def test_runs_of_another_version_are_noted(tmp_path):
    compare(TASK, ["left"], out=tmp_path)
    record = json.loads((tmp_path / "left.json").read_text())
    assert record["dbpcfg"] == dbpcfg.__version__
    (tmp_path / "left.json").write_text(json.dumps({**record, "dbpcfg": "0.0.7"}))
    (table,) = compare(TASK, ["left"], out=tmp_path).tables()
    assert f"left ran under dbpcfg 0.0.7, not {dbpcfg.__version__}" in table.notes
    (table,) = compare(TASK, ["left"]).tables()
    assert not any("ran under" in note for note in table.notes)


def test_trees_without_their_record_do_not_count(tmp_path):
    """A process that was killed between the two files leaves trees only."""
    compare(TASK, [counting(tmp_path)], runs=1, out=tmp_path / "out")
    (tmp_path / "out" / "counts-0.json").unlink()
    compare(TASK, [counting(tmp_path)], runs=1, out=tmp_path / "out")
    assert (tmp_path / "runs").read_text().split() == ["0", "0"]


def test_another_corpus_is_refused(tmp_path):
    compare(TASK, ["left"], out=tmp_path)
    other = Task.of(corpus_of(synthetic_trees("center", 12, 3, seed=1)))
    with pytest.raises(DbpcfgError, match=r"another corpus .* choose another --out"):
        compare(other, ["left"], out=tmp_path)
    capitals = Task.of(corpus_of(synthetic_trees("center", 12, 3)), lowercase=False)
    with pytest.raises(DbpcfgError, match="with --lowercase True, not False; give the same"):
        compare(capitals, ["left"], out=tmp_path)
    short = Task.of(corpus_of(synthetic_trees("center", 12, 3)), max_length=4)
    with pytest.raises(DbpcfgError, match="with --max-length none, not 4"):
        compare(short, ["left"], out=tmp_path)


def test_gold_trees_and_punctuation_are_part_of_the_corpus():
    trees = synthetic_trees("center", 12, 3)
    relabelled = [tree.relabel(lambda label: "Y" + label) for tree in trees]
    assert Task.of(corpus_of(relabelled)).digest() != TASK.digest()
    commas = [tree.relabel(lambda label: "," if label == "X2" else label) for tree in trees]
    by_tags, by_characters = (
        Task.of(corpus_of(commas), punctuation=rule) for rule in ("tags", "characters")
    )
    assert by_tags.digest() != by_characters.digest()


def test_other_settings_are_refused_before_anything_runs(tmp_path):
    small = {"dbpcfg": {"K": 2, "D": None, "chains": 1, "iterations": 4}}
    compare(TASK, ["dbpcfg"], runs=1, out=tmp_path / "out", settings=small, threads=1)
    larger = {"dbpcfg": {**small["dbpcfg"], "K": 3}}
    systems = [counting(tmp_path), "dbpcfg"]
    with pytest.raises(DbpcfgError, match=r"0.json was run with K = 2, not K = 3; give the same"):
        compare(TASK, systems, runs=1, out=tmp_path / "out", settings=larger)
    assert not (tmp_path / "runs").exists()
    compare(TASK, ["dbpcfg"], runs=1, out=tmp_path / "out", settings=small, threads=2)


def test_damaged_files_are_refused(tmp_path):
    out = tmp_path / "out"
    compare(TASK, ["left"], out=out)
    trees = (out / "left.trees").read_text()
    (out / "left.trees").write_text(trees[: len(trees) // 2])
    with pytest.raises(DbpcfgError, match=r"do not belong together; delete .*left.json"):
        compare(TASK, ["left"], out=out)
    (out / "left.trees").unlink()
    with pytest.raises(DbpcfgError, match="do not belong together"):
        compare(TASK, ["left"], out=out)
    for content, said in [
        ("[1", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not a dbpcfg comparison run"),
        ('{"format": "dbpcfg comparison run", "version": 9}', "of version 9"),
        ('{"format": "dbpcfg comparison run", "version": 1}', "another corpus"),
    ]:
        (out / "left.json").write_text(content)
        with pytest.raises(DbpcfgError, match=said):
            compare(TASK, ["left"], out=out)


def test_other_directories_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(DbpcfgError, match="is not a comparison; choose another --out"):
        compare(TASK, ["left"], out=tmp_path)
    with pytest.raises(DbpcfgError, match="is not a comparison"):
        compare(TASK, ["left"], out=tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(DbpcfgError, match="has no finished comparison; make one with `dbpcfg"):
        comparison_data(tmp_path)


SCRIPT = """\
import sys
from dbpcfg.comparison.compare import compare
from tests.comparison.fakes import spec
from tests.comparison.test_store import TASK

if __name__ == "__main__":
    compare(TASK, ["left", spec("Endless", file=sys.argv[1])], out=sys.argv[2])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_in_between(tmp_path, number):
    """What was finished stays, and the system that ran ends with the process that started it."""
    (tmp_path / "script.py").write_text(SCRIPT)
    pid, out = tmp_path / "pid", tmp_path / "out"
    command = [sys.executable, tmp_path / "script.py", pid, out]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    wait_for(lambda: pid.exists() and pid.read_text())
    process.send_signal(number)
    process.wait(timeout=20)
    wait_for(lambda: not alive(int(pid.read_text())))
    written = (out / "left.json").stat().st_mtime_ns
    compare(TASK, ["left", "right"], out=out)
    assert (out / "left.json").stat().st_mtime_ns == written
    assert (out / "right.json").exists()


def wait_for(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but is not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
