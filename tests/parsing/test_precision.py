"""Single precision: how far it is from double; and what changes no bit in either.

That trees drawn in single precision follow the posterior is with the other samplers' tests.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart import inside
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.parser import ChartParser, scaling_sample_of

TOLERANCE = 1e-5


def corpus(lengths: list[int], seed: int, words: int = 30) -> Encoded:
    rng = np.random.default_rng(seed)
    sentences = [[f"w{w}" for w in rng.integers(0, words, n)] for n in lengths]
    return Encoded.from_sentences([[f"w{w}" for w in range(words)], *sentences])


@given(
    st.sampled_from([1, 3, 5, 8, 15, 20]),
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from([0.05, 0.2, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_log_likelihoods(K, depth, beta, seed):
    text = corpus([1, 2, 5, 12, 20, 40], seed)
    grammar = draw_from_prior(K, text.vocabulary, beta, seed)
    double = ChartParser(grammar, depth).log_probabilities(text)
    single = ChartParser(grammar, depth, precision="single").log_probabilities(text)
    assert (np.isneginf(single) == np.isneginf(double)).all()
    finite = np.isfinite(double)
    np.testing.assert_allclose(single[finite], double[finite], rtol=TOLERANCE)
    assert (single[finite] != double[finite]).any()  # or single precision was not used at all


def test_long_sentences():
    text = corpus([150, 300], 1)
    grammar = draw_from_prior(8, text.vocabulary, 0.5, 1)
    double = ChartParser(grammar, 2).log_probabilities(text)
    single = ChartParser(grammar, 2, precision="single").log_probabilities(text)
    np.testing.assert_allclose(single, double, rtol=TOLERANCE)


WORDS = 40


def words_of_all_frequencies(sentences: int = 60) -> Encoded:
    rng = np.random.default_rng(3)
    texts = [rng.zipf(1.5, n) % WORDS for n in rng.integers(1, 12, sentences)]
    return Encoded.from_sentences(
        [[f"w{w}" for w in range(WORDS)], *([f"w{w}" for w in text] for text in texts)]
    )


def drawn(K: int, depth: int | None, precision: str, threads: int = 1) -> tuple[bytes, bytes]:
    text = words_of_all_frequencies()
    parser = ChartParser(draw_from_prior(K, text.vocabulary, 0.2, 0), depth, threads, precision)
    trees, logs = parser.sample(text, stream(0))
    return trees.nodes.tobytes(), logs.tobytes()


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(("K", "depth"), [(4, 1), (5, 2), (30, 1), (60, 2)])
def test_no_bit_depends_on_what_is_kept(K, depth, precision, monkeypatch):
    expected = drawn(K, depth, precision)
    size = inside.new_workspace(
        1, tables(draw_from_prior(K, words_of_all_frequencies().vocabulary, 0.2, 0), 2)
    )
    for words in (0, 1, 7):
        monkeypatch.setattr(inside, "HELD_BYTES", words * size.steps.nbytes)
        assert drawn(K, depth, precision) == expected


@pytest.mark.parametrize("K", [24, 60, 72])
def test_single_precision_on_several_threads(K):
    assert drawn(K, 2, "single", 3) == drawn(K, 2, "single", 1)


def test_scaling_samples_are_computed_once():
    text = words_of_all_frequencies()
    assert scaling_sample_of(text) is scaling_sample_of(text)
    assert len(scaling_sample_of(text)) == 32
    assert scaling_sample_of(words_of_all_frequencies()) is not scaling_sample_of(text)
