"""The commands and options of the guide exist, and print what it shows."""

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, TEXTS, blocks, prose
from tests.inprocess import PROGRAM, run


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of every call of dbpcfg in blocks for the shell, or of no language."""
    for kind in ("bash", "console", ""):
        for block in blocks(text, kind):
            for line in block.replace("\\\n", " ").splitlines():
                begins = {"bash": "", "console": "$ ", "": "dbpcfg "}[kind]
                if not line.startswith(begins):
                    continue
                line = line.removeprefix("$ ")
                tokens = shlex.shlex(line, posix=True, punctuation_chars=True)
                tokens.whitespace_split = True
                yield from calls(list(tokens))


def calls(tokens: list[str]) -> Iterator[list[str]]:
    """The arguments of dbpcfg in one line, which may be a pipe."""
    command: list[str] = []
    for token in [*tokens, "|"]:
        if token in ("|", ">", ";", "&&"):
            if command[:1] == ["dbpcfg"]:
                yield command[1:]
            command = []
        else:
            command.append(token)


def refused(arguments: list[str]) -> str | None:
    """Why the command line would not take these arguments, if it would not; nothing is run."""
    if not arguments or arguments[0] not in PROGRAM.commands:
        return f"no such command: {arguments}"
    top = PROGRAM.make_context("dbpcfg", [arguments[0]], resilient_parsing=True)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            PROGRAM.commands[arguments[0]].make_context(arguments[0], arguments[1:], parent=top)
    except Exception as error:  # of click, or of typer's own copy of it
        return f"{' '.join(arguments)}: {error}"
    return None


@pytest.mark.parametrize("page", [*TEXTS, "../README.md"])
def test_every_command_in_the_guide_exists_with_its_options(page):
    text = TEXTS.get(page) or (DOCS / page).read_text("utf-8")
    assert [why for why in map(refused, commands(text)) if why] == []


def test_commands_are_found_and_wrong_ones_are_noticed():
    page = """
```bash
dbpcfg parse runs/eve --nonsense          # a remark
cat x | dbpcfg parse runs/eve -n 2 > out  # fine
dbpcfg divine runs/eve
```

```console
$ dbpcfg parse runs/eve --method wrong
dbpcfg this is output
$ dbpcfg induce eve.txt
```
"""
    found = list(commands(page))
    assert found[1] == ["parse", "runs/eve", "-n", "2"]
    assert [refused(arguments) is None for arguments in found] == [False, True, False, False, False]


def unknown_options(text: str) -> list[str]:
    """Options in the text around the blocks that no command has."""
    known = {"--help", "--version"}
    for command in (PROGRAM, *PROGRAM.commands.values()):
        for parameter in command.params:
            known |= {*parameter.opts, *parameter.secondary_opts}
    named = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(text))
    named = [code for code in named if not code.startswith(("pip ", "iconv ", ".venv/"))]
    return [o for code in named for o in re.findall(r"(?<!\S)--\w[\w-]*", code) if o not in known]


@pytest.mark.parametrize("page", TEXTS)
def test_options_that_the_text_names_exist(page):
    assert unknown_options(TEXTS[page]) == []
    assert unknown_options("`--chains`, `induce --nonsense 3`, `-- `") == ["--nonsense"]


def test_every_command_is_in_the_guide():
    shown = {arguments[0] for text in TEXTS.values() for arguments in commands(text)}
    missing = set(PROGRAM.commands) - shown - {"demo"}  # which is `make demo`
    assert not missing, "show them in a block ```bash of a page of docs/"


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Each command of the blocks ``console``, and the output that stands below it."""
    for block in blocks(text, "console"):
        block = re.sub(r"^(\$ .*)\\\n\s*", r"\1", block, flags=re.MULTILINE)
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            yield command, output


def files(text: str) -> Iterator[tuple[str, str]]:
    """The files that a page shows: blocks ``toml`` that begin with their name, as a remark."""
    for block in blocks(text, "toml"):
        if found := re.match(r"# (\w+\.toml)\n", block):
            yield found[1], block


def agrees(shown: str, printed: str) -> bool:
    """Whether an output is as shown, where a line ``…`` stands for any lines."""
    pattern = "".join(
        "(?s:.*)" if line == "…" else re.escape(line) + r"[ ]*\n" for line in shown.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None


def perform(line: str) -> str:
    """The output of a line for the shell; dbpcfg is called in this process, which is quick."""
    found = re.fullmatch(r"(?:(.*) \| )?dbpcfg (.*?)(?: > (\S+))?", line)
    shell = line if found is None else found[1] or "true"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=True)
    if found is None:
        return done.stdout.decode()
    code, out, said = run(*shlex.split(found[2]), stdin=done.stdout)
    assert code == 0, said
    if found[3]:
        Path(found[3]).write_text(out, "utf-8")
    return "" if found[3] else out


@pytest.mark.slow
def test_commands_print_what_the_guide_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = sorted(TEXTS, key=lambda page: page != "inducing.md")  # it makes the others' run
    done = 0
    for page in pages:
        for name, content in files(TEXTS[page]):
            (tmp_path / name).write_text(content, "utf-8")
        for line, shown in sessions(TEXTS[page]):
            out = perform(line)
            assert agrees(shown, out), (page, line, out)
            done += 1
    assert done > 20


def test_outputs_are_compared_to_the_letter():
    assert agrees("a\n…\nz\n", "a\nb\nc\nz\n")
    assert agrees("a\n…\n", "a\n")
    assert not agrees("a\n", "a\nb\n")
    assert not agrees("a 1.0\n", "a 1.1\n")
