"""Minimum-Bayes-risk trees against all trees there are, and the rule for ties by hand."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.parsing.decode import heaviest_tree, minimum_bayes_risk
from dbpcfg.parsing.derivations import as_tree
from tests.oracle import preorder, shapes


def bracketing(weights, labelled=False):
    return [(i, j) for i, j, _ in minimum_bayes_risk(weights, labelled).tolist()]


def bracketings(i, j):
    """Every bracketing of words i to j − 1, as spans in pre-order."""
    return [[node[:2] for node in preorder(shape)] for shape in shapes(i, j)]


def gain(weights, spans, labelled):
    return sum(weights[i, j].max() if labelled else weights[i, j].sum() for i, j in spans)


def with_spans(n, **spans):
    """Weights of one label: ``s02=1`` is the weight 1 for words 0 and 1."""
    weights = np.zeros((n, n + 1, 1))
    for name, weight in spans.items():
        weights[int(name[1]), int(name[2])] = weight
    return weights


# --- the heaviest tree ----------------------------------------------------------------------------


@pytest.mark.parametrize("labelled", [False, True])
@given(st.integers(1, 6), st.integers(1, 3), st.booleans(), st.integers(0, 2**32 - 1))
def test_brute_force(labelled, n, K, negative, seed):
    weights = np.random.default_rng(seed).random((n, n + 1, K)) - 0.5 * negative
    gains = [(gain(weights, spans, labelled), spans) for spans in bracketings(0, n)]
    gains.sort(reverse=True)
    found = minimum_bayes_risk(weights, labelled)
    spans = [(i, j) for i, j, _ in found.tolist()]
    assert gain(weights, spans, labelled) == pytest.approx(gains[0][0], rel=1e-12)
    if len(gains) == 1 or gains[0][0] - gains[1][0] > 1e-9:
        assert spans == gains[0][1]
    assert [c for _, _, c in found.tolist()] == [weights[i, j].argmax() for i, j in spans]
    as_tree(found, [f"w{i}" for i in range(n)])  # in pre-order, or this fails


def test_the_kernel_returns_the_gain():
    weights = np.random.default_rng(0).random((5, 6))
    nodes = np.empty((9, 3), dtype=np.int32)
    best = max(sum(weights[span] for span in spans) for spans in bracketings(0, 5))
    total = heaviest_tree(weights, np.zeros((5, 6), dtype=np.int64), nodes)
    assert total == pytest.approx(best, rel=1e-12)


def test_labels_apart_or_together():
    """(0,2) is a phrase in three samples of five, (1,3) in two; but always of the same label."""
    weights = np.zeros((3, 4, 3), dtype=np.int64)
    weights[0, 2] = 1, 1, 1
    weights[1, 3] = 0, 2, 0
    assert bracketing(weights) == [(0, 3), (0, 2), (0, 1), (1, 2), (2, 3)]
    assert bracketing(weights, labelled=True) == [(0, 3), (0, 1), (1, 3), (1, 2), (2, 3)]
    assert minimum_bayes_risk(weights, labelled=True)[2].tolist() == [1, 3, 1]


def test_one_word():
    assert minimum_bayes_risk(np.array([[[9.0, 9.0], [0.1, 0.3]]])).tolist() == [[0, 1, 1]]


def test_spans_that_are_no_spans_do_not_matter():
    weights = np.random.default_rng(1).random((4, 5, 2))
    spoiled = weights.copy()
    spoiled[np.tril_indices(4, k=0, m=5)] = 1e6  # j ≤ i
    assert minimum_bayes_risk(spoiled).tolist() == minimum_bayes_risk(weights).tolist()


# --- ties -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "phrases"),
    [
        (2, [(0, 2)]),
        (3, [(0, 3), (1, 3)]),  # splits 1 and 2 are as even; 0 is even, so the earlier one
        (4, [(0, 4), (0, 2), (2, 4)]),
        (5, [(0, 5), (0, 2), (2, 5), (3, 5)]),
        (6, [(0, 6), (0, 3), (1, 3), (3, 6), (3, 5)]),  # 3 is odd, so the later one
        (7, [(0, 7), (0, 3), (1, 3), (3, 7), (3, 5), (5, 7)]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_nothing_known(n, phrases, dtype):
    spans = bracketing(np.zeros((n, n + 1, 2), dtype=dtype))
    assert [(i, j) for i, j in spans if j - i > 1] == phrases


@pytest.mark.parametrize(
    ("weights", "phrases"),
    [
        # Two phrases that cross, equally often seen.
        (with_spans(3, s02=1, s13=1), [(0, 3), (1, 3)]),
        (with_spans(4, s14=5, s13=1, s24=1), [(0, 4), (1, 4), (1, 3)]),
        # The most even split does not win if it is lighter.
        (with_spans(4, s14=1), [(0, 4), (1, 4), (1, 3)]),
        (with_spans(4, s03=1), [(0, 4), (0, 3), (1, 3)]),
        # Uneven splits that tie with each other, 1 and 3, with 2 behind; then 2 and 4 in (1,5).
        (with_spans(4, s03=1, s14=1), [(0, 4), (1, 4), (1, 3)]),
        (with_spans(5, s15=5, s14=1, s25=1), [(0, 5), (1, 5), (1, 4), (1, 3)]),
        # All three splits tie.
        (with_spans(4, s02=1, s24=1, s03=1, s14=1), [(0, 4), (0, 2), (2, 4)]),
    ],
)
def test_ties_by_hand(weights, phrases):
    assert [(i, j) for i, j in bracketing(weights) if j - i > 1] == phrases


@given(st.integers(1, 6), st.data())
def test_ties_follow_the_rule(n, data):
    """From the top down: heaviest, then most even, then earlier in even and later in odd spans."""
    weights = np.zeros((n, n + 1, 1), dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n + 1):
            weights[i, j] = data.draw(st.integers(0, 2))

    def heaviest(i, j):
        return max(gain(weights, spans, labelled=False) for spans in bracketings(i, j))

    def expected(i, j):
        if j - i == 1:
            return [(i, j)]
        k = min(
            range(i + 1, j),
            key=lambda k: (
                -heaviest(i, k) - heaviest(k, j),
                abs((k - i) - (j - k)),
                k if i % 2 == 0 else -k,
            ),
        )
        return [(i, j), *expected(i, k), *expected(k, j)]

    assert bracketing(weights) == expected(0, n)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(), (3,), (3, 4), (3, 3, 2), (3, 5, 2), (0, 1, 2), (3, 4, 0), (3, 4, 2, 1)], ids=str
)
def test_wrong_shapes(shape):
    message = f"expected weights of shape (n, n + 1, labels), got {shape}"
    with pytest.raises(DbpcfgError, match=f"^{re.escape(message)}$"):
        minimum_bayes_risk(np.zeros(shape))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_must_be_finite(value):
    weights = np.zeros((3, 4, 2))
    weights[1, 2, 0] = value
    with pytest.raises(DbpcfgError, match=r"^weights of spans must be finite$"):
        minimum_bayes_risk(weights)
