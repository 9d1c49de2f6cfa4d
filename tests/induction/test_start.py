"""Learning in stages: a run that starts from what another one has learned."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.directory import finished_run, read_configuration, read_start
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.run import Run
from dbpcfg.induction.start import Start, before_and_after, save_start
from dbpcfg.model.model import Model
from dbpcfg.trees.brackets import read_tree
from tests.induction.small import SENTENCES, written

NEW = [["b2", *words, "new"] for words in SENTENCES[:25]]
"""The first words again, and one that was not there."""
LEARNERS = {
    "gibbs": {"K": 3, "sample_beta": True, "iterations": 12},
    "em": {"K": 3, "batch": 9, "iterations": 6, "precision": "single"},
    "vb": {"K": 3, "beta": 0.3, "iterations": 6},
    "neural": {"K": 5, "rank": 4, "batch": 8, "iterations": 3},
}


@pytest.fixture(scope="module", params=LEARNERS)
def before(request, tmp_path_factory) -> Run:
    """A finished run of each learner, in a directory."""
    path = tmp_path_factory.mktemp("before") / request.param
    options = LEARNERS[request.param]
    induce(SENTENCES, D=1, learner=request.param, chains=2, out=path, lowercase=False, **options)
    return finished_run(path), path


def staged(before, out, **options) -> Run:
    length = LEARNERS[before[0].configuration.model.learner.name]["iterations"]
    given = {"iterations": length, "chains": 2, "seed": 3, **options}
    return induce(NEW, start=before[1], out=out, **given)


def old_start(path) -> Start:
    return read_start(path, read_configuration(path))


def test_words_of_the_first_grammar():
    """Rules stay, known words keep their proportions, a new one has the prior's share."""
    rng = np.random.default_rng(0)
    K, words = 2, ("a", "b", "gone")
    rows = rng.dirichlet(np.ones(K * K + 3), size=K)
    binary, lexical = rows[:, : K * K].reshape(K, K, K), rows[:, K * K :]
    unknown = np.array([0.1, 0.02])
    arrays = {"root": np.array([0.25, 0.75]), "binary": binary, "lexical": lexical}
    start = Start("run", words, {**arrays, "unknown": unknown}, np.array([0.5, 0.5]))
    vocabulary = Vocabulary(("new", "b", "a", "newer"))
    assert start.known(vocabulary) == "starts from run, which knows 2 of 4 forms"
    grammar = start.grammar(vocabulary)
    assert np.array_equal(grammar.root, arrays["root"])
    assert np.array_equal(grammar.binary, binary)
    assert np.allclose(grammar.lexical_mass, lexical.sum(axis=1), rtol=1e-12)
    for c in range(K):
        new, b, a, newer = grammar.lexical[c]
        assert b / a == pytest.approx(lexical[c, 1] / lexical[c, 0], rel=1e-12)
        assert new == newer
        # With one more word, the old grammar has u for it and (1 - u) times all it had before.
        assert new / a == pytest.approx(unknown[c] / (lexical[c, 0] * (1 - unknown[c])), rel=1e-12)


def test_a_digest_is_of_all_that_chains_begin_with():
    start = Start("run", ("a",), {"root": np.ones(1)}, np.ones(1))
    others = {"words": ("b",), "arrays": {"root": np.zeros(1)}, "share": np.zeros(1)}
    changed = [replace(start, **{name: other}).digest for name, other in others.items()]
    assert len({start.digest, *changed}) == 4
    assert replace(start, run="elsewhere").digest == start.digest


def test_words_that_nothing_is_known_of_share_what_there_is():
    arrays = {
        "root": np.ones(1),
        "binary": np.full((1, 1, 1), 0.5),
        "lexical": np.full((1, 1), 0.5),
    }
    start = Start("run", ("a",), {**arrays, "unknown": np.zeros(1)}, np.ones(1))
    assert start.grammar(Vocabulary(("x", "y"))).lexical.tolist() == [[0.25, 0.25]]


def test_a_chain_begins_with_the_answer(before):
    """The grammar of its first iteration is that of the old run, but for words."""
    run = staged(before, None, iterations=1, chains=2)
    old, learner = before[0], before[0].configuration.model.learner
    for chain in run.chains:
        first, vocabulary = chain.last.grammar, run.corpus.forms.vocabulary
        was = old.best.state.grammar if learner.name == "neural" else old.grammar
        for c in range(was.categories):
            assert np.allclose(first.binary_of(c), was.binary_of(c), rtol=1e-5, atol=1e-12)
        known = [word for word in vocabulary.words if word in was.vocabulary.index]
        assert set(vocabulary.words) - set(known) == {"new"}
        here = first.lexical[:, [vocabulary.index[word] for word in known]]
        there = was.lexical[:, [was.vocabulary.index[word] for word in known]]
        used = there.sum(axis=1) > 0
        shares = [x[used] / x[used].sum(axis=1, keepdims=True) for x in (here, there)]
        assert np.allclose(*shares, rtol=1e-4, atol=1e-12)


def test_what_is_not_asked_for_is_taken_from_the_old_run(before):
    old = before[0].configuration
    new = staged(before, None, **dict.fromkeys(vars(old.model.learner))).configuration
    for name in ("categories", "depth", "learner", "precision"):
        assert getattr(new.model, name) == getattr(old.model, name)
    assert new.preprocessing == old.preprocessing
    assert new.start["run"] == str(before[1])
    other = staged(before, None, D=2, lowercase=True, iterations=2).configuration
    assert (other.model.depth, other.preprocessing.lowercase) == (2, True)


