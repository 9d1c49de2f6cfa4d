"""What holds for every learner: resuming, threads, trees, files, options."""

from dataclasses import replace

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import checkpoint
from dbpcfg.induction.chain import advance, new_chain
from dbpcfg.induction.checkpoint import load_chain, save_chain
from dbpcfg.induction.learners import learner_with, learners
from dbpcfg.induction.learners.neural import Neural
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import (
    ChainSettings,
    Configuration,
    load_configuration,
    save_configuration,
)
from dbpcfg.io.archive import read_archive, write_archive
from dbpcfg.options import LEARNERS, SearchOptions
from dbpcfg.report.runs import traces
from tests.induction.small import CORPUS, SENTENCES, chain_bits, settings, written

WAYS = {
    "gibbs": {"sample_beta": True, "exact": True, "parser": "leftcorner", "beta": 1 / 3},
    "em": {"smoothing": 0.1, "exact": True},
    "vb": {"batch": 9, "decay": 0.9},
    "neural": {"word_categories": 3, "rank": 5, "batch": 7, "held_out": 4, "precision": "single"},
}
SINGLE = {"precision": "single"}


@pytest.mark.parametrize("learner", WAYS)
def test_stopping_threads_and_making_it_longer_change_no_byte(learner, tmp_path):
    given = {"K": 5, "chains": 2, "seed": 4, "learner": learner, **WAYS[learner]}
    dbpcfg.induce(SENTENCES, iterations=6, out=tmp_path / "whole", threads=2, **given)
    stops = iter([False, False, True])
    dbpcfg.induce(
        SENTENCES,
        iterations=6,
        out=tmp_path / "parts",
        threads=1,
        checkpoint=0.0,
        should_stop=lambda: next(stops, True),
        **given,
    )
    dbpcfg.resume(tmp_path / "parts")
    assert written(tmp_path / "parts") == written(tmp_path / "whole")
    dbpcfg.induce(SENTENCES, iterations=3, out=tmp_path / "short", **given)
    dbpcfg.resume(tmp_path / "short", iterations=6)
    assert written(tmp_path / "short") == written(tmp_path / "whole")


@pytest.mark.parametrize("learner", WAYS)
def test_a_checkpoint_after_any_iteration(learner, tmp_path):
    """Saved and read back after every iteration, a chain ends as one that never was."""
    chosen = settings(learner, categories=5, seed=2**64 - 1, chain=2, **WAYS[learner])
    path, schedule = tmp_path / "chain.npz", Schedule(8, kept=None if learner == "gibbs" else 1)
    whole = advance(new_chain(CORPUS, chosen), CORPUS, schedule, 999)
    chain = new_chain(CORPUS, chosen)
    while not chain.finished(schedule):
        advance(chain, CORPUS, schedule, seconds=0)
        save_chain(chain, CORPUS, path)
        found = load_chain(path, CORPUS, chosen)
        assert chain_bits(found) == chain_bits(chain)
        chain = found
    assert chain_bits(chain) == chain_bits(whole)
    assert repr(chain.betas) == repr(whole.betas)  # as the trace prints them
    with pytest.raises(DbpcfgError, match=f"{path}: .* other settings"):
        load_chain(path, CORPUS, replace(chosen, seed=1))


@pytest.mark.parametrize("learner", ["em", "vb", "neural"])
def test_runs_are_like_the_sampler_s(learner, tmp_path):
    path = tmp_path / "run"
    run = dbpcfg.induce(SENTENCES, K=3, learner=learner, iterations=4, chains=3, out=path)
    assert run.finished
    assert [chain.retained for chain in run.chains] == [1, 1, 1]
    assert run.best is max(run.voters, key=run.goodness)
    assert run.configuration.select == ("posterior" if learner == "vb" else "likelihood")
    assert [tree.words() for tree in run.trees()] == SENTENCES
    assert len(dbpcfg.load(path).parse(["the dog sees a new cat"], quiet=True)) == 1
    notes = "\n".join(run.table().notes)
    assert "R-hat" not in notes
    assert "burn-in" not in notes


