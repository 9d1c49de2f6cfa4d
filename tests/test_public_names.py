"""The names that a user begins with: what they are, and that none is imported before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dbpcfg

NAMES = ["Model", "Tree", "compare", "evaluate", "induce", "load", "read", "resume"]


def test_the_public_names():
    assert [name for name in dbpcfg.__all__ if name != "__version__"] == NAMES
    assert dir(dbpcfg) == sorted(dbpcfg.__all__)
    for name in NAMES:
        found = getattr(dbpcfg, name)
        assert found.__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'guess'"):
        _ = dbpcfg.guess


def test_nothing_heavy_is_imported_before_it_is_used():
    program = "import sys, dbpcfg, dbpcfg.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = done.stdout.split()
    assert "dbpcfg.cli.compare" in loaded
    assert not {"numpy", "numba", "dbpcfg.experiments.compare", "dbpcfg.model.model"} & set(loaded)
