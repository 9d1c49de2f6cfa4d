"""Files as text: which files paths stand for, and their bytes decoded.

A folder stands for the files in it, and in the folders below, whose extension is known, sorted by
path; hidden ones are left out.  If they are of several formats, one has to be chosen.  A pattern
such as ``wsj_00*.mrg`` is one that names no file as it stands, with ``*``, ``?`` or ``[`` in it.
Nothing may be read twice.

Files may be packed with gzip, and are in UTF-8 unless another encoding is given.  Encodings are not
guessed, because a wrong guess goes unnoticed: the error names the first byte that is not UTF-8, the
option, and a likely encoding.  An XML file is read in the encoding that it declares.  Line ends
become ``\\n``, and a byte-order mark goes.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from dbpcfg.corpus.readers import by_extension
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import opening


def expand(paths: Iterable[str | os.PathLike[str]], format: str | None = None) -> list[str]:
    """List the files to read."""
    files: dict[str, str] = {}  # the file, and what it is on disk
    for path in paths:
        for file in _files(os.fspath(path), format):
            place = STDIN if file == STDIN else os.path.realpath(file)
            if place in files:
                again = "" if files[place] == file else f" (as {name_of(files[place])} too)"
                raise DbpcfgError(f"{name_of(file)}: given twice{again}; give each file once")
            files[place] = file
    if not files:
        raise DbpcfgError("there is nothing to read; give a file, a folder or - for standard input")
    return list(files.values())


def _files(path: str, format: str | None) -> list[str]:
    name = name_of(path)
    if not path or "\0" in path:
        raise DbpcfgError(f"{name!r} is not a path; give a file, a folder or -")
    with opening(name):
        if path == STDIN:
            return [path]
        if os.path.isdir(path):
            return _in_folder(path, format)
        if os.path.lexists(path) or not any(sign in path for sign in "*?["):
            return [path]  # what is not there is found out when it is opened
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise DbpcfgError(f"{name}: nothing matches this pattern; is the path right?")
        return [file for match in found for file in _files(match, format)]


def _in_folder(folder: str, format: str | None) -> list[str]:
    found = [(file, by_extension(file)) for file in sorted(_walk(folder))]
    found = [(file, known) for file, known in found if known and format in (None, *known)]
    counts = Counter(format or ("penn" if "penn" in known else known[0]) for _, known in found)
    if not counts:
        wanted = f" {format}" if format else ""
        raise DbpcfgError(
            f"{name_of(folder)}: there are no{wanted} files in this folder, to go by their "
            f"extensions; name the files instead, as in {os.path.join(name_of(folder), '*')}"
        )
    if len(counts) > 1:
        listed = ", ".join(f"{count} {known}" for known, count in counts.most_common())
        raise DbpcfgError(
            f"{name_of(folder)}: found files of several formats in this folder ({listed}); "
            "choose one with format= (--input-format), or name the files"
        )
    return [file for file, _ in found]


def _walk(folder: str) -> Iterator[str]:
    seen = {os.path.realpath(folder)}  # links may lead round in a circle
    for place, folders, files in os.walk(folder, onerror=_raise, followlinks=True):
        for name in list(folders):
            target = os.path.realpath(os.path.join(place, name))
            if name.startswith(".") or target in seen:
                folders.remove(name)
            seen.add(target)
        yield from (os.path.join(place, name) for name in files if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


_SIGNS = {
    "HTML": re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S),
    "XML": re.compile(
        r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>.*</\1\s*>)", re.S
    ),
    "JSON": re.compile(
        r'\s*(?:\{\s*(?:"[^"\n]*"\s*:|\})|\[\s*(?:[\[{]\s*[\[{"]|"[^"\n]*"\s*[,\]]))'
    ),
    "PDF": re.compile(r"\s*%PDF-"),
    "PostScript": re.compile(r"\s*%!PS"),
    "RTF": re.compile(r"\s*\{\\rtf"),
}
_TABLES = {".csv": "a table", ".tsv": "a table"}
_LIKE_A_TREE = re.compile(r"\s*\((?!(?:I|A|OK|TV)\s)[A-Z][A-Z0-9$.|=-]*\s+[^\s()]")
_SHOWN = 30


def check_plain_text(head: str, path: str, name: str) -> None:
    """Raise an error if a file that no format was found for is not plain text either."""
    remedy = "if its lines are sentences all the same, give --input-format text (format='text')"
    ending = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    kind = _TABLES.get(ending) or next((k for k, sign in _SIGNS.items() if sign.match(head)), None)
    start = " ".join(head[: 4 * _SHOWN].split())[:_SHOWN]
    if kind is not None:
        raise DbpcfgError(
            f"{name}: found {kind} ({start!r}…), expected plain text or a treebank in a known "
            f"format; extract its sentences, one per line; {remedy}"
        )
    if _LIKE_A_TREE.match(head):
        raise DbpcfgError(
            f"{name}: found {start!r}…, which begins like a tree but is not one in Penn brackets, "
            "as (S (NP (D the) (N dog)) (V barks)); for trees with bare words give "
            f"--input-format penn (format='penn'); {remedy}"
        )


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
