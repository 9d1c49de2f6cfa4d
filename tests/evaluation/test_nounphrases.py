"""Recall of a gold category, and the induced labels that together are it."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.nounphrases import (
    LabelPrecision,
    Recall,
    aggregate,
    count_matched,
    mapping_split,
    proposals,
)
from tests.evaluation.helpers import paired


def spans(**labels: str) -> Counter:
    """``A="3/4"``: four spans under A, three of them gold; ``missed=2``: gold, not predicted."""
    found = Counter()
    for label, fraction in labels.items():
        matched, predicted = map(int, str(fraction).split("/"))
        key = () if label == "missed" else tuple(label.split("_"))
        found[key, True] += matched
        found[key, False] += predicted - matched
    return found


def test_by_hand():
    """Of 10 gold spans: A alone has F1 2·3/(3+10), A and B 2·7/(8+10), all three 2·8/(18+10)."""
    mapping = spans(C="1/10", A="3/3", B="4/5", missed="2/2")
    it = aggregate(mapping, spans(A="1/2", B="1/1", C="5/5", missed="1/1"), "NP", "signed")
    assert it.chosen == (LabelPrecision("A", 3, 3), LabelPrecision("B", 4, 5))
    assert [round(one.precision, 3) for one in it.chosen] == [1.0, 0.8]
    assert it.counts == (2, 3, 8)
    assert (it.precision, it.recall, it.f1) == pytest.approx((2 / 3, 2 / 8, 4 / 11))
    assert str(it) == (
        "NP aggregate P 66.7 R 25.0 F1 36.4 (labels by precision: A 100.0, B 80.0) signed"
    )


def test_a_span_under_two_labels_is_one():
    """A and B over the same four spans: neither label adds to the other."""
    it = aggregate(spans(A_B="3/4", missed="1/1"), spans(A_B="3/4"), "NP", "")
    assert [one.label for one in it.chosen] == ["A"]
    assert it.counts == (3, 4, 3)
    twice = aggregate(spans(A_A="3/4"), Counter(), "NP", "")
    assert twice.chosen == (LabelPrecision("A", 3, 4),)
    both = aggregate(spans(A_B="2/2", B="8/9"), spans(A_B="1/1", A="1/1", B="1/1"), "NP", "")
    assert [one.label for one in both.chosen] == ["A", "B"]
    assert both.counts == (3, 3, 3)


def test_ties():
    """Equal precision: more spans first, then by name; equal F1: the fewest labels."""
    it = aggregate(spans(B="1/1", C="2/2", A="1/1"), Counter(), "NP", "")
    assert [one.label for one in it.chosen] == ["C", "A", "B"]
    it = aggregate(spans(A="2/2", B="1/3", missed="1/1"), Counter(), "NP", "")  # 4/6 and 6/9
    assert [one.label for one in it.chosen] == ["A"]


def test_nothing_to_choose():
    nothing = aggregate(Counter(), Counter(), "NP", "")
    assert nothing.chosen == ()
    assert math.isnan(nothing.f1)
    hopeless = aggregate(spans(A="0/3", missed="2/2"), spans(A="1/1", missed="1/1"), "NP", "")
    assert hopeless.chosen == ()
    assert hopeless.f1 == 0
    assert "labels by precision: none" in str(hopeless)


label_sets = st.lists(st.sampled_from("ABCD"), max_size=2, unique=True).map(tuple)
random_spans = st.lists(st.tuples(label_sets, st.booleans()), max_size=25).map(Counter)


@given(random_spans, random_spans)
def test_no_beginning_of_the_ranking_is_better(mapping, others):
    """Spans one by one, with the definition of precision and F1."""
    it = aggregate(mapping, others, "NP", "")
    listed = list(mapping.elements())
    labels = {label for found, _ in listed for label in found}

    def rank(label):
        under = [is_gold for found, is_gold in listed if label in found]
        return -sum(under) / len(under), -len(under), label

    def f1(elements, pool):
        under = [is_gold for found, is_gold in elements if pool & set(found)]
        everything = len(under) + sum(is_gold for _, is_gold in elements)
        return 2 * sum(under) / everything if everything else math.nan

    ranking = sorted(labels, key=rank)
    pools = [set(ranking[:size]) for size in range(len(ranking) + 1)]
    best = max(pools, key=lambda pool: f1(listed, pool) if listed and pool else 0)
    assert {one.label for one in it.chosen} == best
    assert it.f1 == pytest.approx(f1(list(others.elements()), best), nan_ok=True)


def test_proposals_of_a_sentence():
    trees = paired(
        "(S (NP (D the) (N dog)) (VP (V saw) (NP (N it))))",
        "(A (B (C the) dog) (B (D saw) (A (E it))))",
    )
    assert Counter(proposals(trees, "NP")) == Counter(
        {(("A",), False): 1, (("B",), True): 1, (("B",), False): 1}
    )
    one_word = Counter(proposals(trees, "NP", min_words=1))
    assert one_word == Counter(
        {
            (("A",), False): 1,
            (("B",), True): 1,
            (("B",), False): 1,
            (("C",), False): 1,  # the: a tag is a label over its word
            ((), False): 1,  # dog: no label
            (("D",), False): 1,
            (("A", "E"), True): 1,  # it
        }
    )
    assert Counter(proposals(paired("(S (NP a b) c)", "(A a (B b c))"), "NP"))[(), True] == 1


@pytest.mark.parametrize(
    ("sentences", "wanted", "expected"),
    [
        (14_251, 4000, (4000, "mapping:first-4000")),
        (4001, 4000, (4000, "mapping:first-4000")),
        (4000, 4000, (2000, "mapping:first-half-2000")),
        (7, 4000, (3, "mapping:first-half-3")),
        (7, 5, (5, "mapping:first-5")),
        (0, 4000, (0, "mapping:first-half-0")),
    ],
)
def test_the_split(sentences, wanted, expected):
    assert mapping_split(sentences, wanted) == expected


def test_a_split_that_is_none():
    with pytest.raises(DbpcfgError, match="mapping_sentences must be at least 1, not 0"):
        mapping_split(10, 0)


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
def test_recall_by_hand(gold, predicted, category, expected):
    assert count_matched(paired(gold, predicted), category) == expected


def test_what_it_says():
    assert str(Recall("NP", 2, 3, "gold:NP")) == "NP recall 66.7 (found 2, gold 3) gold:NP"
    assert math.isnan(Recall("NP", 0, 0, "").recall)
    assert str(Recall("NP", 0, 0, "")).startswith("NP recall – (")
