"""Plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from tests.corpus.helpers import read_as


def test_lines_are_sentences_and_white_space_sets_words_apart():
    text = "The cat sat .\n\n  it\tpurrs\u2003( loudly )\u3000! \n \t\nlast"
    for end in ("", "\n"):
        sentences, source = read_as("text", text + end, "cat.txt")
        assert sentences == [
            Sentence(("The", "cat", "sat", "."), source="cat.txt", line=1),
            Sentence(("it", "purrs", "(", "loudly", ")", "!"), source="cat.txt", line=3),
            Sentence(("last",), source="cat.txt", line=5),
        ]
        assert source.removed == {"blank lines": 2}


@pytest.mark.parametrize("longest", ["w " * 1000, "w" * 1000])
def test_a_line_that_is_too_long(longest):
    assert "".join(read_as("text", longest)[0][0].words) == "w" * 1000
    with pytest.raises(DbpcfgError, match=r"^f:2: found a (line|word) of 1,001 .*split the text"):
        read_as("text", "ok\n" + longest + "w")
    with pytest.raises(DbpcfgError, match=r",000 (words|characters)"):
        read_as("text", longest * 10_000)


@given(st.text())
def test_no_word_is_lost_or_changed(text):
    sentences, _ = read_as("text", text)
    assert [word for sentence in sentences for word in sentence.words] == text.split()
    for sentence in sentences:
        assert tuple(text.split("\n")[sentence.line - 1].split()) == sentence.words
