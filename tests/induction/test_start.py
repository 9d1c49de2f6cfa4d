"""Learning in stages: a run that starts from what another one has learned."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.lowrank import Factors
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.directory import finished_run, read_configuration, read_start
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.learners import learner_of
from dbpcfg.induction.learners.network import Shape, factors_of, forward, network_of, views
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.run import Run
from dbpcfg.induction.start import Start, before_and_after, save_start
from dbpcfg.model.files import load
from dbpcfg.model.model import Model, unknown_mass
from dbpcfg.numerics.philox import Purpose, stream
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


def test_a_model_file_is_enough(before, tmp_path):
    """Chains begin with its grammar; of the run, only the network and its options are missing."""
    run, path = before
    shutil.copy(path / "model.npz", tmp_path / "published.npz")
    name, settings = str(tmp_path / "published.npz"), run.configuration.model
    plans = [InductionPlan(start=one) for one in (name, load(name), path)]
    from_file, from_model, from_run = (plan.learned for plan in plans)
    assert (from_file.run, from_model.run) == (name, "a model in memory")
    assert from_file.digest == from_model.digest
    assert from_file.words == from_run.words
    for plan in plans:
        assert plan.learner == settings.learner.name
        assert (plan.model.categories, plan.model.depth) == (settings.categories, settings.depth)
        assert plan.preprocessing["lowercase"] is False
    if settings.learner.name == "neural":
        assert plans[0].learner_options["rank"] == settings.learner.rank
        first = settings.learner.grammar_of(
            from_file.arrays["parameters"], settings, run.grammar.vocabulary
        )
        for here, there in zip(first.factors, run.grammar.factors, strict=True):
            assert np.allclose(here, there, rtol=1e-6, atol=1e-9)
    else:
        for array, values in from_run.arrays.items():
            assert np.array_equal(from_file.arrays[array], values)


def test_a_run_from_a_model_file(before, tmp_path):
    """With the options that a model does not have, it is the run that starts from the run."""
    learner = before[0].configuration.model.learner
    given = {**vars(learner), "precision": before[0].configuration.model.precision}
    run = staged((before[0], before[1] / "model.npz"), tmp_path / "run", **given)
    assert run.configuration.start["run"] == str(before[1] / "model.npz")
    assert finished_run(tmp_path / "run").configuration == run.configuration
    if learner.name != "neural":
        expected = staged(before, None)
        assert list(map(str, run.trees())) == list(map(str, expected.trees()))
        assert [c.logs for c in run.chains] == [c.logs for c in expected.chains]


def test_shares_follow_from_the_probabilities_of_unknown_words():
    rng = np.random.default_rng(1)
    K, words = 3, ("a", "b")
    rows = rng.dirichlet(np.ones(K * K + 2), size=K)
    grammar = Grammar(
        np.full(K, 1 / K), rows[:, : K * K].reshape(K, K, K), rows[:, K * K :], Vocabulary(words)
    )
    expansions = np.array([1000.0, 0.0, 7.0])
    unknown = unknown_mass(expansions, 0.3, grammar.rules_per_category)
    model = Model(grammar, 2, Preprocessing(), unknown)
    start = Start.of_model(model, "model", learner_of(grammar))
    expected = expansions * grammar.lexical_mass
    assert np.allclose(start.share, expected / expected.sum(), rtol=1e-9, atol=1e-12)


def test_a_network_that_gives_a_grammar():
    shape, rng = Shape(3, 6, 5, 7), np.random.default_rng(2)
    draw = lambda *size: rng.dirichlet(np.full(size[-1], 0.2), size=size[:-1])  # noqa: E731
    factors = Factors(draw(9), draw(3, 5), draw(5, 9).T, draw(5, 9).T, draw(6, 7))
    numbers = stream(0, 0, 0, Purpose.NETWORK)
    found = factors_of(forward(views(network_of(factors, shape, numbers), shape), 3))
    for here, there in zip(found, factors, strict=True):
        assert np.allclose(here, there, rtol=1e-9, atol=1e-12)
    with pytest.raises(DbpcfgError, match=r"a model of 9 categories .* embeddings of 4 numbers"):
        network_of(factors, shape._replace(width=4), numbers)


def test_what_is_no_model(before, tmp_path):
    (tmp_path / "rules.pcfg").write_text("X0 -> X0 X0 [0.5] | 'a' [0.5]\n", encoding="utf-8")
    (tmp_path / "text.txt").write_text("the dog ran\n", encoding="utf-8")
    np.savez(tmp_path / "arrays.npz", a=np.ones(1))
    for name, message in {
        "rules.pcfg": "has no probabilities for unknown words",
        "text.txt": "is text, not a model: give a run, a model file",
        "arrays.npz": "not a dbpcfg model file",
        "missing.npz": "No such file",
        "missing": "does not exist",
    }.items():
        with pytest.raises(DbpcfgError, match=message):
            induce(NEW, start=tmp_path / name)
    with pytest.raises(DbpcfgError, match="not a dbpcfg model file"):
        induce(NEW, start=before[1] / "corpus.npz")
    with pytest.raises(DbpcfgError, match="K = 9 was asked"):
        induce(NEW, start=before[1] / "model.npz", K=9)
    other = "gibbs" if before[0].configuration.model.learner.name == "neural" else "neural"
    with pytest.raises(DbpcfgError, match="grammar of another kind than the learner"):
        induce(NEW, start=before[1] / "model.npz", learner=other)


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
