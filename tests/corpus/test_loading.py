"""Paths to files, bytes to text, and everything that may be wrong with either."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.loading import _decoded, check_plain_text, display_name, files_to_read, load_text
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.streaming import stream
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.induce import induce

OLD = "a\nthe café\n".encode("latin-1")


@pytest.fixture
def put(tmp_path):
    def put(data, name="f.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return put


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("the café\n".encode(), "the café\n"),
        (b"\xef\xbb\xbfthe cat\n", "the cat\n"),
        (b"a\r\nb\rc\n\r\nd", "a\nb\nc\n\nd"),
        ("a\u2028b\x85c\x1cd".encode(), "a\u2028b\x85c\x1cd"),
    ],
)
def test_text(put, data, text):
    assert load_text(put(data)) == text
    assert load_text(put(gzip.compress(data))) == text  # whatever the extension
    assert load_text(put(gzip.compress(data[:3]) + gzip.compress(data[3:]), "f.gz")) == text


def error_of(path):
    with pytest.raises(DbpcfgError) as caught:
        load_text(path)
    assert str(caught.value).startswith(path)
    return str(caught.value).removeprefix(path)


def test_other_encodings(put):
    assert error_of(put("a\nжук\n".encode("cp1251"), "old.txt")) == (
        ":2: found the byte 0xe6, which is not UTF-8; give its encoding, perhaps --encoding "
        "iso-8859-1 (in Python encoding='iso-8859-1'), or convert it with "
        "`iconv -f ISO-8859-1 -t UTF-8 old.txt > NEW`"
    )
    assert ":1: found the byte 0xc3" in error_of(put("the caf\u00e9".encode()[:-1]))  # cut off
    assert ":1: found the byte 0xed" in error_of(put(b"\xed\xa0\x80"))  # half a surrogate pair
    for codec in ("utf-16", "utf-32"):
        message = error_of(put("the cat".encode(codec)))
        assert message.startswith(
            ": found UTF-16, expected UTF-8; give --encoding utf-16 (in Python encoding='utf-16'), "
            "or convert it with `iconv -f UTF-16"
        )
    assert "found UTF-16" in error_of(put(gzip.compress("the cat".encode("utf-16"))))
    assert ":1: found a NUL byte" in error_of(put("the cat".encode("utf-16-le")))


@pytest.mark.parametrize(
    ("text", "encoding", "likely"),
    [
        ("the “łódź”\n", "windows-1250", "windows-1252"),
        ("今天 天氣 很 好 ， 黑貓 在 樹 下 睡覺 ， 小狗 在 門口 等 客人\n", "big5", "big5"),
        ("мы живём в одном доме и ходим в одну школу\n", "windows-1251", "windows-1251"),
    ],
)
def test_an_encoding_can_be_given(put, text, encoding, likely):
    path = put(text.encode(encoding))
    assert f"perhaps --encoding {likely} " in error_of(path)
    assert load_text(path, encoding) == text
    assert load_text(put(gzip.compress(text.encode(encoding))), encoding.upper()) == text
    assert load_text(put(text.encode("utf-16")), "utf-16") == text


def test_wrong_encodings(put):
    path = put("a\ncafé".encode())
    for encoding in ("klingon", "hex", "", "a\0b"):
        with pytest.raises(DbpcfgError, match=r"there is no encoding .*common ones are utf-8"):
            load_text(path, encoding)
    with pytest.raises(DbpcfgError, match=r":2: found bytes that are not ascii; is --encoding"):
        load_text(path, "ascii")
    assert load_text(path, "UTF8") == "a\ncafé"
    with pytest.raises(DbpcfgError) as caught:  # the option is not named where it has been given
        load_text(put(OLD, "old.txt"), "utf-8")
    assert "old.txt:2: found the byte 0xe9, which is not UTF-8; convert it" in str(caught.value)
    with pytest.raises(DbpcfgError, match="found UTF-16, expected UTF-8; convert it with"):
        load_text(put("a".encode("utf-16")), "utf-8")


def test_xml_declares_its_encoding(put):
    xml = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<s>café</s>\n'
    assert load_text(put(xml.encode("latin-1"))) == xml
    assert load_text(put(xml.encode()), "utf-8") == xml
    odd = put(xml.replace("ISO-8859-1", "x-klingon").encode())
    assert error_of(odd).startswith(":1: there is no encoding 'x-klingon'; common ones are")
    assert load_text(odd, "utf-8").startswith("<?xml")


def test_binary_and_packed_files(put):
    assert ":2: found a NUL byte, so this is a binary file" in error_of(put(b"\x7fELF\n\x00\x01"))
    assert "packed with bzip2" in error_of(put(bz2.compress(b"the cat")))
    assert "packed with xz" in error_of(put(lzma.compress(b"the cat")))
    assert "packed with zip, expected text, plain or gzip; unpack" in error_of(put(b"PK\x03\x04.."))


@pytest.mark.parametrize("damage", [lambda d: d[:-9], lambda d: d[:5], lambda d: d + b"x", None])
def test_damaged_gzip(put, damage):
    data = gzip.compress(b"the cat sat on the mat\n" * 100)
    broken = damage(data) if damage else data[:30] + b"\xff\xff\xff" + data[33:]
    assert re.fullmatch(
        r" cannot be read: .+; is the gzip file damaged or cut off\?", error_of(put(broken))
    )


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_files(put, data):
    assert error_of(put(data)) == ": the file is empty; leave it out, or get it again"


def test_files_that_cannot_be_opened(tmp_path, put, monkeypatch):
    missing = " cannot be read: No such file or directory; is the path right?"
    assert error_of(str(tmp_path / "no.txt")) == missing
    assert "cannot be read: Is a directory" in error_of(str(tmp_path))
    assert "cannot be read: File name too long" in error_of(str(tmp_path / ("x" * 300)))
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    assert error_of(str(tmp_path / "dead")) == missing
    path = put(b"the cat")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # chmod does not stop root
    assert error_of(path) == " cannot be read: Permission denied; is the path right?"


def stdin(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input(monkeypatch):
    stdin(monkeypatch, b"the cat\n")
    assert load_text("-") == "the cat\n"
    stdin(monkeypatch, gzip.compress(b"the cat\n"))
    assert load_text("-") == "the cat\n"
    stdin(monkeypatch, b"")
    with pytest.raises(DbpcfgError, match=r"^<stdin>: the file is empty"):
        load_text("-")
    stdin(monkeypatch, b"\xff")
    with pytest.raises(DbpcfgError, match=r"^<stdin>:1: found the byte 0xff.* FILE > NEW"):
        load_text("-")


def test_no_standard_input(monkeypatch):
    stdin(monkeypatch, b"")
    sys.stdin.close()
    for nothing in (sys.stdin, None):
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(DbpcfgError, match="no standard input to read; give a file instead"):
            load_text("-")


def test_names_that_are_no_text():
    assert display_name("-") == "<stdin>"
    assert display_name("./-") == "./-"
    assert display_name(os.fsdecode(b"caf\xe9.txt")) == "caf\\udce9.txt"


@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes_are_text_or_an_error(data):
    try:
        text = _decoded(data, "f")
    except DbpcfgError:
        assert b"\0" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff", b"PK", b"BZ") or is_bad(data)
        return
    expected = data.decode("windows-1252" if is_bad(data) else "utf-8").removeprefix("\ufeff")
    assert text == expected.replace("\r\n", "\n").replace("\r", "\n")


def is_bad(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


# --- what is no plain text ------------------------------------------------------------------------


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
        ('["the cat"]\n["sat"]\n', "JSON"),
        ('[\n  [\n    "the cat"\n  ]\n]\n', "JSON"),
        ("[[1, 2], [3]]", "JSON"),
        ('[[{"text": null}]]', "JSON"),
        ("{}\n", "JSON"),
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


@pytest.mark.parametrize(
    "line",
    [
        "[[[the dog] barked] loudly]",
        "[[ [the dog] barked ] loudly ]",
        '[["Yes" he] said]',
        '["Yes", he said]',
        "[1] the dog",
        "[laughs]",
        "[" * 900,
        "\n" * 9000 + "the dog",
    ],
)
def test_square_brackets_are_not_json(tmp_path, line):
    (tmp_path / "f.txt").write_text(f"{line}\n")
    assert read(tmp_path / "f.txt").formats == ("text",)
    assert any(stream([str(tmp_path / "f.txt")]))


def test_json_is_text_if_its_brackets_are_known(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text('["yes", "no"] he said\n')
    with pytest.raises(DbpcfgError, match="found JSON"):
        read(path)
    assert len(read(path, bracketed=True)) == 1
    assert len(list(stream([str(path)], bracketed=True))) == 1
    assert induce(path, K=2, iterations=1, chains=1, brackets="text").corpus.words


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
    check_plain_text(text, "f.txt")


@pytest.mark.parametrize("text", ["<" * 10**5, "<a>" * 10**5, "[x " * 10**5, "{" * 10**5])
def test_long_texts_take_no_time(text):
    check_plain_text(text, "f")


# --- files, folders, patterns ---------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (
        "a/2.mrg",
        "a/10.mrg.gz",
        "a/b/1.parsed",
        "a/README",
        "a/.hidden.mrg",
        "a/.git/x.mrg",
    ):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("(X go)")
    return tmp_path


FOUND = ["a/10.mrg.gz", "a/2.mrg", "a/b/1.parsed"]


def test_files_are_kept_in_order(here):
    assert files_to_read(["a/README", Path("a/2.mrg"), "-", "missing"]) == [
        "a/README",
        "a/2.mrg",
        "-",
        "missing",  # whoever opens it will see
    ]


def test_a_folder_is_its_files_of_known_extension(here):
    assert files_to_read(["a"]) == FOUND
    assert files_to_read([Path("a")], "penn") == FOUND
    assert files_to_read(["a/"]) == FOUND
    assert files_to_read([here / "a"]) == [str(here / name) for name in FOUND]


def test_patterns(here):
    assert files_to_read(["a/*.mrg*"]) == FOUND[:2]
    assert files_to_read(["a/**/*.parsed"]) == FOUND[2:]
    assert files_to_read(["a/?.mrg"]) == ["a/2.mrg"]
    assert files_to_read(["a/[0-9].mrg"]) == ["a/2.mrg"]
    assert files_to_read(["*"]) == FOUND  # a folder among the matches
    Path("what?.txt").write_text("x")
    assert files_to_read(["what?.txt"]) == ["what?.txt"]


def test_links_in_a_circle(here):
    Path("a/b/up").symlink_to(here / "a")
    Path("a/c").symlink_to(here / "elsewhere")
    Path("elsewhere").mkdir()
    Path("elsewhere/3.mrg").write_text("(X go)")
    assert files_to_read(["a"]) == [*FOUND, "a/c/3.mrg"]


def paths_error(*paths, **options):
    with pytest.raises(DbpcfgError) as caught:
        files_to_read(paths, **options)
    return str(caught.value)


def test_nothing_twice(here):
    assert paths_error("a", "a") == "a/10.mrg.gz: given twice; give each file once"
    assert paths_error("a/2.mrg", "a/b/../2.mrg").startswith(
        "a/b/../2.mrg: given twice (as a/2.mrg t"
    )
    assert "given twice" in paths_error("a", "a/*.mrg")
    assert paths_error("-", "-") == "<stdin>: given twice; give each file once"
    assert "given twice" in paths_error("missing", "missing")


def test_several_formats_in_a_folder(here):
    Path("a/notes.txt").write_text("x")
    Path("a/b/eve.cha").write_text("x")
    assert paths_error("a") == (
        "a: found files of several formats in this folder (3 penn, 1 chat, 1 text); "
        "choose one with format= (--input-format), or name the files"
    )
    assert files_to_read(["a"], "penn") == FOUND
    assert files_to_read(["a"], "chat") == ["a/b/eve.cha"]


def test_nothing_in_a_folder(here):
    Path("empty").mkdir()
    assert paths_error("empty") == (
        "empty: there are no files in this folder, to go by their extensions; "
        "name the files instead, as in empty/*"
    )
    assert "there are no chat files in this folder" in paths_error("a", format="chat")


def test_what_is_no_path(here):
    assert (
        paths_error() == "there is nothing to read; give a file, a folder or - for standard input"
    )
    assert paths_error("").startswith("'' is not a path")
    assert "is not a path" in paths_error("a\0b")
    assert paths_error("a/*.cha") == "a/*.cha: nothing matches this pattern; is the path right?"
    with pytest.raises(TypeError):
        files_to_read([3])


def test_folders_that_cannot_be_listed(here, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert paths_error("a") == "a cannot be read: Permission denied"
