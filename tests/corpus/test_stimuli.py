"""Tables of stimuli: what is read, where its sentences are, and what is an error."""

import gzip
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.stimuli import (
    SentenceRows,
    Stimuli,
    TableLayout,
    is_missing,
    kind_of_table,
    read_stimuli,
)
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import csv_line, line


def read(folder: Path, content: str | bytes, name: str = "t.csv", **options) -> Stimuli:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_stimuli(str(path), **options)


def test_semicolons(tmp_path):
    (tmp_path / "a.csv").write_text("item;sentence\n1;the dog, too\n")
    table = read_stimuli(str(tmp_path / "a.csv"))
    assert table.names == ("item", "sentence")
    assert table.rows == [("1", "the dog, too")]
    (tmp_path / "b.csv").write_text("item,a;b\n1,2;3\n")
    assert read_stimuli(str(tmp_path / "b.csv")).names == ("item", "a;b")


def test_cells_stay_as_they_are(tmp_path):
    table = read(tmp_path, 'a,b\n01,"x, ""y"""\n2," z\nw"\nNA,\n')
    assert table.names == ("a", "b")
    assert table.rows == [("01", 'x, "y"'), ("2", " z\nw"), ("NA", "")]
    assert table.lines == (2, 3, 5)
    assert table.location(2) == f"{tmp_path}/t.csv:5"
    assert table.column("a", "--by") == ["01", "2", "NA"]


@pytest.mark.parametrize("ending", [".tsv", ".tab", ".tsv.gz"])
def test_tabs_byte_order_marks_line_ends_and_gzip(tmp_path, ending):
    content = b"\xef\xbb\xbfa\tb\r\n1\tx,y\r\n\r\n\r\n"
    packed = gzip.compress(content) if ending.endswith("gz") else content
    table = read(tmp_path, packed, f"t{ending}")
    assert (table.names, table.rows) == (("a", "b"), [("1", "x,y")])


def test_a_line_separator_within_a_cell_is_no_line_end(tmp_path):
    assert read(tmp_path, "a,b\n1,x\u2028y\n").rows == [("1", "x\u2028y")]


def test_quotes_as_characters(tmp_path):
    content = "w\tn\n\"Oh\t1\n's\t2\n"
    with pytest.raises(DbpcfgError, match=r"t\.tsv:2: .*give --no-quotes"):
        read(tmp_path, content, "t.tsv")
    table = read(tmp_path, content, "t.tsv", quotes=False)
    assert table.rows == [('"Oh', "1"), ("'s", "2")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", r"t\.csv:3: found 3 cells, expected 2, as the header has"),
        ("a,b\n1\n", r"t\.csv:2: found 1 cell, expected 2"),
        ("a,b\n1,2\n\n3,4\n", r"t\.csv:3: found a blank line, expected 2"),
        ("a,b,a\n1,2,3\n", r"t\.csv:1: two columns have the name 'a'; rename one"),
        ('a,b\n1,"x\n', r"t\.csv:2: .*quote"),
        ("", "the file is empty"),
        (b"a,b\n1,\xec\xe8\xf0\n", r"t\.csv:2: found the byte 0xec.*--encoding iso-8859-1"),
        ("a,b\n1,2\n".encode("utf-16"), "found UTF-16"),
        (b"a,b\n1,\0\n", r"t\.csv:2: found a NUL byte"),
    ],
)
def test_what_is_no_table(tmp_path, content, message):
    with pytest.raises(DbpcfgError, match=message):
        read(tmp_path, content)


def test_another_encoding(tmp_path):
    table = read(tmp_path, "a,b\n1,café\n".encode("latin-1"), encoding="latin-1")
    assert table.rows == [("1", "café")]


def test_a_cell_that_is_too_large(tmp_path):
    with pytest.raises(DbpcfgError, match=r"t\.csv:2: field larger"):
        read(tmp_path, f'a\n"{"x" * 200_000}"\n')


def test_columns_that_are_not_there_and_those_that_are(tmp_path):
    table = read(tmp_path, "item,sentence\n1,x\n")
    with pytest.raises(DbpcfgError, match=r"no column 'text', which --text names; its columns are "
                       "'item', 'sentence'$"):  # fmt: skip
        table.number("text", "--text")
    with pytest.raises(DbpcfgError, match=r"its columns are 'item\|sentence'; is it CSV"):
        read(tmp_path, "item|sentence\n1|x\n").number("item", "--by")
    wide = Stimuli(tuple(map(str, range(30))), [], "wide")
    with pytest.raises(DbpcfgError, match="'19' and 10 more"):
        wide.number("x", "--by")


def test_kinds():
    assert [kind_of_table(p) for p in ("x.csv", "X.TSV", "x.csv.gz")] == ["csv", "tsv", "csv"]
    assert kind_of_table("-", "tsv") == "tsv"
    with pytest.raises(DbpcfgError, match=r"<stdin>: .*give --table csv or --table tsv"):
        kind_of_table("-")


def test_missing_values():
    class NAType:
        """As that of pandas."""

    assert all(map(is_missing, (None, "", " \t", math.nan, NAType())))
    assert not any(map(is_missing, ("NA", "x", 0, 0.0, False)))
    assert is_missing("NA", na=True)


