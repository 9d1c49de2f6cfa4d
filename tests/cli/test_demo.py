"""``demo`` as a user meets it; what it shows is tested in ``tests/test_demo.py``."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dbpcfg.cli.reproduce
import dbpcfg.experiments.demo
from dbpcfg.experiments.demo import LANGUAGE
from tests.command import printed, refused


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """The demonstration's last part only, at once."""
    monkeypatch.chdir(tmp_path)
    asked = []

    def run_demo(seed, show, **options):
        asked.append(options)
        return replace(LANGUAGE, chains=2, iterations=6, budget=None).learn(seed)

    monkeypatch.setattr(dbpcfg.experiments.demo, "run_demo", run_demo)
    return asked


@pytest.mark.parametrize(("encoding", "plain"), [("utf-8", False), ("cp1252", True)])
def test_boxes_are_drawn_where_the_output_can_hold_them(monkeypatch, tiny, encoding, plain):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    dbpcfg.cli.reproduce.demo(seed=0, out="page.html", quiet=True)
    assert tiny[0]["ascii"] is plain


def test_the_report_is_written_and_named(tiny):
    said = printed("demo", "--quiet")
    page = Path("dbpcfg-demo.html").resolve()
    assert said.endswith(f"{page}\n")
    assert "F1 of the answer" in page.read_text("utf-8")
    assert printed("demo", "--quiet") == said  # a page of ours is replaced


def test_no_other_file_is_replaced(tiny):
    Path("mine.html").write_text("<p>mine</p>")
    assert "is not a report" in refused("demo", "--out", "mine.html")
    assert not tiny  # before anything is learned
