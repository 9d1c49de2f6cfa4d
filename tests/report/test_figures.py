"""Figures for papers."""

import sys

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.report import figures
from dbpcfg.report.assemble import collect
from dbpcfg.report.figures import check_file, check_folder, write_figures

EVERYTHING = [
    *("traces", "loglikelihood-f1", "f1-by-length", "categories"),
    *("categories-phrases", "categories-tags", "depths"),
]


def test_each_is_there_as_pdf_and_svg_and_the_same_each_time(data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    written = write_figures(data, tmp_path / "one")
    assert [path.name for path in written] == [
        f"{n}.{k}" for n in EVERYTHING for k in ("pdf", "svg")
    ]
    assert {path.read_bytes()[:5] for path in written} == {b"%PDF-", b"<?xml"}
    monkeypatch.setattr(figures, "_FIGURES", {"depths": figures._FIGURES["depths"]})
    again = write_figures(data, tmp_path / "two")
    assert [path.name for path in again] == ["depths.pdf", "depths.svg"]
    assert all(path.read_bytes() == (tmp_path / "one" / path.name).read_bytes() for path in again)
    labels = (tmp_path / "one" / "categories-phrases.svg").read_text()
    assert "&lt;i&gt;S$" in labels  # neither markup nor mathematics


def test_what_needs_gold_trees_is_left_out(run, run_path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "save", lambda figure, path: None)  # it takes the time
    written = {path.stem for path in write_figures(collect(run, run_path), tmp_path)}
    assert written == {"traces", "categories", "depths"}


def test_of_a_race(race_data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "_FIGURES", {"traces": figures._FIGURES["traces"]})
    write_figures(race_data, tmp_path)
    text = (tmp_path / "traces.svg").read_text()
    assert "#c4c8c5" in text  # chains that were dropped


def test_files_are_not_replaced_without_overwrite(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "depths.svg").write_text("mine")
    with pytest.raises(DbpcfgError, match=r"depths.svg exists"):
        check_folder(tmp_path, overwrite=False)
    check_folder(tmp_path, overwrite=True)
    with pytest.raises(DbpcfgError, match="is a file"):
        check_folder(tmp_path / "depths.svg", overwrite=True)
    with pytest.raises(DbpcfgError, match=r"\.svg, \.pdf or \.png"):
        check_file(tmp_path / "plot.doc", overwrite=False)


def test_without_matplotlib_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DbpcfgError, match=r"pip install 'dbpcfg\[report\]'"):
        check_folder(tmp_path, overwrite=False)
