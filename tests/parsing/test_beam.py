"""The beam: exact when wide enough, a lower bound otherwise, and the same each time."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.beam import prune
from dbpcfg.parsing.leftcorner.filtering import forward
from dbpcfg.parsing.leftcorner.parser import BEAM, Followed, WordByWord
from tests.strategies import encode, grammars_and_sentences, random_grammar


def follow(grammar: Grammar, depth: int, words: list[int], beam: int) -> Followed:
    return WordByWord(grammar, depth, beam).follow(np.array(words, dtype=np.int32))


def lower_bounds(followed: Followed) -> np.ndarray:
    """log Π S_t (1 − lost_t) up to each word, and the end."""
    return np.cumsum(followed.trace.logs + np.log1p(-followed.trace.lost))


@settings(max_examples=60)
@given(grammars_and_sentences(), st.integers(1, 3))
def test_a_beam_of_all_stores_is_exact(grammar_and_words, depth):
    grammar, words = grammar_and_words
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    exact, beam = (follow(grammar, depth, words, width) for width in (0, 3**6 * 2))
    for name in exact.trace._fields:
        if name != "best":
            theirs, ours = getattr(exact.trace, name), getattr(beam.trace, name)
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True), name
    assert beam.entropies == pytest.approx(exact.entropies, rel=1e-9, abs=1e-12, nan_ok=True)
    assert beam.trace.lost[0] == 0


@settings(max_examples=60)
@given(grammars_and_sentences(), st.integers(2, 3), st.integers(1, 12))
def test_prefix_probabilities_are_never_too_great(grammar_and_words, depth, width):
    grammar, words = grammar_and_words
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    exact, beam = (follow(grammar, depth, words, w) for w in (0, width))
    known = np.isfinite(beam.trace.logs)
    assume(known[0])
    bounds, prefixes = lower_bounds(beam), np.cumsum(exact.trace.logs)
    assert (bounds[known] <= prefixes[known] + 1e-9).all()
    assert (beam.trace.lost[known] >= 0).all()
    assert (beam.trace.lost[known] < 1).all()


def test_wider_beams_come_nearer():
    grammar = random_grammar(K=4, W=5, concentration=0.2, seed=8)
    words = np.random.default_rng(0).integers(0, 5, 25).tolist()
    exact = follow(grammar, 3, words, 0)
    log_p = ChartParser(grammar, 3).log_probabilities(encode(grammar, words))[0]
    errors, gaps, lost = [], [], []
    for width in (30, 100, 300, 1000, 4369):
        beam = follow(grammar, 3, words, width)
        errors.append(np.abs(beam.trace.logs - exact.trace.logs).max())
        gaps.append(log_p - lower_bounds(beam)[-1])
        lost.append(beam.trace.lost.max())
    assert errors[0] > 1e-3  # the narrowest one is not good enough by itself
    assert (np.diff(errors) < 0).all()
    assert (np.diff(gaps) < 0).all()
    assert (np.diff(lost) < 0).all()
    assert errors[-1] < 1e-12
    assert gaps[-1] == pytest.approx(0.0, abs=1e-9)
    assert lost[-1] == 0.0


def test_what_is_lost_is_what_is_beyond_the_beam():
    grammar = random_grammar(K=4, W=5, concentration=1.0, seed=8)
    M = WordByWord(grammar, 3, 0).models
    v, logs = np.empty((2, 1 + 4**2 + 4**4 + 4**6)), np.empty(2)
    forward(np.array([2], dtype=np.int32), M, False, v, logs)
    stores = np.sort(v[1, 1:])[::-1]  # the empty one, which is the end, always stays
    for width in range(1, 17):
        lost = follow(grammar, 3, [2, 1], width).trace.lost[0]
        assert lost == pytest.approx(stores[width:].sum(), abs=1e-12)
    assert lost == 0.0
    assert stores[1:].sum() > 0.05


def test_equals_stay_by_their_numbers():
    """All four categories alike: every store of a depth is as probable as any other."""
    K = 2
    grammar = Grammar(
        np.full(K, 1 / K), np.full((K, K, K), 0.4 / K**2), np.full((K, 1), 0.6), Vocabulary(("a",))
    )
    one, same = (follow(grammar, 3, [0] * 6, 3) for _ in range(2))
    for a, b in zip(one.trace, same.trace, strict=True):
        assert a.tobytes() == b.tobytes()
    blocks = np.array([0, 2], dtype=np.int64)
    out = np.array([[[0.1, 0.2], [0.2, 0.0]], [[0.2, 0.3], [0.0, 0.2]]])
    firsts = np.array([0, 1, 5, 21], dtype=np.int64)
    numbers, x, dropped = prune(out, 3, blocks, firsts, K)
    assert numbers.tolist() == [2, 3, 10]  # 5 + (2 − 1) · 4 + 1 is the store with 0.3
    assert x.tolist() == [0.2, 0.2, 0.3]
    assert dropped == pytest.approx(0.5)
    numbers, x, dropped = prune(out, 6, blocks, firsts, K)
    assert len(numbers) == 6  # nothing of probability zero is ever kept
    assert dropped == 0.0


def test_falling_out_of_the_beam_is_not_impossible():
    """Two readings of a word; the less probable one is dropped, and alone can go on."""
    K = 4
    binary, lexical = np.zeros((K, K, K)), np.zeros((K, 3))
    binary[0, 2, 2], binary[0, 3, 3] = 0.9, 0.1  # 2 2 is a b, 3 3 is a c
    lexical[1] = 1.0, 0.0, 0.0
    lexical[2] = 0.5, 0.5, 0.0
    lexical[3] = 0.5, 0.0, 0.5
    grammar = Grammar(np.eye(K)[0], binary, lexical, Vocabulary(("a", "b", "c")))
    exact, narrow, wide = (follow(grammar, 1, [0, 2], width).trace for width in (0, 1, 2))
    assert exact.logs == pytest.approx([math.log(0.5), math.log(0.05), 0.0])
    assert wide.logs == pytest.approx(exact.logs)
    assert narrow.lost[0] == pytest.approx(0.1)
    assert math.isnan(narrow.logs[1])
    # But a word that nothing emits is impossible whatever was dropped.
    assert follow(grammar, 1, [0, -1], 1).trace.logs[1] == -math.inf
    # And so is one that comes before anything was dropped.
    assert follow(grammar, 1, [1, 2], 1).trace.logs.tolist()[1] == -math.inf


def test_the_beam_is_chosen_by_the_size_of_the_tables():
    assert WordByWord(random_grammar(K=15, W=2, concentration=1.0, seed=0), 2).beam == 0
    assert WordByWord(random_grammar(K=15, W=2, concentration=1.0, seed=0), 3).beam == BEAM
    assert WordByWord(random_grammar(K=15, W=2, concentration=1.0, seed=0), 3, beam=7).beam == 7


def test_deep_stores_have_numbers_of_64_bits():
    """Centre-embedding 18 deep: few stores are possible, and their numbers have 54 bits."""
    binary, lexical = np.zeros((3, 3, 3)), np.array([[0.4, 0, 0], [0, 0, 0], [0, 0.5, 0.5]])
    binary[0, 2, 1], binary[1, 0, 2] = 0.6, 1.0
    grammar = Grammar(np.eye(3)[0], binary, lexical, Vocabulary(("middle", "a", "b")))
    words = [1, 1, 2] * 6 + [0] + [2, 1, 2] * 6
    deep = follow(grammar, 18, words, 10_000)
    log_p = ChartParser(grammar, 18).log_probabilities(encode(grammar, words))[0]
    assert deep.trace.logs.sum() == pytest.approx(log_p, rel=1e-9)
    assert (deep.trace.lost == 0).all()
    assert deep.trace.depth.max() == pytest.approx(18)
    assert deep.trace.best.max() > 2**53  # more than a float can tell apart
