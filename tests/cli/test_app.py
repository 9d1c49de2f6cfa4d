"""The program as a whole: help, mistakes, pipes."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from dbpcfg.cli.app import app
from dbpcfg.version import __version__
from tests.command import COMMAND, dbpcfg, refused


def test_help_and_version():
    shown = dbpcfg("--help")
    assert shown.returncode == 0
    for command in ("demo", "synth"):
        assert command in shown.stdout
    assert dbpcfg("--version").stdout == f"dbpcfg {__version__}\n"
    assert dbpcfg().stdout.strip() == shown.stdout.strip()


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda c: c.callback.__name__)
def test_help_texts_fit_80_columns(command):
    """Lines after the first paragraph stay as they are, so they must be short enough."""
    _, *rest = inspect.getdoc(command.callback).split("\n\n")
    assert max((len(line) for text in rest for line in text.splitlines()), default=0) <= 76


def test_help_imports_nothing_heavy():
    """What makes ``--help`` instant, without a stopwatch."""
    watch = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from dbpcfg.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'numba', 'scipy', 'nltk'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", watch], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["synth", "middle"], "'left', 'right'"),
        (["synth", "left", "-n", "0"], "--sentences"),
        (
            ["synth", "left", "--seed", str(2**70)],
            "seed must be a whole number from 0 to 2**64 - 1",
        ),
        (["sing"], "No such command 'sing'"),
        (["demo", "--sead", "1"], "--seed"),
    ],
)
def test_a_mistake_is_a_message_and_exit_code_2(arguments, said):
    assert said in refused(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        "synth left -n 20000",
        "parse {run} {text} -q",
        "parse {run} {text} -q --scores",
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
