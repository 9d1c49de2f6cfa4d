"""Files that are not plain text."""

import pytest

from dbpcfg.corpus.loading import check_plain_text
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.streaming import stream
from dbpcfg.errors import DbpcfgError


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('<?xml version="1.0"?>\n<book>the cat</book>\n', "XML"),
        ("<text>\nthe cat\n</text>\n", "XML"),
        ('<text id="1">the cat</text>', "XML"),
        ("<!DOCTYPE html>\n<p>the cat", "HTML"),
        ("<HTML>\n<p>the cat", "HTML"),
        ('{"text": "the cat"}\n', "JSON"),
        ('[{"text": "the cat"}]', "JSON"),
        ('["the cat", "sat"]', "JSON"),
        ("%PDF-1.4\nthe cat", "PDF"),
        ("%!PS-Adobe\n", "PostScript"),
        ("{\\rtf1 the cat}", "RTF"),
    ],
)
def test_what_is_not_plain_text_is_an_error(tmp_path, text, kind):
    path = tmp_path / "f.txt"
    path.write_text(text)
    for reading in (read, lambda path: list(stream([str(path)]))):
        with pytest.raises(DbpcfgError, match=rf"f\.txt: found {kind} \(.*--input-format text"):
            reading(path)
    assert len(read(path, format="text")) > 0
    assert list(stream([str(path)], "text"))


def test_tables_by_their_ending(tmp_path):
    (tmp_path / "f.csv").write_text("id,sentence\n")
    with pytest.raises(DbpcfgError, match="found a table"):
        read(tmp_path / "f.csv")
    assert len(read(tmp_path / "f.csv", format="text")) == 1


def test_what_begins_like_a_tree_is_an_error(tmp_path):
    path = tmp_path / "f.txt"
    for text in ("(S the dog barks)\n", "(NP-SBJ the old dog barks"):
        path.write_text(text)
        with pytest.raises(DbpcfgError, match=r"f\.txt: found .*begins like a tree but is not"):
            read(path)
        assert len(read(path, format="text")) == 1
    path.write_text("(S the dog barks)\n")
    assert read(path, format="penn")[0].words == ("the", "dog", "barks")


@pytest.mark.parametrize(
    "text",
    ["the cat", "<unknown> barks loudly\nthe dog", "(laughs) yes", "(I think so)", "(A dog barks)",
     "[ laughs ] yes", "{ x }", "< 3 >", "% of them", "", '" the cat "', "[ [ x ] ]"],
)  # fmt: skip
def test_plain_text(text):
    check_plain_text(text, "f.txt", "f.txt")


@pytest.mark.parametrize("text", ["<" * 10**5, "<a>" * 10**5, "[x " * 10**5, "{" * 10**5])
def test_long_texts_take_no_time(text):
    check_plain_text(text, "f", "f")
