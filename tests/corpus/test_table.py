"""Tables as corpora: childes-db and others."""

import csv
import gzip
import os
import tracemalloc
from pathlib import Path

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.streaming import stream
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import csv_line, line

COLUMNS = (
    "id",
    "gloss",
    "speaker_code",
    "speaker_role",
    "target_child_id",
    "target_child_name",
    "target_child_age",
)
ROWS = [
    ("1", "look at the dog", "MOT", "Mother", "7", "Ada", "760.5"),
    ("2", "me too", "ADA", "Target_Child", "7", "Ada", "760.5"),
    ("3", "that's xxx a night+light", "FAT", "Father", "7", "Ada", "1000"),
    ("4", "no", "CHI", "Child", "7", "Ada", "1000"),
    ("5", "mine", "CHI", "Child", "NA", "NA", "NA"),
    ("6", "yyy www", "MOT", "Mother", "NA", "NA", "NA"),
    ("7", "", "MOT", "Mother", "7", "Ada", "1000"),
    ("8", "thank_you", "MOT", "Mother", "NA", "NA", "NA"),
]
LEFT_OUT = "retraced, unclear and omitted words, fillers and events"


def table(folder, rows=ROWS, name="Brown.csv", written=csv_line):
    path = folder / name
    content = "".join(map(written, [COLUMNS, *rows])).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def texts(path, **options):
    return [" ".join(one.words) for one in read(path, quiet=True, **options)]


def test_childes_db_is_read_as_chat_is(tmp_path):
    corpus = read(table(tmp_path), quiet=True)
    assert [" ".join(one.words) for one in corpus] == [
        "look at the dog",
        "that's a night_light",
        "no",  # CHI is a playmate where another child is the target
        "thank_you",
    ]
    assert [(one.speaker, one.line) for one in corpus] == [
        ("MOT", 2), ("FAT", 4), ("CHI", 5), ("MOT", 9)
    ]  # fmt: skip
    assert corpus.formats == ("table",)
    assert corpus.removed == {
        "utterances of ADA": 1,
        "utterances of CHI": 1,
        LEFT_OUT: 1,
        "utterances with untranscribed words only": 1,
        "rows with an empty cell": 1,
    }


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"speakers": ["mother"]}, ["look at the dog", "thank_you"]),
        ({"speakers": ["CHI", "Target_Child"]}, ["me too", "no", "mine"]),
        ({"exclude_speakers": ["CHI", "MOT"]}, ["me too", "that's a night_light"]),
        ({"age": "24-30"}, ["look at the dog"]),
        ({"age": "2;06-"}, ["that's a night_light", "no"]),
        ({"age": "-25", "exclude_speakers": ["MOT"]}, ["me too"]),
    ],
)
def test_speakers_and_ages(tmp_path, choice, expected):
    path = table(tmp_path)
    assert texts(path, **choice) == expected
    assert [" ".join(one.words) for one in stream([str(path)], **choice)] == expected


def test_ages_in_months_and_who_has_none(tmp_path):
    rows = [(*row[:6], age) for row, age in zip(ROWS, ["24.9", "24.9", "2;08.25", *["NA"] * 5])]
    corpus = read(table(tmp_path, rows), age="24-30", quiet=True)
    assert [one.line for one in corpus] == [2]
    assert corpus.removed["utterances at ages outside 24-30"] == 1
    assert corpus.removed["utterances of transcripts without an age"] == 4
    assert corpus.age == "24-30"


@pytest.mark.parametrize("text", ["24", "-", "", "36-24", "two-three", "2-3-4"])
def test_what_is_no_range_of_ages(tmp_path, text):
    with pytest.raises(DbpcfgError, match="ages must be a range in months, such as 24-36"):
        read(table(tmp_path), age=text)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.csv.gz", csv_line),
        ("a.tsv", line),
        ("a.tab.gz", line),
        ("a.txt", csv_line),
        ("a.txt", line),
        ("a", lambda cells: ";".join(cells) + "\r\n"),
        ("a.csv", lambda cells: "\ufeff"[: cells == COLUMNS] + csv_line(cells)),
    ],
)
def test_separators_compression_and_names(tmp_path, name, written):
    expected = texts(table(tmp_path))
    assert texts(table(tmp_path, name=name, written=written)) == expected


def test_folders_and_several_files(tmp_path):
    table(tmp_path), table(tmp_path, ROWS[:1], "Snow.csv")
    assert len(read(tmp_path, quiet=True)) == 5
    assert len(read(tmp_path / "Brown.csv", tmp_path / "Snow.csv", quiet=True)) == 5


