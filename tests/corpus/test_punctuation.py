"""Punctuation by tags and by characters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import PENN_TAGS, Sentence, by_characters, by_tags, punctuation_mask
from dbpcfg.errors import DbpcfgError

PRICE = Sentence(
    ("it", "costs", "$", "3", "'", "--", "-LRB-"), ("P", "V", "$", "C", "POS", ":", "X")
)


@pytest.mark.parametrize("word", [".", "?", "...", ",", "--", "``", "''", "'", "“", "…", "@", "·"])
@pytest.mark.parametrize("twice", [1, 2])
def test_punctuation_by_characters(word, twice):
    assert by_characters([word * twice]) == (True,)


@pytest.mark.parametrize("word", ["-LRB-", "-RRB-", "-LCB-", "-RCB-", "-LSB-", "-RSB-", "-lrb-"])
def test_brackets_in_words_are_punctuation(word):
    assert by_characters([word]) == (True,)


@pytest.mark.parametrize(
    "word", ["a", "n't", "'s", "61", "%", "$", "#", "&", "£", "€", "US$", "犬", "हिन्दी", "½", "x."]
)
def test_words_by_characters(word):
    assert by_characters([word]) == (False,)


def test_tags():
    assert by_tags([*sorted(PENN_TAGS), "PUNCT"]) == (True,) * 8
    assert by_tags(["$", "#", "NN", "SYM", "", "Punct", "-NONE-"]) == (False,) * 7
    assert by_tags(["$,", "$.", "$[", "punct", "let", "LET", "COMMACATEGORY"]) == (True,) * 7
    assert by_tags(["PU", "PUL", "PUR", "PUQ", "PUNC", "'", '"']) == (True,) * 7
    assert by_tags(["CATEGORY", "Category", "$X"]) == (False,) * 3


def test_rules():
    words, tags = (False,) * 4 + (True,) * 3, (False,) * 5 + (True, False)
    assert punctuation_mask(PRICE, "characters") == words
    assert punctuation_mask(PRICE, "tags") == tags
    assert punctuation_mask(PRICE) == punctuation_mask(PRICE, "auto") == tags
    assert punctuation_mask(PRICE, "both") == words
    assert punctuation_mask(Sentence(PRICE.words)) == words
    assert punctuation_mask(Sentence(("go", "."), ("V", "X")), "both") == (False, True)
    assert punctuation_mask(Sentence(("Wa", "x"), (":", "X")), "both") == (True, False)


def test_a_mark_that_is_its_own_tag_is_punctuation():
    """As in Floresta; but not the dollar of the Penn Treebank, nor a tag that stands for none."""
    words = ("«", "?", "--", "...", "$", "#", "a", "a", "?")
    tags = ("«", "?", "--", "...", "$", "#", "a", "--", "n")
    expected = (True,) * 4 + (False,) * 5
    assert punctuation_mask(Sentence(words, tags), "tags") == expected
    assert punctuation_mask(Sentence(words, tags)) == expected


def test_no_tags_to_go_by():
    for rule in ("tags", "both"):
        with pytest.raises(
            DbpcfgError, match=r"^f\.txt:3: .* no tags .* use the rule 'characters'"
        ):
            punctuation_mask(Sentence(("a",), source="f.txt", line=3), rule)


def test_unknown_rule():
    with pytest.raises(DbpcfgError, match=re.escape("no punctuation rule 'none'; choose auto,")):
        punctuation_mask(PRICE, "none")


@given(st.lists(st.text()))
def test_characters_decide_for_any_word(words):
    for word, silent in zip(words, by_characters(words), strict=True):
        if any(character.isalpha() for character in word):
            assert not silent or len(word) == 5  # -LRB-
