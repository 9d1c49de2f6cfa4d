"""``dbpcfg report`` as a user meets it."""

import pytest

from dbpcfg.cli import report as reporting
from tests.report.small import TREES, make_run, write_treebank


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


def test_mistakes(command, own_run, treebank, tmp_path):
    other = tmp_path / "notes.html"
    other.write_text("mine")
    assert "--overwrite" in command.refuse("report", own_run, "--out", other)
    assert other.read_text() == "mine"
    command.call("report", own_run, "--out", other, "--overwrite")
    assert "does not exist" in command.refuse("report", tmp_path / "nothing")
    assert "is no run: there is no config.toml in it" in command.refuse("report", tmp_path)
    words = tmp_path / "words.txt"
    words.write_text("a b c\n")
    assert "no tree" in command.refuse("report", own_run, "--gold", words)
    wrong = write_treebank(tmp_path / "wrong.mrg", TREES[::-1])
    assert "wrong.mrg:1 is not sentence 1" in command.refuse("report", own_run, "--gold", wrong)
    assert "compare-runs" in command.refuse("compare-runs")
