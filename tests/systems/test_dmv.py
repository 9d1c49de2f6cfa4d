"""DMV: its dynamic programs against all trees, EM, and odd input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.systems.dmv import (
    DMV,
    MAX_TAGS,
    initial_parameters,
    number_tags,
    tag_sequences,
    tags_of,
)
from dbpcfg.systems.dmv.charts import (
    RIGHT,
    Parameters,
    best_heads,
    estimate,
    expected_counts,
    for_decoding,
    no_counts,
    normalise,
)
from dbpcfg.trees.dependencies import tree_from_heads
from tests.systems.dmv_oracle import best_trees, projective_trees, sentence_counts

TAGS = 3
sentences = st.lists(st.integers(0, TAGS - 1), min_size=1, max_size=5)


def random_parameters(seed, sparsity=1.0):
    rng = np.random.default_rng(seed)
    tables = no_counts(TAGS)
    return Parameters(*(normalise(rng.gamma(sparsity, size=t.shape) + 1e-300) for t in tables))


def expected(tags, parameters, weight=1.0):
    counts = no_counts(TAGS)
    array = np.array(tags, dtype=np.int64)
    log = expected_counts(array, np.array([len(tags)]), np.array([weight]), parameters, counts)
    return log, counts


def found_heads(tags, parameters):
    array = np.array(tags, dtype=np.int64)
    return tuple(best_heads(array, np.array([len(tags)]), parameters).tolist())


def random_corpus(seed, number=30, longest=7):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, TAGS, rng.integers(1, longest + 1)) for _ in range(number)]


def test_numbers_of_projective_trees():
    # C(3n − 2, n − 1) / n
    numbers = [math.comb(3 * n - 2, n - 1) // n for n in range(1, 6)]
    assert [len(projective_trees(n)) for n in range(1, 6)] == numbers == [1, 2, 7, 30, 143]


@given(sentences, st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0]))
def test_inside_and_expected_counts_are_those_of_all_trees(tags, seed, sparsity):
    parameters = random_parameters(seed, sparsity)
    probability, brute = sentence_counts(tags, parameters)
    log, counts = expected(tags, parameters)
    assert log == pytest.approx(math.log(probability), abs=1e-10)
    for ours, theirs in zip(counts, brute):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@given(sentences, st.integers(0, 2**32 - 1))
def test_best_tree_is_the_best_of_all(tags, seed):
    parameters = random_parameters(seed)
    assert found_heads(tags, parameters) in best_trees(tags, parameters)


def test_ties_take_the_leftmost_choices():
    uniform = Parameters(*(normalise(np.ones_like(table)) for table in no_counts(TAGS)))
    assert len(best_trees([0, 0, 0], uniform)) == len(projective_trees(3))
    assert found_heads([0, 0, 0], uniform) == (-1, 0, 1)


def test_impossible_parameters_are_impossible():
    parameters = random_parameters(0)
    parameters.root[:] = [0.0, 0.5, 0.5]
    log, counts = expected([0, 0], parameters)
    assert log == -math.inf
    assert not any(table.any() for table in counts)
    log, counts = expected([0, 1], parameters)
    assert counts.root.tolist() == pytest.approx([0, 1, 0])


@pytest.mark.parametrize("seed", range(5))
def test_plain_em_never_lowers_the_likelihood(seed):
    trace = DMV(40, backoff=0).fit(random_corpus(seed)).log_likelihoods
    assert len(trace) == 40
    assert (np.diff(trace) >= -1e-9 * abs(trace[0])).all()
    assert trace[-1] > trace[0]


def test_an_em_step_is_the_relative_frequency_of_all_trees():
    corpus = random_corpus(3, number=10, longest=5)
    corpus += corpus[:4]
    sequences = tag_sequences(corpus)
    first = initial_parameters(
        sequences.split(sequences.tags), sequences.weights.tolist(), sequences.number
    )
    counts = no_counts(TAGS)
    log_likelihood = 0.0
    for tags in corpus:
        probability, of_trees = sentence_counts(tags, first)
        log_likelihood += math.log(probability)
        for table, of_sentence in zip(counts, of_trees):
            table += of_sentence
    learned = DMV(1, backoff=0).fit(corpus)
    for ours, theirs in zip(learned.parameters, estimate(counts, 0)):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
    assert learned.log_likelihoods == [pytest.approx(log_likelihood)]


def test_a_sequence_that_occurs_twice_counts_twice():
    tags, other = np.array([0, 1, 1]), np.array([1, 0])
    for ours, theirs in zip(
        initial_parameters([tags, other], [2.0, 1.0], 2),
        initial_parameters([tags, tags, other], [1.0] * 3, 2),
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_every_tree_is_possible_when_heads_are_found():
    """Tag 0 is no root, so all trees of 0 0 0 have probability zero; still one is better."""
    parameters = random_parameters(0)
    parameters.root[0] = 0.0
    parameters.decision[0, RIGHT] = 1.0, 0.0  # dependents on the left only
    assert found_heads([0, 0, 0], for_decoding(parameters))[2] == -1
    assert found_heads([0, 0, 0], parameters)[2] != -1


def test_backoff_adds_counts_of_dependents_of_any_head():
    counts = no_counts(2)
    counts.child[0, 0] = [3, 1]
    learned = estimate(counts, 0.66)
    np.testing.assert_allclose(learned.child[0, 0], [0.75, 0.25])
    np.testing.assert_allclose(learned.child[1, 0], [0.75, 0.25])  # an unseen head
    np.testing.assert_allclose(learned.child[0, 1], [0.5, 0.5])  # an unseen direction
    counts = no_counts(2)
    counts.child[:, 0] = [[4, 0], [0, 4]]
    expected = np.array([0.34 * 4 + 0.33, 0.33])
    np.testing.assert_allclose(estimate(counts, 0.66).child[0, 0], expected / expected.sum())


def test_initial_parameters_of_two_words():
    # Each word is the head of the other with 1/2; E is bounded by dependents: (0.5 + 0.1) / 1.
    parameters = initial_parameters([np.array([0, 1])], [1.0], 2)
    np.testing.assert_allclose(parameters.root, [0.5, 0.5])
    np.testing.assert_allclose(parameters.child[0, 1], np.array([0.1, 0.6]) / 0.7)
    np.testing.assert_allclose(parameters.child[0, 0], [0.5, 0.5])
    e = 0.9 * 0.6
    none, some = np.array([1.1 - e, 0.1 + e]), np.array([0.1 + e, 0.6 - e])
    np.testing.assert_allclose(parameters.decision[0, 1], [none / none.sum(), some / some.sum()])
    np.testing.assert_allclose(parameters.decision[0, 0], [[1.1 / 1.2, 0.1 / 1.2], [0.5, 0.5]])


def test_numbering_of_any_tags():
    numbers, tags = number_tags([["N", "V"], ["D", "N"]])
    assert [line.tolist() for line in numbers] == [[0, 1], [2, 0]]
    assert tags == ["N", "V", "D"]


@pytest.mark.parametrize(
    "corpus",
    [[[0]], [[0], [1], [0]], [[0] * 6, [0] * 2], [[0] * 120], [list(range(120)), [0, 1]]],
    ids=["one word", "one-word sentences", "one tag", "120 words of one tag", "120 tags"],
)
@pytest.mark.parametrize("backoff", [0, 0.66])
def test_odd_corpora_have_heads(corpus, backoff):
    model = DMV(5, backoff=backoff).fit(corpus)
    assert all(map(math.isfinite, model.log_likelihoods))
    for table in model.parameters:
        np.testing.assert_allclose(table.sum(axis=-1), 1.0)
    for tags, heads in zip(corpus, model.heads(), strict=True):
        words = [str(tag) for tag in tags]
        assert tree_from_heads(words, heads.tolist()).words() == words  # projective, one root


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([], "there are no sentences"),
        ([[0], []], "sentence 2 has no tags"),
        ([["N", "V"]], "tags that are not integers, such as 'N'; number them first"),
        ([[0.5]], "not integers"),
        ([list(range(MAX_TAGS + 1))], "found 5,001 different tags; DMV takes at most 5,000"),
    ],
)
def test_wrong_tags(corpus, message):
    with pytest.raises(DbpcfgError, match=message):
        DMV().fit(corpus)


def test_wrong_settings():
    with pytest.raises(DbpcfgError, match="iterations must be 0 or more, not -1"):
        DMV(-1)
    with pytest.raises(DbpcfgError, match="backoff must be at least 0 and below 1, not 1"):
        DMV(backoff=1)
    with pytest.raises(DbpcfgError, match="call fit first"):
        DMV().heads()


TAGGED = Sentence(("The", "Dog"), ("DET", "NOUN"), xpos=("DT", "NN"), source="f", line=7)


def test_columns():
    assert tags_of([TAGGED]) == [("DET", "NOUN")]
    assert tags_of([TAGGED], "xpos") == [("DT", "NN")]
    assert tags_of([TAGGED], "form") == [("the", "dog")]


@pytest.mark.parametrize("column", ["upos", "xpos"])
def test_missing_columns(column):
    with pytest.raises(DbpcfgError, match=f"f:7: .* no tags in column {column.upper()}"):
        tags_of([Sentence(("a",), source="f", line=7)], column)
