"""The registry, systems that need no file of their own, and what systems see of sentences."""

from __future__ import annotations

import io

import pytest

import dbpcfg
from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.branching import BranchingSystem, branching_tree
from dbpcfg.systems.dbpcfg import DbpcfgSystem
from dbpcfg.systems.registry import SYSTEMS, find
from dbpcfg.systems.words import as_written, seen_by
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

SENTENCES = [tree.words() for tree in synthetic_trees("center", 16, 3)]
SMALL = {"K": 3, "D": 2, "chains": 2, "iterations": 6}


@pytest.mark.parametrize("kind", SYSTEMS, ids=lambda kind: kind.name)
def test_every_system_is_as_the_registry_says(kind):
    settings = SMALL if kind.name == "dbpcfg" else {}
    made, same, other = (kind.make(seed, threads=1, **settings) for seed in (1, 1, 2))
    assert made.name == kind.name
    assert made.stochastic == kind.stochastic
    with pytest.raises(DbpcfgError, match="fit first"):
        made.trees()
    trees = made.fit(SENTENCES).trees()
    assert [tree.words() for tree in trees] == SENTENCES
    assert trees == same.fit(SENTENCES).trees()
    assert (trees != other.fit(SENTENCES).trees()) == kind.stochastic


def test_names_and_aliases():
    names = [kind.name for kind in SYSTEMS]
    assert names == [
        *("right", "left", "balanced", "random"),
        *("ccl", "upparse-prlg", "upparse-hmm", "dbpcfg"),
    ]
    assert find("upparse").name == "upparse-prlg"
    assert find(" CCL ").name == "ccl"
    spelt = [*names, *(alias for kind in SYSTEMS for alias in kind.aliases)]
    assert len(set(spelt)) == len(spelt)
    assert all(kind.summary and kind.reference for kind in SYSTEMS)
    with pytest.raises(DbpcfgError, match=r"no system 'dmv'.* ccl, upparse-prlg \(or upparse\)"):
        find("dmv")
    with pytest.raises(DbpcfgError, match="right has no setting 'K'; it has: shape"):
        find("right").make(K=3)


def test_branching_systems_number_their_sentences():
    trees = BranchingSystem("random", seed=7).fit(SENTENCES).trees()
    numbers = stream(7, purpose=Purpose.BASELINE)
    assert trees == [branching_tree("random", it, numbers, n) for n, it in enumerate(SENTENCES)]
    with pytest.raises(DbpcfgError, match="no baseline 'up'"):
        BranchingSystem("up")


def test_our_own_is_induce():
    corpus = [Sentence(tuple(words)) for words in SENTENCES]
    run = dbpcfg.induce(corpus, seed=4, threads=2, **SMALL)
    made = DbpcfgSystem(**SMALL, seed=4, threads=1).fit(SENTENCES)
    assert made.trees() == run.trees()
    assert made.run.finished


def test_progress_of_our_own_counts_all_chains():
    told = []
    progress = Progress("dbpcfg", to=io.StringIO())
    progress.update = told.append
    DbpcfgSystem(**SMALL, threads=1).fit(SENTENCES, progress)
    assert progress.total == 12
    assert told[-1] == 12


# --- words ------------------------------------------------------------------------------------

WRITTEN = ("The", "Dog", "-LRB-", "'", "-RRB-", "barked", ".")
TAGS = ("DT", "NN", "-LRB-", "POS", "-RRB-", "VBD", ".")


def prepared(words=WRITTEN, tags=TAGS, **options):
    return prepare([Sentence(tuple(words), tags)], Preparation(**options))


def test_what_systems_see():
    learns, branches = find("ccl"), find("right")
    lower = ["the", "dog", "-LRB-", "'", "-RRB-", "barked", "."]
    assert list(seen_by(learns, prepared())[0]) == lower
    assert list(seen_by(learns, prepared(lowercase=False))[0]) == list(WRITTEN)
    assert list(seen_by(branches, prepared())[0]) == ["The", "Dog", "'", "barked"]
    by_characters = prepared(punctuation="characters")
    assert list(seen_by(branches, by_characters)[0]) == ["The", "Dog", "barked"]
    assert list(seen_by(branches, prepared(), keep_punctuation=True)[0]) == list(WRITTEN)
    only = prepared(("...", "!"), (":", "."))
    assert list(seen_by(branches, only)[0]) == ["...", "!"]


@pytest.mark.parametrize(
    ("tree", "written"),
    [
        ("(X (X the dog) barked)", "(X (X The Dog) barked)"),
        ("(X (X the dog) -LRB- ' -RRB- barked .)", "(X (X The Dog) -LRB- ' -RRB- barked .)"),
        ("(X the (X dog (X ' barked)))", "(X The (X Dog (X ' barked)))"),
    ],
)
def test_words_as_written(tree, written):
    assert [str(it) for it in as_written([read_tree(tree)], prepared())] == [written]


def test_words_as_written_where_signs_repeat():
    """The best alignment may leave a sign out that the system has: it stays as it is."""
    corpus = prepared(("'", "--", "'", "A"), ("''", ":", "POS", "NN"))
    assert as_written([Tree("X", ["'", "--", "a"])], corpus)[0].words() == ["'", "--", "A"]


def test_words_of_another_sentence_are_refused():
    with pytest.raises(DbpcfgError, match="not the same sentence"):
        as_written([read_tree("(X the cat barked)")], prepared())
