"""``bound`` as a user meets it."""

import json

import pytest

from dbpcfg.grammar.bounding import containment, fitting_mass
from tests.cli.small import ODD_WORDS


def test_what_bounds_keep(printed, odd_model, tmp_path):
    shown = json.loads(
        printed("bound", tmp_path / "model.npz", "--depths", "1,2, 4", "--format", "json")
    )
    rows = shown[0]["rows"]
    assert [row["depth"] for row in rows] == [1, 2, 4, "none"]
    for row in rows[:-1]:
        mass = fitting_mass(odd_model.grammar, containment(odd_model.grammar, row["depth"]))
        assert row["derivations"] == pytest.approx(mass, rel=1e-12)
    text = printed("bound", tmp_path / "model.npz")
    assert text.startswith("Probability that a bound on memory keeps\ndepth  fits,")
    assert r"\toprule" in printed("bound", tmp_path / "model.npz", "--format", "latex")


def test_h_and_the_bounded_rules(printed, odd_model, tmp_path):
    arguments = ("bound", tmp_path / "model.npz", "--format", "json", "--depths", "1,2")
    tables = json.loads(printed(*arguments, "--show", "h"))
    assert [table["title"] for table in tables] == [
        "h(s,d,c) with a bound of 1",
        "h(s,d,c) with a bound of 2",
    ]
    assert tables[1]["rows"][0]["l3"] == pytest.approx(containment(odd_model.grammar, 2)[4, 0])
    few, all_rules = (
        json.loads(printed(*arguments, "--show", "grammar", "--top", top))[0]["rows"]
        for top in (2, 0)
    )
    assert len(few) == 4 * 2
    assert len(all_rules) == 3 + 3 * (9 + len(ODD_WORDS))
    latex = printed(
        "bound", tmp_path / "model.npz", "--show", "grammar", "--format", "latex", "--top", 0
    )
    assert r"\textbackslash{}input\{x\}" in latex
