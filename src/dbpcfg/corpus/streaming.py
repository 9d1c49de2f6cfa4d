"""Read sentences one by one from text of any length, for commands that write as they read.

Plain text is read line by line, from files, gzip files or standard input. Blank lines are None, so
that a line can be written for each line read. Other formats, and gzip on standard input, are read
as a whole by `dbpcfg.corpus.reading.read`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

from dbpcfg.corpus.encodings import check_encoding, guess_notes
from dbpcfg.corpus.loading import (
    GZIP,
    STDIN,
    OnGuess,
    as_text,
    check_plain_text,
    checked_lines,
    display_name,
    files_to_read,
    open_unpacked,
    peek,
    standard_input,
)
from dbpcfg.corpus.readers import check_format, detect_format
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.io.files import os_errors


def stream(
    paths: Iterable[str],
    format: str | None = None,
    speakers: Iterable[str] | None = None,
    exclude_speakers: Iterable[str] | None = None,
    on_note: Callable[[str], None] = lambda note: None,
    *,
    age: str | None = None,
    text: str | None = None,
    broken: str = "error",
    encoding: str | None = None,
    bracketed: bool = False,
) -> Iterator[Sentence | None]:
    """Yield sentences one by one, and None for each blank line of plain text.

    ``on_note``: called with notes about encodings, and about files that are read as a whole.
    ``bracketed``: see `dbpcfg.corpus.reading.read`.
    """
    format = check_format(format)
    encoding = check_encoding(encoding)
    first: list[str] = []
    others: dict[str, str] = {}

    def on_guess(name: str, encoding: str) -> None:
        """Say it of the first file at once, of all others together."""
        if not first:
            first.append(name)
            on_note(guess_notes({name: encoding})[0])
        else:
            others[name] = encoding

    for path in files_to_read(paths, format):
        name = display_name(path)
        with os_errors(name), ExitStack() as stack:
            lines = _plain_text(path, format, encoding, bracketed, stack)
            is_filtered = speakers or exclude_speakers or age is not None or text is not None
            if lines is not None and not is_filtered:
                yield from _sentences(lines, path, encoding, on_guess)
                continue
        corpus = read(
            path,
            format=format,
            speakers=speakers,
            exclude_speakers=exclude_speakers,
            age=age,
            text=text,
            broken=broken,
            encoding=encoding,
            bracketed=bracketed,
        )
        for name, guess in corpus.guessed.items():
            on_guess(name, guess)
        for note in replace(corpus, guessed={}).notes():
            on_note(note)
        yield from corpus
    for note in guess_notes(others):
        on_note(note)


def _plain_text(
    path: str, format: str | None, encoding: str | None, bracketed: bool, stack: ExitStack
) -> io.TextIOWrapper | None:
    """The lines of a file if it is plain text; other files are left for other readers."""
    if path == STDIN and peek(standard_input()).startswith(GZIP):
        return None  # decompressing would consume the input
    file, head = open_unpacked(path, stack)
    if format is None:
        text = head.decode(encoding or "utf-8", errors="ignore").removeprefix("\ufeff")
        format = detect_format(path, text)
        if format == "text":
            check_plain_text(text, display_name(path), bracketed)
    return as_text(file, encoding, stack) if format == "text" else None


def _sentences(
    lines: Iterable[str], path: str, encoding: str | None, on_guess: OnGuess
) -> Iterator[Sentence | None]:
    name = display_name(path)
    for number, line in enumerate(checked_lines(lines, path, encoding, on_guess), start=1):
        words = tuple(line.split())
        yield Sentence(words, source=name, line=number) if words else None
