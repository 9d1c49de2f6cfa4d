"""Control characters in words, names and arguments: shown on a terminal, exact elsewhere."""

import contextlib
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from dbpcfg.cli import app
from dbpcfg.induction.induce import induce
from tests.command import COMMAND, dbpcfg
from tests.inprocess import PROGRAM

EVIL = "evil\x1b]0;owned\x07\x1b[2Jword\x9b31m"
SHOWN = r"evil\x1b]0;owned\x07\x1b[2Jword\x9b31m"

BOLD = re.compile(r"\x1b\[[01]m")
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Terminal(io.StringIO):
    """Takes what is written as a terminal does."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def reconfigure(self, **_: object) -> None:
        """Terminals of tests are UTF-8 anyway."""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Files whose names, words, labels and speakers are hostile."""
    place = tmp_path_factory.mktemp("place")
    words = [[EVIL, "sees", "cats"], ["dogs", "see", EVIL], [EVIL, "barks"]] * 4
    (place / f"{EVIL}.txt").write_text("".join(f"{' '.join(line)}\n" for line in words))
    trees = [f"(S (N {line[0]}) (V{EVIL} {' '.join(line[1:])}))\n" for line in words]
    trees[0] = f"(S (N {EVIL}) (VP (V sees) (N cats) (X)))\n"  # something to leave out
    (place / f"{EVIL}.mrg").write_text("".join(trees))
    (place / f"{EVIL}.cha").write_text(
        f"@UTF8\n@Begin\n@Participants:\tMOT Mother, KID Target_Child\n*MOT:\t{EVIL} hi .\n"
        "*KID:\tyes .\n@End\n"
    )
    (place / f"{EVIL}.tsv").write_text(
        f"lhs\tleft\tright\tprobability\nROOT\t{EVIL}\t\t1\n{EVIL}\t{EVIL}\t{EVIL}\t0.25\n"
        f"{EVIL}\t{EVIL}\t\t0.75\n"
    )
    (place / f"{EVIL}.toml").write_text(f"corpus = {json.dumps(EVIL + '.mrg')}\n")
    (place / "wrong.toml").write_text(f"{json.dumps(EVIL)} = 3\n")
    (place / f"{EVIL}.csv").write_text(
        f"item,s,w{EVIL}\n1,{EVIL} sees,{EVIL}\n1,dogs,dogs\n1,cats,cats\n"
    )
    run = place / f"run{EVIL}"
    induce(words, 2, 1, chains=1, iterations=2, threads=1, out=run)
    induce(words, 2, 1, chains=1, iterations=9, threads=1, out=place / f"begun{EVIL}",
           should_stop=lambda: True, checkpoint=0)  # fmt: skip
    return place


COMMANDS = """\
convert @.txt -; convert @.cha -; convert @.mrg -; convert @.cha - --speaker @
convert @.txt - --input-format @; convert @.txt - --@; convert @.txt - --encoding @
@
parse run@ @.txt --threads 1; parse run@ @.txt --draw --threads 1
parse run@ @.txt --scores --threads 1; parse run@ @.txt --method @
surprisal run@ @.txt --threads 1; surprisal run@ @.csv --text s --threads 1
surprisal run@ @.csv --word w@ --by item --threads 1; surprisal run@ @.csv --text @
surprisal run@ @.txt --columns @
convert @.csv - --text s; convert @.csv - --text @; convert @.csv -; convert @.cha - --age @
pairs run@ @.csv --good s --bad item --threads 1; pairs run@ @.csv --good @ --bad s; pairs run@ @
probability run@ @.txt --each --threads 1
generate run@ --trees
show run@ --trees 2; show run@ --gold @.mrg; show run@ --format json; show run@ --format latex
show @.txt; show @.tsv; explore @.txt; explore begun@
bound run@; bound @.tsv --show grammar
export run@ -; export run@ - --as nltk
evaluate @.mrg run@/trees.txt; evaluate @.mrg @.mrg --category @
evaluate @.mrg @.mrg --format json
draw run@; draw @.mrg --as forest; draw @.mrg --as svg -n 1; draw @.mrg --as @
baseline right @.txt; baseline @ @.txt
resume run@; resume run@ --json; resume @
report run@ --overwrite; report begun@
compare-runs run@ begun@; compare-runs run@ --format json
compare @.mrg --systems @
induce @.txt --out @ -D @
induce @.txt --out new@ -K 2 -D 1 --iterations 2 --chains 1 --gold @.mrg --overwrite
induce @.txt --out run@
sweep @.toml --dry-run; sweep @.toml --slurm-array; sweep @.toml --cell 99; sweep @.txt
sweep wrong.toml
"""
"""``@`` stands for what is hostile."""


@pytest.mark.parametrize("command", re.split(r"; |\n", COMMANDS.strip()))
def test_nothing_is_obeyed(command, place, monkeypatch):
    monkeypatch.chdir(place)
    out, err = Terminal(), Terminal()
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "argv", ["dbpcfg", *command.replace("@", EVIL).split()])
    monkeypatch.setattr(app, "app", PROGRAM)
    with contextlib.suppress(SystemExit):
        app.main()
    assert sys.stdout is out
    said = out.getvalue() + err.getvalue()
    assert "Traceback" not in said
    assert said
    if "new@" in command or command == "resume run@":  # a live table moves the cursor
        assert EVIL[4:] not in said
    else:
        assert not OBEYED.search(BOLD.sub("", said))
    if command.split()[0] not in ("bound", "resume", "generate"):
        assert "owned" in said


def on_a_terminal(*arguments: str, **options) -> str:
    """What a command writes to a terminal that is its output and its error."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen([*COMMAND, *arguments], stdout=theirs, stderr=theirs, **options)
        os.close(theirs)
        found = b""
        while select.select([ours], [], [], 600)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            found += part
        process.wait(timeout=600)
    finally:
        os.close(ours)
    return found.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("variables", [{}, {"PYTHONIOENCODING": "ascii"}])
def test_a_real_terminal_and_a_pipe(place, variables):
    env = {**os.environ, "COLUMNS": "300", **variables}
    shown = on_a_terminal("convert", f"{EVIL}.txt", "-", cwd=place, env=env)
    assert SHOWN in shown
    assert not OBEYED.search(shown)
    wrong = on_a_terminal("convert", "--" + EVIL, cwd=place, env=env)
    assert SHOWN in wrong
    assert not OBEYED.search(wrong)
    exact = dbpcfg("convert", f"{EVIL}.txt", "-", "-q", cwd=place).stdout
    assert exact == (place / f"{EVIL}.txt").read_text()
