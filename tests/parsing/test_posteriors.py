"""Posteriors of all sentences at once against those of one at a time, which brute force checks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import TreeSyntaxError
from dbpcfg.grammar.pcfg import Grammar, draw_from_prior
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import as_brackets, as_tree, first_cells
from dbpcfg.parsing.mbr import mbr_trees
from tests.oracle import mbr_tree
from tests.parsing.marginals import marginals
from tests.strategies import random_grammar

PRECISION = {"double": 1e-12, "single": 1e-4}


def corpus(lengths: list[int], seed: int, words: int = 12) -> Encoded:
    rng = np.random.default_rng(seed)
    sentences = [[f"w{w}" for w in rng.integers(0, words, n)] for n in lengths]
    return Encoded.from_sentences([[f"w{w}" for w in range(words)], *sentences, *sentences[:2]])


def one_by_one(parser: ChartParser, text: Encoded) -> np.ndarray:
    rows = []
    for s in range(len(text)):
        found = marginals(parser, text, s)
        i, width = np.triu_indices(len(found))
        rows.append(found[i, width + 1])
    return np.concatenate(rows)


@pytest.mark.parametrize("precision", PRECISION)
@given(
    st.sampled_from([1, 2, 4, 5, 8, 11]),
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from([0.1, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_all_at_once(precision, K, depth, beta, seed):
    text = corpus([1, 2, 3, 3, 7, 12, 12], seed)
    grammar = draw_from_prior(K, text.vocabulary, beta, seed)
    expected = one_by_one(ChartParser(grammar, depth), text)
    parser = ChartParser(grammar, depth, precision=precision)
    weights, logs = parser.posteriors(text, negligible=0.0)
    np.testing.assert_allclose(weights, expected, atol=PRECISION[precision])
    np.testing.assert_allclose(logs, parser.log_probabilities(text), rtol=1e-6)
    cells = first_cells(text)
    for s in range(len(text)):
        here, n = weights[cells[s] : cells[s + 1]], text.lengths[s]
        assert here.sum() == pytest.approx(2 * n - 1, abs=1e-3)  # the number of nodes


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 1e-3, 1e-2]))
def test_what_is_negligible_is_lost_and_no_more(seed, negligible):
    text = corpus([9, 10, 11], seed)
    parser = ChartParser(draw_from_prior(5, text.vocabulary, 0.2, seed), 2)
    exact, _ = parser.posteriors(text, 0.0)
    found, _ = parser.posteriors(text, negligible)
    assert (found <= exact + 1e-12).all()
    spans = int(np.diff(first_cells(text)).max()) * 4
    assert (exact - found).max() < spans * negligible
    phrases = np.concatenate([np.subtract(*np.triu_indices(n)) < 0 for n in text.lengths])
    masses = found[phrases].sum(axis=1)
    assert ((masses == 0) | (masses > negligible * (1 - 1e-9))).all()
    default, _ = parser.posteriors(text)
    np.testing.assert_allclose(default, exact, atol=1e-5)


@pytest.mark.parametrize("precision", PRECISION)
def test_long_and_short_sentences_and_impossible_ones(precision):
    text = corpus([2, 150], 3)
    grammar = random_grammar(4, 12, 0.5, 7)
    parser = ChartParser(grammar, 2, precision=precision)
    weights, logs = parser.posteriors(text, negligible=0.0)
    expected = one_by_one(ChartParser(grammar, 2), text)
    np.testing.assert_allclose(weights, expected, atol=10 * PRECISION[precision])
    assert np.isfinite(logs).all()
    silent = random_grammar(2, 12, 1.0, 0)
    lexical = silent.lexical.copy()
    binary = silent.binary + lexical[:, 5, np.newaxis, np.newaxis] / 4
    lexical[:, 5] = 0.0  # no category emits w5
    mute = type(silent)(silent.root, binary, lexical, silent.vocabulary)
    weights, logs = ChartParser(mute, 2, precision=precision).posteriors(text)
    assert np.isneginf(logs[0])
    assert weights[: first_cells(text)[1]].sum() == 0


@pytest.mark.parametrize("depth", [2, None])
def test_a_sentence_much_more_probable_than_others(depth):
    """Words are scaled by what those of most sentences cost, so that charts of `a` overflow."""
    binary, lexical = np.zeros((4, 4, 4)), np.eye(4)
    binary[0, 0, :2] = 0.4, 0.1  # a phrase of a, and perhaps one of q, which hardly occurs
    binary[1, 2, 2], binary[3, 3, 3] = 1e-24, 1e-6
    lexical -= np.diag(binary.sum(axis=(1, 2)))
    grammar = Grammar(np.array([0.5, 0, 0, 0.5]), binary, lexical, Vocabulary(("a", "x", "q", "b")))
    most = [[3] * n for n in range(2, 12)]
    text = Encoded.from_numbers([*most, [0] * 5 + [2] * 2 + [0] * 5], grammar.vocabulary)
    found, _ = ChartParser(grammar, depth, precision="single").posteriors(text, 0.0)
    expected, _ = ChartParser(grammar, depth).posteriors(text, 0.0)
    np.testing.assert_allclose(found, expected, atol=PRECISION["single"])


def test_threads_make_no_difference():
    text = corpus([3, 5, 8, 13, 13, 5, 20] * 9, 1)
    grammar = draw_from_prior(6, text.vocabulary, 0.2, 1)
    for precision in PRECISION:
        one, two = (ChartParser(grammar, 2, n, precision).posteriors(text)[0] for n in (1, 2))
        assert one.tobytes() == two.tobytes()


@given(st.integers(0, 2**32 - 1))
def test_mbr_trees(seed):
    text = corpus([1, 2, 5, 9], seed)
    parser = ChartParser(draw_from_prior(3, text.vocabulary, 0.5, seed), 2)
    weights, _ = parser.posteriors(text, 0.0)
    trees = mbr_trees(text, weights)
    for s in range(len(text)):
        exact = marginals(parser, text, s)
        gains = [sum(exact[i, j].sum() for i, j, _ in x) for x in (trees[s], mbr_tree(exact))]
        assert gains[0] == pytest.approx(gains[1], abs=1e-6)
    names, every = ("A", "B", "C"), range(len(text))
    lines = as_brackets([trees[s] for s in every], [text[s] for s in every], names)
    assert lines == [str(as_tree(trees[s], text[s], names)) for s in every]


def test_brackets_in_words():
    text = Encoded.from_sentences([["(", "a"], ["b"]])
    trees = mbr_trees(text, np.ones((4, 1)))
    lines = as_brackets([trees[0], trees[1]], [text[0], text[1]], ["X"])
    assert lines == ["(X (X -LRB-) (X a))", "(X b)"]
    assert as_brackets([], [], ["X"]) == []
    with pytest.raises(TreeSyntaxError, match="white space"):
        as_brackets([trees[1]], [["b c"]], ["X"])
