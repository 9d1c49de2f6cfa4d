"""Mistakes that are found before anything is read, and runs that are not finished."""

import pytest

import dbpcfg
from tests.cli.small import make_run


@pytest.fixture
def unread(monkeypatch):
    """A corpus must not be read."""

    def read(*_, **__):
        raise AssertionError("the corpus was read")

    for module in ("induce", "compare"):
        monkeypatch.setattr(f"dbpcfg.cli.{module}.read_corpus", read)


def test_the_place_of_a_run_is_checked_first(refuse, unread, center_run, tmp_path):
    assert "exists and is not empty" in refuse("induce", "corpus.txt", "--out", center_run)
    file = tmp_path / "file"
    file.write_text("mine")
    for options in ([], ["--overwrite"]):
        said = refuse("induce", "corpus.txt", "--out", file, *options)
        assert f"{file} is a file; --out needs a directory" in said
    assert f"{file} is a file; --out needs" in refuse("compare", "corpus.txt", "--out", file)
    assert file.read_text() == "mine"


def test_runs_that_are_not_finished_are_left_out(call, refuse, corpus_folder, tmp_path):
    done = make_run(corpus_folder / "gold.mrg", tmp_path / "done")
    begun = tmp_path / "begun"
    trees = dbpcfg.read(corpus_folder / "gold.mrg")
    stopped = {"checkpoint": 0, "should_stop": lambda: True}
    dbpcfg.induce(trees, K=2, chains=1, iterations=9, out=begun, **stopped)
    alone, _ = call("compare-runs", done)
    shown, note = call("compare-runs", done, begun)
    assert shown == alone
    assert f"left out: {begun} is not finished: chain 0 of 1 has done" in note
    assert call("compare-runs", done, begun, "--quiet")[1] == ""
    assert f"{begun} is not finished" in refuse("compare-runs", begun)


def test_resume_makes_a_run_longer(call, refuse, corpus_folder, tmp_path):
    short, long = (tmp_path / name for name in ("short", "long"))
    options = ["-K", 2, "--chains", 1, "-q"]
    call("induce", corpus_folder / "text.txt", "--out", short, "--iterations", 4, *options)
    call("induce", corpus_folder / "text.txt", "--out", long, "--iterations", 9, *options)
    _, said = call("resume", short, "--iterations", 9)
    assert "begin again" not in said
    for name in ("config.toml", "trees.txt", "model.npz", "chains.tsv", "chains/0/chain.npz"):
        assert (short / name).read_bytes() == (long / name).read_bytes(), name
    _, said = call("resume", short, "--iterations", 10)
    assert "chains begin again (0)" in said
    assert "would be fewer" in refuse("resume", short, "--iterations", 5)
