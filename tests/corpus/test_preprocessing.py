"""Preprocessing: forms, length limits, classes of rare words, frequencies; and corpora written."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.preprocessing import (
    LogFrequencies,
    Preprocessing,
    corpus_lines,
    is_number,
    preprocess,
    word_class,
)
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import without_words


def sentence(text: str) -> Sentence:
    return Sentence(tuple(text.split()), source="here.txt", line=3)


TEXT = [
    sentence("The cat sat ."),
    sentence("The dog , the cat and Rex ran !"),
    sentence("In 1987 ."),
]


def test_nothing_but_lower_case_by_default():
    preprocessed = preprocess(TEXT, Preprocessing())
    assert preprocessed.encoded[1] == ["the", "dog", ",", "the", "cat", "and", "rex", "ran", "!"]
    assert [s.words for s in preprocessed.sentences] == [s.words for s in TEXT]
    assert preprocessed.encoded[2] == ["in", "1987", "."]
    assert preprocessed.removed == {}
    assert preprocessed.summary() == "3 sentences, 16 tokens, 12 forms"
    one = preprocess([Sentence(("a",))], Preprocessing(rare=1))
    assert one.summary() == "1 sentence, 1 token, 1 form; 1 rare form in 1 class"


def test_length_is_counted_without_punctuation():
    assert len(preprocess(TEXT, Preprocessing(max_length=7))) == 3
    shorter = preprocess(TEXT, Preprocessing(max_length=6))
    assert len(shorter) == 2
    assert shorter.removed == {"longer than 6 words": 1}
    assert "1 left out (longer than 6 words)" in shorter.summary()
    with pytest.raises(DbpcfgError, match="no sentence of at most 1 word"):
        preprocess(TEXT, Preprocessing(max_length=1))


def test_numbers_and_rare_words():
    assert preprocess(TEXT, Preprocessing(numbers=True)).encoded[2] == ["in", "<number>", "."]
    rare = preprocess(TEXT, Preprocessing(rare=1, scheme="both"))
    assert rare.encoded[1] == [
        *("the", "<*og>", "<word>", "the", "cat"),
        *("<*nd>", "<Cap*ex>", "<*an>", "<word>"),
    ]
    assert rare.encoded[2] == ["<Cap*in>", "<number>", "."]
    assert rare.classes["<word>"] == 2
    assert "rare forms in" in rare.summary()
    assert preprocess(TEXT, Preprocessing(lowercase=False)).encoded[0][0] == "The"


def test_what_cannot_be():
    with pytest.raises(DbpcfgError, match="rare must be a whole number from 0 up"):
        Preprocessing(rare=-1)
    with pytest.raises(DbpcfgError, match="from 1 up or none, got 0"):
        Preprocessing(max_length=0)
    with pytest.raises(DbpcfgError, match="scheme must be suffix, shape"):
        Preprocessing(scheme="prefix")
    with pytest.raises(DbpcfgError, match="no sentence to work with"):
        preprocess([], Preprocessing())


@given(st.lists(st.lists(st.text("aAbé1.-", min_size=1), min_size=1, max_size=6), min_size=1))
def test_every_word_keeps_its_place(texts):
    preprocessed = preprocess([Sentence(tuple(words)) for words in texts], Preprocessing(rare=1))
    assert [len(forms) for forms in preprocessed.encoded] == [len(words) for words in texts]
    assert [list(s.words) for s in preprocessed.sentences] == texts


TREE = read_tree("(S (NP (D the) (N cat)) (, ,) (VP (V sat)) (. .))")


def test_words_taken_out_of_a_tree():
    assert str(without_words(TREE, [0, 0, 1, 0, 1])) == "(S (NP (D the) (N cat)) (VP (V sat)))"
    assert str(without_words(TREE, [1, 1, 1, 0, 1])) == "(S (VP (V sat)))"
    assert without_words(TREE, [0] * 5) == TREE


def test_lines():
    words = TREE.words()
    gold = Sentence(tuple(words), tuple(TREE.tags()), TREE)
    only = read_tree("(S (. .) (. !))")
    silent = Sentence((".", "!"), (".", "."), only)
    preprocessed = preprocess([gold, silent], Preprocessing())
    assert list(corpus_lines(preprocessed, "text")) == ["the cat , sat .", ". !"]
    bare = preprocess([gold, silent], Preprocessing(no_punctuation=True))
    assert list(corpus_lines(bare, "text")) == ["the cat sat", ". !"]
    assert list(corpus_lines(bare, "penn"))[1] == "(S (. .) (. !))"
    assert bare.sentences[0].tree.words() == ["the", "cat", "sat"]
    assert bare.punctuation == [(False,) * 3, (True, True)]
    with pytest.raises(DbpcfgError, match=r"here\.txt:3: the sentence has no tree"):
        list(corpus_lines(preprocess(TEXT, Preprocessing()), "penn"))


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


def test_numbers():
    assert all(map(is_number, ["1987", "3.5", "1,000", "50%", "$5", "10th", "1/2", "-3", "80s"]))
    assert not any(map(is_number, ["one", "B2B", "", "-", "3M", "a1", "%"]))


@given(st.text(), st.sampled_from(["suffix", "shape", "both", "one"]))
def test_every_word_has_a_class(word, scheme):
    name = word_class(word, scheme)
    assert name.startswith("<")
    assert name.endswith(">")


COUNTED = [Sentence(("The", "dog", "saw", "the", "cat")), Sentence(("the", "end"))]


def test_frequencies_are_per_million_with_one_more_of_each():
    found = LogFrequencies(COUNTED)  # 7 tokens, 5 words
    assert found.of("The") == found.of("the") == pytest.approx(math.log10(1e6 * 4 / 12))
    assert found.of("zebra") == pytest.approx(math.log10(1e6 / 12))
    exact = LogFrequencies(COUNTED, lowercase=False)  # 6 words
    assert exact.of("The") == pytest.approx(math.log10(1e6 * 2 / 13))
