"""The command line in this process, which is quick: for tests that call it many times."""

from __future__ import annotations

import io
import sys

from typer.main import get_command

from dbpcfg.cli import app

PROGRAM = get_command(app.app)
"""The command line, made once, as that takes longer than many commands."""


class InProcess:
    """Calls commands; to be made with pytest's ``monkeypatch`` and ``capsys``."""

    def __init__(self, monkeypatch, capsys) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

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

    def run(self, *arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit code, output and messages of a command."""
        given = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
        self.monkeypatch.setattr(sys, "argv", ["dbpcfg", *map(str, arguments)])
        self.monkeypatch.setattr(sys, "stdin", given)
        self.monkeypatch.setattr(app, "app", PROGRAM)
        self.monkeypatch.setenv("COLUMNS", "80")
        self.capsys.readouterr()
        try:
            app.main()
        except SystemExit as end:
            code = end.code or 0
        else:
            code = 0
        return code, *self.capsys.readouterr()
