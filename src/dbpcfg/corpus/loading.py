"""Files as text: from disk or standard input, packed with gzip or not, in UTF-8 and nothing else.

Other encodings are errors and not guessed, because a wrong guess goes unnoticed: the error
names the first byte that is not UTF-8 and the command that converts the file.  Line ends become
``\\n``, and a byte-order mark goes.
"""

from __future__ import annotations

import gzip
import os
import sys
from typing import BinaryIO

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.faults import opening

__all__ = ["STDIN", "load_text", "name_of"]

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


def name_of(path: str) -> str:
    """The name of a path in messages, even of one that is no valid text."""
    return "<stdin>" if path == STDIN else path.encode("utf-8", "backslashreplace").decode()


def load_text(path: str) -> str:
    """Read the text of a file.

    Parameters
    ----------
    path
        The file, plain or packed with gzip, or ``-`` for standard input.

    Returns
    -------
    str
        The text; line ends are single newlines.

    Raises
    ------
    DbpcfgError
        If the file cannot be read, is not UTF-8 text, or is empty.
    """
    name = name_of(path)
    with opening(name, hint="is the path right?"):
        if path == STDIN:
            data = standard_input().read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    if data.startswith(GZIP):
        with opening(name, hint="is the gzip file damaged or cut off?"):
            data = gzip.decompress(data)
    text = _decoded(data, name)
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


def not_utf8(name: str, line: int, byte: int) -> DbpcfgError:
    """The error about a byte that is not UTF-8."""
    return DbpcfgError(
        f"{name}:{line}: found the byte 0x{byte:02x}, which is not UTF-8; "
        f"{_convert('ISO-8859-1', name)} (or whatever its encoding is)"
    )


def _decoded(data: bytes, name: str) -> str:
    if data.startswith(_UTF16):
        raise DbpcfgError(f"{name}: found UTF-16, expected UTF-8; {_convert('UTF-16', name)}")
    for magic, program in _PACKED.items():
        if data.startswith(magic):
            raise DbpcfgError(
                f"{name}: found a file packed with {program}, expected text, plain or gzip; "
                "unpack it first"
            )
    nul = data.find(b"\x00")
    if nul >= 0:
        raise binary_file(name, _line(data, nul))
    data = data.removeprefix(_BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(name, _line(data, error.start), data[error.start]) from error
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _convert(encoding: str, name: str) -> str:
    file = "FILE" if name == name_of(STDIN) else os.path.basename(name)
    return f"convert it with `iconv -f {encoding} -t UTF-8 {file} > NEW`"
