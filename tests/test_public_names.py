"""The names that a user begins with: what they are, and that none is imported before it is used."""

import pytest

import dbpcfg
from tests.processes import output_of

NAMES = [
    *("EM", "DbpcfgError", "Gibbs", "Model", "Neural", "Tree", "VariationalBayes"),
    *("compare", "evaluate", "induce", "load", "minimal_pairs", "read", "resume"),
]


def test_the_public_names():
    assert [name for name in dbpcfg.__all__ if name != "__version__"] == NAMES
    assert dir(dbpcfg) == sorted(dbpcfg.__all__)
    for name in NAMES:
        found = getattr(dbpcfg, name)
        assert found.__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'guess'"):
        _ = dbpcfg.guess


def test_nothing_heavy_is_imported_before_it_is_used():
    loaded = output_of("import sys, dbpcfg; print(*sys.modules)").split()
    assert {name for name in loaded if name.startswith("dbpcfg")} == {"dbpcfg", "dbpcfg.version"}
