"""``dbpcfg report`` as a user meets it."""

import pytest

from dbpcfg.cli import report as reporting
from tests.report.small import make_run


@pytest.fixture(scope="module")
def own_run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("own") / "run", chains=1, iterations=4)


def test_a_page_and_figures(command, own_run, treebank, tmp_path):
    pytest.importorskip("matplotlib")
    figures = tmp_path / "figures"
    said, _ = command.call("report", own_run, "--gold", treebank, "--figures", figures)
    page = own_run / "report.html"
    assert said.splitlines()[0] == str(page)
    assert all(str(path) in said for path in figures.iterdir())
    first = page.read_bytes()
    command.call("report", own_run, "--gold", treebank)  # our own page is replaced
    assert page.read_bytes() == first


def test_the_page_is_opened(command, own_run, tmp_path, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(reporting.typer, "launch", opened.append)
    command.call("report", own_run, "--out", tmp_path / "a page.html", "--open")
    assert opened == [(tmp_path / "a page.html").as_uri()]
