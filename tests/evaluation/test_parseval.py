"""PARSEVAL under every convention: by hand, by definition, and by what must hold of any score."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import align_trees
from dbpcfg.evaluation.parseval import (
    BracketCounts,
    Convention,
    Skipped,
    count,
    ratios,
    score,
    terms,
)
from dbpcfg.trees.brackets import read_tree
from dbpcfg.version import __version__
from tests.evaluation.helpers import (
    gold_and_predicted,
    marks,
    naive_spans,
    punctuated,
    sentence,
)

PAPER = Convention()
INNER = Convention(whole_sentence=False)
LABELLED = Convention(labelled=True)
LABELLED_INNER = Convention(labelled=True, whole_sentence=False)
ONE_WORD = Convention(min_words=1)
CONVENTIONS = [PAPER, INNER, LABELLED, LABELLED_INNER, ONE_WORD, Convention(min_words=3)]


def counts(gold: str, predicted: str, convention: Convention = PAPER) -> tuple[int, int, int]:
    tree = read_tree(gold)
    return sentence_counts(tree, read_tree(predicted), marks(tree), convention)


def sentence_counts(gold, predicted, punctuation, convention: Convention) -> BracketCounts:
    return count(align_trees(sentence(gold), sentence(predicted), punctuation), convention)


# --- counts of one sentence, by hand ----------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "predicted", "convention", "expected"),
    [
        # A span counts once, however many nodes cover it.
        ("(ROOT (S (VP (V go) (NP (NP it)))))", "(X (X (X go it)))", PAPER, (1, 1, 1)),
        ("(S (NP (NP a b)) c)", "(X (X (X a b)) c)", PAPER, (2, 2, 2)),
        # The whole sentence: credited to everyone, or not there for anyone.
        ("(S a b)", "(X a b)", PAPER, (1, 1, 1)),
        ("(S a b)", "(X a b)", INNER, (0, 0, 0)),
        ("(S (NP a b) c)", "(X a b c)", INNER, (0, 0, 1)),
        ("(S a b c)", "(X a (X b c))", INNER, (0, 1, 0)),
        # One-word spans count only if asked, and preterminals never.
        ("(S (NP (N a)) (V b))", "(X (X (N a)) (X b))", PAPER, (1, 1, 1)),
        ("(S (NP (N a)) (V b))", "(X (X (N a)) (X b))", ONE_WORD, (2, 2, 2)),
        ("(S (NP (N a)))", "(X a)", ONE_WORD, (1, 1, 1)),
        # Nothing to count.
        ("(S (V go) (. .))", "(X go)", PAPER, (0, 0, 0)),
        ("(S (. .) (. .))", "(X . .)", PAPER, (0, 0, 0)),
        ("(S (. .) (. .))", "(X . .)", ONE_WORD, (0, 0, 0)),
        # Punctuation is removed, at whatever height it hangs.
        ("(S (NP a , b) , c .)", "(X (X (X a ,) b) (X , (X c .)))", PAPER, (2, 2, 2)),
        ("(S (NP a (, ,) b) (, ,) c)", "(X (X a b) c)", PAPER, (2, 2, 2)),
        ("(S (NP a) (PRN (, ,)) b)", "(X a , b .)", PAPER, (1, 1, 1)),
        ("(S a (NP , b) c)", "(X a (X (X b) c))", PAPER, (1, 2, 1)),
        # Words that only one side has: inside the span if words on both sides are.
        (
            "(S (NP (NP the boys (POS ')) dog) ran)",
            "(X (X (X the boys) dog) ran)",
            PAPER,
            (2, 3, 3),
        ),
        ("(S (NP (NP the boys (POS ')) dog) ran)", "(X the (X boys dog) ran)", PAPER, (1, 2, 3)),
        ("(S (NP a b) c)", "(X (X a -- b) (X c ...))", PAPER, (2, 2, 2)),
        # Labels: distinct, no credit, and top nodes are no constituents.
        ("(ROOT (S (NP a b) c))", "(S (NP a b) c)", LABELLED, (2, 2, 2)),
        ("(ROOT (S (NP a b) c))", "(ROOT (VP (NP a b) c))", LABELLED, (1, 2, 2)),
        ("(S (NP a b) c)", "(S (VP a b) c)", LABELLED, (1, 2, 2)),
        ("(S (NP a b) c)", "(VP (NP a b) c)", LABELLED_INNER, (1, 1, 1)),
        ("(S (NP (NP a b)) c)", "(S (VP (NP a b)) c)", LABELLED, (2, 3, 2)),
        ("(S (VP go it))", "(VP (S go it))", LABELLED, (2, 2, 2)),
        ("( (S go it))", "(X go it)", LABELLED, (0, 1, 1)),
    ],
)
def test_by_hand(gold, predicted, convention, expected):
    assert counts(gold, predicted, convention) == expected


# --- counts of one sentence, in general -------------------------------------------------------


@given(gold_and_predicted(), st.data(), st.sampled_from(CONVENTIONS))
def test_by_definition(trees, data, convention):
    gold, predicted = (data.draw(punctuated(tree)) for tree in trees)
    words = marks(gold).count(False)
    sides = []
    for tree in (gold, predicted):
        spans = set(naive_spans(tree, marks(tree)))
        if not convention.labelled:
            spans = {(start, end, "") for start, end, _ in spans} | {(0, words, "")}
        sides.append(
            {
                span
                for span in spans
                if span[1] - span[0] >= convention.min_words
                and (convention.whole_sentence or span[:2] != (0, words))
            }
        )
    expected = len(sides[0] & sides[1]), len(sides[1]), len(sides[0])
    assert sentence_counts(gold, predicted, marks(gold), convention) == expected


# --- scores of a corpus -----------------------------------------------------------------------

TWO = np.array([[3, 4, 4], [1, 3, 1]])


def values(statistics, **convention):
    it = score(np.array(statistics, dtype=int).reshape(-1, 3), Convention(**convention))
    return [it.precision, it.recall, it.f1]


def test_corpus_average():
    assert values(TWO) == pytest.approx([4 / 7, 4 / 5, 2 / 3])


def test_sentence_average():
    """P is 3/4 and 1/3, R is 3/4 and 1, F1 is 3/4 and 1/2."""
    expected = [(3 / 4 + 1 / 3) / 2, (3 / 4 + 1) / 2, (3 / 4 + 1 / 2) / 2]
    assert values(TWO, average="sentence") == pytest.approx(expected)
    with_nothing_to_count = [*TWO.tolist(), [0, 0, 0]]
    assert values(with_nothing_to_count, average="sentence") == pytest.approx(expected)
    with_nothing_gold = [*TWO.tolist(), [0, 2, 0]]
    assert values(with_nothing_gold, average="sentence") == pytest.approx(
        [2 / 3 * value for value in expected]
    )


@pytest.mark.parametrize("average", ["corpus", "sentence"])
def test_nothing_over_nothing(average):
    assert values([[0, 0, 3]], average=average) == [0, 0, 0]
    assert values([[0, 3, 0]], average=average) == [0, 0, 0]
    assert all(map(math.isnan, values([[0, 0, 0]], average=average)))
    assert all(map(math.isnan, values([], average=average)))
    assert str(score(np.zeros((0, 3), int), PAPER)).startswith("P – R – F1 – (")


rows = st.tuples(*[st.integers(0, 6)] * 3).map(lambda it: (it[0], it[0] + it[1], it[0] + it[2]))


@given(st.lists(rows, min_size=1, max_size=8), st.sampled_from(["corpus", "sentence"]))
def test_scores_are_fractions_and_f1_lies_between(statistics, average):
    precision, recall, f1 = values(statistics, average=average)
    if math.isnan(f1):
        assert not np.any(statistics)
        return
    for value in (precision, recall, f1):
        assert 0 <= value <= 1
    if average == "corpus":
        assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12
        if precision + recall:
            assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    swapped = [(matched, gold, predicted) for matched, predicted, gold in statistics]
    assert values(swapped, average=average) == pytest.approx([recall, precision, f1])
    perfect = [(gold, gold, gold) for *_, gold in statistics]
    assert all(value == 1 or math.isnan(value) for value in values(perfect, average=average))


@given(st.lists(rows, min_size=1, max_size=8), st.sampled_from(["corpus", "sentence"]))
def test_scores_are_ratios_of_sums(statistics, average):
    convention = Convention(average=average)
    sums = terms(np.array(statistics), convention).sum(axis=0)
    np.testing.assert_array_equal(ratios(sums), values(statistics, average=average))


def test_what_a_score_says():
    it = score(TWO, Convention(max_length=20), Skipped(too_short=7, too_long=3))
    assert (it.matched, it.predicted, it.gold, it.sentences) == (4, 7, 5, 2)
    assert str(it) == (
        "P 57.1 R 80.0 F1 66.7 (matched 4, predicted 7, gold 5; sentences 2, left out 7 too short, "
        "3 too long) labels:no|average:corpus|root:counted|span:>=2|punct:removed-by-tags|"
        f"length:<=20|dbpcfg:{__version__}"
    )
    assert Skipped(1, 2, 3).total == 6
    assert str(Skipped()) == "none"


def test_signatures_tell_conventions_apart():
    conventions = [
        *CONVENTIONS,
        Convention(average="sentence"),
        Convention(max_length=10),
        Convention(punctuation="characters"),
    ]
    assert len({convention.signature() for convention in conventions}) == len(conventions)


@pytest.mark.parametrize(
    "wrong", [{"average": "macro"}, {"min_words": 0}, {"max_length": 0}], ids=str
)
def test_conventions_that_are_none(wrong):
    with pytest.raises(DbpcfgError, match=str(next(iter(wrong.values())))):
        Convention(**wrong)
