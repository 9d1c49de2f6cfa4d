"""The page of one run, for all tests of reports."""

from pathlib import Path

import pytest

from dbpcfg.induction.directory import finished_run
from dbpcfg.report.assemble import collect, write_page
from tests.report.browser import chromium
from tests.report.small import make_run


@pytest.fixture(scope="session")
def data(run, run_path, gold):
    return collect(run, run_path, gold)


@pytest.fixture(scope="session")
def page(data, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(data, path)
    return path


@pytest.fixture(scope="session")
def race_path(tmp_path_factory) -> Path:
    """A race: of five chains two run on, and then to the end."""
    options = {"chains": 5, "iterations": None, "budget": 500, "held_out": 9, "select": "posterior"}
    return make_run(tmp_path_factory.mktemp("runs") / "race", **options)


@pytest.fixture(scope="session")
def race(race_path):
    return finished_run(race_path)


@pytest.fixture(scope="session")
def race_data(race, race_path, gold):
    return collect(race, race_path, gold)


@pytest.fixture(scope="session")
def browser():
    with chromium() as found:
        yield found
