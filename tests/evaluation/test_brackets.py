"""Both trees as spans over the words without punctuation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import brackets, number_words, pair
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.helpers import (
    gold_and_predicted,
    marks,
    naive_spans,
    paired,
    punctuated,
    sentence,
)


def test_an_example():
    """Unary chains are one span with several labels; the label ROOT goes, its span stays."""
    trees = paired(
        "(ROOT (S (NP (NP (D the) (N dog)) (, ,)) (VP (V barks)) (. .)))",
        "(X (X2 the (X3 dog)) (X4 (X5 barks)))",
    )
    assert trees.words == 3
    assert trees.gold == {(0, 3): ("S",), (0, 2): ("NP", "NP"), (2, 3): ("VP",)}
    assert trees.predicted == {(0, 3): ("X",), (0, 2): ("X2",), (2, 3): ("X4",)}
    assert trees.gold_tags == ["D", "N", "V"]
    assert trees.predicted_tags == ["", "X3", "X5"]


@pytest.mark.parametrize("top", ["", "ROOT", "TOP", "S1", "VROOT"])
def test_top_labels(top):
    found, _ = brackets(read_tree(f"({top} (S a (NP b c)) (. .))"), [0, 1, 2, -1])
    assert found == {(0, 3): ("S",), (1, 3): ("NP",)}
    found, _ = brackets(read_tree(f"(S ({top} a b) c)"), [0, 1, 2])
    assert found == {(0, 3): ("S",), (0, 2): (top,)}, "only the top node is a top node"
    assert brackets(read_tree(f"(S ({top} a b))"), [0, 1])[0] == {(0, 2): ("S", top)}


def test_words_missing_from_the_prediction():
    """They lie inside a span if words on both sides do, and outside at its edge."""
    gold = "(S (NP (NP the boys (POS ')) dogs) (VP bark))"
    inside = paired(gold, "(X (X the (X boys dogs)) bark)")
    assert list(inside.predicted) == [(0, 5), (0, 4), (1, 4)]
    edge = paired(gold, "(X (X the boys) (X dogs bark))")
    assert list(edge.predicted) == [(0, 5), (0, 2), (3, 5)]
    assert edge.predicted_tags == [""] * 5


def test_words_missing_from_the_gold_tree():
    trees = paired("(S (NP a b) c)", "(X (X -- a) (X . ,) (X (X b (Q --)) c))")
    assert trees.predicted == {(0, 3): ("X",), (0, 1): ("X",), (1, 3): ("X",), (1, 2): ("X",)}


def test_gold_tags_are_the_sentences_own_if_it_has_any():
    gold = Sentence(("a", ","), tags=("N", ","), tree=read_tree("(S a ,)"))
    assert pair(gold, sentence("(X a)"), (False, True)).gold_tags == ["N"]


def test_a_sentence_without_a_tree():
    with pytest.raises(DbpcfgError, match=r"here\.txt:3: found words but no tree"):
        pair(Sentence(("a",), source="here.txt", line=3), sentence("(X a)"), (False,))


def test_numbers_of_words():
    assert number_words([True, False, True, False]) == [-1, 0, -1, 1]
    assert number_words([]) == []


@given(gold_and_predicted(), st.data())
def test_spans_are_those_of_the_definition(trees, data):
    tree = data.draw(punctuated(trees[0]))
    expected: dict[tuple[int, int], tuple[str, ...]] = {}
    for start, end, label in naive_spans(tree, marks(tree)):
        expected[start, end] = (*expected.get((start, end), ()), label)
    assert brackets(tree, number_words(marks(tree)))[0] == expected


def test_deep_trees():
    tree = read_tree("(X a " * 20_000 + "b" + ")" * 20_000)
    found, tags = brackets(tree, range(20_001))
    assert len(found) == 20_000
    assert len(tags) == 20_001
