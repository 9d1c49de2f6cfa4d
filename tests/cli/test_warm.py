"""``dbpcfg warm``, and what the program says while it compiles."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from dbpcfg.cli import warm
from dbpcfg.numerics import compiling


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_compiling_is_announced_at_once(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    notice = warm.CompilingNotice()
    notice.begin("dbpcfg.parsing.chart.inside.inside")
    assert sys.stderr.getvalue() == (
        "compiling kernels, once on this machine: 0 done, now inside\n"
    )
    notice.end("dbpcfg.parsing.chart.inside.inside")
    notice.begin("dbpcfg.parsing.chart.trees.sample_trees")  # within two seconds: no line
    assert sys.stderr.getvalue().count("\n") == 1
    notice.said -= warm.SECONDS
    notice.begin("dbpcfg.parsing.mbr.heaviest_trees")
    assert sys.stderr.getvalue().endswith("1 done, now heaviest_trees\n")


def test_on_a_terminal_the_line_is_replaced(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    notice = warm.CompilingNotice()
    notice.begin("a.first")
    notice.end("a.first")
    notice.begin("a.second")
    notice.end("a.second")
    said = sys.stderr.getvalue()
    assert "\n" not in said
    assert "0 done, now first" in said
    assert "1 done, now second" in said
    assert said.endswith(" \r")


@pytest.mark.parametrize(("arguments", "expected"), [([], 1), (["-q"], 0), (["--quiet"], 0)])
def test_quiet_programs_say_nothing(arguments, expected, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["dbpcfg", "induce", *arguments])
    monkeypatch.setattr(compiling, "begun", [])
    monkeypatch.setattr(compiling, "ended", [])
    with warm.compiling_announced():
        assert len(compiling.begun) == len(compiling.ended) == expected
    assert compiling.begun == compiling.ended == []


@pytest.mark.slow
def test_nothing_is_left_to_compile_after_warm(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(warm.TEXT)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def said(*arguments):
        command = [sys.executable, "-m", "dbpcfg", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    assert "compiling kernels" in said("warm")
    run = str(tmp_path / "run")
    for arguments in (
        ["warm"],
        ["induce", str(text), "--out", run, "-K", "3", "--chains", "2", "--iterations", "4"],
        ["parse", run, str(text)],
        ["parse", run, str(text), "-n", "2", "--method", "viterbi"],
        ["probability", run, str(text)],
        ["surprisal", run, str(text)],
        ["generate", run, "--max-length", "6"],
    ):
        assert "compiling" not in said(*arguments), arguments
