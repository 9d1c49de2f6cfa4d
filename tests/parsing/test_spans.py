"""Counts of spans over samples, against counting one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.mbr import SpanCounts
from tests.oracle import mbr_tree
from tests.strategies import encode, random_grammar

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


def test_one_sample_is_its_own_decoding():
    (drawn,) = samples([5, 1, 8, 2], 3, 1)
    counts = SpanCounts(drawn.corpus, K)
    counts.add(drawn)
    assert np.array_equal(counts.decode().nodes, drawn.nodes)
    again = SpanCounts(drawn.corpus, K, counts.counts.copy())
    assert np.array_equal(again.weights(2), counts.weights(2))


def test_sentences_do_not_share_cells():
    (drawn,) = samples([3, 4], 0, 1)
    counts = SpanCounts(drawn.corpus, K)
    counts.add(drawn)
    before = counts.weights(1)
    counts.counts[: counts.first_cell[1]] = 0
    assert not counts.weights(0).any()
    assert np.array_equal(counts.weights(1), before)
    with pytest.raises(IndexError):
        counts.weights(2)
