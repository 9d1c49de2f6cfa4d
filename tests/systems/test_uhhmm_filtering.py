"""Filtering, backward sampling and counting of the UHHMM against brute force."""

import math
from collections import Counter

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.systems.uhhmm.model import (
    Size,
    contract,
    count_events,
    uniform,
    without_choice,
)
from dbpcfg.systems.uhhmm.system import derivations, draw_states, label_names
from tests.oracle import depth_needed, shapes
from tests.statistics import LEAST_P, goodness_of_fit
from tests.systems.uhhmm_oracle import counted, random_models, sequences

WORDS = Vocabulary(("x", "y", "z"))
NUMBERS = stream(5, purpose=Purpose.UHHMM_STATES)


def corpus_of(*sentences):
    return Encoded.from_numbers(sentences, WORDS)


def steps_of(models, faithful=False):
    return contract(models if faithful else without_choice(models), faithful)


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize(
    ("A", "B", "G", "D", "longest"),
    [(2, 2, 2, 1, 4), (2, 2, 2, 2, 4), (2, 3, 1, 2, 4), (1, 2, 2, 2, 5), (1, 2, 1, 3, 6)],
)
def test_probability_is_the_sum_over_all_sequences(A, B, G, D, longest, faithful):
    rng = np.random.default_rng(A + 10 * B + 100 * G + 1000 * D)
    size = Size(A, B, G, D, len(WORDS))
    models = random_models(size, rng, 0.9 if faithful else 1.0)
    sentences = [tuple(rng.integers(len(WORDS), size=n).tolist()) for n in range(1, longest + 1)]
    expected = [
        sum(it.probability for it in sequences(words, size, models, faithful))
        for words in sentences
    ]
    _, logs = draw_states(corpus_of(*sentences), steps_of(models, faithful), NUMBERS)
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-10)


def sampled(words, models, faithful, draws):
    corpus = corpus_of(*[words] * draws)
    states, _ = draw_states(corpus, steps_of(models, faithful), NUMBERS)
    return Counter(tuple(map(tuple, it)) for it in states.reshape(draws, len(words), 5).tolist())


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize(
    ("A", "B", "G", "D", "words"),
    [(2, 2, 2, 1, (0, 1, 2)), (2, 2, 2, 2, (0, 1, 1, 0)), (1, 2, 1, 3, (0, 1, 2, 0, 1, 0))],
)
def test_states_have_the_posterior_distribution(A, B, G, D, words, faithful):
    size, draws = Size(A, B, G, D, len(WORDS)), 20_000
    models = random_models(size, np.random.default_rng(D))

    def posterior(faithful):
        found = sequences(words, size, models, faithful)
        total = sum(it.probability for it in found)
        return {it.states: it.probability / total for it in found}

    seen = sampled(words, models, faithful, draws)
    assert goodness_of_fit(seen, posterior(faithful), draws) > LEAST_P
    assert goodness_of_fit(seen, posterior(not faithful), draws) < 1e-6


@pytest.mark.parametrize("D", [1, 2, 3])
def test_counts_of_every_sequence(D):
    size = Size(2, 2, 1, D, len(WORDS)) if D < 3 else Size(1, 2, 1, D, len(WORDS))
    words = (0, 1, 2, 0, 1)
    found = sequences(words, size, random_models(size, np.random.default_rng(D)))
    chosen = [found[n] for n in np.random.default_rng(D).choice(len(found), 200)]
    for one in chosen:
        counts = count_events(corpus_of(words), np.array(one.states, dtype=np.int32), size)
        for ours, theirs in zip(counts, counted(Counter(one.events), size)):
            np.testing.assert_array_equal(ours, theirs)
    states = np.concatenate([np.array(one.states, dtype=np.int32) for one in chosen])
    together = count_events(corpus_of(*[words] * len(chosen)), states, size)
    events = Counter(event for one in chosen for event in one.events)
    for ours, theirs in zip(together, counted(events, size)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("D", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_each_tree_within_the_depth_bound_is_one_sequence(n, D):
    size = Size(1, 1, 1, D, 1)
    found = sequences((0,) * n, size, uniform(size))
    corpus = Encoded.from_numbers([[0] * n], Vocabulary(("w",)))
    trees = set()
    for one in found:
        nodes = derivations(corpus, np.array(one.states, dtype=np.int32), size)[0]
        tree = as_tree(nodes, ["w"] * n, label_names(size))
        trees.add(frozenset((start, end) for start, end, _ in tree.spans()))
    assert len(trees) == len(found)
    assert len(found) == sum(depth_needed(shape) <= D for shape in shapes(0, n))


def test_labels_of_a_tree():
    """x begins a1; y and z are a fragment below it; u, v are joined to the awaited category."""
    size = Size(2, 3, 2, 2, 5)
    states = np.array(
        [[1, 0, -1, -1, 0], [1, 0, 0, 1, 1], [0, 1, 1, 0, 0], [1, 1, 0, 2, 1], [0, 1, 0, 0, 0]],
        dtype=np.int32,
    )
    corpus = Encoded.from_sentences([["x", "y", "z", "u", "v"]])
    nodes = derivations(corpus, states, size)[0]
    tree = as_tree(nodes, corpus[0], label_names(size))
    assert str(tree) == "(a1 (g1 x) (b2 (a2 (g2 y) (g1 z)) (b3 (g2 u) (g1 v))))"


def test_long_sentences_do_not_underflow():
    size = Size(2, 2, 2, 2, len(WORDS))
    models = random_models(size, np.random.default_rng(0))
    rare = models.lex.copy()
    rare[:, 0] = 1e-30
    words = [0] * 400
    states, logs = draw_states(corpus_of(words), steps_of(models._replace(lex=rare)), NUMBERS)
    assert 400 * math.log(1e-30) - 400 * 10 < logs[0] <= 400 * math.log(1e-30)
    assert (states[1:] >= 0).all()