def test_a_column_of_another_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('n,said\n1,"she said ""no"", twice"\n2,"one\ntwo"\n3,\n\n4,xxx\n')
    corpus = read(path, text="said", quiet=True)
    assert [(one.line, one.words) for one in corpus] == [
        (2, ("she", "said", '"no",', "twice")),
        (3, ("one", "two")),
        (7, ("xxx",)),
    ]
    assert corpus.removed == {"rows with an empty cell": 1, "blank lines": 1}
    assert corpus.modified == {"cells of several lines, each one sentence": 1}
    assert (corpus.text, corpus[0].speaker) == ("said", None)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,b\n1,2\n", {}, r"t\.csv is a table without a column 'gloss': .*--text.* 'a', 'b'"),
        ("a,b\n1,2\n", {"text": "c"}, r"t\.csv has no column 'c', which --text names; .*'a', 'b'$"),
        ("a,a\n1,2\n", {"text": "a"}, r"t\.csv:1: two columns have the name 'a'"),
        ("a,b\n1,2\n1\n", {"text": "a"}, r"t\.csv:3: found 1 cell, expected 2, as the header"),
        ('a,b\n1,2\n1,"x\n', {"text": "a"}, r"t\.csv:3: .*is a quote not closed"),
        ('a,b\n1,"x"y\n', {"text": "a"}, r"t\.csv:2: .*is a quote not closed"),
        ("\n\na\n", {"text": "a"}, r"t\.csv:1: found a blank line, expected the names of columns"),
        ("", {"text": "a"}, "the file is empty"),
        ("a\n", {"text": "a"}, "there is nothing left"),
        (b"a\n\xec\xe8\xf0\n", {"text": "a"}, r"t\.csv:2: found the byte 0xec"),
        (b"a\nx\n\0\n", {"text": "a"}, r"t\.csv:3: found a NUL byte"),
        ("a\nx\n".encode("utf-16"), {"text": "a"}, "found UTF-16"),
        (gzip.compress(b"a\nx\n" * 99, mtime=0)[:-9], {"text": "a"}, "gzip"),
        ("a\n" + "x " * 1001, {"text": "a"}, r"t\.csv:2: found a line of 1,001 words"),
        ("a\nx\n", {"text": "a", "age": "1-2"}, "no column 'target_child_age', which --age names"),
        ("a\nx\n", {"text": "a", "speakers": "x"}, "no column 'speaker_code', which --speaker"),
        ("a,gloss\nx,y\n", {"format": "text", "text": "a"}, "has no columns.*--input-format table"),
        ("a,gloss\nx,y\n", {"format": "text", "age": "1-2"}, "text has no ages to choose from"),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path, content, options, message):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DbpcfgError, match=message):
        read(path, quiet=True, **options)


def test_broken_rows_can_be_skipped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,x\n2\n"3"3,y\n4,z\n5,"w\n')
    corpus = read(path, text="b", broken="skip", quiet=True)
    assert [one.words for one in corpus] == [("x",), ("z",)]
    assert corpus.removed == {"broken rows": 3}
    assert [part.line for part in corpus.skipped] == [3, 4, 6]


def test_rows_are_streamed(tmp_path):
    path = tmp_path / "t.csv"
    wide = "y" * 1000
    path.write_text("a,b\n" + f"{wide},x\n" * 8000)
    tracemalloc.start()
    try:
        assert len(read(path, text="b", quiet=True)) == 8000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 2


@pytest.mark.skipif("DBPCFG_DATA" not in os.environ, reason="needs DBPCFG_DATA")
@pytest.mark.parametrize("ages", [None, (24, 36)])
def test_counts_of_childes_db(ages):
    """Several tables, counted with the csv module alone."""
    tables = 0
    for path in sorted(Path(os.environ["DBPCFG_DATA"], "childes-db").glob("*.csv")):
        utterances, tokens, unclear, target, empty = 0, 0, 0, 0, 0
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                age, words = row["target_child_age"], row["gloss"].split()
                heard = [word for word in words if word.lower() not in ("xxx", "yyy", "www")]
                if row["speaker_role"] == "Target_Child" or (
                    row["speaker_code"] == "CHI" and row["target_child_id"] == "NA"
                ):
                    target += 1
                elif ages and (age == "NA" or not ages[0] <= float(age) / (365.25 / 12) <= ages[1]):
                    continue
                elif heard:
                    utterances += 1
                    tokens += len(heard)
                    unclear += len(words) - len(heard)
                else:
                    empty += 1
        if not utterances:
            continue
        tables += 1
        corpus = read(path, age=ages and f"{ages[0]}-{ages[1]}", quiet=True)
        removed = corpus.removed
        assert (len(corpus), sum(len(one.words) for one in corpus)) == (utterances, tokens), path
        assert removed.get(LEFT_OUT, 0) == unclear
        assert removed.get("utterances of CHI", 0) == target
        assert empty == sum(
            removed.get(name, 0)
            for name in ("rows with an empty cell", "utterances with untranscribed words only")
        )
    assert tables >= 5
