"""Plain text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.readers.text import read_text
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError


def test_lines_are_sentences_and_white_space_sets_words_apart():
    dropped = Counter()
    text = "The cat sat .\n\n  it\tpurrs\u2003( loudly )\u3000! \n \t\nlast"
    assert list(read_text(text, "cat.txt", dropped)) == [
        Sentence(("The", "cat", "sat", "."), source="cat.txt", line=1),
        Sentence(("it", "purrs", "(", "loudly", ")", "!"), source="cat.txt", line=3),
        Sentence(("last",), source="cat.txt", line=5),
    ]
    assert dropped == {"blank lines": 2}


def test_the_last_line_may_end_or_not():
    for text in ("a\nb", "a\nb\n"):
        dropped = Counter()
        assert [s.words for s in read_text(text, "f", dropped)] == [("a",), ("b",)]
        assert not dropped


def test_too_many_words():
    assert len(next(read_text("w " * 1000)).words) == 1000
    with pytest.raises(DbpcfgError) as caught:
        list(read_text("ok\n" + "w " * 1001, "novel.txt"))
    assert str(caught.value) == (
        "novel.txt:2: found a line of 1,001 words, expected one sentence a line, of at most "
        "1,000 words; split the text into sentences first"
    )


def test_too_long_a_word():
    assert next(read_text("w" * 1000)).words == ("w" * 1000,)
    with pytest.raises(DbpcfgError, match=r"^f:1: found a word of 1,001 characters, 'w{20}'…, exp"):
        list(read_text("short " + "w" * 1001, "f"))


def test_a_huge_line_is_refused():
    with pytest.raises(DbpcfgError, match="5,000,000 words"):
        list(read_text("a " * 5_000_000))
    with pytest.raises(DbpcfgError, match="10,000,000 characters"):
        list(read_text("a" * 10_000_000))


@given(st.text())
def test_no_word_is_lost_or_changed(text):
    sentences = list(read_text(text))
    assert [word for sentence in sentences for word in sentence.words] == text.split()
    for sentence in sentences:
        assert tuple(text.split("\n")[sentence.line - 1].split()) == sentence.words