def test_the_bytes_depend_on_nothing_else(before, tmp_path):
    """Not on threads, not on interruptions, and not on the old run once it has begun."""
    staged(before, tmp_path / "plain", threads=1)
    expected = written(tmp_path / "plain")
    staged(before, tmp_path / "threads", threads=3)
    assert written(tmp_path / "threads") == expected
    moved = tmp_path / "moved"
    shutil.copytree(before[1], moved)
    run = staged((before[0], moved), tmp_path / "stopped", should_stop=lambda: True, checkpoint=0)
    assert not run.finished
    shutil.rmtree(moved)
    assert resume(tmp_path / "stopped").finished
    found = written(tmp_path / "stopped")
    assert str(moved).encode() in found.pop("config.toml")
    assert str(moved).encode() in found.pop("start.npz")
    assert found.pop(".results") != expected[".results"]  # it is of these two as well
    assert found == {name: expected[name] for name in found}
    assert set(expected) - set(found) == {".results", "config.toml", "start.npz"}


def test_a_run_in_memory_gives_the_same_trees(before, tmp_path):
    from_memory = staged((before[0], before[0]), None)
    assert list(map(str, from_memory.trees())) == list(map(str, staged(before, None).trees()))


def test_the_start_matters(before):
    with_start = staged(before, None).trees()
    model = before[0].configuration.model
    options = LEARNERS[model.learner.name]
    given = {**options, "D": 1, "learner": model.learner.name, "chains": 2, "seed": 3}
    without = induce(NEW, lowercase=False, **given).trees()
    assert list(map(str, with_start)) != list(map(str, without))


def test_what_cannot_be(before, tmp_path):
    old = before[0].configuration.model
    with pytest.raises(DbpcfgError, match=f"has K = {old.categories}, and K = 9 was asked"):
        staged(before, None, K=9)
    other = "gibbs" if old.learner.name == "neural" else "neural"
    with pytest.raises(DbpcfgError, match="grammar of another kind than the learner"):
        staged(before, None, learner=other, K=None)
    if old.learner.name == "neural":
        with pytest.raises(DbpcfgError, match="a different rank"):
            staged(before, None, rank=3)
        with pytest.raises(DbpcfgError, match="a different number of word categories"):
            staged(before, None, word_categories=1)
    with pytest.raises(DbpcfgError, match="nowhere does not exist"):
        induce(NEW, start="nowhere")
    staged(before, tmp_path / "run", should_stop=lambda: True, checkpoint=0)
    file = tmp_path / "run" / "start.npz"
    save_start(replace(old_start(tmp_path / "run"), words=("other", "words")), file)
    with pytest.raises(DbpcfgError, match=r"start\.npz: it is not what the run started from"):
        resume(tmp_path / "run")


def test_dense_learners_start_from_each_other(before):
    if before[0].configuration.model.learner.name != "neural":
        for learner in ("gibbs", "em", "vb"):
            run = staged(before, None, learner=learner, iterations=2)
            assert run.configuration.model.learner.name == learner


def test_results_are_read_where_they_are(before, tmp_path, monkeypatch):
    """What they say is what is computed without them, but no tree is."""
    run, path = before
    shutil.copytree(path, tmp_path / "copy")
    (tmp_path / "copy" / ".results").unlink()
    selected, read = finished_run(tmp_path / "copy").best.settings.chain, finished_run(path)
    computed = finished_run(tmp_path / "copy").model
    plans = [InductionPlan(start=one).learned for one in (path, tmp_path / "copy")]
    assert plans[0].digest == plans[1].digest
    monkeypatch.setattr("dbpcfg.induction.run.trees_of", None)
    assert read.best.settings.chain == selected
    assert read.model == run.model == computed
    assert InductionPlan(start=path).learned.digest == plans[0].digest


def test_a_run_that_is_not_finished_is_no_start(before, tmp_path):
    staged(before, tmp_path / "run", should_stop=lambda: True, checkpoint=0)
    with pytest.raises(DbpcfgError, match="is not finished"):
        induce(NEW, start=tmp_path / "run")


def test_known_forms_are_in_no_class():
    sentences = [Sentence(("walked", "talked"))]
    found = preprocess(sentences, Preprocessing(rare=1), known=["walked"])
    assert list(found.encoded) == [["walked", "<*ed>"]]


def test_before_and_after_by_hand(monkeypatch):
    """Words are counted as the model sees them, and of new ones the most frequent are named."""
    monkeypatch.setattr("dbpcfg.induction.start.MAX_GAINED", 1)
    start = Start("run", ("a",), {}, np.array([0.25, 0.75]))
    grammar = Grammar(
        np.ones(2) / 2, np.zeros((2, 2, 2)), np.ones((2, 3)) / 3, Vocabulary(("a", "new", "other"))
    )
    texts = ["(X0 (X0 A) (X0 (X1 New) (X0 a)))", "(X0 (X0 a) (X1 (X1 other) (X1 new)))"]
    table = before_and_after(start, Model(grammar, 1), map(read_tree, texts))
    assert table.rows == [("X0", 0.25, 0.5, 0, ""), ("X1", 0.75, 0.5, 2, "new")]


def test_shown_before_and_after(before, capsys):
    run = staged(before, None)
    run.show()
    table = capsys.readouterr().out.split("Before and after\n")[1].splitlines()
    K = run.configuration.model.categories
    rows = [line.split() for line in table[2 : 2 + K]]
    assert [row[0] for row in rows] == [f"X{c}" for c in range(K)]
    for column in (1, 2):
        assert sum(float(row[column]) for row in rows) == pytest.approx(100, abs=0.06 * K)
    assert sum(int(row[3]) for row in rows) >= 1
    assert all(row[4:] in ([], ["new"]) for row in rows)
