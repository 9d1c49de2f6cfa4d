"""Sentences of 1 and of 250 words, words near underflow, words nobody can emit."""

import math

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from tests.parsing.marginals import marginals
from tests.stores import log_derivation, memory_depth
from tests.strategies import encode, random_grammar

LONG = np.random.default_rng(0).integers(0, 3, 250).tolist()
PARSERS = [ChartParser, LeftCornerParser]


@pytest.mark.parametrize(("depth", "concentration"), [(1, 5.0), (2, 0.2)])
def test_250_words(depth, concentration):
    grammar = random_grammar(K=3, W=3, concentration=concentration, seed=4)
    corpus = encode(grammar, LONG)
    chart, leftcorner = ChartParser(grammar, depth), LeftCornerParser(grammar, depth)
    log_p = chart.log_probabilities(corpus)[0]
    assert math.isfinite(log_p)
    assert leftcorner.log_probabilities(corpus)[0] == pytest.approx(log_p, rel=1e-12)
    best, log_best = chart.viterbi(corpus)
    assert log_best[0] < log_p
    assert leftcorner.viterbi(corpus)[1][0] == pytest.approx(log_best[0], rel=1e-12)
    found = marginals(chart, corpus, 0)
    assert found[0, 250].sum() == pytest.approx(1.0)
    assert found.sum() == pytest.approx(2 * 250 - 1)
    for parser in (chart, leftcorner):
        drawn, _ = parser.sample(corpus, stream(1))
        assert memory_depth(drawn.tree(0)) <= depth
        assert drawn.tree(0).words() == corpus[0]
        assert log_derivation(leftcorner, drawn[0], corpus.tokens) <= log_best[0] + 1e-9
    assert log_derivation(leftcorner, best[0], corpus.tokens) == pytest.approx(log_best[0])


def test_250_words_without_a_bound():
    grammar = random_grammar(K=2, W=3, concentration=1.0, seed=4)
    corpus = encode(grammar, LONG)
    chart = ChartParser(grammar, None)
    deep = ChartParser(grammar, 40)
    joint = deep.log_probabilities(corpus)[0] + deep.log_fitting_mass
    assert chart.log_probabilities(corpus)[0] == pytest.approx(joint, rel=1e-9)
    found = marginals(chart, corpus, 0)
    assert found[0, 250].sum() == pytest.approx(1.0)
    assert found.sum() == pytest.approx(2 * 250 - 1)


def with_a_rare_word(grammar: Grammar, rarity: float) -> Grammar:
    """The same grammar with each word's last ``rarity`` share given to a twin of word 0."""
    lexical = np.concatenate([grammar.lexical, rarity * grammar.lexical[:, :1]], axis=1)
    words = Vocabulary((*grammar.vocabulary.words, "rare"))
    return Grammar(grammar.root, grammar.binary, lexical, words)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("n", [1, 3, 60])
def test_words_near_underflow(parser, n):
    """Each rare word costs exactly its rarity; 60 of them are far below the smallest float."""
    grammar = with_a_rare_word(random_grammar(K=3, W=3, concentration=1.0, seed=2), 1e-300)
    common, rare = encode(grammar, [0] * n), encode(grammar, [3] * n)
    p = parser(grammar, 2)
    gap = p.log_probabilities(common)[0] - p.log_probabilities(rare)[0]
    assert gap == pytest.approx(n * 300 * math.log(10), rel=1e-12)
    assert p.viterbi(rare)[0][0].tolist() == p.viterbi(common)[0][0].tolist()
    assert p.sample(rare, stream(3))[0][0].tolist() == p.sample(common, stream(3))[0][0].tolist()
    if n < 10 and parser is ChartParser:
        assert marginals(p, rare, 0) == pytest.approx(marginals(p, common, 0), abs=1e-10)


def test_cells_are_scaled_without_a_trace():
    """Rules so improbable that ten words already underflow; sums in logarithms by hand."""
    K, tiny = 1, 1e-100
    grammar = Grammar(
        np.ones(K), np.full((1, 1, 1), tiny), np.array([[1.0 - tiny]]), Vocabulary(("a",))
    )
    for n in (5, 12, 40):
        corpus = encode(grammar, [0] * n)
        chart = ChartParser(grammar, None)
        trees = math.comb(2 * n - 2, n - 1) / n  # Catalan
        expected = (n - 1) * math.log(tiny) + math.log(trees)
        assert chart.log_probabilities(corpus)[0] == pytest.approx(expected, rel=1e-12)
        found = marginals(chart, corpus, 0)
        assert found.sum() == pytest.approx(2 * n - 1)
        assert found[0, n - 1, 0] == pytest.approx(
            math.comb(2 * n - 4, n - 2) / (n - 1) / trees, rel=1e-10
        )


@pytest.mark.parametrize("parser", PARSERS)
def test_a_word_that_no_category_emits(parser):
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=0)
    words = Vocabulary((*grammar.vocabulary.words, "unheard"))
    lexical = np.concatenate([grammar.lexical, np.zeros((2, 1))], axis=1)
    grammar = Grammar(grammar.root, grammar.binary, lexical, words)
    p = parser(grammar, 2)
    corpus = encode(grammar, [0, 1], [0, 2, 1], [1])
    logs = p.log_probabilities(corpus)
    assert logs[1] == -math.inf
    assert np.isfinite(logs[[0, 2]]).all()
    assert parser is LeftCornerParser or not marginals(p, corpus, 1).any()
    for ask in (lambda: p.sample(corpus, stream(0)), lambda: p.viterbi(corpus)):
        with pytest.raises(UnparsableError, match=r"sentence 2 \(w0 unheard w1\).*emit 'unheard'"):
            ask()


@pytest.mark.parametrize("parser", PARSERS)
def test_a_sentence_whose_words_are_known_but_has_no_tree(parser):
    binary, lexical = np.zeros((2, 2, 2)), np.zeros((2, 2))
    binary[0, 1, 1] = 0.5
    lexical[0, 0], lexical[1, 1] = 0.5, 1.0
    grammar = Grammar(np.array([1.0, 0.0]), binary, lexical, Vocabulary(("a", "b")))
    p = parser(grammar, 1)
    corpus = grammar.vocabulary.encode([["b", "b"], ["a", "b"]])
    assert math.exp(p.log_probabilities(corpus)[0]) == pytest.approx(0.5)
    with pytest.raises(UnparsableError, match=r"sentence 2 \(a b\).*no tree of it fits"):
        p.sample(corpus, stream(0))


@pytest.mark.parametrize("parser", PARSERS)
def test_another_vocabulary_is_refused(parser):
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=0)
    corpus = Vocabulary(("x", "y")).encode([["x"]])
    with pytest.raises(DbpcfgError, match="another vocabulary"):
        parser(grammar, 1).log_probabilities(corpus)


@pytest.mark.parametrize("parser", PARSERS)
def test_no_sentences_at_all(parser):
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=0)
    p = parser(grammar, 1)
    assert len(p.log_probabilities(grammar.vocabulary.encode([]))) == 0
    assert len(p.sample(grammar.vocabulary.encode([]), stream(0))[0]) == 0
