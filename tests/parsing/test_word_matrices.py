"""A_w of frequent words is kept: that changes no bit, whichever words are kept."""

from __future__ import annotations

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart import inside
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.parser import ChartParser, pilots_of

WORDS = 40


def corpus(sentences: int = 60) -> Encoded:
    rng = np.random.default_rng(3)
    texts = [rng.zipf(1.5, n) % WORDS for n in rng.integers(1, 12, sentences)]
    return Encoded.from_sentences(
        [[f"w{w}" for w in range(WORDS)], *([f"w{w}" for w in text] for text in texts)]
    )


def drawn(K: int, depth: int | None, precision: str, threads: int = 1) -> tuple[bytes, bytes]:
    text = corpus()
    parser = ChartParser(draw_from_prior(K, text.vocabulary, 0.2, 0), depth, threads, precision)
    trees, logs = parser.sample(text, stream(0))
    return trees.nodes.tobytes(), logs.tobytes()


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(("K", "depth"), [(4, 1), (5, 2), (30, 1), (60, 2)])
def test_no_bit_depends_on_what_is_kept(K, depth, precision, monkeypatch):
    expected = drawn(K, depth, precision)
    size = inside.new_workspace(1, tables(draw_from_prior(K, corpus().vocabulary, 0.2, 0), 2))
    for words in (0, 1, 7):
        monkeypatch.setattr(inside, "HELD_BYTES", words * size.steps.nbytes)
        assert drawn(K, depth, precision) == expected


@pytest.mark.parametrize("K", [24, 60, 72])
def test_single_precision_on_several_threads(K):
    assert drawn(K, 2, "single", 3) == drawn(K, 2, "single", 1)


def test_the_most_frequent_words_are_kept(monkeypatch):
    G = tables(draw_from_prior(8, corpus().vocabulary, 0.2, 0), 2)
    frequencies = np.array([1, 9, 2, 7, 5] + [1] * (WORDS - 5))
    for room, words in ((2, [1, 3]), (3, [1, 3, 4]), (100, [1, 2, 3, 4])):
        monkeypatch.setattr(inside, "HELD_BYTES", room * 8**3)
        W = inside.new_workspace(5, G, True, 20, frequencies)
        assert np.flatnonzero(W.kept == inside.UNKNOWN).tolist() == words
        assert W.used.tolist() == [0, len(words)]
        assert len(W.steps) == len(words) + 20


def test_nothing_is_kept_where_blas_multiplies():
    G = tables(draw_from_prior(56, corpus().vocabulary, 0.2, 0), 2)
    W = inside.new_workspace(5, G, True, 20, corpus().frequencies)
    assert (W.kept == inside.RARE).all()


def test_frequencies():
    text = Encoded.from_sentences([["a", "b", "a"], ["c", "a"]])
    assert text.frequencies.tolist() == [3, 1, 1]
    assert text.chosen(np.array([1])).frequencies.tolist() == [1, 0, 1]


def test_pilots_are_found_once():
    text = corpus()
    assert pilots_of(text) is pilots_of(text)
    assert len(pilots_of(text)) == 32
    assert pilots_of(corpus()) is not pilots_of(text)