def test_rows_of_what_is_no_file():
    assert Stimuli(("a",), [(1,), (2,)], "the list").location(1) == "the list, row 2"


FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(st.binary(max_size=60) | st.text('a,"\n\t \r\ufeff', max_size=40).map(str.encode))
def test_anything_is_a_table_or_an_error(tmp_path, content):
    for quotes in (True, False):
        try:
            table = read(tmp_path, content, quotes=quotes)
        except DbpcfgError:
            continue
        assert all(len(row) == len(table.names) for row in table.rows)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t\"',# "))


@FUZZ
@given(st.lists(st.tuples(TEXT, TEXT.filter(str.strip)), max_size=4))
def test_cells_come_back_from_what_is_written(tmp_path, rows):
    for ending, written in ((".csv", csv_line), (".tsv", line)):
        content = "".join(map(written, [("a", "b"), *rows]))
        assert read(tmp_path, content, f"t{ending}").rows == rows


# --- sentences and the rows of their tokens -------------------------------------------------------

WORDS = ["The", "dog", "barked.", "Mr.", "Cat", "did", "not,", "though!", "Then", "it", "slept"]
ROWS = [(str(1 + (n > 7)), str(n), word) for n, word in enumerate(WORDS)]


SPLIT = Preprocessing(tokens="punctuation")


def table(rows=ROWS, names=("item", "zone", "word")) -> Stimuli:
    return Stimuli(tuple(names), list(rows), "t.csv", tuple(range(2, 2 + len(rows))))


def sentences(given: Stimuli, **options) -> list[SentenceRows]:
    if "text" not in options:
        options["word"] = "word"
    return TableLayout(**options).sentences(given)


def texts(found: list[SentenceRows]) -> list[str]:
    return [" ".join(one.sentence.words) for one in found]


def test_a_sentence_in_each_row():
    found = sentences(table([("1", "the  dog,"), ("2", "it")], ("n", "s")), text="s")
    assert texts(found) == ["the dog,", "it"]
    assert [list(one.numbers) for one in found] == [[0, 0, 0], [1, 1]]  # with the end
    assert [(one.sentence.source, one.sentence.line) for one in found] == [
        ("t.csv", 2),
        ("t.csv", 3),
    ]
    split = sentences(table([("1", "the  dog,")], ("n", "s")), text="s", preprocessing=SPLIT)
    assert texts(split) == ["the dog ,"]


def test_texts_are_sentences_unless_there_is_a_boundary():
    found = sentences(table(), by=["item"])
    assert texts(found) == [" ".join(WORDS[:8]), " ".join(WORDS[8:])]
    found = sentences(table(), by=["item"], boundary="punctuation")
    assert texts(found) == ["The dog barked.", "Mr. Cat did not, though!", "Then it slept"]
    assert [one.numbers for one in found] == [[0, 1, 2], [3, 4, 5, 6, 7], [8, 9, 10]]


def test_columns_that_name_rows_give_the_order():
    by_key = sentences(table(), by=["item", "zone"])
    said = sentences(table(), by=["item"], order="zone", boundary="punctuation")
    assert by_key == said


def test_a_shuffled_table_has_the_same_sentences():
    shuffled = ROWS[:]
    random.Random(3).shuffle(shuffled)
    found = sentences(table(shuffled), by=["item", "zone"])
    straight = sentences(table(), by=["item", "zone"])
    assert sorted(texts(found)) == sorted(texts(straight))
    for one in found:
        assert [shuffled[row][2] for row in one.numbers] == list(one.sentence.words)


def test_a_column_of_ends():
    ends = ["0", "", "true", "no", "0", "False", "NA", "1", "0", "0", "0"]
    given = table(
        [(*row, end) for row, end in zip(ROWS, ends, strict=True)], ("item", "zone", "word", "last")
    )
    found = sentences(given, boundary="last")
    assert texts(found) == [" ".join(WORDS[:3]), " ".join(WORDS[3:8]), " ".join(WORDS[8:])]
    wrong = table([("x", "maybe")], ("word", "last"))
    with pytest.raises(DbpcfgError, match=r"t\.csv:2: 'last'.*got 'maybe'"):
        sentences(wrong, boundary="last")


def test_several_tokens_of_one_row():
    (first, second, *_) = sentences(table(), by=["item", "zone"], preprocessing=SPLIT)
    assert first.sentence.words == ("The", "dog", "barked", ".")
    assert first.numbers == [0, 1, 2]
    assert first.spans == [(0, 1), (1, 2), (2, 4)]
    assert first.texts == ["The", "dog", "barked."]
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
            r"t\.csv:6: other rows lie between this row and the previous one of item = 1, t\.csv:3"
            "; sort the table, give --order",
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
        sentences(table(rows), **{"by": ["item"], **options})


def test_an_empty_sentence_and_a_number():
    with pytest.raises(DbpcfgError, match=r"t\.csv:3: the cell of 's' is empty"):
        sentences(table([("a",), (" ",)], ("s",)), text="s")
    for number in (1987, np.int64(1987)):
        assert texts(sentences(table([(number,)], ("s",)), text="s")) == ["1987"]
    (long,) = sentences(table([("a " * 1500,)], ("s",)), text="s")  # as a line of text may be
    assert len(long.sentence.words) == 1500
