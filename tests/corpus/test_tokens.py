"""Words of tables as tokens, and where sentences end."""

import pytest

import dbpcfg
from dbpcfg.corpus.tokens import describe_contractions, ends_sentence, split_tokens
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


def test_a_model_splits_text_as_it_learned():
    text = ["the dog barks.", "a dog barks, the dog."] * 3
    run = dbpcfg.induce(text, K=2, iterations=2, chains=1, tokens="punctuation", seed=1)
    assert run.trees()[0].words() == ["the", "dog", "barks", "."]
    assert run.parse(["a dog barks."])[0].words() == ["a", "dog", "barks", "."]
    without = {"tokens": "punctuation", "no_punctuation": True}
    bare = dbpcfg.induce(text, K=2, iterations=2, chains=1, **without)
    assert bare.parse(["a dog barks."])[0].words() == ["a", "dog", "barks"]
    joined, split = (bare.model.probability([one]) for one in ("a dog barks.", "a dog barks"))
    assert joined == split
    words = [row.word for row in bare.model.surprisal(["a dog barks."])]
    assert words == [row.word for row in bare.model.surprisal(["a dog barks"])]
    table = [{"w": word} for word in ("a", "dog", "barks.")]
    rows = bare.model.surprisal(table, word="w", boundary="punctuation")
    assert [row.form for row in rows] == ["a", "dog", "barks"]
    assert [row.surprisal for row in rows] == [
        row.surprisal for row in bare.model.surprisal(["a dog barks"], end=False)
    ]


@pytest.mark.parametrize(
    ("words", "described"),
    [
        ("the dog 'em o'clock dogs '", ""),
        ("the dog that's it’s", "are whole, as that's"),
        ("the dog 's n't", "are split, with 's as a word"),
        ("that 's it's", "are split, with 's as a word"),
        ("a's b's 's", "are partly whole, as a's, partly split, with 's"),
        ("a's b's c's d's e's f's g's h's i's j's 's", "are whole, as a's"),
    ],
)
def test_how_contracted_forms_are_written(words, described):
    found = describe_contractions(words.split())
    assert described in found
    assert bool(described) == bool(found)
