"""The command line as a user meets it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.trees.brackets import read_trees
from dbpcfg.version import __version__
from tests.command import dbpcfg, refused


def test_help_and_version():
    shown = dbpcfg("--help")
    assert shown.returncode == 0
    for command in ("demo", "synth"):
        assert command in shown.stdout
    assert dbpcfg("--version").stdout == f"dbpcfg {__version__}\n"
    assert dbpcfg().stdout.strip() == shown.stdout.strip()


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


def test_synth_prints_gold_trees():
    printed = dbpcfg("synth", "center", "-n", "12", "--vocabulary", "3", "--seed", "4")
    assert printed.stderr == ""
    assert list(read_trees(printed.stdout)) == synthetic_trees("center", 12, 3, 4)
    words = dbpcfg("synth", "center", "-n", "12", "--vocabulary", "3", "--seed", "4", "--words")
    assert [line.split() for line in words.stdout.splitlines()] == [
        tree.words() for tree in synthetic_trees("center", 12, 3, 4)
    ]


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


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m dbpcfg synth left -n 20000"
    done = subprocess.run(
        f"{command} | head -n 1", shell=True, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.startswith("(X1 ")
    assert done.stderr == ""
