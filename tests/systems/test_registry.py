"""The registry, systems that need no file of their own, and the input of systems."""

import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.dbpcfg_system import DbpcfgSystem
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.systems.branching import Random, branching_tree
from dbpcfg.systems.registry import (
    ALIASES,
    find,
    restore_words,
    sentences_for,
    systems,
    tree_from_spans,
)
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

SENTENCES = [tree.words() for tree in synthetic_trees("center", 16, 3)]
SMALL = {"K": 3, "D": 2, "chains": 2, "iterations": 6}


NAMES = [
    *("right", "left", "balanced", "random"),
    *("ccl", "upparse-prlg", "upparse-hmm", "bmmm-dmv", "uhhmm", "dbpcfg"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_system_is_as_the_registry_says(name):
    spec = find(name)
    assert spec.summary
    assert spec.reference
    settings = {"dbpcfg": SMALL, "uhhmm": {"iterations": 6}}.get(spec.name, {})
    made, same, other = (spec.make(seed, threads=1, **settings) for seed in (1, 1, 2))
    assert made.name == spec.name
    with pytest.raises(
        DbpcfgError, match=f"{spec.name} has not seen any sentences; call fit first"
    ):
        made.trees()
    trees = made.fit(SENTENCES).trees()
    assert [tree.words() for tree in trees] == SENTENCES
    assert trees == same.fit(SENTENCES).trees()
    assert (trees != other.fit(SENTENCES).trees()) == spec.stochastic


@pytest.mark.parametrize("name", ["ccl", "uhhmm"])
@pytest.mark.parametrize(
    ("sentences", "said"), [([["a"], []], "sentence 2 has no words"), (["a b"], "is one text")]
)
def test_sentences_that_cannot_be(name, sentences, said):
    with pytest.raises(DbpcfgError, match=said):
        find(name).make().fit(sentences)


def test_names_and_aliases():
    assert systems.names()[: len(NAMES)] == NAMES
    assert find("upparse").name == "upparse-prlg"
    assert find(" CCL ").name == "ccl"
    assert not ALIASES.keys() & set(NAMES)
    with pytest.raises(DbpcfgError, match=r"no system 'dmv'.* ccl, upparse-prlg \(or upparse\)"):
        find("dmv")
    with pytest.raises(DbpcfgError, match="right has no setting 'K'; it has: none"):
        find("right").make(K=3)


def test_branching_systems_number_their_sentences():
    trees = Random(seed=7).fit(SENTENCES).trees()
    numbers = stream(7, purpose=Purpose.BASELINE)
    assert trees == [branching_tree("random", it, numbers, n) for n, it in enumerate(SENTENCES)]


def test_our_own_is_induce():
    corpus = [Sentence(tuple(words)) for words in SENTENCES]
    run = dbpcfg.induce(corpus, seed=4, threads=2, **SMALL)
    made = DbpcfgSystem(**SMALL, seed=4, threads=1).fit(SENTENCES)
    assert made.trees() == run.trees()
    assert made.run.finished


# --- words ------------------------------------------------------------------------------------

WRITTEN = ("The", "Dog", "-LRB-", "'", "-RRB-", "barked", ".")
TAGS = ("DT", "NN", "-LRB-", "POS", "-RRB-", "VBD", ".")


def preprocessed(words=WRITTEN, tags=TAGS, **options):
    return preprocess([Sentence(tuple(words), tags)], Preprocessing(**options))


def test_input_of_systems():
    learns, branches = find("ccl"), find("right")
    lower = ["the", "dog", "-LRB-", "'", "-RRB-", "barked", "."]
    assert list(sentences_for(learns, preprocessed())[0]) == lower
    assert list(sentences_for(learns, preprocessed(lowercase=False))[0]) == list(WRITTEN)
    assert list(sentences_for(branches, preprocessed())[0]) == ["The", "Dog", "'", "barked"]
    by_characters = preprocessed(punctuation="characters")
    assert list(sentences_for(branches, by_characters)[0]) == ["The", "Dog", "barked"]
    assert list(sentences_for(branches, preprocessed(), keep_punctuation=True)[0]) == list(WRITTEN)
    only = preprocessed(("...", "!"), (":", "."))
    assert list(sentences_for(branches, only)[0]) == ["...", "!"]


@pytest.mark.parametrize(
    ("tree", "written"),
    [
        ("(X (X the dog) barked)", "(X (X The Dog) barked)"),
        ("(X (X the dog) -LRB- ' -RRB- barked .)", "(X (X The Dog) -LRB- ' -RRB- barked .)"),
        ("(X the (X dog (X ' barked)))", "(X The (X Dog (X ' barked)))"),
    ],
)
def test_words_as_written(tree, written):
    assert [str(it) for it in restore_words([read_tree(tree)], preprocessed())] == [written]


def test_words_as_written_where_signs_repeat():
    """The best alignment may leave a sign out that the system has: it stays as it is."""
    corpus = preprocessed(("'", "--", "'", "A"), ("''", ":", "POS", "NN"))
    assert restore_words([Tree("X", ["'", "--", "a"])], corpus)[0].words() == ["'", "--", "A"]


def test_words_of_another_sentence_are_refused():
    with pytest.raises(DbpcfgError, match="not the same sentence"):
        restore_words([read_tree("(X the cat barked)")], preprocessed())


def test_rare_forms_are_replaced_for_dbpcfg():
    words = [["the", "dogs", "barked"], ["the", "cats", "purred"], ["the", "dogs", "sleep"]]
    made = find("dbpcfg").make(1, K=3, iterations=6, chains=1, budget=None, rare=1).fit(words)
    forms = set(made.run.corpus.forms.vocabulary.words)
    assert {"the", "dogs"} <= forms
    assert not {"cats", "barked", "purred", "sleep"} & forms
    assert [tree.words() for tree in made.trees()] == words


def test_tree_from_spans():
    words = list("abcdef")
    nested = [(0, 4), (1, 4), (2, 4), (4, 6)]
    assert str(tree_from_spans(words, nested)) == "(X (X a (X b (X c d))) (X e f))"
    assert str(tree_from_spans(words, [(0, 6), (4, 6)])) == "(X a b c d (X e f))"  # one root
    assert str(tree_from_spans(["a"], [])) == "(X a)"


def test_deep_trees():
    n = 3000
    assert len(tree_from_spans(["w"] * n, [(i, n) for i in range(n - 1)])) == n
