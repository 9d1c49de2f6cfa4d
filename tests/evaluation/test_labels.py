"""Induced against gold labels of constituents and of words, with and without trees."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.evaluation.labels import Contingency, compare_tags, matched_labels, matched_tags
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.helpers import paired


def test_matched_spans():
    """The topmost label on both sides; spans of one tree only, or of one word, do not count."""
    gold = "(ROOT (S (NP (QP a b)) (VP (V c) (NP (N d)))))"
    trees = paired(gold, "(X (Y (Z a b)) (W c (X (T d))))")
    assert list(matched_labels(trees)) == [("X", "S"), ("Y", "NP"), ("W", "VP")]
    assert list(matched_labels(paired("(S (NP a b) c)", "(X a (Y b c))"))) == [("X", "S")]
    assert list(matched_labels(paired("(ROOT a b)", "(X a b)"))) == []


def test_tags():
    trees = paired("(S (D the) (N dog) (V barks) (. .))", "(X (X1 the) (X (X2 dog) barks))")
    assert list(matched_tags(trees)) == [("X1", "D"), ("X2", "N")]


def test_by_hand():
    """Two labels, two gold labels, four items: A is pure, B half and half."""
    table = Contingency.from_counts(
        {("A", "NP"): 2, ("B", "NP"): 1, ("B", "VP"): 1}, signature="labels:topmost"
    )
    assert table.counts.tolist() == [[2, 0], [1, 1]]
    it = table.score()
    entropy_gold = -(3 / 4 * math.log(3 / 4) + 1 / 4 * math.log(1 / 4))
    gold_given_induced = math.log(2) / 2
    induced_given_gold = 3 / 4 * -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    h, c = 1 - gold_given_induced / entropy_gold, 1 - induced_given_gold / math.log(2)
    assert it.many_to_one == 3 / 4
    assert (it.homogeneity, it.completeness) == pytest.approx((h, c))
    assert it.v_measure == pytest.approx(2 * h * c / (h + c))
    assert it.items == 4
    assert str(it) == (
        "many-to-one 75.0 homogeneity 38.4 completeness 31.1 V 34.4 (4 items) labels:topmost"
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ({("A", "NP"): 3, ("B", "VP"): 2}, (1, 1, 1, 1)),  # a renaming
        ({("A", "NP"): 1, ("A", "VP"): 1}, (0.5, 0, 1, 0)),  # one label for all
        ({("A", "NP"): 1, ("B", "NP"): 1}, (1, 1, 0, 0)),  # one gold label
        ({("A", "NP"): 7}, (1, 1, 1, 1)),  # one of each
        ({(i, g): 1 for i in "AB" for g in "NV"}, (0.5, 0, 0, 0)),  # nothing to do with each other
    ],
)
def test_extremes(items, expected):
    it = Contingency.from_counts(items).score()
    found = it.many_to_one, it.homogeneity, it.completeness, it.v_measure
    assert found == pytest.approx(expected, abs=1e-12)


def test_nothing():
    it = Contingency.from_counts({})
    assert it.counts.shape == (0, 0)
    score = it.score()
    assert score.items == 0
    assert all(map(math.isnan, (score.many_to_one, score.homogeneity, score.v_measure)))
    assert str(score).startswith("many-to-one – ")


tables = st.lists(
    st.tuples(st.sampled_from("ABCD"), st.sampled_from("NVP")), min_size=1, max_size=30
)


@given(tables)
def test_identities(items):
    it = Contingency.from_counts(Counter(items)).score()
    back = Contingency.from_counts(Counter((gold, induced) for induced, gold in items)).score()
    assert (it.homogeneity, it.completeness) == pytest.approx((back.completeness, back.homogeneity))
    assert it.v_measure == pytest.approx(back.v_measure)
    for value in (it.many_to_one, it.homogeneity, it.completeness, it.v_measure):
        assert -1e-12 <= value <= 1 + 1e-12


@given(tables)
def test_v_measure_is_normalised_mutual_information(items):
    """2 I(I;G) / (H(I) + H(G)), with I summed cell by cell."""
    joint = Counter(items)
    n = len(items)
    induced, gold = Counter(i for i, _ in items), Counter(g for _, g in items)
    information = sum(
        count / n * math.log(count * n / (induced[i] * gold[g])) for (i, g), count in joint.items()
    )
    entropies = [-sum(c / n * math.log(c / n) for c in side.values()) for side in (induced, gold)]
    expected = 2 * information / sum(entropies) if sum(entropies) > 0 else 1.0
    assert Contingency.from_counts(joint).score().v_measure == pytest.approx(expected, abs=1e-9)


@given(tables)
def test_many_to_one_is_the_best_renaming(items):
    table = Contingency.from_counts(Counter(items))
    mapping = {label: table.gold[row.argmax()] for label, row in zip(table.induced, table.counts)}
    right = np.mean([mapping[induced] == gold for induced, gold in items])
    assert table.score().many_to_one == pytest.approx(right)
    for label in "NVP":
        other = mapping | {"A": label}
        assert np.mean([other[induced] == gold for induced, gold in items]) <= right + 1e-12


GOLD = ["(S (NP (D the) (N dog)) (VP (V barks)) (. .))", "(S (N cats) (V sleep))"]
PREDICTED = ["(1 (2 (3 The) (4 dog)) (4 barks))", "(1 (4 cats) (5 sleep))"]
MARKS = [(False, False, False, True), (False, False)]


def sentences(trees):
    return [Sentence.from_tree(read_tree(tree), "t", n) for n, tree in enumerate(trees, start=1)]


def without_trees(given):
    return [Sentence(one.words, one.tags, source="w", line=one.line) for one in given]


def test_tags_are_counted_as_those_of_trees():
    gold, predicted = sentences(GOLD), sentences(PREDICTED)
    of_trees = evaluate(gold, predicted, MARKS).tags
    alone = compare_tags(gold, without_trees(predicted), MARKS, Convention())
    assert (alone.induced, alone.gold) == (of_trees.induced, of_trees.gold)
    assert alone.counts.tolist() == of_trees.counts.tolist() == [[1, 0, 0], [0, 2, 1], [0, 0, 1]]
    assert alone.signature == of_trees.signature
    assert compare_tags(without_trees(gold), predicted, MARKS, Convention()).score() == (
        alone.score()
    )


def test_signs_that_are_in_the_prediction_do_not_count():
    """Punctuation of the gold sentence, and what it does not have."""
    predicted = [
        Sentence(("The", "dog", "barks", "."), ("3", "4", "4", "9")),
        Sentence(("cats", "--", "sleep"), ("4", "9", "5")),
    ]
    table = compare_tags(sentences(GOLD), predicted, MARKS, Convention())
    assert table.induced == ("3", "4", "5")
    assert table.counts.tolist() == [[1, 0, 0], [0, 2, 1], [0, 0, 1]]


def test_convention_leaves_out_long_sentences():
    given, done = (sentences(GOLD), without_trees(sentences(PREDICTED)), MARKS), []
    table = compare_tags(*given, Convention(max_length=2), done.append)
    assert table.counts.sum() == 2
    assert done == [1, 2]
    assert "length:<=2" in table.signature
    assert compare_tags(*given, Convention(max_length=3)).counts.sum() == 5  # and a full stop


def test_what_cannot_be_compared():
    gold = sentences(GOLD)
    other = [Sentence(("the", "cat", "barks"), ("1", "2", "3")), Sentence(("cats", "sleep"))]
    with pytest.raises(DbpcfgError, match="word 2 of the first is 'dog' where word 2"):
        compare_tags(gold, other, MARKS, Convention())
    untagged = sentences(["(S (NP the dog) barks .)", "(S cats sleep)"])
    with pytest.raises(DbpcfgError, match="t:1: the gold sentences have no tags to compare with"):
        compare_tags(untagged, without_trees(sentences(PREDICTED)), MARKS, Convention())
