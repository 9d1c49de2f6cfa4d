"""Progress of a sweep: lines, or a bar."""

import io
import sys

import pytest

from dbpcfg.cli import sweep as sweep_progress
from dbpcfg.cli.sweep import SweepProgress
from dbpcfg.experiments.corpora import CellCorpus
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.results import CellOutcome
from dbpcfg.io import progress
from dbpcfg.systems.registry import find

CORPUS = CellCorpus("adam", ("a",))
CELLS = [Cell(n, "out", CORPUS, find("random"), seed=n) for n in range(1, 7)]
DONE, FAILED = CellOutcome("finished"), CellOutcome("failed", "it burns")


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(sweep_progress, "LINE_SECONDS", 60.0)
    return now


def test_lines(clock, capsys):
    with SweepProgress(6, 2, quiet=False) as shown:
        for cell in CELLS[:2]:
            shown.on_begin(cell)
        clock[0] += 10
        shown.on_poll()
        shown.on_end(CELLS[0], DONE)
        shown.on_end(CELLS[1], FAILED)
        shown.on_begin(CELLS[2])
        shown.on_progress(CELLS[2], 0.5)
        clock[0] += sweep_progress.LINE_SECONDS + 1
        shown.on_poll()
        shown.on_end(CELLS[2], CellOutcome("unfinished"))
    assert capsys.readouterr().err.splitlines() == [
        "3 of 6 cells, 0:30 left; adam-random-s1 finished (0:10)",
        "4 of 6 cells, 1 failed, 0:10 left; adam-random-s2 failed: it burns (0:10)",
        "4 of 6 cells, 1 failed, 1:11 left; running adam-random-s3 50%",
    ]


def test_many_running_cells_are_not_all_named(clock, capsys):
    with SweepProgress(6, 0, quiet=False) as shown:
        for cell in CELLS[:5]:
            shown.on_begin(cell)
        clock[0] += sweep_progress.LINE_SECONDS + 1
        shown.on_poll()
    line = "0 of 6 cells; running adam-random-s1, adam-random-s2, adam-random-s3 and 2 more\n"
    assert capsys.readouterr().err == line


def test_quiet(clock, capsys):
    with SweepProgress(6, 0, quiet=True) as shown:
        shown.on_begin(CELLS[0])
        shown.on_poll()
        shown.on_end(CELLS[0], DONE)
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setenv("COLUMNS", "200")
    with SweepProgress(6, 0, quiet=False) as shown:
        shown.on_begin(CELLS[0])
        shown.on_progress(CELLS[0], 0.25)
        shown.on_poll()
        shown.on_end(CELLS[0], FAILED)
        shown.on_poll()
    said = terminal.getvalue()
    assert "cells; running adam-random-s1 25%" in said
    assert "cells, 1 failed" in said
    assert "1 of 6" in said