@pytest.mark.parametrize(
    ("learner", "options", "maximised"),
    [
        ("em", {}, ["objective"]),
        ("em", {"exact": True, "smoothing": 0.0}, []),
        ("em", {"D": None, "smoothing": 0.0}, []),
        ("vb", {}, ["lower bound"]),
        ("neural", {}, []),
        ("neural", {"exact": False}, ["objective"]),
        ("neural", {"exact": False, "D": None}, []),
    ],
)
def test_columns_are_the_learner_s_own(learner, options, maximised, tmp_path):
    path = tmp_path / "run"
    run = dbpcfg.induce(
        SENTENCES, K=4, learner=learner, iterations=4, chains=2, out=path, **options
    )
    table = run.table()
    names = [column.name for column in table.columns]
    several = run.configuration.model.learner.iteration[1]
    own = [several, "log-likelihood", "per token", *maximised, "variance"]
    assert names == ["chain", *own, "agreement", "selected"]
    shown = list(zip(*table.rows, strict=True))[2:-2]
    assert len(set(shown)) == len(shown)  # no number twice under two names
    data = traces(run)
    assert [column["name"] for column in data["columns"]] == own[:-1]  # not selected by variance
    assert data["iteration"][1] == several
    assert run.to_frame()[["burn_in", "sd"]].isna().all(axis=None)
    assert f"4 {several}" in repr(run)
    assert "burn-in" not in repr(run.chains[0])
    head, *lines = (line.split("\t") for line in (path / "chains.tsv").read_text().splitlines())
    for line in lines:
        row = dict(zip(head, line, strict=True))
        assert (row["burn_in"], row["sd"]) == ("", "")
        assert float(row["posterior"]) < 0
    if not maximised:
        assert all(
            one.posterior == pytest.approx(one.mean_log_likelihood) for one in run.summaries()
        )


def test_a_sampler_has_samples():
    table = dbpcfg.induce(SENTENCES, K=3, learner="gibbs", iterations=8, chains=1).table()
    own = ["iterations", "burn-in", "log-likelihood", "sd", "per token", "greatest", "posterior"]
    assert [column.name for column in table.columns] == ["chain", *own, "variance", "selected"]


@pytest.mark.parametrize("learner", WAYS)
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(
    "sentences", [[["a"]], [["a"], ["b"]], [["a", "a", "a"]], [["a", "b"] * 60]], ids=len
)
def test_odd_corpora(learner, sentences, precision):
    given = {"learner": learner, "precision": precision}
    run = dbpcfg.induce(sentences, K=3, D=1, iterations=3, chains=1, **given)
    assert [tree.words() for tree in run.trees()] == sentences


