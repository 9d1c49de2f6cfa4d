"""One run, its treebank and its page, for all tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.induction.finished import finished_run
from dbpcfg.report.assemble import write_page
from dbpcfg.report.collect import collect
from tests.report.small import make_run, write_treebank


@pytest.fixture(scope="session")
def run_path(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="session")
def treebank(tmp_path_factory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("gold") / "text.mrg")


@pytest.fixture(scope="session")
def run(run_path):
    return finished_run(run_path)


@pytest.fixture(scope="session")
def gold(run, treebank):
    return run.match_gold(read(treebank).sentences, str(treebank))


@pytest.fixture(scope="session")
def data(run, run_path, gold):
    return collect(run, run_path, gold)


@pytest.fixture(scope="session")
def page(data, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(data, path)
    return path
