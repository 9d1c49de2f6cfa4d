"""What Python calls take for sentences and trees, and what they say of anything else."""

from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.errors import DbpcfgError
from tests.induction.small import SENTENCES, TREES

SMALL = {"K": 2, "D": 1, "chains": 1, "iterations": 4}


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "eve.txt"
    path.write_text("".join(f"{' '.join(words)}\n" for words in SENTENCES))
    return path


@pytest.fixture
def treebank(tmp_path) -> Path:
    path = tmp_path / "eve.trees"
    path.write_text("".join(f"{tree}\n" for tree in TREES))
    return path


@pytest.fixture(scope="module")
def run():
    return dbpcfg.induce(SENTENCES, **SMALL)


def test_a_path_is_read(text, treebank, monkeypatch):
    learned = dbpcfg.induce(text, **SMALL)
    assert [list(words) for words in learned.corpus.words] == [list(words) for words in SENTENCES]
    assert learned.configuration.corpus["sources"] == [str(text)]
    monkeypatch.chdir(text.parent)
    assert dbpcfg.induce("eve.txt", **SMALL).trees() == learned.trees()
    assert len(dbpcfg.induce("*.txt", **SMALL).corpus.words) == len(SENTENCES)
    assert learned.model.parse(text) == learned.model.parse(SENTENCES)
    assert learned.model.probability("eve.txt") == learned.model.probability(SENTENCES)
    assert dbpcfg.evaluate(treebank, str(treebank)).score.f1 == 1
    assert dbpcfg.induce(text, **SMALL, gold=treebank).configuration.gold == (str(treebank),)


NO_PATHS = ["nowhere.txt", "", "a\0b", "x" * 5000, "*.nothing", Path("nowhere"), "wug"]
PATHS_WITH_MISTAKES = ["my texts/eve", r"my texts\eve", "my eve.txt", "a wug.cha ", "(S a b)"]
CALLS = ["parse", "parses", "surprisal", "probability"]


@pytest.mark.parametrize("given", ["the dog ran", *NO_PATHS, *PATHS_WITH_MISTAKES])
@pytest.mark.parametrize("call", ["induce", *CALLS])
def test_a_text_that_is_no_path_is_an_error(call, given, run):
    if call != "induce" and given == "the dog ran":
        return  # a sentence
    called = dbpcfg.induce if call == "induce" else getattr(run.model, call)
    with pytest.raises(DbpcfgError) as error:
        called(given)
    said = str(error.value)
    assert said.startswith(f"{call} needs a path, what dbpcfg.read returns, or a list of sentences")
    assert "there is no file" in said
    assert len(said) < 250


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "given", ["the dog ran", "did it run ?", " it\nran. ", "it ran to St.Ives"]
)
def test_a_text_that_is_obviously_a_sentence_is_one(call, given, run):
    called = getattr(run.model, call)
    assert repr(called(given, quiet=True)) == repr(called([given], quiet=True))


@pytest.mark.parametrize("call", CALLS)
def test_a_path_that_exists_is_a_path(call, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("the dog").write_text("it slept\nthe dog ran\n")
    called = getattr(run.model, call)
    one, two = called(["the dog ran"], quiet=True), called(["it slept", "the dog ran"], quiet=True)
    # Rows of surprisal name the file and the line.
    size = len if call != "probability" else lambda found: found.tokens
    assert size(one) < size(two) == size(called("the dog", quiet=True))
    assert size(called("the d*", quiet=True)) == size(two)
    assert size(called("the dog ran", quiet=True)) == size(one)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (None, "not None"),
        (7, "not of type int"),
        (b"text", "not of type bytes"),
        (TREES[0], "not of type Tree"),
        (TREES[0].words, "words is a function: call it, as in words"),
        ([3], "sentence 1 is of type int"),
        (["a b", TREES[0]], "sentence 2 is of type Tree; give tree.words"),
        ([["a", 3]], "sentence 1 has of type int"),
    ],
)
def test_what_are_no_sentences(given, what, run):
    for call in (dbpcfg.induce, run.parse, run.model.surprisal, run.model.probability):
        with pytest.raises(DbpcfgError, match=what):
            call(given)


def test_what_are_no_trees(run, treebank):
    corpus = dbpcfg.read(treebank)
    for given, what in [
        (run.trees, r"trees is a function: call it, as in trees\(\)"),
        (run, r"not of type Run; give run.trees\(\)"),
        (None, "not None"),
        ("(S a b)", r"there is no file '\(S a b\)'"),
        (["(S a b)"], "item 1 is of type str; dbpcfg.trees.brackets.read_trees"),
        (run.model.parse, "parse is a function"),
    ]:
        with pytest.raises(DbpcfgError, match=what):
            dbpcfg.evaluate(corpus, given)
        with pytest.raises(DbpcfgError, match=what):
            dbpcfg.evaluate(given, run.trees())
    assert dbpcfg.evaluate(iter(corpus), iter(run.trees())).score.sentences == len(corpus)


def test_a_run_that_is_not_finished_has_no_trees_yet(tmp_path):
    path = tmp_path / "run"
    begun = dbpcfg.induce(SENTENCES, **SMALL, out=path, checkpoint=0, should_stop=lambda: True)
    assert not begun.finished
    for call in (
        lambda: begun.trees(),
        lambda: begun.model,
        lambda: begun.grammar,
        lambda: begun.parse(SENTENCES),
        lambda: begun.show(),
    ):
        with pytest.raises(DbpcfgError, match=r"not finished: chain 0 of 1 has done 1 iteration;"):
            call()
    chain = begun.chains[0]
    if chain.last is not None:
        assert len(begun.trees(chain)) == len(SENTENCES)
    chain.last = None
    with pytest.raises(DbpcfgError, match="chain 0 has done no iteration"):
        begun.trees(chain)


def test_a_model_is_not_loaded_from_text(treebank, text):
    with pytest.raises(DbpcfgError, match=r"eve.trees is a treebank, not a model: give a run"):
        dbpcfg.load(treebank)
    with pytest.raises(DbpcfgError, match=r"eve.txt is text, not a model"):
        dbpcfg.load(text)


def test_settings_are_checked_before_a_path_is_read(tmp_path):
    with pytest.raises(DbpcfgError, match="no option 'deph'"):
        dbpcfg.induce("nowhere.txt", deph=3)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DbpcfgError, match="exists and is not empty"):
        dbpcfg.induce("nowhere.txt", out=tmp_path)
