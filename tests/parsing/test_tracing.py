"""Word-by-word measures against lists of all derivations, the chart, and prefix probabilities."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.filtering import forward
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser, WordByWord
from dbpcfg.parsing.leftcorner.tracing import Trace
from tests.parsing.finite import (
    Derivation,
    Truth,
    derivations,
    embedding_grammar,
    entropy,
    finite_grammar,
    sentences_of,
    total,
)
from tests.stores import prefix_log_probabilities
from tests.strategies import encode, grammars_and_sentences, random_grammar

CLOSE = {"rel": 1e-9, "abs": 1e-9}


def follow(parser: WordByWord, words: list[int]) -> Trace:
    return parser.follow(np.array(words, dtype=np.int32))


def check_against_list(grammar: Grammar, depth: int, listed: list[Derivation], most: int) -> None:
    parser = WordByWord(grammar, depth)
    sentences = sentences_of(listed)
    for words in sentences[:: max(1, len(sentences) // most)]:
        trace = follow(parser, list(words))
        assert trace.logs.sum() == pytest.approx(
            math.log(total(d for d in listed if d.words == words)), **CLOSE
        )
        for t in range(len(words) + 1):
            true = Truth(listed, words, t)
            ending = words[t] if t < len(words) else None
            assert math.exp(trace.logs[t]) == pytest.approx(true.following[ending], **CLOSE)
            assert trace.entropy[t] == pytest.approx(entropy(true.stores.values()), **CLOSE)
            depth_before = sum(len(store) * p for store, p in true.stores.items())
            assert trace.depth[t] == pytest.approx(depth_before, **CLOSE)
            greatest = max(true.stores.values())
            assert trace.best_probability[t] == pytest.approx(greatest, **CLOSE)
            best = tuple(parser.fragments(int(trace.best[t])))
            assert true.stores[best] == pytest.approx(greatest, **CLOSE)
            assert trace.ended[t] == pytest.approx(true.following[None], **CLOSE)
            of_depth = np.zeros(depth + 1)
            for store, p in true.stores.items():
                of_depth[len(store)] += p if store or t == 0 else 0.0
            assert trace.depths[t] == pytest.approx(of_depth, **CLOSE)
            if t < len(words):
                assert trace.closed[t] == pytest.approx(true.closed(depth), **CLOSE)
                assert trace.fork[t] == pytest.approx(true.share("forks"), **CLOSE)
                assert trace.join[t] == pytest.approx(true.share("joins"), **CLOSE)
        assert math.isnan(trace.fork[-1])
        assert math.isnan(trace.join[-1])
        assert np.isnan(trace.closed[-1]).all()


@settings(max_examples=25)
@given(
    st.sampled_from([(2, 2), (3, 2), (3, 3), (4, 1)]), st.integers(0, 2**32 - 1), st.integers(1, 3)
)
def test_everything_about_finite_languages(size, seed, depth):
    grammar = finite_grammar(*size, seed)
    check_against_list(grammar, depth, derivations(grammar, depth), most=6)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_three_fragments_at_once(depth):
    grammar = embedding_grammar()
    listed = derivations(grammar, depth)
    assert max(len(store) for d in listed for store in d.stores) == depth
    check_against_list(grammar, depth, listed, most=12)


def test_other_conventions_would_be_found_out():
    """A fork guessed before the word, a depth after it: all far off."""
    grammar = finite_grammar(4, 2, 3)
    listed = derivations(grammar, 2)
    parser = WordByWord(grammar, 2)
    worst = defaultdict(float)
    for words in sentences_of(listed)[::20]:
        trace = follow(parser, list(words))
        for t in range(1, len(words)):
            true = Truth(listed, words, t)
            going_on = [d for d in true.before if len(d.words) > t]
            guessed = total(d for d in going_on if d.forks[t]) / total(going_on)
            worst["fork before"] = max(worst["fork before"], abs(trace.fork[t] - guessed))
            later = Truth(listed, words, t + 1).stores.items()
            after = sum(len(store) * p for store, p in later)
            worst["depth after"] = max(worst["depth after"], abs(trace.depth[t] - after))
            afterwards = true.share("joins")
            worst["fork for join"] = max(worst["fork for join"], abs(trace.fork[t] - afterwards))
    assert min(worst.values()) > 0.01, worst


@settings(max_examples=60)
@given(grammars_and_sentences(), st.integers(1, 3))
def test_surprisals_sum_to_the_charts_sentence(grammar_and_words, depth):
    grammar, words = grammar_and_words
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    log_p = ChartParser(grammar, depth).log_probabilities(encode(grammar, words))[0]
    logs = follow(WordByWord(grammar, depth), words).logs
    if log_p == -math.inf:
        assert np.isneginf(logs).sum() == 1
        assert np.isnan(logs[np.flatnonzero(np.isneginf(logs))[0] + 1 :]).all()
    else:
        assert logs.sum() == pytest.approx(log_p, rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(grammars_and_sentences(longest=5), st.integers(1, 3))
def test_next_words_are_ratios_of_prefix_probabilities(grammar_and_words, depth):
    """Of every word of the vocabulary, and of the end; together they are one."""
    grammar, words = grammar_and_words
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    W = len(grammar.vocabulary)
    parser, leftcorner = WordByWord(grammar, depth), LeftCornerParser(grammar, depth)
    corpus = encode(grammar, words, *([*words, w] for w in range(W)))
    prefixes = [prefix_log_probabilities(leftcorner, corpus, s)[-1] for s in range(W + 1)]
    assume(math.isfinite(prefixes[0]))
    ratios = [math.exp(log - prefixes[0]) for log in prefixes[1:]]
    end = math.exp(leftcorner.log_probabilities(corpus)[0] - prefixes[0])
    trace = follow(parser, words)
    emitted = grammar.lexical / np.where(grammar.lexical_mass > 0, grammar.lexical_mass, 1)[:, None]
    assert trace.category[-1] @ emitted == pytest.approx(ratios, **CLOSE)
    assert trace.ended[-1] == pytest.approx(end, **CLOSE)
    assert trace.category[-1].sum() + trace.ended[-1] == pytest.approx(1.0, **CLOSE)


@settings(max_examples=40)
@given(grammars_and_sentences(), st.integers(1, 3))
def test_all_stores_against_the_plain_filter(grammar_and_words, depth):
    """Entropy, most probable store and surprisal, from ``filtering.forward``."""
    grammar, words = grammar_and_words
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    parser = WordByWord(grammar, depth)
    v, logs = np.empty((len(words) + 1, parser.stores)), np.empty(len(words) + 1)
    forward(np.array(words, dtype=np.int32), parser.models, False, v, logs)
    trace = follow(parser, words)
    for t in range(len(words) + 1):
        if not math.isfinite(logs[t]):
            assert np.isnan(trace.logs[t:]).all()
            break
        assert trace.entropy[t] == pytest.approx(entropy(v[t]), rel=1e-12, abs=1e-14)
        assert trace.best_probability[t] == pytest.approx(v[t].max(), rel=1e-12)
        assert v[t, trace.best[t]] == pytest.approx(v[t].max(), rel=1e-12)
        if t > 0:
            assert trace.logs[t - 1] == pytest.approx(logs[t], rel=1e-12, abs=1e-14)


def test_one_word_and_three_hundred():
    grammar = random_grammar(K=4, W=3, concentration=0.5, seed=6)
    chart, parser = ChartParser(grammar, 2), WordByWord(grammar, 2)
    for n in (1, 300):
        words = np.random.default_rng(n).integers(0, 3, n).tolist()
        trace = follow(parser, words)
        log_p = chart.log_probabilities(encode(grammar, words))[0]
        assert trace.logs.sum() == pytest.approx(log_p, rel=1e-12)
        assert (trace.fork[:-1] >= 0).all()
        assert (trace.fork[:-1] <= 1).all()
    assert trace.fork[0] == 1.0
    assert trace.depth[0] == trace.entropy[0] == trace.best[0] == 0.0


def test_a_word_of_no_category_ends_what_is_known():
    grammar = random_grammar(K=2, W=2, concentration=1.0, seed=0)
    trace = follow(WordByWord(grammar, 2), [0, 1, -1, 0])
    assert np.isfinite(trace.logs[:2]).all()
    assert trace.logs[2] == -math.inf
    assert trace.best[2] >= 0
    assert np.isnan([trace.fork[2], trace.join[2], *trace.logs[3:]]).all()
    assert trace.best[3:].tolist() == [-1, -1]


def test_a_word_that_is_hardly_possible():
    """The probability of the second word is 5e-321, which has no reciprocal."""
    binary, lexical = np.zeros((3, 3, 3)), np.zeros((3, 3))
    binary[0, 2, 1], binary[0, 2, 2] = 1.0, 1e-320
    lexical[1] = 0.0, 1.0, 0.0
    lexical[2] = 0.5, 0.0, 0.5
    grammar = Grammar(np.eye(3)[0], binary, lexical, Vocabulary(("a", "b", "c")))
    trace = follow(WordByWord(grammar, 1), [0, 2])
    assert trace.logs == pytest.approx([math.log(0.5), math.log(5e-321), 0.0], rel=1e-3)
    assert trace.entropy[2] == 0.0
    assert trace.ended[2] == 1.0


def test_a_sentence_that_cannot_end_here():
    binary, lexical = np.zeros((2, 2, 2)), np.array([[0.0, 0.0], [0.5, 0.5]])
    binary[0, 1, 1] = 1.0
    grammar = Grammar(np.array([1.0, 0.0]), binary, lexical, Vocabulary(("a", "b")))
    trace = follow(WordByWord(grammar, 1), [0])
    assert trace.logs.tolist() == [pytest.approx(math.log(0.5)), -math.inf]
    trace = follow(WordByWord(grammar, 1), [0, 1])
    assert trace.logs == pytest.approx([math.log(0.5), math.log(0.5), 0.0])


def test_threads_change_nothing():
    grammar = random_grammar(K=5, W=7, concentration=0.3, seed=1)
    rng = np.random.default_rng(0)
    sentences = [rng.integers(0, 7, n).astype(np.int32) for n in rng.integers(1, 30, 40)]
    parser = WordByWord(grammar, 2)
    one, three = (parser.follow_all(sentences, threads) for threads in (1, 3))
    for x, y in zip(one, three, strict=True):
        for a, b in zip(x, y, strict=True):
            assert a.tobytes() == b.tobytes()


def test_more_stores_than_memory_are_refused_with_a_remedy():
    words, K = Vocabulary(("a",)), 30
    grammar = Grammar(
        np.full(K, 1 / K), np.full((K, K, K), 0.5 / K**2), np.full((K, 1), 0.5), words
    )
    with pytest.raises(DbpcfgError, match=r"all 7.3e\+08 stores .* 16 GiB: .* a smaller depth"):
        WordByWord(grammar, 3)
    with pytest.raises(DbpcfgError, match="depth bound must be at least 1"):
        WordByWord(grammar, 0)
