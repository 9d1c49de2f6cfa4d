"""The command line in this process, where it starts at once."""

import io
import sys

import pytest
from typer.main import get_command

from dbpcfg.cli import app

PROGRAM = get_command(app.app)
"""The command line, made once, as that takes longer than many commands."""


def run(
    *arguments: object, stdin: bytes = b"", columns: int = 80, mixed: bool = False
) -> tuple[int, str, str]:
    """Exit code, output and messages of a command.

    ``mixed``: whether messages are in the output too, in the order of time.
    """
    out = io.BytesIO()
    err = out if mixed else io.BytesIO()
    given = io.BufferedReader(io.BytesIO(stdin))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["dbpcfg", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
        for name, stream in (("stdout", out), ("stderr", err)):
            text = io.TextIOWrapper(stream, encoding="utf-8", write_through=True)
            patch.setattr(sys, name, text)
        patch.setattr(app, "app", PROGRAM)
        patch.setenv("COLUMNS", str(columns))
        code = 0
        try:
            app.main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, out.getvalue().decode(), err.getvalue().decode()


class InProcess:
    """Calls commands; to be made with pytest's ``monkeypatch`` and ``capsys``."""

    def __init__(self, monkeypatch, capsys) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def run(self, *arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit code, output and messages of a command."""
        return run(*arguments, stdin=stdin)

    def call(self, *arguments: object, stdin: bytes = b"") -> tuple[str, str]:
        """Output and messages of a command that succeeds."""
        code, out, err = self.run(*arguments, stdin=stdin)
        assert code == 0, err
        return out, err

    def refuse(self, *arguments: object, stdin: bytes = b"") -> str:
        """The message of a command that fails with exit code 2, in one line."""
        code, _, err = self.run(*arguments, stdin=stdin)
        assert code == 2, err
        return " ".join(err.replace("│", " ").split())
