"""Classes of rare words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.preparation import is_number, word_class
from dbpcfg.errors import DbpcfgError

WORDS = ["walked", "Bonn", "1987", "A-3", "IBM", "--", "well-known", "x", "été"]


@pytest.mark.parametrize(
    ("scheme", "classes"),
    [
        ("suffix", "<*ed> <*nn> <number> <*a> <*bm> <word> <*wn> <*x> <*té>"),
        ("shape", "<word> <Cap> <number> <Cap-digit> <CAP> <word> <-> <word> <word>"),
        ("both", "<*ed> <Cap*nn> <number> <Cap-digit*a> <CAP*bm> <word> <-*wn> <*x> <*té>"),
        ("one", " ".join(["<rare>"] * len(WORDS))),
    ],
)
def test_classes(scheme, classes):
    assert [word_class(word, scheme) for word in WORDS] == classes.split()


@pytest.mark.parametrize("word", ["1987", "3.5", "1,000", "50%", "$5", "10th", "1/2", "-3", "80s"])
def test_numbers(word):
    assert is_number(word)


@pytest.mark.parametrize("word", ["one", "B2B", "", "-", "3M", "a1", "%"])
def test_not_numbers(word):
    assert not is_number(word)


@given(st.text(), st.sampled_from(["suffix", "shape", "both", "one"]))
def test_every_word_has_a_class(word, scheme):
    name = word_class(word, scheme)
    assert name.startswith("<")
    assert name.endswith(">")


def test_unknown_scheme():
    with pytest.raises(DbpcfgError, match="no scheme 'prefix'; choose one of suffix, shape"):
        word_class("a", "prefix")
