"""The program as a whole: help, and pipes that are closed."""

from __future__ import annotations

import inspect
import subprocess

import pytest

from dbpcfg.cli.app import app
from dbpcfg.version import __version__
from tests.command import COMMAND
from tests.processes import output_of


def test_help_and_version(command):
    shown, _ = command.call("--help")
    assert "demo" in shown
    assert "synth" in shown
    assert command.call("--version") == (f"dbpcfg {__version__}\n", "")


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda c: c.callback.__name__)
def test_help_texts_fit_80_columns(command):
    """Lines after the first paragraph stay as they are, so they must be short enough."""
    _, *rest = inspect.getdoc(command.callback).split("\n\n")
    assert max((len(line) for text in rest for line in text.splitlines()), default=0) <= 76


def test_help_imports_nothing_heavy():
    """What makes ``--help`` instant, without a stopwatch."""
    loaded = output_of(
        "import atexit, sys\n"
        "atexit.register(lambda: print('loaded', *sys.modules))\n"
        "sys.argv[1:] = ['--help']\n"
        "from dbpcfg.cli.app import main\n"
        "main()"
    )
    assert not {"numpy", "numba", "scipy", "nltk"} & set(loaded.split())
    assert "typer" in loaded.split()


@pytest.mark.parametrize(
    "arguments",
    [
        "synth left -n 20000",
        "parse {run} {text} -q",
        "generate {run} -n 100000 -q",
        "surprisal {run} {text} -q",
        "draw {trees} --as evalb",
    ],
)
def test_a_reader_that_goes_away_is_no_error(center_run, tmp_path, arguments):
    (tmp_path / "text.txt").write_text("a1 b1 c1\n" * 10_000)
    (tmp_path / "many.mrg").write_text("(X (X a) (X b))\n" * 20_000)
    command = arguments.format(
        run=center_run, text=tmp_path / "text.txt", trees=tmp_path / "many.mrg"
    )
    done = subprocess.run(
        f"{' '.join(COMMAND)} {command} | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""
