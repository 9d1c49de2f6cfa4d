"""Sentences one by one, from text of any length: for commands that write as they read.

Plain text is read line by line as it comes, from files, gzip files or standard input. A blank line
is None, so that there can be a line written for each line read. Lines may have any length. All
other formats, and a gzip file on standard input, are read whole by `dbpcfg.corpus.reading.read`.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import BinaryIO

from dbpcfg.corpus.loading import (
    GZIP,
    STDIN,
    binary_file,
    check_plain_text,
    checked_encoding,
    expand,
    name_of,
    not_decoded,
    not_utf8,
    standard_input,
)
from dbpcfg.corpus.readers import HEAD, checked_format, recognised
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.io.files import opening

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""Where Python has put bytes that it could not decode."""


def stream(
    paths: Iterable[str],
    format: str | None = None,
    speakers: Iterable[str] | None = None,
    exclude_speakers: Iterable[str] | None = None,
    report: Callable[[str], None] = lambda remark: None,
    *,
    broken: str = "error",
    encoding: str | None = None,
) -> Iterator[Sentence | None]:
    """Read sentences one by one.

    ``report``: called with what was left out of files that are read whole.
    Returns the sentences; None for a blank line of plain text.
    """
    wanted = checked_format(format)
    encoding = checked_encoding(encoding)
    for path in expand(paths, wanted):
        name = name_of(path)
        with opening(name), ExitStack() as stack:
            lines = _plain_text(path, wanted, encoding, stack)
            if lines is not None and not speakers and not exclude_speakers:
                yield from _sentences(lines, name, encoding)
                continue
        corpus = read(
            path,
            format=wanted,
            speakers=speakers,
            exclude_speakers=exclude_speakers,
            broken=broken,
            encoding=encoding,
        )
        for note in corpus.notes():
            report(note)
        yield from corpus


def _plain_text(
    path: str, format: str | None, encoding: str | None, stack: ExitStack
) -> io.TextIOWrapper | None:
    """The lines of a file, if it is plain text; of other files nothing is taken."""
    file: BinaryIO
    if path == STDIN:
        file = standard_input()
    else:
        file = stack.enter_context(open(path, "rb", buffering=HEAD))  # noqa: SIM115
    head = _head(file)
    if head.startswith(GZIP):
        if path == STDIN:  # what is taken from it cannot be given back
            return None
        file = stack.enter_context(gzip.GzipFile(fileobj=file))  # type: ignore[assignment]
        head = _head(file)
    if format is None:
        text = head.decode(encoding or "utf-8", errors="ignore").removeprefix("\ufeff")
        format = recognised(path, text)
        if format == "text":
            check_plain_text(text, path, name_of(path))
    if format != "text":
        return None
    given = "utf-8-sig" if encoding in (None, "utf-8") else encoding
    lines = io.TextIOWrapper(file, encoding=given, errors="surrogateescape")
    stack.callback(lines.detach)  # or standard input would be closed with it
    return lines


def _head(file: BinaryIO) -> bytes:
    """How a file begins, as far as that is there already."""
    head: bytes = file.peek(HEAD)  # type: ignore[attr-defined]
    return head


def _sentences(lines: Iterable[str], name: str, encoding: str | None) -> Iterator[Sentence | None]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise binary_file(name, number)
        if not line.isascii() and (byte := _NOT_UTF8.search(line)):
            if encoding not in (None, "utf-8"):
                raise not_decoded(name, number, encoding)
            sample = line.encode(errors="surrogateescape")
            fixed = encoding is not None
            raise not_utf8(name, number, ord(byte[0]) - 0xDC00, sample, fixed=fixed)
        words = tuple(line.split())
        yield Sentence(words, source=name, line=number) if words else None
