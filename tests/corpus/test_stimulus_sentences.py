"""The sentences of a table, and the rows of their tokens."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dbpcfg.corpus.stimuli import Stimuli, StimulusSentence, sentences_in_cells, sentences_of_rows
from dbpcfg.errors import DbpcfgError

WORDS = ["The", "dog", "barked.", "Mr.", "Cat", "did", "not,", "though!", "Then", "it", "slept"]
ROWS = [(str(1 + (n > 7)), str(n), word) for n, word in enumerate(WORDS)]


def table(rows=ROWS, names=("item", "zone", "word")) -> Stimuli:
    return Stimuli(tuple(names), list(rows), "t.csv", tuple(range(2, 2 + len(rows))))


def texts(found: list[StimulusSentence]) -> list[str]:
    return [" ".join(one.sentence.words) for one in found]


def test_a_sentence_in_each_row():
    found = sentences_in_cells(table([("1", "the  dog,"), ("2", "it")], ("n", "s")), "s")
    assert texts(found) == ["the dog,", "it"]
    assert [one.rows for one in found] == [(0, 0), (1,)]
    assert [(one.sentence.source, one.sentence.line) for one in found] == [
        ("t.csv", 2),
        ("t.csv", 3),
    ]
    split = sentences_in_cells(table([("1", "the  dog,")], ("n", "s")), "s", "punctuation")
    assert texts(split) == ["the dog ,"]


def test_texts_are_sentences_unless_there_is_a_boundary():
    found = sentences_of_rows(table(), "word", ["item"])
    assert texts(found) == [" ".join(WORDS[:8]), " ".join(WORDS[8:])]
    found = sentences_of_rows(table(), "word", ["item"], boundary="punctuation")
    assert texts(found) == ["The dog barked.", "Mr. Cat did not, though!", "Then it slept"]
    assert [one.rows for one in found] == [(0, 1, 2), (3, 4, 5, 6, 7), (8, 9, 10)]


def test_columns_that_name_rows_give_the_order():
    by_key = sentences_of_rows(table(), "word", ["item", "zone"])
    said = sentences_of_rows(table(), "word", ["item"], "zone", "punctuation")
    assert by_key == said


def test_a_shuffled_table_has_the_same_sentences():
    shuffled = ROWS[:]
    random.Random(3).shuffle(shuffled)
    found = sentences_of_rows(table(shuffled), "word", ["item", "zone"])
    straight = sentences_of_rows(table(), "word", ["item", "zone"])
    assert sorted(texts(found)) == sorted(texts(straight))
    for one in found:
        assert [shuffled[row][2] for row in one.rows] == list(one.sentence.words)


def test_a_column_of_ends():
    ends = ["0", "", "true", "no", "0", "False", "NA", "1", "0", "0", "0"]
    given = table(
        [(*row, end) for row, end in zip(ROWS, ends, strict=True)], ("item", "zone", "word", "last")
    )
    found = sentences_of_rows(given, "word", boundary="last")
    assert texts(found) == [" ".join(WORDS[:3]), " ".join(WORDS[3:8]), " ".join(WORDS[8:])]
    wrong = table([("x", "maybe")], ("word", "last"))
    with pytest.raises(DbpcfgError, match=r"t\.csv:2: 'last'.*got 'maybe'"):
        sentences_of_rows(wrong, "word", boundary="last")


def test_several_tokens_of_one_row():
    (first, second, *_) = sentences_of_rows(table(), "word", ["item", "zone"], tokens="punctuation")
    assert first.sentence.words == ("The", "dog", "barked", ".")
    assert first.rows == (0, 1, 2, 2)
    assert first.texts == ("The", "dog", "barked.")
    assert second.sentence.words == ("Mr.", "Cat", "did", "not", ",", "though", "!")


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([("1", "1", "")], {}, r"t\.csv:2: the cell of 'word' is empty"),
        ([("1", "1", "a"), ("", "2", "b")], {}, r"t\.csv:3: 'item', a column of --by"),
        ([("NA", "1", "a")], {}, r"t\.csv:2: 'item', a column of --by, has no value"),
        (
            [("1", "1", "a"), ("1", "2", "b"), ("2", "1", "c"), ("2", "2", "d"), ("1", "3", "e")],
            {},
            r"t\.csv:6: other rows stand between this one and the last of item = 1, t\.csv:3; "
            "sort the table, give --order",
        ),
        (
            [("1", "1", "a"), ("1", "2", "b"), ("1", "2", "c")],
            {"order": "zone"},
            r"t\.csv:4: this row and t\.csv:3 both are item = 1, zone = 2",
        ),
        (
            [("1", "1", "a"), ("1", "2", "b"), ("1", "2", "c")],
            {"by": ["item", "zone"]},
            r"t\.csv:4: this row and t\.csv:3 both are item = 1, zone = 2",
        ),
        ([("1", "x", "a"), ("1", "2", "b")], {"order": "zone"}, r"t\.csv:2: 'zone'.*got 'x'"),
        ([("1", "", "a"), ("1", "2", "b")], {"order": "zone"}, r"t\.csv:2: 'zone'.*number, got ''"),
        ([("1", "inf", "a"), ("1", "2", "b")], {"order": "zone"}, r"'zone'.*got 'inf'"),
        ([("1", "1", "a")], {"by": ["story"]}, "no column 'story', which --by names"),
        ([("1", "1", "a")], {"order": "place"}, "no column 'place', which --order names"),
        ([("1", "1", "a")], {"boundary": "end"}, "no column 'end', which --boundary names"),
        ([("1", "1", "a")], {"by": []}, "give --by"),
        ([("1", "1", 2.5)], {}, r"'word' must be text, got 2\.5"),
        ([("1", str(n), "a") for n in range(1001)], {}, "1,001 words, expected at most 1,000"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(rows, options, message):
    with pytest.raises(DbpcfgError, match=message):
        sentences_of_rows(table(rows), "word", **{"by": ["item"], **options})


def test_an_empty_sentence_and_a_number():
    with pytest.raises(DbpcfgError, match=r"t\.csv:3: the cell of 's' is empty"):
        sentences_in_cells(table([("a",), (" ",)], ("s",)), "s")
    for number in (1987, np.int64(1987)):
        assert texts(sentences_in_cells(table([(number,)], ("s",)), "s")) == ["1987"]
    (long,) = sentences_in_cells(table([("a " * 1500,)], ("s",)), "s")  # as a line of text may be
    assert len(long.sentence.words) == 1500
