"""Single precision: how far it is from double, where it is used, and where it is refused.

That trees drawn in single precision follow the posterior is with the other samplers' tests.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.parsing.chart.parser import ChartParser
from tests.induction.small import states

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


def test_a_chain_in_single_precision():
    text = corpus([3, 4, 5, 6] * 5, 2)
    chain = states(text, ChainSettings(4, 2, precision="single"))
    logs = [next(chain).measures.likelihood for _ in range(30)]
    assert np.isfinite(logs).all()
    assert np.mean(logs[-5:]) > logs[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "half"}, "precision must be double or single, got 'half'"),
        ({"precision": "single", "parser": "leftcorner"}, "only the chart has single precision"),
    ],
)
def test_refused(options, message):
    with pytest.raises(DbpcfgError, match=message):
        ChainSettings(**options)
