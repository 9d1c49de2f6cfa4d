"""Systems and learners that are defined in a notebook, or in a script without a guard."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import dbpcfg
from dbpcfg.systems.registry import SystemSpec
from tests.docs.pages import TEXTS, blocks
from tests.extending.test_system import Chunks

(GUIDE,) = (block for block in blocks(TEXTS["comparing.md"], "python") if "class Chunks" in block)
COMPARED = """
import dbpcfg

print("begun")
treebank = "a.mrg"
print(dbpcfg.compare(treebank, ["chunks", "right"], out="out"))
"""
assert 'dbpcfg.compare(treebank, ["chunks", "right"])' in TEXTS["comparing.md"]


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A folder with a treebank, for processes that find this package and these tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(os.path.abspath(path) for path in sys.path))
    (tmp_path / "a.mrg").write_text("(S (A a) (B (C b) (D c)))\n" * 12)
    return tmp_path


def output_of(script: str, place: Path) -> str:
    """What a script prints that has no ``if __name__ == "__main__":``."""
    (place / "script.py").write_text(script)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def in_notebook(script: str, place: Path) -> str:
    """What a cell of a notebook prints."""
    cell = nbformat.v4.new_code_cell(script)
    book = nbformat.v4.new_notebook(cells=[cell])
    kernel = {"display_name": "Python", "name": "python3", "language": "python"}
    book.metadata["kernelspec"] = kernel
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(place)}}).execute()
    return "".join(out.text for out in cell.outputs if out.get("name") == "stdout")


@pytest.mark.parametrize("run", [output_of, in_notebook])
def test_the_example_of_the_guide_runs_as_printed(run, processes, place):
    shown = run(GUIDE + COMPARED, place)
    assert shown.count("begun") == 1  # no process has run it again
    assert "chunks: words = 2" in shown
    assert "failed" not in shown
    dbpcfg.compare(place / "a.mrg", [SystemSpec("chunks", Chunks), "right"], out=place / "imported")
    for system in ("chunks", "right"):
        found = [place / out / system / "trees.txt" for out in ("out", "imported")]
        assert found[0].read_bytes() == found[1].read_bytes()
    data = json.loads((place / "out" / "comparison.json").read_text())
    here, apart = (one["peak_bytes"] for one in data["systems"])
    assert here is None  # it has no process of its own
    assert apart > 10_000_000


LEARNER = """
import dbpcfg
from dbpcfg.induction.learners import learners
from dbpcfg.induction.learners.expectation import EM


class Mine(EM):
    name = "mine"


print("begun")
learners.add("mine", Mine)
few = {"iterations": 3, "K": 2, "chains": 2}
dbpcfg.induce("a.mrg", learner=Mine(), workers="processes", threads=2, out="mine", **few)
dbpcfg.induce("a.mrg", learner="em", workers="processes", threads=2, out="em", **few)
for name in ("mine", "em"):
    given = {"dbpcfg": {"learner": name, **few}}
    dbpcfg.compare("a.mrg", ["dbpcfg"], runs=1, settings=given, out=f"by-{name}", on_note=print)
"""


def test_a_learner_of_a_script_runs_in_this_process(place):
    shown = output_of(LEARNER, place)
    assert shown.count("begun") == 1
    assert "failed" not in shown
    for one, same in [("mine", "em"), ("by-mine/dbpcfg-s0", "by-em/dbpcfg-s0")]:
        trees = [place / name / "trees.txt" for name in (one, same)]
        assert trees[0].read_bytes() == trees[1].read_bytes()


ADDED = """
import dbpcfg
from dbpcfg.induction.learners import learners
from module import Mine

learners.add("mine", Mine)
given = {"dbpcfg": {"learner": "mine", "iterations": 3, "K": 2, "chains": 1}}
print(dbpcfg.compare("a.mrg", ["dbpcfg"], runs=1, settings=given, out="out", on_note=print))
"""


def test_a_process_knows_what_the_program_has_added(place):
    (place / "module.py").write_text(LEARNER.partition("print")[0])
    shown = output_of(ADDED, place)
    assert "failed" not in shown
    data = json.loads((place / "out" / "comparison.json").read_text())
    assert data["systems"][0]["peak_bytes"]  # of a process of its own
