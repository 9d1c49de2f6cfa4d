"""UHHMM as a whole."""

import numpy as np
import pytest

from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.systems.uhhmm import UHHMM

SENTENCES = [tree.words() for tree in synthetic_trees("center", 40, 3)]


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("trees", ["last", "mbr"])
def test_same_seed_same_trees(faithful, trees):
    options = {"G": 3, "iterations": 62, "trees": trees, "faithful": faithful}
    one, same, other = (
        UHHMM(2, 3, seed=seed, threads=threads, **options).fit(SENTENCES)
        for seed, threads in ((1, 1), (1, 3), (2, 1))
    )
    assert one.trees() == same.trees()
    assert one.fitted.log_likelihoods == same.fitted.log_likelihoods
    assert one.trees() != other.trees()
    assert [tree.words() for tree in one.trees()] == SENTENCES
    assert all(tree.is_binary for tree in one.trees())
    likelihoods = one.fitted.log_likelihoods
    assert len(likelihoods) == 62
    assert np.mean(likelihoods[-10:]) > likelihoods[0] + 30


def test_samples_that_mbr_trees_count():
    system = UHHMM(iterations=62)
    assert [n for n in range(1, 63) if system._is_kept(n)] == [55, 60, 62]


def test_the_first_samples_do_not_depend_on_the_number_of_iterations():
    few, many = (UHHMM(iterations=n).fit(SENTENCES).fitted.log_likelihoods for n in (3, 6))
    assert many[:3] == few


def test_labels_are_of_the_categories():
    trees = UHHMM(2, 4, 3, iterations=10).fit(SENTENCES).trees()
    found = {node.label for tree in trees for node in tree.nodes()}
    assert found <= {"a1", "a2", "b1", "b2", "b3", "b4", "g1", "g2", "g3"}
    assert all(tree.label[0] == "a" for tree in trees)


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("D", [1, 2, 3])
def test_odd_corpora(D, faithful):
    def trees(sentences, A=2, B=2, G=2):
        system = UHHMM(A, B, G, D, iterations=20, faithful=faithful).fit(sentences)
        assert np.isfinite(system.fitted.log_likelihoods).all()
        assert [tree.words() for tree in system.trees()] == sentences
        return system.trees()

    for tree in trees([["one"], ["two"], ["one"]]):
        assert tree.label in ("g1", "g2")
        assert len(tree.children) == 1
    trees([["a"] * n for n in (1, 2, 3, 12)])
    trees([["a", "b", "c"] * 27])
    trees([["a", "b"]])
    trees([["a", "b", "c", "d"]] * 3, 1, 1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"A": 0}, "A must be at least 1, not 0"),
        ({"iterations": 0}, "iterations must be at least 1, not 0"),
        ({"A": 20, "B": 20, "D": 3}, "D = 3 has 64,000,000 stores; at most 1,000,000"),
        ({"trees": "best"}, "no trees 'best'; choose one of last, mbr"),
    ],
)
def test_impossible_settings(options, message):
    with pytest.raises(DbpcfgError, match=message):
        UHHMM(**options)
