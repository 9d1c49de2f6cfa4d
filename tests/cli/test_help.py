"""Help: nothing is cut off, types are short, options are in groups; completion of the shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.inprocess import PROGRAM, run

COMMANDS = PROGRAM.commands


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option_in_full(name, columns):
    _, shown, _ = run(name, "--help", columns=columns)
    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    assert not re.search(r"<(int|float|str|bool|list)|INTEGER| range\b", shown)
    words = set(re.split(r"[\s,]+", shown))
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option":
            assert {*parameter.opts, *parameter.secondary_opts} <= words


def test_options_of_induce_are_in_groups(command):
    shown, _ = command.call("induce", "--help")
    sections = re.split(r"^(\w+):\n", shown, flags=re.MULTILINE)
    groups = dict(zip(sections[1::2], sections[2::2]))
    assert list(groups) == ["Arguments", "Options", "Model", "Sampling", "Corpus"]
    assert "-K, --categories N            Number of categories." in groups["Model"]
    assert "--beta X                      Dirichlet parameter.  [default: 0.2]" in groups["Model"]
    assert "--learner gibbs|em|vb|neural" in groups["Model"]
    assert "--trees mbr|best|last" in groups["Sampling"]
    assert "--exclude-speaker SPEAKER" in groups["Corpus"]
    assert "--out OUT" in groups["Options"]


def test_arguments_have_their_choices(command):
    shown, _ = command.call("synth", "--help")
    assert "KIND left|right|center" in shown


def test_the_list_of_commands_is_not_cut_off(command):
    shown, _ = command.call("--help")
    assert "..." not in shown.partition("Commands:")[2]
    assert "--install-completion" in shown
    assert all(re.search(rf"^  {name} ", shown, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, call):
    assert "dbpcfg" in call("--show-completion", shell)[0]


def test_the_shell_gets_commands_and_options():
    def completed(words: str) -> list[str]:
        environment = {
            **os.environ,
            "_DBPCFG_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        }
        program = "import sys; sys.argv = ['dbpcfg']; import dbpcfg.cli.app as it; it.main()"
        run = [sys.executable, "-c", program]
        return subprocess.run(run, env=environment, capture_output=True, text=True).stdout.split()

    assert completed("dbpcfg sur") == ["surprisal"]
    assert completed("dbpcfg induce --exclude-") == ["--exclude-speaker"]
