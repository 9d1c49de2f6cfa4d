"""CoNLL-U: what is read, and every slip that is noticed."""

import re
from collections import Counter

import pytest
from hypothesis import given

from dbpcfg.corpus.readers.chat import Speakers
from dbpcfg.corpus.readers.conllu import read_conllu
from dbpcfg.corpus.sentence import Notes, Sentence
from dbpcfg.errors import DbpcfgError
from tests.corpus.fuzz import texts


def row(identifier, form="x", tag="X"):
    return "\t".join([str(identifier), form, "_", tag, *"______"])


def block(*rows, comments=()):
    return "\n".join([*comments, *rows]) + "\n\n"


GOOD = block(
    row(1, "Cats", "NOUN"),
    row("2-3", "don't"),
    row(2, "do", "AUX"),
    row(3, "n't", "PART"),
    row("3.1", "really"),
    row("3.2", "ever"),
    row(4, "bark", "VERB"),
    row(5, ".", "PUNCT"),
    comments=["# sent_id = 1", "# speaker_role = Mother", "# speaker = MOT", "# text = …"],
) + block(row("0.1"), row(1, "Yes", "INTJ"))


def read(text, **options):
    return list(read_conllu(text, "f", **options))


def test_words_are_syntactic_words():
    assert read(GOOD) == [
        Sentence(
            ("Cats", "do", "n't", "bark", "."),
            ("NOUN", "AUX", "PART", "VERB", "PUNCT"),
            speaker="Mother",
            source="f",
            line=1,
        ),
        Sentence(("Yes",), ("INTJ",), source="f", line=14),
    ]


@pytest.mark.parametrize("change", [str, str.rstrip, lambda s: "\ufeff" + s, lambda s: s + "\n\n"])
def test_ends_and_beginnings(change):
    assert read(change(GOOD)) == read(GOOD)


def test_line_ends_of_windows():
    assert read(GOOD.replace("\n", "\r\n")) == read(GOOD)


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
    dropped = Counter()
    text = block(row(1, "_"), row(2, "_")) + block(row(1, "_"))
    assert [s.words for s in read(text, dropped=dropped)] == [("_",)]  # may well be an underscore
    assert dropped == {"sentences with their words withheld (_)": 1}


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
    ("speakers", "words", "dropped"),
    [
        (Speakers(), "abcd", {}),
        (Speakers(without=("Target_Child",)), "acd", {"sentences of Target_Child": 1}),
        (Speakers(without=("chi", "mother")), "cd", None),
        (Speakers(only=("Ann B",)), "d", None),
        (Speakers(only=("mother", "chi")), "ab", None),
        (
            Speakers(only=("x",)),
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
def test_speakers(speakers, words, dropped):
    counter = Counter()
    found = read(SPEAKERS, dropped=counter, speakers=speakers)
    assert "".join(sentence.words[0] for sentence in found) == words
    assert counter.total() == 4 - len(words)
    assert dropped is None or counter == dropped
    assert list(speakers.heard) == ["Mother", "CHI", "Target_Child", "Ann B"]


def test_who_is_whose_sentence():
    assert [s.speaker for s in read(SPEAKERS)] == ["Mother", "Target_Child", None, "Ann B"]


ERRORS = {
    "nine columns": (row(1)[:-2], 1, "found 9 tab-separated columns in '1\\tx"),
    "eleven columns": (row(1) + "\t_", 1, "found 11 tab-separated columns"),
    "spaces": ("1 x _ X", 1, "found 1 tab-separated column in '1 x _ X', expected 10"),
    "a tab": (block(row(1)) + "\t", 3, "found 2 tab-separated columns"),
    "no form": (row(1, ""), 1, "found nothing in column FORM, expected at least '_'"),
    "blank form": (row(1, "\xa0"), 1, "found nothing in column FORM"),
    "no tag": (row(1, "x", ""), 1, "found nothing in column UPOS"),
    "no number": (row("a"), 1, "found the ID 'a', expected a number, like 1"),
    "negative": (row("-1"), 1, "found the ID '-1'"),
    "Arabic digits": (row("١"), 1, "found the ID '١'"),
    "huge": (row("9" * 5000), 1, "found the ID '99999999999999999999', expected"),
    "from 0": (row(0), 1, "found the ID 0, expected the word 1"),
    "from 2": (row(2), 1, "found the ID 2, expected the word 1"),
    "a gap": (block(row(1), row(3)), 2, "found the ID 3, expected the word 2"),
    "no blank line": (block(row(1), row(1)), 2, "or the blank line between two sentences?"),
    "comment inside": (row(1) + "\n# text = x", 2, "a comment inside a sentence"),
    "range backwards": (row("2-1"), 1, "found the ID 2-1"),
    "range elsewhere": (block(row(1), row("3-4")), 2, "found the ID 3-4"),
    "range inside another": (block(row("1-3"), row(1), row("2-3")), 3, "found the ID 2-3"),
    "empty node elsewhere": (block(row(1), row("2.1")), 2, "found the ID 2.1"),
    "empty nodes from 2": (block(row(1), row("1.2")), 2, "found the ID 1.2"),
    "range cut off": (block(row("1-2"), row(1)), 3, "after 1 words, expected word 2; is the file"),
    "no words": (block(row("0.1")), 2, "after 0 words, expected word 1"),
}


@pytest.mark.parametrize(("text", "line", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(text, line, message):
    with pytest.raises(DbpcfgError) as caught:
        read(text)
    assert str(caught.value).startswith(f"f:{line}: found ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300
    with pytest.raises(DbpcfgError) as caught:
        read(GOOD + text)
    assert str(caught.value).startswith(f"f:{line + GOOD.count(chr(10))}: ")


@given(texts(GOOD, "0123.-_#\t\n\r"))
def test_any_text_is_sentences_or_an_error(text):
    try:
        found = read(text)
    except DbpcfgError as error:
        found = str(error)
    if isinstance(found, str):
        assert re.match(r"f:\d+: found ", found)
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
    row = "{}\tw\tw\tX\t_\t_\t0\troot\t_\t_\n"
    good, bad, cut = row.format(1) + "\n", row.format(2) + row.format(3) + "\n", "1-2" + row[2:]
    notes = Notes()
    found = list(read_conllu(good + bad + good + cut, "f", broken="skip", notes=notes))
    assert [sentence.line for sentence in found] == [1, 6]
    assert [(part.line, part.last_line) for part in notes.skipped] == [(3, 4), (8, 8)]
    assert notes.dropped == {"broken sentences": 2}


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
