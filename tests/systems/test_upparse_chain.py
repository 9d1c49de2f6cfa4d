"""The tagging models of UPPARSE against all legal taggings of short sequences."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.systems.upparse.models import (
    ALLOWED,
    TIE,
    Trainer,
    arcs,
    best_tags,
    expected_counts,
    first_arcs,
    hmm_emissions,
    prlg_emissions,
)

STOP, B, I, O = range(4)
# Written out again, from the account and not from the code.
SUCCESSORS = {STOP: {STOP, B, O}, B: {I}, I: {STOP, B, I, O}, O: {STOP, B, O}}
WORDS = 3

segment_lists = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(2, 1 + WORDS), min_size=1, max_size=4)),
    min_size=1,
    max_size=3,
)


def sequence(segments: list[tuple[bool, list[int]]]) -> np.ndarray:
    """Segments, each closed by EOS or by STOP, the last one by EOS."""
    symbols = [0]
    for ends_sentence, words in segments:
        symbols += [*words, 0 if ends_sentence else 1]
    return np.array([*symbols[:-1], 0])


sequences = segment_lists.map(sequence)
seeds = st.integers(0, 2**32 - 1)
models = st.sampled_from(["hmm", "prlg"])


def legal_taggings(symbols: np.ndarray) -> list[tuple[int, ...]]:
    """In dictionary order."""
    found: list[tuple[int, ...]] = [(STOP,)]
    for symbol in symbols[1:]:
        tags = {STOP} if symbol < 2 else {B, I, O}
        found = [(*before, k) for before in found for k in sorted(tags & SUCCESSORS[before[-1]])]
    return found


def used_arcs(symbols: np.ndarray, tags: tuple[int, ...]) -> list[tuple[int, int, int]]:
    return [(w, j, k) for w, (j, k) in zip(symbols.tolist(), pairwise(tags))]


def enumerated(symbols: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, float]:
    counts, total = np.zeros_like(table), 0.0
    for tags in legal_taggings(symbols):
        used = used_arcs(symbols, tags)
        probability = math.prod(table[arc] for arc in used)
        total += probability
        for arc in used:
            counts[arc] += probability
    return counts / total, math.log(total)


def counted(symbols: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, float]:
    counts = np.full_like(table, np.nan)
    return counts, expected_counts(symbols, table, counts)


# --- expected counts ----------------------------------------------------------------------------


@given(sequences, seeds)
def test_expected_counts_of_any_arcs(symbols, seed):
    table = np.random.default_rng(seed).uniform(0.01, 1, (2 + WORDS, 4, 4)) * ALLOWED
    counts, log_likelihood = counted(symbols, table)
    expected, expected_log_likelihood = enumerated(symbols, table)
    np.testing.assert_allclose(counts, expected, atol=1e-10)
    assert log_likelihood == pytest.approx(expected_log_likelihood, abs=1e-10)


def test_long_segments_do_not_underflow():
    symbols = np.array([0, *[2, 3, 4] * 3000, 0])
    counts, log_likelihood = counted(symbols, first_arcs("prlg", 5, 0.1))
    assert -1e5 < log_likelihood < -1e3
    assert counts.sum() == pytest.approx(len(symbols) - 1)


# --- models -------------------------------------------------------------------------------------


def some_counts(segment_ends: float) -> np.ndarray:
    """Of EOS, STOP and the words 2 and 3."""
    counts = np.zeros((4, 4, 4))
    counts[0, STOP, [B, O]] = 3, 1
    counts[1, STOP, B] = segment_ends
    counts[2, B, I] = 5
    counts[3, I, [STOP, I]] = 2, 2
    counts[[2, 3], O, STOP] = 1, 3
    return counts


def test_hmm_by_hand():
    table = arcs("hmm", some_counts(segment_ends=2), 0.1)
    assert table[0, STOP, O] == pytest.approx(4 / 6 * 1 / 6)  # boundaries are not smoothed
    assert table[1, STOP, B] == pytest.approx(2 / 6 * 5 / 6)
    assert table[3, I, STOP] == pytest.approx(4.1 / 4.2 * 1 / 2)  # two symbols, λ = 0.1
    assert table[2, I, STOP] == pytest.approx(0.1 / 4.2 * 1 / 2)
    assert table[3, I, O] == 0  # tags are not smoothed
    # STOP does not occur: it is one more symbol among which smoothing is shared.
    table = arcs("hmm", some_counts(segment_ends=0), 0.1)
    assert table[0, STOP, O] == pytest.approx(1 / 4)
    assert table[3, I, STOP] == pytest.approx(4.1 / 4.3 * 1 / 2)


def test_prlg_by_hand():
    table = arcs("prlg", some_counts(segment_ends=2), 0.1)
    assert table[0, STOP, B] == pytest.approx(3.1 / 5.4 * 5 / 6)  # four symbols, all smoothed
    assert table[1, STOP, O] == pytest.approx(0.1 / 1.4 * 1 / 6)
    assert table[3, I, STOP] == pytest.approx(2.1 / 2.4 * 1 / 2)
    assert table[2, O, STOP] == pytest.approx(1.1 / 4.4)
    assert table[3, I, O] == 0
    first = first_arcs("prlg", 4, 0.1)  # uniform: P(I|I) = 1/4, of which each word has 1/8
    assert first[2, I, I] == pytest.approx((1 / 8 + 0.1) / (1 / 4 + 0.4) * 1 / 4)
    assert first[0, STOP, O] == pytest.approx((1 / 6 + 0.1) / (1 / 3 + 0.4) * 1 / 3)


# --- EM -----------------------------------------------------------------------------------------


def log_prior(model: str, counts: np.ndarray, smoothing: float) -> float:
    """λ Σ log P of all smoothed probabilities: additive smoothing is EM's M step under it."""
    if model == "prlg":
        return smoothing * np.log(prlg_emissions(counts, smoothing)).sum()
    words = counts[:, STOP].sum(axis=1) == 0
    return smoothing * np.log(hmm_emissions(counts.sum(axis=2), smoothing)[words, B:]).sum()


