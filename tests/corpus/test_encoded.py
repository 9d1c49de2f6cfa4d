"""Vocabularies and corpora: numbering there and back."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import DbpcfgError

SENTENCES = [["the", "dog", "barks"], ["dogs"], ["the", "the"]]

any_sentences = st.lists(st.lists(st.text(max_size=2), min_size=1, max_size=5), max_size=6)


def test_numbering_by_hand():
    corpus = Encoded.from_sentences(SENTENCES)
    assert corpus.vocabulary.words == ("the", "dog", "barks", "dogs")
    assert corpus.vocabulary.index == {"the": 0, "dog": 1, "barks": 2, "dogs": 3}
    assert len(corpus.vocabulary) == 4
    assert corpus.tokens.tolist() == [0, 1, 2, 3, 0, 0]
    assert corpus.starts.tolist() == [0, 3, 4, 6]
    assert corpus.lengths.tolist() == [3, 1, 2]
    assert len(corpus) == 3
    assert corpus[0] == ["the", "dog", "barks"]
    assert list(corpus) == SENTENCES


@given(any_sentences)
def test_there_and_back(sentences):
    corpus = Encoded.from_sentences(iter(sentences))
    assert list(corpus) == sentences
    assert [corpus[s] for s in range(len(corpus))] == sentences
    assert corpus.lengths.tolist() == [len(sentence) for sentence in sentences]
    assert (corpus.tokens.dtype, corpus.starts.dtype) == (np.int32, np.int64)
    first_seen = {word: None for sentence in sentences for word in sentence}
    assert corpus.vocabulary.words == tuple(first_seen)
    assert list(corpus.vocabulary.encode(reversed(sentences))) == sentences[::-1]


def test_encoding_by_a_given_vocabulary():
    vocabulary = Vocabulary(("barks", "unused", "the", "dog"))
    corpus = vocabulary.encode([("the", "dog", "barks")])
    assert corpus.tokens.tolist() == [2, 3, 0]
    assert corpus.vocabulary is vocabulary


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Vocabulary(("a", "b", "c", "b")),
            "the vocabulary has 'b' twice; list each word once",
        ),
        (
            lambda: Vocabulary(("a", "b")).encode([["a"], ["b", "x y"]]),
            "sentence 2: 'x y' is not in the vocabulary, which has 2 words",
        ),
        (
            lambda: Vocabulary(("a", "b")).encode([["A"]]),
            "sentence 1: 'A' is not in the vocabulary, which has 2 words",
        ),
        (
            lambda: Encoded.from_sentences([["a"], ["b"], []]),
            "sentence 3 has no words; leave empty sentences out",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(DbpcfgError, match=f"^{re.escape(message)}$"):
        make()
