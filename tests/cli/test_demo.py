"""``demo`` as a user meets it; what it shows is tested in ``tests/test_demo.py``."""

import io
import sys

import pytest

import dbpcfg.cli.reproduce
import dbpcfg.experiments.demo


@pytest.mark.parametrize(("encoding", "plain"), [("utf-8", False), ("cp1252", True)])
def test_boxes_are_drawn_where_the_output_can_hold_them(monkeypatch, encoding, plain):
    asked = []
    monkeypatch.setattr(
        dbpcfg.experiments.demo, "run_demo", lambda *_, **options: asked.append(options)
    )
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    dbpcfg.cli.reproduce.demo(seed=0, quiet=True)
    assert asked[0]["ascii"] is plain
