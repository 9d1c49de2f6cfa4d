"""The command line as a user runs it: in a process of its own where that matters."""

import subprocess
import sys

from tests.inprocess import run

COMMAND = [sys.executable, "-m", "dbpcfg"]


def dbpcfg(*arguments: object, input: str = "", **options) -> subprocess.CompletedProcess[str]:
    """What a command does; in a process of its own if it has options of one, as ``env``."""
    command = [*COMMAND, *map(str, arguments)]
    if options:
        options = {"capture_output": True, "text": True, "timeout": 600, **options}
        return subprocess.run(command, input=input, **options)
    return subprocess.CompletedProcess(command, *run(*arguments, stdin=input.encode()))


def printed(*arguments: object, **options) -> str:
    """The standard output of a command that succeeds."""
    result = dbpcfg(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refused(*arguments: object, **options) -> str:
    """The message of a command that fails: on standard error, exit code 2, no traceback."""
    result = dbpcfg(*arguments, **options)
    assert result.returncode == 2, (result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.replace("│", " ").split())
