"""Minimum-Bayes-risk trees against all trees there are, the rule for ties, counts of spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations, as_tree
from dbpcfg.parsing.mbr import SpanCounts, heaviest_tree, mbr_trees, summed_posteriors
from tests.oracle import mbr_tree, preorder, shapes
from tests.parsing.marginals import marginals
from tests.strategies import encode, random_grammar


def cells(weights):
    """``[i, j, c]`` as `mbr_trees` wants it."""
    i, width = np.triu_indices(len(weights))
    return weights[i, width + 1]


def decoded(*weights):
    """The MBR trees of one sentence for each of some arrays ``[i, j, c]``."""
    numbers = [[0] * len(one) for one in weights]
    corpus = Encoded.from_numbers(numbers, Vocabulary(("w",)))
    trees = mbr_trees(corpus, np.concatenate([cells(one) for one in weights]))
    return [trees[s] for s in range(len(weights))]


def bracketing(weights):
    return [(i, j) for i, j, _ in decoded(weights)[0].tolist()]


def bracketings(i, j):
    """Every bracketing of words i to j − 1, as spans in pre-order."""
    return [[node[:2] for node in preorder(shape)] for shape in shapes(i, j)]


def gain(weights, spans):
    return sum(weights[i, j].sum() for i, j in spans)


def with_spans(n, **spans):
    """Weights of one label: ``s02=1`` is the weight 1 for words 0 and 1."""
    weights = np.zeros((n, n + 1, 1))
    for name, weight in spans.items():
        weights[int(name[1]), int(name[2])] = weight
    return weights


# --- the heaviest tree ----------------------------------------------------------------------------


@given(st.integers(1, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_kernel_against_brute_force(n, negative, seed):
    rng = np.random.default_rng(seed)
    gains = rng.random((n, n + 1)) - 0.5 * negative
    labels = rng.integers(0, 3, (n, n + 1))
    nodes = np.empty((2 * n - 1, 3), dtype=np.int32)
    total = heaviest_tree(gains, labels, nodes)
    all_spans = bracketings(0, n)
    totals = sorted((sum(gains[span] for span in spans), spans) for spans in all_spans)
    spans = [(i, j) for i, j, _ in nodes.tolist()]
    assert total == pytest.approx(totals[-1][0], rel=1e-12)
    assert sum(gains[span] for span in spans) == pytest.approx(total, rel=1e-12)
    if len(totals) == 1 or totals[-1][0] - totals[-2][0] > 1e-9:
        assert spans == totals[-1][1]
    assert nodes[:, 2].tolist() == [labels[span] for span in spans]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 99))
def test_trees_against_brute_force(lengths, K, seed):
    rng = np.random.default_rng(seed)
    weights = [rng.random((n, n + 1, K)) for n in lengths]
    for one, found in zip(weights, decoded(*weights), strict=True):
        n = len(one)
        gains = sorted((gain(one, spans), spans) for spans in bracketings(0, n))
        spans = [(i, j) for i, j, _ in found.tolist()]
        assert gain(one, spans) == pytest.approx(gains[-1][0], abs=1e-6)
        if len(gains) == 1 or gains[-1][0] - gains[-2][0] > 1e-5:
            assert spans == gains[-1][1]
        assert [c for _, _, c in found.tolist()] == [one[i, j].argmax() for i, j in spans]
        as_tree(found, [f"w{i}" for i in range(n)])  # in pre-order, or this fails


def test_labels_of_a_span_are_added_up():
    """(0,2) is a phrase in three samples of five, (1,3) in two; but always of the same label."""
    weights = np.zeros((3, 4, 3), dtype=np.int32)
    weights[0, 2] = 1, 1, 1
    weights[1, 3] = 0, 2, 0
    assert bracketing(weights) == [(0, 3), (0, 2), (0, 1), (1, 2), (2, 3)]
    weights[1, 3] = 0, 4, 0
    assert decoded(weights)[0][2].tolist() == [1, 3, 1]


def test_sums_that_differ_by_rounding_are_ties():
    """0.1 + 0.2 > 0.3: without rounding the later of two equal splits would win."""
    weights = np.zeros((3, 4, 2))
    weights[0, 2] = 0.1, 0.2
    weights[1, 3] = 0.3, 0.0
    assert weights[0, 2].sum() > weights[1, 3].sum()
    assert bracketing(weights) == [(0, 3), (0, 1), (1, 3), (1, 2), (2, 3)]


def test_threads_make_no_difference():
    rng = np.random.default_rng(0)
    corpus = Encoded.from_numbers([[0] * n for n in rng.integers(1, 9, 50)], Vocabulary(("w",)))
    weights = rng.random((int((corpus.lengths * (corpus.lengths + 1) // 2).sum()), 3))
    one, two = (mbr_trees(corpus, weights, threads).nodes for threads in (1, 2))
    assert one.tobytes() == two.tobytes()


# --- several grammars -----------------------------------------------------------------------------


def test_posteriors_are_summed():
    corpus = encode(random_grammar(3, 4, 1.0, 0), [0, 1, 2], [3], [1, 1, 0, 2, 3])
    charts = [ChartParser(draw_from_prior(3, corpus.vocabulary, 0.5, seed), 2) for seed in range(3)]
    weights, possible = summed_posteriors(charts, corpus, 0.0)
    expected = sum(cells(marginals(chart, corpus, 2)) for chart in charts)
    np.testing.assert_allclose(weights[-15:], expected, atol=1e-12)
    assert possible.all()
    pruned, _ = summed_posteriors(charts, corpus, 0.1)
    assert pruned.sum() < weights.sum()


def test_a_grammar_that_cannot_yield_a_sentence_is_ignored_for_it():
    grammar = random_grammar(2, 2, 1.0, 0)
    binary = grammar.binary + grammar.lexical[:, 1, np.newaxis, np.newaxis] / 4
    mute = type(grammar)(grammar.root, binary, grammar.lexical * [1, 0], grammar.vocabulary)
    corpus = encode(grammar, [0, 1, 0], [0, 0])
    both, one = [ChartParser(grammar, 2), ChartParser(mute, 2)], [ChartParser(grammar, 2)]
    weights, possible = summed_posteriors(both, corpus)
    assert possible.tolist() == [True, True]
    assert weights[:6].tobytes() == summed_posteriors(one, corpus)[0][:6].tobytes()
    assert summed_posteriors([ChartParser(mute, 2)], corpus)[1].tolist() == [False, True]


# --- ties -----------------------------------------------------------------------------------------


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
    weights = np.zeros((n, n + 1, 1), dtype=np.int32)
    for i in range(n):
        for j in range(i + 1, n + 1):
            weights[i, j] = data.draw(st.integers(0, 2))
    assert decoded(weights)[0].tolist() == mbr_tree(weights).tolist()


K, W = 3, 2


def samples(lengths: list[int], seed: int, number: int) -> list[Derivations]:
    """Sampled trees of random sentences of these lengths."""
    rng = np.random.default_rng(seed)
    grammar = random_grammar(K, W, 1.0, seed)
    corpus = encode(grammar, *(rng.integers(0, W, n).tolist() for n in lengths))
    parser = ChartParser(grammar, None)
    return [parser.sample(corpus, stream(seed, 0, n))[0] for n in range(number)]


def naive(sampled: list[Derivations], sentence: int) -> np.ndarray:
    n = int(sampled[0].corpus.lengths[sentence])
    counts = np.zeros((n, n + 1, K))
    for derivations in sampled:
        for start, end, category in derivations[sentence].tolist():
            counts[start, end, category] += 1
    return counts


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 99), st.integers(0, 6))
def test_weights_and_trees(lengths, seed, number):
    drawn = samples(lengths, seed, number + 1)
    counts = SpanCounts(drawn[0].corpus, K)
    for derivations in drawn[:number]:
        counts.add(derivations)
    decoded = counts.decode()
    for sentence in range(len(lengths)):
        expected = naive(drawn[:number], sentence) if number else 0 * naive(drawn, sentence)
        assert np.array_equal(counts.weights(sentence), expected)
        assert np.array_equal(decoded[sentence], mbr_tree(expected))
    assert counts.counts.sum() == number * len(decoded.nodes)
