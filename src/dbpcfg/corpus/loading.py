"""Files as text: from disk or standard input, packed with gzip or not, in UTF-8 unless another
encoding is given.

Encodings are not guessed, because a wrong guess goes unnoticed: the error names the first byte that
is not UTF-8, the option, and a likely encoding.  An XML file is read in the encoding that it
declares.  Line ends become ``\\n``, and a byte-order mark goes.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import sys
from typing import BinaryIO

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.faults import opening

__all__ = ["STDIN", "checked_encoding", "load_text", "name_of"]

STDIN = "-"
"""The path that stands for standard input."""

GZIP = b"\x1f\x8b"
"""How a file packed with gzip begins."""

_PACKED = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DECLARED = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_UTF8 = "utf-8"
_HIGH = bytes(range(128, 256))
_CONTROLS = bytes(range(128, 160))  # of ISO-8859-1; letters in Windows' encodings


def name_of(path: str) -> str:
    """The name of a path in messages, even of one that is no valid text."""
    return "<stdin>" if path == STDIN else path.encode("utf-8", "backslashreplace").decode()


def checked_encoding(encoding: str | None) -> str | None:
    """The name of an encoding that a user gave, checked to be one of text."""
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)  # hex and others are no encodings of text
    except (LookupError, ValueError):
        raise DbpcfgError(
            f"there is no encoding {encoding!r}; common ones are utf-8, iso-8859-1, windows-1252, "
            "utf-16, big5, gb18030, euc-jp, koi8-r"
        ) from None
    return found.name


def load_text(path: str, encoding: str | None = None) -> str:
    """Read the text of a file.

    ``path``: the file, plain or packed with gzip, or ``-`` for standard input.
    ``encoding``: its encoding; UTF-8 if not given, or what an XML file declares. With ``"utf-8"``,
    the error about a file that is not does not name the option.
    Returns the text; line ends are single newlines.
    """
    name = name_of(path)
    encoding = checked_encoding(encoding)
    with opening(name, hint="is the path right?"):
        if path == STDIN:
            data = standard_input().read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    if data.startswith(GZIP):
        with opening(name, hint="is the gzip file damaged or cut off?"):
            data = gzip.decompress(data)
    text = _decoded(data, name, encoding)
    if not text.strip():
        raise DbpcfgError(f"{name}: the file is empty; leave it out, or get it again")
    return text


def standard_input() -> BinaryIO:
    """Standard input as bytes; raises an error if there is none."""
    if sys.stdin is None or sys.stdin.closed:
        raise DbpcfgError("there is no standard input to read; give a file instead of -")
    return sys.stdin.buffer


def binary_file(name: str, line: int) -> DbpcfgError:
    """The error about a NUL byte."""
    return DbpcfgError(
        f"{name}:{line}: found a NUL byte, so this is a binary file (or UTF-16), expected UTF-8 "
        "text; is it the right file?"
    )


def not_utf8(
    name: str, line: int, byte: int, sample: bytes = b"", *, fixed: bool = False
) -> DbpcfgError:
    """The error about a byte that is not UTF-8.

    ``fixed``: whether UTF-8 was asked for, so that the file has to be converted.
    """
    likely = _likely_encoding(sample or bytes([byte]))
    option = f"give its encoding, perhaps --encoding {likely} (in Python encoding={likely!r}), or "
    return DbpcfgError(
        f"{name}:{line}: found the byte 0x{byte:02x}, which is not UTF-8; "
        f"{'' if fixed else option}{_convert(likely.upper(), name)}"
    )


def not_decoded(name: str, line: int, encoding: str) -> DbpcfgError:
    """The error about bytes that are not in the encoding that was given."""
    return DbpcfgError(f"{name}:{line}: found bytes that are not {encoding}; is --encoding right?")


def _likely_encoding(data: bytes) -> str:
    high = len(data) - len(data.translate(None, _HIGH))
    if 10 * high > 3 * len(data) and len(data) > 20:  # most letters are not ASCII
        for encoding in ("big5", "gb18030", "euc-jp", "shift-jis", "euc-kr"):
            try:
                text = data[: len(data) // 2 * 2].decode(encoding)
            except UnicodeDecodeError:
                continue
            if 10 * sum(character > "\u3000" for character in text) > 3 * len(text):
                return encoding
        return "windows-1251"
    return "windows-1252" if len(data.translate(None, _CONTROLS)) < len(data) else "iso-8859-1"


def _decoded(data: bytes, name: str, encoding: str | None = None) -> str:
    for magic, program in _PACKED.items():
        if data.startswith(magic):
            raise DbpcfgError(
                f"{name}: found a file packed with {program}, expected text, plain or gzip; "
                "unpack it first"
            )
    if encoding in (None, _UTF8) and data.startswith(_UTF16):
        option = "give --encoding utf-16 (in Python encoding='utf-16'), or "
        raise DbpcfgError(
            f"{name}: found UTF-16, expected UTF-8; "
            f"{'' if encoding else option}{_convert('UTF-16', name)}"
        )
    if encoding is None and (declared := _DECLARED.match(data)):
        try:
            encoding = checked_encoding(declared[1].decode())
        except DbpcfgError as error:
            raise DbpcfgError(f"{name}:1: {error}, and --encoding can name another") from None
    if encoding in (None, _UTF8):
        data = data.removeprefix(_BOM)
    nul = -1 if encoding is not None and encoding[:5] in ("utf-1", "utf-3") else data.find(b"\0")
    if nul >= 0:
        raise binary_file(name, _line(data, nul))
    try:
        text = data.decode(encoding or _UTF8)
    except UnicodeDecodeError as error:
        line = _line(data, error.start)
        if encoding in (None, _UTF8):
            sample = data[max(0, error.start - 2000) : error.start + 2000]
            fixed = encoding is not None
            raise not_utf8(name, line, data[error.start], sample, fixed=fixed) from error
        raise not_decoded(name, line, str(encoding)) from error
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _convert(encoding: str, name: str) -> str:
    file = "FILE" if name == name_of(STDIN) else os.path.basename(name)
    return f"convert it with `iconv -f {encoding} -t UTF-8 {file} > NEW`"
