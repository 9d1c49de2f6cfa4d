"""The page of one run, for all tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbpcfg.report.assemble import write_page
from dbpcfg.report.collect import collect


@pytest.fixture(scope="session")
def data(run, run_path, gold):
    return collect(run, run_path, gold)


@pytest.fixture(scope="session")
def page(data, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(data, path)
    return path
