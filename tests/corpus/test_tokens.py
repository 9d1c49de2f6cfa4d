"""Words of tables as tokens, and where sentences end."""

import pytest

import dbpcfg
from dbpcfg.corpus.tokens import doubts, ends_sentence, split_tokens
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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("the dog barks .", None),
        ("well, the dog barks . !", None),  # set apart as a rule
        ("ほしがほしい", "is the text split into words?"),
        ("the dog, he barks.", "800 of 1,600 words have punctuation attached, such as 'dog,'"),
        ("w{n} x{n} y{n} z{n}", "1,600 of 1,600 words are different"),
    ],
)
def test_a_text_that_is_not_ready(line, said):
    text = [line.format(n=n).split() for n in range(400)]
    found = list(doubts(text))
    assert (said is None) == (found == [])
    if said is not None:
        assert said in found[0]
        with pytest.warns(UserWarning, match="words") as caught:
            dbpcfg.induce(text, K=2, iterations=1, chains=1)
        assert caught[0].filename == __file__
    assert not list(doubts(text[:40]))  # too little to tell


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
