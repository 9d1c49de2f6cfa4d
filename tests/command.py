"""The command line in a process of its own, as a user runs it."""

from __future__ import annotations

import subprocess
import sys

COMMAND = [sys.executable, "-m", "dbpcfg"]


def dbpcfg(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


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