@given(
    st.lists(st.lists(st.integers(2, 6), min_size=2, max_size=6), min_size=1, max_size=8), models
)
def test_em_never_lowers_the_posterior(segments, model):
    symbols = sequence([(n % 2 == 0, words) for n, words in enumerate(segments)])
    counts, _ = counted(symbols, first_arcs(model, 7, 0.1))
    objective = -math.inf
    for _ in range(8):
        table = arcs(model, counts, 0.1)
        prior = log_prior(model, counts, 0.1)
        counts, log_likelihood = counted(symbols, table)
        assert log_likelihood + prior >= objective - 1e-9
        objective = log_likelihood + prior


def test_the_objective_does_fall_where_steps_are_not_those_of_em():
    """Negative control: counts of the wrong sequence."""
    symbols, other = np.array([0, 2, 3, 2, 3, 4, 0]), np.array([0, 4, 4, 3, 4, 2, 0])
    table = Trainer("hmm", 0.1, 1e-6).train(symbols, 5)
    _, good = counted(symbols, table)
    wrong, _ = counted(other, table)
    _, bad = counted(symbols, arcs("hmm", wrong, 0.1))
    assert bad < good - 1


@pytest.mark.parametrize("model", ["hmm", "prlg"])
def test_em_stops_when_perplexity_hardly_falls(model):
    rng = np.random.default_rng(0)
    symbols = sequence([(True, rng.integers(2, 12, n).tolist()) for n in rng.integers(1, 9, 60)])
    iterations: list[None] = []
    learnt = Trainer(model, 0.1, 1e-3).train(symbols, 12, lambda: iterations.append(None))

    table, perplexities, tables = first_arcs(model, 12, 0.1), [], []
    for _ in range(len(iterations)):
        counts, log_likelihood = counted(symbols, table)
        perplexities.append(math.exp(-log_likelihood / len(symbols)))
        table = arcs(model, counts, 0.1)
        tables.append(table)
    falls = [(a - b) / b for a, b in pairwise(perplexities)]
    assert len(iterations) > 3
    assert all(fall > 1e-3 for fall in falls[:-1])
    assert falls[-1] <= 1e-3
    assert (learnt == tables[-1]).all()  # updated once more after the last look

    iterations.clear()
    Trainer(model, 0.1, 1e9).train(symbols, 12, lambda: iterations.append(None))
    assert len(iterations) == 2