@pytest.mark.parametrize(
    ("learner", "more"),
    [
        ("gibbs", {}),
        ("em", {"exact": True}),
        ("em", {"batch": 2}),
        ("vb", {}),
        ("vb", {"batch": 2}),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("K", "beta", "precision"), [(2, 1e-8, "single"), (1, 1e-3, "single"), (3, 1e-3, "double")]
)
def test_a_grammar_that_hardly_has_a_tree(learner, more, K, beta, precision):
    """Nearly all rules are too improbable for a chart."""
    different = [[f"w{n}{place}" for place in range(1 + n % 5)] for n in range(8)]
    for sentences in ([["a"]], [["a", "b"], list("abbc"), ["c"], list("acb")], different):
        given = {"learner": learner, "beta": beta, "precision": precision, **more}
        run = dbpcfg.induce(sentences, K, 2, iterations=2, chains=1, **given)
        assert np.isfinite(run.chains[0].logs).all()
        assert [tree.words() for tree in run.trees()] == sentences


@pytest.mark.parametrize(
    ("learner", "array", "value", "said"),
    [
        ("em", "counts_root", np.inf, "counts_root must be numbers of shape"),
        ("em", "counts_binary", 1e308, "counts_binary must be numbers of shape"),
        ("vb", "counts_lexical", np.nan, "counts_lexical must be numbers of shape"),
        ("vb", "state_binary", np.inf, "binary has entries"),
        ("vb", "posterior", -1e308, "posterior has impossible values"),
        ("vb", "heldout", np.inf, "heldout has impossible values"),
        ("vb", "betas", np.inf, "betas has impossible"),
        ("neural", "network_steps", 2**62, "network_steps cannot be that after iteration 2"),
        ("neural", "network_parameters", np.inf, "network_parameters must be"),
        ("neural", "network_parameters", 3e38, "network_parameters has numbers that are too large"),
        ("neural", "network_answer", 3e38, "network_answer has numbers that are too large"),
        ("neural", "network_second", -1.0, "network_second has negative numbers"),
        ("neural", "network_measures", np.nan, "network_measures has impossible"),
    ],
)
def test_numbers_that_cannot_be(learner, array, value, said, tmp_path):
    """A checkpoint with them is refused, with the name of the array."""
    path, chosen = tmp_path / "chain.npz", settings(learner, categories=3, held_out=4, **SINGLE)
    chain = advance(new_chain(CORPUS, chosen), CORPUS, Schedule(2, kept=1), 999)
    save_chain(chain, CORPUS, path)
    kind = checkpoint.FORMAT, checkpoint.VERSION
    layouts = {checkpoint.VERSION: checkpoint._types(chosen)}
    header, arrays = read_archive(path, checkpoint.FORMAT, layouts)
    write_archive(path, *kind, header, arrays)
    assert chain_bits(load_chain(path, CORPUS, chosen)) == chain_bits(chain)
    arrays[array][...] = value
    write_archive(path, *kind, header, arrays)
    with pytest.raises(DbpcfgError, match=f"^{path}: {said}"):
        load_chain(path, CORPUS, chosen)
    write_archive(path, *kind, {**header, "beta": 10**400}, arrays)
    with pytest.raises(DbpcfgError, match=f"^{path}: "):
        load_chain(path, CORPUS, chosen)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", WAYS)
def test_options_are_read_back_from_a_file(learner, tmp_path):
    path = tmp_path / "config.toml"
    for chosen in (settings(learner, depth=None), settings(learner, seed=7, **WAYS[learner])):
        configuration = Configuration(chosen, Schedule(9), Preprocessing())
        save_configuration(configuration, path)
        assert load_configuration(path) == configuration
        text = path.read_text()
        assert f'learner = "{learner}"' in text
        others = {n for group in LEARNERS.values() for n in group.options()}
        for name in others - set(learners[learner].options()):
            assert f"\n{name} =" not in text  # of other learners nothing is said


@pytest.mark.parametrize(
    ("learner", "option", "whose"),
    [
        ("gibbs", {"batch": 5}, "em, vb, neural"),
        ("gibbs", {"rank": 5}, "learner neural"),
        ("em", {"sample_beta": True}, "learner gibbs"),
        ("em", {"parser": "leftcorner"}, "learner gibbs"),
        ("em", {"rank": 5}, "learner neural"),
        ("vb", {"exact": True}, "gibbs, em, neural"),
        ("neural", {"smoothing": 0.1}, "learner em"),
        ("neural", {"beta": 0.1}, "gibbs, em, vb"),
        ("neural", {"decay": 0.7}, "em, vb"),
        ("em", {"patience": 3}, "learner neural"),
        ("vb", {"rate": 0.1}, "learner neural"),
    ],
    ids=str,
)
def test_an_option_of_another_learner(learner, option, whose):
    (name,) = option
    with pytest.raises(DbpcfgError, match=f"{name} is an option of .*{whose}, not of {learner}"):
        dbpcfg.induce(SENTENCES, K=2, iterations=2, learner=learner, **option)


@pytest.mark.parametrize(
    ("learner", "option", "said"),
    [
        ("gibbs", {"beta": 0}, "beta must be a number from 1e-12 up, at most 1e.100, got 0"),
        ("gibbs", {"beta": float("nan")}, "beta must be a number"),
        ("gibbs", {"parser": "earley"}, "parser must be chart or leftcorner, got 'earley'"),
        ("gibbs", {"parser": "leftcorner", "depth": None}, "needs a depth bound"),
        ("gibbs", {"parser": "leftcorner", "precision": "single"}, "single precision"),
        ("gibbs", {"exact": 1}, "exact must be true or false, got 1"),
        ("em", {"batch": -1}, "batch must be a whole number from 0 up"),
        ("em", {"decay": 0.5}, "decay must be a number above 0.5, at most 1, got 0.5"),
        ("em", {"smoothing": -0.1}, "smoothing must be a number from 0 up"),
        ("neural", {"categories": 1}, "a phrase category and a word category"),
        ("neural", {"categories": 15, "word_categories": 15}, "of which 15"),
        ("neural", {"rate": 0.0}, "rate must be a number above 0"),
        ("neural", {"patience": 0}, "patience"),
    ],
    ids=str,
)
def test_values_that_cannot_be(learner, option, said):
    with pytest.raises(DbpcfgError, match=said):
        settings(learner, **option)


def test_defaults_that_suit_the_learner():
    assert (ChainSettings().categories, ChainSettings().learner.exact) == (15, False)
    neural = settings("neural", depth=1)
    assert (neural.categories, neural.learner.exact, neural.depth) == (60, True, 1)
    assert neural.learner.batch_size == 64
    choices = [Neural(teacher="none", stretch=n).choices() for n in (0, 1, 8)]
    of = [["without a teacher", f"from stretches of {words}"] for words in ("1 word", "8 words")]
    assert choices == [[], *of]


def test_the_help_of_select_names_the_defaults():
    usual = {name: settings(name).learner.criterion(settings(name)) for name in WAYS}
    apart = [settings(name, held_out=3) for name in WAYS]
    kept = [one.learner.name for one in apart if one.learner.criterion(one) == "heldout"]
    assert usual == {
        "gibbs": "likelihood",
        "em": "likelihood",
        "vb": "posterior",
        "neural": "likelihood",
    }
    said = f"likelihood; posterior for vb; heldout for {', '.join(kept[:-1])} and {kept[-1]}"
    assert f"Default: {said} with --held-out." in SearchOptions.options()["select"].help


def test_learners_as_objects():
    by_name = dbpcfg.induce(SENTENCES, 4, learner="neural", rank=3, iterations=2, chains=1)
    as_object = dbpcfg.induce(SENTENCES, 4, learner=Neural(rank=3), iterations=2, chains=1)
    assert as_object.configuration == by_name.configuration
    with pytest.raises(DbpcfgError, match="rank: give it to the learner"):
        dbpcfg.induce(SENTENCES, 4, learner=Neural(), rank=3, iterations=2)
    with pytest.raises(DbpcfgError, match="no learner 'adam'; choose one of auto, gibbs, em"):
        learner_with("adam", {})
