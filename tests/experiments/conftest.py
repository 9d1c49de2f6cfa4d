from pathlib import Path

import pytest

from tests.experiments.small import write_corpora
from tests.inprocess import InProcess


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with small corpora."""
    write_corpora(tmp_path)
    return tmp_path


@pytest.fixture
def command(monkeypatch, capsys) -> InProcess:
    """The command line in this process."""
    return InProcess(monkeypatch, capsys)
