"""Words of tables as tokens, and where sentences end."""

import pytest

from dbpcfg.corpus.tokens import ends_sentence, split_tokens
from dbpcfg.errors import DbpcfgError


@pytest.mark.parametrize(
    ("text", "punctuation", "penn"),
    [
        ("the dog", "the dog", "the dog"),
        ("dog,", "dog ,", "dog ,"),
        ('"Oh!"', '" Oh ! "', "`` Oh ! ''"),
        ("“Oh”", "“ Oh ”", "`` Oh ''"),
        ("'admiral',", "' admiral ' ,", "' admiral ' ,"),
        ("(really?)", "( really ? )", "( really ? )"),
        ("wait...", "wait ...", "wait ..."),
        ("Mr.", "Mr.", "Mr."),
        ("U.S.", "U.S.", "U.S."),
        ("...", "...", "..."),
        ("--", "--", "--"),
        ("well-known", "well-known", "well-known"),
        ("$5", "$5", "$5"),
        ("don't", "don't", "do n't"),
        ("dog's,", "dog's ,", "dog 's ,"),
        ("'s", "'s", "'s"),
        ("I’ll", "I’ll", "I ’ll"),
    ],
)
def test_splitting(text, punctuation, penn):
    assert split_tokens(text) == text.split()
    assert split_tokens(text, "punctuation") == punctuation.split()
    assert split_tokens(text, "penn") == penn.split()


def test_nothing_is_lost_but_the_shape_of_quotes():
    for text in ("a,b;c.", '"x', "x''", "(((", "''", "'", "«né»"):
        assert "".join(split_tokens(text, "punctuation")) == text


def test_there_is_no_other_way():
    with pytest.raises(DbpcfgError, match="tokens must be space, punctuation or penn, got 'bert'"):
        split_tokens("x", "bert")


def test_ends_of_sentences():
    for word in ("end.", "end!", "end?", 'end."', "end.)", "wait...", "end.'", ".", "。"):
        assert ends_sentence(word), word
    for word in ("dog", "dog,", "Mr.", "J.", "U.S.", '"Dr.', "--", "", '"'):
        assert not ends_sentence(word), word
