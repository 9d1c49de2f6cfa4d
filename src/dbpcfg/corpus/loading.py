"""Find the files that paths stand for, and read their text.

A folder stands for all files in it with a known extension, also in its subfolders, sorted by path;
hidden files are left out.  If they have several formats, one must be chosen.  A path that does not
exist and has ``*``, ``?`` or ``[`` in it is a pattern.  No file may be given twice.

Files may be compressed with gzip.  They are in UTF-8, unless another encoding is given or they look
like Latin-1 (`dbpcfg.corpus.encodings`).  XML files are read in the encoding that they declare.
Line ends become ``\\n``, and byte-order marks are removed.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import BinaryIO, TypeAlias

from dbpcfg.corpus.encodings import (
    STDIN_NAME,
    UTF8,
    WESTERN,
    check_encoding,
    convert_hint,
    decoding_error,
    guess_notes,
    not_utf8_error,
    western,
    western_stream,
)
from dbpcfg.corpus.readers import HEAD, formats_by_extension
from dbpcfg.errors import DbpcfgError, MissingFileError
from dbpcfg.io.files import os_errors
from dbpcfg.io.log import note


def files_to_read(paths: Iterable[str | os.PathLike[str]], format: str | None = None) -> list[str]:
    """List the files to read."""
    files: dict[str, str] = {}  # by their real paths
    for path in paths:
        for file in _files(os.fspath(path), format):
            real = STDIN if file == STDIN else os.path.realpath(file)
            if real in files:
                again = "" if files[real] == file else f" (as {display_name(files[real])} too)"
                raise DbpcfgError(f"{display_name(file)}: given twice{again}; give each file once")
            files[real] = file
    if not files:
        raise DbpcfgError("there is nothing to read; give a file, a folder or - for standard input")
    return list(files.values())


def _files(path: str, format: str | None) -> list[str]:
    name = display_name(path)
    if not path or "\0" in path:
        raise DbpcfgError(f"{name!r} is not a path; give a file, a folder or -")
    with os_errors(name):
        if path == STDIN:
            return [path]
        if os.path.isdir(path):
            return _in_folder(path, format)
        if os.path.lexists(path) or not any(sign in path for sign in "*?["):
            return [path]  # opening it reports a missing file
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise MissingFileError(f"{name}: nothing matches this pattern; is the path right?")
        return [file for match in matches for file in _files(match, format)]


def _in_folder(folder: str, format: str | None) -> list[str]:
    formats = {file: formats_by_extension(file) for file in sorted(_walk(folder))}
    formats = {
        file: candidates
        for file, candidates in formats.items()
        if candidates and format in (None, *candidates)
    }
    counts = Counter(
        format or ("penn" if "penn" in candidates else candidates[0])
        for candidates in formats.values()
    )
    if not counts:
        kind = f" {format}" if format else ""
        raise DbpcfgError(
            f"{display_name(folder)}: there are no{kind} files in this folder, to go by their "
            f"extensions; name the files instead, as in {os.path.join(display_name(folder), '*')}"
        )
    if len(counts) > 1:
        listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        raise DbpcfgError(
            f"{display_name(folder)}: found files of several formats in this folder ({listed}); "
            "choose one with format= (--input-format), or name the files"
        )
    return list(formats)


def _walk(folder: str) -> Iterator[str]:
    seen = {os.path.realpath(folder)}  # links may lead round in a circle
    for parent, folders, files in os.walk(folder, onerror=_raise, followlinks=True):
        for name in list(folders):
            target = os.path.realpath(os.path.join(parent, name))
            if name.startswith(".") or target in seen:
                folders.remove(name)
            seen.add(target)
        yield from (os.path.join(parent, name) for name in files if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


_STRING = r'"[^"\n]*"'
_VALUE = rf"(?:{_STRING}|-?\d[\d.eE+-]*|true\b|false\b|null\b)"
_PATTERNS = {
    "HTML": re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S),
    "XML": re.compile(
        r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>.*</\1\s*>)", re.S
    ),
    "JSON": re.compile(
        rf"\s*(?:(?:\[\s*)*\{{\s*(?:{_STRING}\s*:|\}}\s*(?:[\],\n]|$))"  # objects
        rf"|(?:\[\s*)+(?:{_STRING}\s*\]\s*(?:\n|$)"  # lists
        rf"|{_VALUE}\s*(?:,\s*(?:{_VALUE}|[\[{{])|\]\s*(?:\]|,\s*\[))))"
    ),
    "PDF": re.compile(r"\s*%PDF-"),
    "PostScript": re.compile(r"\s*%!PS"),
    "RTF": re.compile(r"\s*\{\\rtf"),
}
_LIKE_A_TREE = re.compile(r"\s*\((?!(?:I|A|OK|TV)\s)[A-Z][A-Z0-9$.|=-]*\s+[^\s()]")
_SHOWN = 30


def check_plain_text(head: str, name: str, bracketed: bool = False) -> None:
    """Raise an error if a file without a recognised format does not look like plain text.

    ``bracketed``: whether the text has constituents in square brackets, which look like JSON.
    """
    remedy = "if its lines are sentences all the same, give --input-format text (format='text')"
    signs = {k: sign for k, sign in _PATTERNS.items() if k != "JSON" or not bracketed}
    kind = next((k for k, sign in signs.items() if sign.match(head)), None)
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
"""The path of standard input."""

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

_COMPRESSED = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DECLARED = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_NOT_DECODED = re.compile("[\udc80-\udcff]")
"""Surrogates that stand for bytes which could not be decoded."""


def display_name(path: str) -> str:
    """The name of a path in messages, even if it is not valid Unicode."""
    return STDIN_NAME if path == STDIN else path.encode("utf-8", "backslashreplace").decode()


OnGuess: TypeAlias = Callable[[str, str], None]
"""Called with the name of a file that is not UTF-8 and the encoding that it is read in."""


def note_guess(name: str, encoding: str) -> None:
    """Log that a file is read in an encoding that nobody gave."""
    for text in guess_notes({name: encoding}):
        note(text)


def load_text(path: str, encoding: str | None = None, on_guess: OnGuess = note_guess) -> str:
    """Read the text of a file; line ends become single newlines.

    ``path``: the file, plain or compressed with gzip, or ``-`` for standard input.
    ``encoding``: if not given, what an XML file declares, or else UTF-8, or Latin-1 if the file
    looks like it. If ``"utf-8"`` is given, errors do not suggest another encoding.
    """
    name = display_name(path)
    encoding = check_encoding(encoding)
    with os_errors(name, hint="is the path right?"):
        if path == STDIN:
            data = standard_input().read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    if data.startswith(GZIP):
        with os_errors(name, hint="is the gzip file damaged or cut off?"):
            data = gzip.decompress(data)
    text = _decoded(data, name, encoding, on_guess)
    if not text.strip():
        raise DbpcfgError(f"{name}: the file is empty; leave it out, or get it again")
    return text


def text_lines(
    path: str, encoding: str | None = None, on_guess: OnGuess = note_guess
) -> Iterator[str]:
    """Yield the lines of a file, as `load_text` reads them."""
    name = display_name(path)
    encoding = check_encoding(encoding)
    with os_errors(name, hint="is the path right?"), ExitStack() as stack:
        file, head = open_unpacked(path, stack)
        _check_head(head, name, encoding)
        if not head.strip():
            raise DbpcfgError(f"{name}: the file is empty; leave it out, or get it again")
        lines = as_text(file, encoding, stack)
        with os_errors(name, hint="is the gzip file damaged or cut off?"):
            yield from checked_lines(lines, path, encoding, on_guess)


def read_head(path: str, encoding: str | None = None) -> str:
    """The beginning of a file, without what cannot be decoded."""
    with os_errors(display_name(path), hint="is the path right?"), ExitStack() as stack:
        _, head = open_unpacked(path, stack)
    return head.decode(encoding or UTF8, "ignore").removeprefix("\ufeff")


def open_unpacked(path: str, stack: ExitStack) -> tuple[BinaryIO, bytes]:
    """Open a file or standard input, decompressed if necessary; also return its first bytes."""
    file: BinaryIO
    if path == STDIN:
        file = standard_input()
    else:
        file = stack.enter_context(open(path, "rb", buffering=HEAD))  # noqa: SIM115
    head = peek(file)
    if head.startswith(GZIP):
        file = stack.enter_context(gzip.GzipFile(fileobj=file))  # type: ignore[assignment]
        head = peek(file)
    return file, head


def peek(file: BinaryIO) -> bytes:
    """The first bytes of a file, as far as they are available."""
    head: bytes = file.peek(HEAD)  # type: ignore[attr-defined]
    return head


def as_text(file: BinaryIO, encoding: str | None, stack: ExitStack) -> io.TextIOWrapper:
    """Decode a file; bytes that cannot be decoded become surrogates, for `checked_lines`."""
    codec = "utf-8-sig" if encoding in (None, UTF8) else encoding
    lines = io.TextIOWrapper(file, encoding=codec, errors="surrogateescape")
    stack.callback(lines.detach)  # or standard input would be closed with it
    return lines


def checked_lines(
    lines: Iterable[str], path: str, encoding: str | None, on_guess: OnGuess = note_guess
) -> Iterator[str]:
    """Yield the lines of `as_text`; raise an error for a line that could not be decoded.

    ``path``: the file that they are from.
    """
    name, guess = display_name(path), None
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise binary_file_error(name, number)
        if not line.isascii() and (guess or _NOT_DECODED.search(line)):
            if encoding not in (None, UTF8):
                raise decoding_error(name, number, encoding)
            data = line.encode(errors="surrogateescape")
            if guess is None and encoding is None and (guess := _guessed(path, data)):
                on_guess(name, guess)
            try:
                line = data.decode(WESTERN if guess else UTF8)
            except UnicodeDecodeError as error:
                wrong, fixed = data[error.start], encoding is not None
                raise not_utf8_error(name, number, wrong, data, fixed=fixed) from None
        yield line


def _guessed(path: str, line: bytes) -> str | None:
    """The encoding of a file in which this line is the first that is not UTF-8."""
    if path == STDIN:
        return western(line)
    with ExitStack() as stack:
        return western_stream(open_unpacked(path, stack)[0])


def standard_input() -> BinaryIO:
    """Standard input as bytes; raises an error if there is none."""
    if sys.stdin is None or sys.stdin.closed:
        raise DbpcfgError("there is no standard input to read; give a file instead of -")
    return sys.stdin.buffer


def binary_file_error(name: str, line: int) -> DbpcfgError:
    """The error about a NUL byte."""
    return DbpcfgError(
        f"{name}:{line}: found a NUL byte, so this is a binary file (or UTF-16), expected UTF-8 "
        "text; is it the right file?"
    )


def _check_head(data: bytes, name: str, encoding: str | None) -> None:
    """Raise an error if a file is compressed, or in UTF-16 where UTF-8 is expected."""
    for magic, program in _COMPRESSED.items():
        if data.startswith(magic):
            raise DbpcfgError(
                f"{name}: found a file packed with {program}, expected text, plain or gzip; "
                "unpack it first"
            )
    if encoding in (None, UTF8) and data.startswith(_UTF16):
        option = "give --encoding utf-16 (in Python encoding='utf-16'), or "
        raise DbpcfgError(
            f"{name}: found UTF-16, expected UTF-8; "
            f"{'' if encoding else option}{convert_hint('UTF-16', name)}"
        )


def _decoded(
    data: bytes, name: str, encoding: str | None = None, on_guess: OnGuess = note_guess
) -> str:
    _check_head(data, name, encoding)
    if encoding is None and (declared := _DECLARED.match(data)):
        try:
            encoding = check_encoding(declared[1].decode())
        except DbpcfgError as error:
            raise DbpcfgError(f"{name}:1: {error}, and --encoding can name another") from None
    if encoding in (None, UTF8):
        data = data.removeprefix(_BOM)
    nul = -1 if encoding is not None and encoding[:5] in ("utf-1", "utf-3") else data.find(b"\0")
    if nul >= 0:
        raise binary_file_error(name, _line(data, nul))
    try:
        text = data.decode(encoding or UTF8)
    except UnicodeDecodeError as error:
        line = _line(data, error.start)
        if encoding not in (None, UTF8):
            raise decoding_error(name, line, str(encoding)) from error
        guess = western(data, error.start) if encoding is None else None
        if guess is None:
            sample = data[max(0, error.start - 2000) : error.start + 2000]
            fixed = encoding is not None
            raise not_utf8_error(name, line, data[error.start], sample, fixed=fixed) from error
        on_guess(name, guess)
        text = _decoded(data, name, WESTERN)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
