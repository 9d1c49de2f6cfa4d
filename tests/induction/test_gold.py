"""Scores logged as a chain runs: the numbers that ``dbpcfg.evaluation`` gives."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.induction.corpus import gold_spans, load_gold, save_gold
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.helpers import gold_and_predicted, marks, punctuated
from tests.induction.small import CORPUS, TREES, refuses_damage
from tests.oracle import preorder, shapes


@st.composite
def treebanks(draw: st.DrawFn):
    """Gold trees of any shape with punctuation anywhere, and binary trees over the same words."""
    gold = [
        draw(punctuated(draw(gold_and_predicted(longest=4))[0]))
        for _ in range(draw(st.integers(1, 4)))
    ]
    corpus = Encoded.from_sentences([tree.words() for tree in gold])
    predicted = Derivations.empty(corpus)
    for sentence, n in enumerate(corpus.lengths.tolist()):
        predicted[sentence][:] = binary_tree(draw, n)
    return gold, predicted


def binary_tree(draw: st.DrawFn, n: int) -> list[tuple[int, int, int]]:
    nodes, todo = [], [(0, n)]
    while todo:
        i, j = todo.pop()
        nodes.append((i, j, 0))
        if j - i > 1:
            k = draw(st.integers(i + 1, j - 1))
            todo += [(k, j), (i, k)]
    return nodes


@given(treebanks())
def test_f1_is_that_of_the_evaluation(treebank):
    gold, predicted = treebank
    punctuation = [marks(tree) for tree in gold]
    expected = evaluate(gold, list(predicted.trees()), punctuation).score.f1
    found = gold_spans(gold, punctuation).f1(predicted.corpus.starts, predicted.nodes)
    assert found == pytest.approx(0.0 if np.isnan(expected) else expected, abs=1e-12)


def test_f1_by_hand():
    """Gold (0,3) (1,3) without the comma; predicted (0,3) (0,2)."""
    gold = read_tree("(S (NP a) (VP (V b) (, ,) (N c)))")
    (shape,) = [s for s in shapes(0, 4) if [n[:2] for n in preorder(s)][1] == (0, 3)][:1]
    nodes = np.array([(*node[:2], 0) for node in preorder(shape)], dtype=np.int32)
    spans = gold_spans([gold], [(False, False, True, False)])
    assert spans.f1(np.array([0, 4]), nodes) == pytest.approx(2 * 1 / (2 + 2))
    only_punctuation = gold_spans([read_tree("(S (. .))")], [(True,)])
    assert only_punctuation.f1(np.array([0, 1]), np.array([[0, 1, 0]], dtype=np.int32)) == 0.0


@pytest.fixture
def spans():
    return gold_spans(TREES, [(n % 3 == 0,) * len(tree) for n, tree in enumerate(TREES)])


def test_round_trip_and_damage(spans, tmp_path):
    path = tmp_path / "gold.npz"
    save_gold(spans, path)

    def same(found) -> bool:
        pairs = zip(astuple(found), astuple(spans), strict=True)
        return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)

    assert same(load_gold(path, CORPUS.starts))
    refuses_damage(path, lambda: load_gold(path, CORPUS.starts), same)


def test_spans_of_other_sentences(spans, tmp_path):
    path = tmp_path / "gold.npz"
    save_gold(spans, path)
    for starts in (CORPUS.starts[:-1], CORPUS.starts + np.arange(len(CORPUS.starts))):
        with pytest.raises(DbpcfgError, match=f"{path}: its spans are not those of the run's"):
            load_gold(path, starts)
    spans.kept[0] = 99
    save_gold(spans, path)
    with pytest.raises(DbpcfgError, match="are not those of the run's"):
        load_gold(path, CORPUS.starts)