@pytest.mark.parametrize("model", ["hmm", "prlg"])
def test_nothing_to_learn_from_single_words(model):
    assert Trainer(model, 0.1, 1e-4).train(np.array([0, 2, 1, 3, 0, 2, 0]), 4) is None


# --- the best tags ------------------------------------------------------------------------------


def first_of_the_best(symbols: np.ndarray, log_table: np.ndarray) -> list[int]:
    scored = [
        (math.fsum(log_table[arc] for arc in used_arcs(symbols, tags)), list(tags))
        for tags in legal_taggings(symbols)
    ]
    best = max(score for score, _ in scored)
    return next(tags for score, tags in scored if score > best - TIE)


@given(sequences, seeds, st.sampled_from([None, 2, 1]))
def test_best_tags(symbols, seed, halves):
    """With few different scores, which add up without rounding, most sequences have ties."""
    rng = np.random.default_rng(seed)
    shape = (2 + WORDS, 4, 4)
    scores = rng.uniform(-9, 0, shape) if halves is None else rng.integers(-halves, 1, shape) / 2
    log_table = np.where(ALLOWED > 0, scores, -np.inf)
    assert best_tags(symbols, log_table).tolist() == first_of_the_best(symbols, log_table)


def test_a_repeated_word_makes_a_tie():
    """x y w w z: the same transitions and emissions in B I B I I as in B I I B I."""
    x, y, w, z = 2, 3, 4, 5
    probabilities = {(x, B): 0.7, (y, I): 0.7, (w, B): 0.3, (w, I): 0.1, (z, I): 0.2}
    transitions = ALLOWED * [[0.1, 0.7, 0, 0.2], [0, 0, 1, 0], [0.3, 0.3, 0.3, 0.1], [0.1] * 4]
    table = np.full((6, 4, 4), 1e-3) * transitions
    table[0] = transitions
    for (word, tag), probability in probabilities.items():
        table[word, tag] = probability * transitions[tag]
    symbols = np.array([0, x, y, w, w, z, 0])
    first, second = (STOP, B, I, B, I, I, STOP), (STOP, B, I, I, B, I, STOP)
    ways = [math.prod(table[arc] for arc in used_arcs(symbols, tags)) for tags in (first, second)]
    assert ways[0] == pytest.approx(ways[1], rel=1e-12)
    with np.errstate(divide="ignore"):
        assert tuple(best_tags(symbols, np.log(table)).tolist()) == first
        table[w, I, B] *= 1.0001  # no tie any more
        assert tuple(best_tags(symbols, np.log(table)).tolist()) == second


@pytest.mark.parametrize("seed", range(2))
def test_rounding_does_not_decide_ties(seed):
    """The same segment, with a tie, again and again: it has the same tags everywhere."""
    rng = np.random.default_rng(seed)
    emissions = rng.uniform(1e-4, 1e-3, (6, 4))
    emissions[0] = 1e-300  # so that the whole sequence has a logarithm of -41 million
    emissions[[2, 3, 4, 4, 5], [B, I, B, I, I]] = rng.uniform(0.2, 0.9, 5)
    transitions = ALLOWED * [
        [1, 0.8, 0, 0.1],
        [0, 0, 1, 0],
        [*rng.uniform(0.3, 0.5, 3), 0.1],
        [1e-3] * 4,
    ]
    symbols = np.array([0, *[2, 3, 4, 4, 5, 0] * 60_000])
    with np.errstate(divide="ignore"):
        tags = best_tags(symbols, np.log(emissions)[:, :, None] + np.log(transitions))
    assert (tags[1:].reshape(-1, 6) == [B, I, B, I, I, STOP]).all()
