"""BMMM: its features, its interface, and what it finds."""

from collections import Counter

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.labels import Contingency
from dbpcfg.systems.bmmm import BMMM
from dbpcfg.systems.bmmm.model import (
    context_features,
    dependency_features,
    number_types,
)
from tests.systems.bmmm_oracle import dense

SENTENCES = [line.split() for line in ["the dog barks", "the cat barks", "dog", "cat sees the dog"]]


def synthetic(sentences: int = 200, words: int = 40) -> list[list[str]]:
    """The paper's centre-embedding corpus: one of many words for each letter."""
    random = np.random.default_rng(0)
    shapes = ["abc", "abbc", "ababc", "abbabbc"]
    return [
        [f"{letter}{random.integers(words)}" for letter in shapes[number % 4]]
        for number in range(sentences)
    ]


def test_context_features():
    text = number_types(SENTENCES)
    assert list(text.vocabulary) == ["the", "dog", "barks", "cat", "sees"]
    matrix = dense(context_features(text, 2))[0]  # the, dog, NULL to the left; the same right
    assert matrix.tolist() == [
        [0, 0, 1, 0, 2, 1],
        [2, 0, 0, 0, 0, 1],
        [0, 1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 2],
        [0, 0, 1, 1, 0, 0],
    ]
    quirk = dense(context_features(text, 2, faithful=True))[0]  # the most frequent, the, is NULL
    assert quirk.tolist() == [
        [0, 0, 1, 0, 2, 1],
        [0, 0, 2, 0, 0, 1],
        [0, 1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0, 2],
        [0, 0, 1, 0, 0, 1],
    ]


def test_dependency_features():
    text = number_types(SENTENCES[:2])
    heads, tags = [[1, 2, -1], [1, -1, 1]], [[0, 1, 2], [0, 1, 2]]
    features = dependency_features(text, heads, tags, 3)
    assert dense(features)[0].tolist() == [  # classes 0, 1, 2 and ROOT
        [0, 2, 0, 0],
        [1, 0, 1, 0],
        [0, 2, 0, 1],
        [1, 0, 1, 1],
    ]
    assert dependency_features(text, heads, tags, 7).firsts[-1] == 8
    assert dependency_features(text, heads, tags, 1).firsts[-1] == 4


@pytest.mark.parametrize("faithful", [False, True])
def test_classes_of_a_made_language(faithful):
    sentences = synthetic()
    system = BMMM(3, 200, faithful=faithful).fit(sentences)
    types = dict.fromkeys(word for line in sentences for word in line)
    found = dict(zip(types, system.sample.z, strict=True))
    pairs = Counter((str(one), word[0]) for word, one in found.items())
    assert Contingency.from_counts(pairs).score().many_to_one > 0.85
    assert [list(tags) for tags in system.tags()] == [
        [found[word] for word in line] for line in sentences
    ]


def test_same_seed_same_classes():
    sentences = synthetic(40, 8)

    def classes(seed=0, generation=0, **options):
        system = BMMM(4, 12, seed, **options).fit(sentences, generation=generation)
        return [*system.sample.z, system.sample.log_posterior]

    assert classes() == classes()
    assert classes() != classes(seed=1)
    assert classes() != classes(generation=1)
    assert classes() != classes(context_words=2)
    system = BMMM(4, 12)
    for _ in range(2):
        assert [*system.fit(sentences).sample.z] == classes()[:-1]


def test_dependencies_are_used():
    sentences = [["x", "y"] for _ in range(6)] + [[f"w{i}", "x"] for i in range(8)]
    heads = [np.array([-1, 0])] * 6 + [np.array([-1, 0] if i % 2 else [1, -1]) for i in range(8)]
    tags = [np.array([0, 1])] * 14
    with_heads = BMMM(2, 50).fit(sentences, dependencies=(heads, tags))
    assert len(with_heads.sample.hyperparameters) == 3
    assert len(BMMM(2, 50).fit(sentences).sample.hyperparameters) == 2
    assert with_heads.tags()[0].dtype == np.int64


@pytest.mark.parametrize(
    "sentences",
    [[["word"]], [["word"]] * 5, [["one"], ["two"]], [["a"] * 3000], [["a", "b"] * 500]],
)
@pytest.mark.parametrize("faithful", [False, True])
def test_odd_texts(sentences, faithful):
    for iterations in (1, 7, 25):
        tags = BMMM(3, iterations, faithful=faithful).fit(sentences).tags()
        assert [len(one) for one in tags] == [len(one) for one in sentences]
        assert all(0 <= tag < 3 for one in tags for tag in one)
    alone = BMMM(1, 5, faithful=faithful).fit(sentences).tags()
    assert not any(map(np.any, alone))


def test_bad_input():
    for options, message in [
        ({"classes": 0}, "classes must be a whole number of at least 1, not 0"),
        ({"classes": 2.5}, "classes must be a whole number of at least 1, not 2.5"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1"),
        ({"context_words": 0}, "context_words must be a whole number of at least 1"),
        ({"alpha": 0}, "alpha must be a number above 0, not 0"),
        ({"beta": float("nan")}, "beta must be a number above 0, not nan"),
        ({"seed": -1}, "seed must be a whole number from 0"),
    ]:
        with pytest.raises(DbpcfgError, match=message):
            BMMM(**options)
    system = BMMM(2, 3)
    for sentences, message in [
        ([], "there are no sentences to learn from"),
        ([["a"], []], "sentence 2 has no words"),
        (["a b"], "sentence 1 is one text"),
    ]:
        with pytest.raises(DbpcfgError, match=message):
            system.fit(sentences)
    with pytest.raises(DbpcfgError, match="bmmm has not seen any sentences; call fit first"):
        system.tags()


def test_bad_dependencies():
    for heads, tags, message in [
        ([[-1, 0]], [[0, 0], [0]], "2 sentences, but heads of 1"),
        ([[-1, 0], [-1]], [[0, 0]], "2 sentences, but tags of 1"),
        ([[-1], [-1]], [[0, 0], [0]], "sentence 1 has 2 words; its heads must be as many"),
        ([[-1, 0], [-1]], [[0, 0], [0.5]], "sentence 2 has 1 word; its tags must be as many"),
        ([[-1, 0], [1]], [[0, 0], [0]], "sentence 2 of 1 word has the head 1"),
        ([[-2, 0], [-1]], [[0, 0], [0]], "sentence 1 of 2 words has the head -2"),
        ([[-1, 0], [-1]], [[0, 0], [-3]], "tags must be classes from 0, found -3"),
    ]:
        with pytest.raises(DbpcfgError, match=message):
            BMMM(2, 3).fit([["a", "b"], ["c"]], dependencies=(heads, tags))
