"""What tests of runs compare with."""

from pathlib import Path

import pytest

from tests.induction.small import start


@pytest.fixture(scope="package")
def reference(tmp_path_factory) -> Path:
    """A run that nothing interrupted."""
    path = tmp_path_factory.mktemp("reference") / "run"
    start(path, threads=1)
    return path
