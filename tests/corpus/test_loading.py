"""Bytes to text, and everything that may be wrong with the bytes."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.loading import _decoded, load_text, name_of
from dbpcfg.errors import DbpcfgError


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
    assert error_of(put("a\nthe café\n".encode("latin-1"), "old.txt")) == (
        ":2: found the byte 0xe9, which is not UTF-8; give its encoding, perhaps --encoding "
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
        ("the café\n", "iso-8859-1", "iso-8859-1"),
        ("the “café”\n", "windows-1252", "windows-1252"),
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


def test_utf8_that_was_asked_for(put):
    """The error must not name the option where it has been given, or cannot be."""
    with pytest.raises(DbpcfgError) as caught:
        load_text(put("a\nthe café\n".encode("latin-1"), "old.txt"), "utf-8")
    assert str(caught.value).endswith(
        "old.txt:2: found the byte 0xe9, which is not UTF-8; convert it with "
        "`iconv -f ISO-8859-1 -t UTF-8 old.txt > NEW`"
    )
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
    assert name_of("-") == "<stdin>"
    assert name_of("./-") == "./-"
    assert name_of(os.fsdecode(b"caf\xe9.txt")) == "caf\\udce9.txt"


@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes_are_text_or_an_error(data):
    try:
        text = _decoded(data, "f")
    except DbpcfgError:
        assert b"\0" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff", b"PK", b"BZ") or is_bad(data)
        return
    expected = data.decode().removeprefix("\ufeff")
    assert text == expected.replace("\r\n", "\n").replace("\r", "\n")


def is_bad(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
