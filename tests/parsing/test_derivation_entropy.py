"""The entropy of derivations against lists of all derivations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.leftcorner.derivation_entropy import DerivationEntropies
from dbpcfg.parsing.leftcorner.parser import WordByWord
from dbpcfg.parsing.parsers import prefix_parser_of
from tests.parsing.finite import Derivation, derivations, embedding_grammar, finite_grammar
from tests.strategies import random_grammar

CLOSE = {"rel": 1e-9, "abs": 1e-9}


def entropy(listed: list[Derivation]) -> float:
    mass = sum(d.probability for d in listed)
    return -sum(d.probability / mass * math.log(d.probability / mass) for d in listed)


def check_against_list(grammar: Grammar, depth: int, most: int) -> None:
    listed = derivations(grammar, depth)
    entropies = DerivationEntropies(WordByWord(grammar, depth))
    sentences = sorted({d.words for d in listed})
    for words in sentences[:: max(1, len(sentences) // most)]:
        found = entropies.follow(words)
        assert len(found) == len(words) + 2
        for t in range(len(words) + 1):
            possible = [d for d in listed if d.words[:t] == words[:t] and len(d.words) >= t]
            assert found[t] == pytest.approx(entropy(possible), **CLOSE)
        trees = [d for d in listed if d.words == words]
        assert found[-1] == pytest.approx(entropy(trees), **CLOSE)


@settings(max_examples=25)
@given(
    st.sampled_from([(2, 2), (3, 2), (3, 3), (4, 1)]), st.integers(0, 2**32 - 1), st.integers(1, 3)
)
def test_finite_languages(size, seed, depth):
    check_against_list(finite_grammar(*size, seed), depth, most=6)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_three_fragments_at_once(depth):
    check_against_list(embedding_grammar(), depth, most=12)


def test_it_is_no_other_entropy():
    """Neither that of the next word nor that of the sentence's words."""
    grammar = finite_grammar(4, 2, 3)
    listed = derivations(grammar, 2)
    words = max({d.words for d in listed}, key=len)
    found = DerivationEntropies(WordByWord(grammar, 2)).follow(words)
    parser = prefix_parser_of(grammar, 2)
    (known,) = parser.prefixes(Encoded.from_numbers([words], grammar.vocabulary))
    next_word = parser.entropies(known)
    assert np.abs(found[: len(next_word)] - next_word)[:-1].min() > 0.01
    sentences: dict[tuple[int, ...], float] = {}
    for d in listed:
        sentences[d.words] = sentences.get(d.words, 0.0) + d.probability
    of_words = -sum(p * math.log(p) for p in sentences.values())
    assert found[0] > of_words + 0.01


def test_a_recursive_grammar_by_hand():
    """c → c c with probability q, at depth 1: the entropies of a geometric series."""
    q = 0.2
    grammar = Grammar(np.ones(1), np.full((1, 1, 1), q), np.array([[1 - q]]), Vocabulary(("a",)))
    parser = WordByWord(grammar, 1)
    whole = DerivationEntropies(parser).whole
    # Sentence by sentence, until what is left has no weight.
    probabilities = []
    for n in range(1, 60):
        words = np.zeros(n, dtype=np.int32)
        log_p = parser.follow(words).logs.sum()
        ambiguity = DerivationEntropies(parser).follow(words.tolist())[-1]
        probabilities.append((math.exp(log_p), ambiguity))
    assert sum(p for p, _ in probabilities) == pytest.approx(1.0, abs=1e-9)
    expected = sum(p * (h - math.log(p)) for p, h in probabilities)
    assert whole == pytest.approx(expected, rel=1e-6)


def test_what_cannot_be_and_what_is_long():
    grammar = random_grammar(K=4, W=3, concentration=0.5, seed=6)
    entropies = DerivationEntropies(WordByWord(grammar, 2))
    found = entropies.follow([0, -1, 0])
    assert np.isfinite(found[:2]).all()
    assert np.isnan(found[2:]).all()
    long = entropies.follow(np.random.default_rng(0).integers(0, 3, 300).tolist())
    assert np.isfinite(long).all()
    assert (long > 0).all()
