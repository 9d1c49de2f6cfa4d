"""``dbpcfg warm``, and what the program says while it compiles."""

import io
import os
import subprocess
import sys

import pytest

from dbpcfg.cli import output, warm
from dbpcfg.numerics import compiling


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_compiling_is_announced_at_once(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    notice = output.CompilingNotice()
    notice.begin("dbpcfg.parsing.chart.inside.inside")
    assert "0 done, now inside\n" in sys.stderr.getvalue()
    notice.end("dbpcfg.parsing.chart.inside.inside")
    notice.begin("dbpcfg.parsing.chart.trees.sample_trees")  # within two seconds: no line
    assert sys.stderr.getvalue().count("\n") == 1
    notice.said -= output.SECONDS
    notice.begin("dbpcfg.parsing.mbr.heaviest_trees")
    assert sys.stderr.getvalue().endswith("1 done, now heaviest_trees\n")


def test_on_a_terminal_the_line_is_replaced(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    notice = output.CompilingNotice()
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
    monkeypatch.setattr(compiling, "on_begin", [])
    monkeypatch.setattr(compiling, "on_end", [])
    with output.compiling_announced():
        assert len(compiling.on_begin) == len(compiling.on_end) == expected
    assert compiling.on_begin == compiling.on_end == []


SCRIPT = """\
import sys
from dbpcfg.cli.app import main
from dbpcfg.numerics.kernels import KernelCache

asked, load = [], KernelCache.load_overload

def noted(self, *types):
    asked.append(self.name)
    return load(self, *types)

KernelCache.load_overload = noted
for command in sys.argv[1:]:
    sys.argv = ["dbpcfg", *command.split()]
    asked.clear()
    try:
        main()
    except SystemExit as end:
        assert not end.code
    print("\\nasked", *asked)
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile_after_warm(tmp_path):
    """In one process: a kernel that it has is not asked for again."""
    (tmp_path / "text.txt").write_text(warm.TEXT)
    commands = [
        "warm",
        "induce text.txt --out run -K 3 --chains 2 --iterations 4",
        "parse run text.txt",
        "parse run text.txt -n 2 --method viterbi",
        "probability run text.txt",
        "surprisal run text.txt",
        "generate run --max-length 6",
    ]
    run = [sys.executable, "-c", SCRIPT, *commands]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    first, *others = [line for line in done.stdout.splitlines() if line.startswith("asked")]
    assert len(first.split()) > 40
    assert others == ["asked"] * (len(commands) - 1)
