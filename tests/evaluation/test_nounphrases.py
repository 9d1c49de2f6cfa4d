"""Recall of gold constituents of a category, whatever the prediction calls them."""

import math

import pytest

from dbpcfg.evaluation.nounphrases import Recall, count_found
from tests.evaluation.helpers import paired


@pytest.mark.parametrize(
    ("gold", "predicted", "category", "expected"),
    [
        # All levels count, not just the lowest.
        ("(S (NP (NP a b) (PP of (NP c d))) e)", "(X (X a b) (X of (X c d)) e)", "NP", (2, 3)),
        # Distinct spans: a noun phrase that is nothing but a noun phrase is one.
        ("(S (NP (NP a b)) c)", "(X (Y a b) c)", "NP", (1, 1)),
        # Also under other labels.
        ("(S (VP (NP a b)) c)", "(X (Y a b) c)", "NP", (1, 1)),
        ("(S (NP (VP a b)) c)", "(X (Y a b) c)", "NP", (1, 1)),
        ("(S (VP (NP (X a b))) c)", "(X (Y a b) c)", "NP", (1, 1)),
        # Not of one word.
        ("(S (NP (N a)) (VP b c))", "(X (X a) b c)", "NP", (0, 0)),
        # The whole sentence is one, and credited.
        ("(ROOT (NP a b .))", "(X a b)", "NP", (1, 1)),
        ("(ROOT (NP the boys (POS ')))", "(X the boys)", "NP", (1, 1)),
        # Any category.
        ("(S (NP a b) (VP c d))", "(X a (X b c) d)", "VP", (0, 1)),
        ("(S (NP a b) (VP c d))", "(X a b (X c d))", "VP", (1, 1)),
        # Over punctuation.
        ("(S (NP a , b) c)", "(X (X a b) c)", "NP", (1, 1)),
    ],
)
def test_by_hand(gold, predicted, category, expected):
    assert count_found(paired(gold, predicted), category) == expected


def test_what_it_says():
    assert str(Recall("NP", 2, 3, "gold:NP")) == "NP recall 66.7 (found 2, gold 3) gold:NP"
    assert math.isnan(Recall("NP", 0, 0, "").recall)
    assert str(Recall("NP", 0, 0, "")).startswith("NP recall – (")
