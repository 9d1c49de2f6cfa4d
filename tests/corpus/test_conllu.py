"""CoNLL-U: what is read, and every slip that is noticed."""

import re

import pytest
from hypothesis import given

from dbpcfg.corpus.readers import Speakers
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from tests.corpus.helpers import read_as, texts
from tests.corpus.samples import CONLLU, block, row


def read(text, **options):
    return read_as("conllu", text, **options)[0]


def test_words_are_syntactic_words():
    assert read(CONLLU) == [
        Sentence(
            ("Cats", "do", "n't", "bark", "."),
            ("NOUN", "AUX", "PART", "VERB", "PUNCT"),
            speaker="Mother",
            source="f",
            line=1,
        ),
        Sentence(("Yes",), ("INTJ",), source="f", line=14),
    ]


@pytest.mark.parametrize(
    "change",
    [str.rstrip, lambda s: "\ufeff" + s, lambda s: s + "\n\n", lambda s: s.replace("\n", "\r\n")],
)
def test_ends_and_beginnings(change):
    assert read(change(CONLLU)) == read(CONLLU)


def test_comments_on_their_own_say_nothing():
    text = "# speaker = CHI\n\n# newdoc\n" + block(row(1, "Yes"))
    assert read(text) == [Sentence(("Yes",), ("X",), source="f", line=3)]


def test_white_space_in_words():
    assert read(block(row(1, "10 000\xa0km"))) == [
        Sentence(("10_000_km",), ("X",), source="f", line=1)
    ]


def test_tags_may_be_missing():
    assert read(block(row(1, tag="_"), row(2, tag="_")))[0].tags is None
    assert read(block(row(1, tag="_"), row(2, tag="V")))[0].tags == ("_", "V")


def test_withheld_words():
    text = block(row(1, "_"), row(2, "_")) + block(row(1, "_"))
    sentences, source = read_as("conllu", text)
    assert [s.words for s in sentences] == [("_",)]  # may well be an underscore
    assert source.removed == {"sentences with their words withheld (_)": 1}


SPEAKERS = "".join(
    block(row(1, word), comments=comments)
    for word, comments in [
        ("a", ["# speaker_role = Mother"]),
        ("b", ["#speaker_id=CHI", "# speaker_role = Target_Child"]),
        ("c", ["# speaker_age = 27.1", "# speaker ="]),
        ("d", ["# speaker = Ann B"]),
    ]
)


@pytest.mark.parametrize(
    ("speakers", "words", "removed"),
    [
        (Speakers(), "abcd", {}),
        (Speakers(exclude=("Target_Child",)), "acd", {"sentences of Target_Child": 1}),
        (Speakers(exclude=("chi", "mother")), "cd", None),
        (Speakers(include=("Ann B",)), "d", None),
        (Speakers(include=("mother", "chi")), "ab", None),
        (
            Speakers(include=("x",)),
            "",
            {
                "sentences of Mother": 1,
                "sentences of Target_Child": 1,
                "sentences of an unknown speaker": 1,
                "sentences of Ann B": 1,
            },
        ),
    ],
)
def test_speakers(speakers, words, removed):
    found, source = read_as("conllu", SPEAKERS, speakers=speakers)
    assert "".join(sentence.words[0] for sentence in found) == words
    assert source.removed.total() == 4 - len(words)
    assert removed is None or source.removed == removed
    assert list(speakers.seen) == ["Mother", "CHI", "Target_Child", "Ann B"]


def test_who_is_whose_sentence():
    assert [s.speaker for s in read(SPEAKERS)] == ["Mother", "Target_Child", None, "Ann B"]


@given(texts(CONLLU, "0123.-_#\t\n\r"))
def test_no_word_of_any_text_is_lost(text):
    try:
        found = read(text)
    except DbpcfgError:
        return
    lines = text.removeprefix("\ufeff").split("\n")
    plain = [line.split("\t") for line in lines if re.match(r"[0-9]+\t", line)]
    said = [word for sentence in found for word in sentence.words]
    if "_\t_\t" not in text:  # none withheld
        assert said == ["_".join(columns[1].split()) for columns in plain]
    assert all(
        sentence.tags is None or len(sentence.tags) == len(sentence.words) for sentence in found
    )


def test_broken_sentences_can_be_skipped():
    good, bad = block(row(1)), block(row(2), row(3))
    found, source = read_as("conllu", good + bad + good + row("1-2"), skip_broken=True)
    assert [sentence.line for sentence in found] == [1, 6]
    assert [(part.line, part.last_line) for part in source.skipped] == [(3, 4), (8, 8)]
    assert source.removed == {"broken sentences": 2}


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (["2", "0"], (1, -1)),
        (["_", "_"], None),
        (["2", "_"], None),
        (["3", "0"], None),
        (["-1", "0"], None),
    ],
)
def test_heads_are_kept_if_they_are_numbers_of_words(heads, expected):
    rows = [row(n).split("\t") for n in (1, 2)]
    for columns, head in zip(rows, heads):
        columns[4], columns[6] = "NN", head
    (sentence,) = read(block(*map("\t".join, rows)))
    assert sentence.heads == expected
    assert sentence.xpos == ("NN", "NN")


def test_empty_nodes_are_counted():
    text = block(row(1, "it"), row("1.1", "was"), row("1.2", "then"), row(2, "ran"))
    (sentence,), source = read_as("conllu", text)
    assert sentence.words == ("it", "ran")
    assert source.removed == {"empty nodes": 2}
