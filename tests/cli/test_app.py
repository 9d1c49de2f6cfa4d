"""The program as a whole: help, completion, and output that is full, closed or not read."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dbpcfg.version import __version__
from tests.command import COMMAND
from tests.inprocess import PROGRAM, run
from tests.processes import output_of

COMMANDS = PROGRAM.commands


def test_help_and_version(command):
    shown, _ = command.call("--help")
    assert "demo" in shown
    assert "synth" in shown
    assert command.call("--version") == (f"dbpcfg {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda c: c.name)
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


def test_a_small_run_loads_few_modules(tmp_path):
    """Other commands, other learners' parsers and measures of models stay away."""
    (tmp_path / "text.txt").write_text("a cat sleeps\nthe dog barks\n")
    arguments = f"induce {tmp_path}/text.txt -K 2 --iterations 2 --chains 1 --out {tmp_path}/run -q"
    loaded = output_of(
        "import atexit, sys\n"
        "atexit.register(lambda: print('loaded', *sys.modules))\n"
        f"sys.argv[1:] = {arguments.split()}\n"
        "from dbpcfg.cli.app import main\n"
        "main()"
    )
    ours = [name for name in loaded.split() if name.startswith("dbpcfg")]
    assert "dbpcfg.induction.learners.gibbs" in ours
    assert len(ours) <= 98


@pytest.mark.parametrize(
    "arguments",
    [
        "parse {run} {text} -q",
        "draw {trees} --as evalb -q",
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
        timeout=600,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("dbpcfg: ")
    return done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("arguments", ["--version", "convert - -"])
def test_a_full_standard_output(arguments):
    command = [*COMMAND, *arguments.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, input="a b\n", timeout=600
        )
    assert "standard output cannot be written: No space left on device" in one_line(done)


def test_a_closed_standard_output(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a b\n")
    done = subprocess.run(
        f"{' '.join(COMMAND)} convert {text} - >&-", shell=True, stderr=subprocess.PIPE, text=True
    )
    assert "standard output is closed" in one_line(done)
    assert text.read_text() == "a b\n"


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option_in_full(name, columns):
    asked = "--help-all" if name == "induce" else "--help"
    _, shown, _ = run(name, asked, columns=columns)
    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    assert "[]" not in shown
    assert not re.search(r"<(int|float|str|bool|list)|INTEGER| range\b", shown)
    words = set(re.split(r"[\s,]+", shown))
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option":
            assert {*parameter.opts, *parameter.secondary_opts} <= words


def test_options_of_induce_are_in_groups(command):
    shown, _ = command.call("induce", "--help-all")
    sections = re.split(r"^(\w+):\n", shown, flags=re.MULTILINE)
    groups = dict(zip(sections[1::2], sections[2::2]))
    panels = ["Model", "Learner", "Chains", "Corpus", "Running"]
    assert list(groups) == ["Arguments", "Options", *panels]
    assert "-K, --categories N" in groups["Model"]
    assert "--beta X" in groups["Learner"]
    assert "--trees mbr|consensus|best|last" in groups["Chains"]
    assert "--exclude-speaker SPEAKER" in groups["Corpus"]
    assert "--out OUT" in groups["Options"]


def test_the_list_of_commands_is_not_cut_off(command):
    shown, _ = command.call("--help")
    assert "..." not in shown.partition("Commands:")[2]
    assert "--install-completion" in shown
    assert all(re.search(rf"^  {name} ", shown, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "completed"),
    [("dbpcfg sur", "surprisal"), ("dbpcfg induce --exclude-", "--exclude-speaker")],
)
def test_the_shell_gets_commands_and_options(monkeypatch, words, completed):
    """What the script of bash asks for; which shell the tests were started from does not matter."""
    monkeypatch.setenv("_DBPCFG_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    program = "import sys; sys.argv = ['dbpcfg']; import dbpcfg.cli.app as it; it.main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == [completed]
