"""Tags without trees against gold tags."""

from __future__ import annotations

import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.evaluation.labels import compare_tags
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.trees.brackets import read_tree

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


def test_convention_leaves_out_long_sentences():
    done = []
    table = compare_tags(
        *(sentences(GOLD), without_trees(sentences(PREDICTED)), MARKS),
        *(Convention(max_length=2), done.append),
    )
    assert table.counts.sum() == 2
    assert done == [1, 2]
    assert "length:<=2" in table.signature


def test_what_cannot_be_compared():
    gold = sentences(GOLD)
    other = [Sentence(("the", "cat", "barks"), ("1", "2", "3")), Sentence(("cats", "sleep"))]
    with pytest.raises(DbpcfgError, match="word 2 of the first is 'dog' where word 2"):
        compare_tags(gold, other, MARKS, Convention())
    untagged = sentences(["(S (NP the dog) barks .)", "(S cats sleep)"])
    with pytest.raises(DbpcfgError, match="t:1: the gold sentences have no tags to compare with"):
        compare_tags(untagged, without_trees(sentences(PREDICTED)), MARKS, Convention())
