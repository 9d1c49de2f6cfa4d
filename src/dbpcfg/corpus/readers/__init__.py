"""The formats of corpora: what a reader is, which readers there are, and which one a file is for.

A format is a `CorpusReader` in a module of its own and a line in `readers`. A program adds another
with ``readers.add("name", CorpusReader(...))``, a package with an entry point of the group
``dbpcfg.readers``.

An ending that belongs to one format decides, so that mistakes in such a file are reported as
mistakes; among formats that share an ending, as ``.xml``, the content does.  ``.txt``, any other
ending and standard input say nothing, and the content decides, because treebanks come as ``.txt``
too, and brackets read as words would go unnoticed.  A text that no reader recognises is plain text.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.registry import Registry

HEAD = 1 << 16
"""Characters that a format is recognised by, at most."""

SKIP_HINT = "--skip-broken (in Python broken='skip') skips what is broken"
"""The end of an error about something that can be skipped."""


@dataclass(slots=True)
class Speakers:
    """A choice of speakers.

    A speaker has several names, such as the code ``MOT`` and the role ``Mother``; any of them
    counts, in capitals or not. With neither `only` nor `without` the choice is the format's.
    """

    only: tuple[str, ...] | None = None
    """Those to read; None: everyone."""
    without: tuple[str, ...] | None = None
    """Those to leave out."""
    heard: dict[str, None] = field(default_factory=dict)
    """Every name seen so far, in order."""

    @classmethod
    def of(cls, only: Iterable[str] | None, without: Iterable[str] | None) -> Speakers:
        """Make a choice from lists of names; a single name needs no list."""
        return cls(_names(only), _names(without))

    @property
    def by_default(self) -> bool:
        """Whether no choice was made."""
        return self.only is None and self.without is None

    def take(self, names: Collection[str]) -> bool:
        """Whether a speaker with these names is chosen."""
        self.heard.update(dict.fromkeys(names))
        folded = {name.casefold() for name in names}
        if self.only is not None and folded.isdisjoint(map(str.casefold, self.only)):
            return False
        return self.without is None or folded.isdisjoint(map(str.casefold, self.without))

    def check(self) -> None:
        """Raise an error if nobody has a chosen name: most likely it is a typing error."""
        folded = {name.casefold() for name in self.heard}
        for name in (self.only or ()) + (self.without or ()):
            if name.casefold() not in folded:
                known = ", ".join(sorted(self.heard)) or "the files name nobody"
                raise DbpcfgError(f"no speaker is called {name!r}; the speakers are {known}")


def _names(names: Iterable[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


class Malformed(Exception):
    """What is wrong with a part of a file, and how such a part should look."""

    def __init__(self, line: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.line, self.hint = line, hint


class SkippedPart(NamedTuple):
    """A broken part of a file that was skipped."""

    source: str
    """The file."""
    line: int
    """Its first line, counted from 1."""
    last_line: int
    """Its last line."""
    reason: str
    """What is wrong, with the place."""

    def __str__(self) -> str:
        """The reason and the lines that were skipped."""
        if self.line == self.last_line:
            return f"{self.reason}; skipped line {self.line:,}"
        return f"{self.reason}; skipped lines {self.line:,} to {self.last_line:,}"


@dataclass(slots=True)
class Source:
    """A file that is read: what is asked of its reader, and what the reader notes about it."""

    name: str = "<text>"
    """The file, as messages name it."""
    skip_broken: bool = False
    """Whether what is broken is skipped, and not an error."""
    speakers: Speakers = field(default_factory=Speakers)
    """Whose utterances to read."""
    function_tags: bool = False
    """Whether labels in brackets keep function tags."""
    empty_elements: bool = False
    """Whether brackets keep empty elements."""
    dropped: Counter[str] = field(default_factory=Counter)
    """How many of what was left out."""
    changed: Counter[str] = field(default_factory=Counter)
    """How many of what was changed."""
    kept: Counter[str] = field(default_factory=Counter)
    """How many of what is a word here, but may be none."""
    skipped: list[SkippedPart] = field(default_factory=list)
    """What was broken and skipped."""

    def add(self, other: Source) -> None:
        """Take over what was noted about another source, or about a part of this one."""
        self.dropped += other.dropped
        self.changed += other.changed
        self.kept += other.kept
        self.skipped += other.skipped

    def skip(self, what: str, line: int, last_line: int, reason: str) -> None:
        """Note that a broken part is skipped."""
        self.dropped[what] += 1
        self.skipped.append(SkippedPart(self.name, line, last_line, reason))

    def fault(
        self,
        fault: Malformed,
        line: int,
        last_line: int,
        what: str = "broken sentences",
        error: type[DbpcfgError] = DbpcfgError,
    ) -> None:
        """Skip a part with a fault, or raise an error about it."""
        reason = f"{self.name}:{fault.line}: {fault}"
        if self.skip_broken:
            self.skip(what, line, last_line, reason)
        else:
            hint = f"; {fault.hint}" if fault.hint else ""
            raise error(f"{reason}{hint}; {SKIP_HINT}") from None


@dataclass(frozen=True, slots=True)
class CorpusReader:
    """Reads the files of one format."""

    read: Callable[[str, Source], Iterator[Sentence]]
    """Reads a text, and notes in its source what is left out, changed or skipped."""
    endings: tuple[str, ...] = ()
    """How the names of its files end, such as ``.mrg``."""
    recognises: Callable[[str], object] = lambda text: False
    """Whether a text begins like one in this format."""
    has_speakers: bool = False
    """Whether it reads the utterances of `Source.speakers` only."""
    has_function_tags: bool = False
    """Whether it can keep function tags and empty elements."""


readers: Registry[CorpusReader] = Registry(
    "format",
    "readers",
    {
        "text": "corpus.readers.text:TEXT",
        "chat": "corpus.readers.chat:CHAT",
        "conllu": "corpus.readers.conllu:CONLLU",
        "cess": "corpus.readers.cess:CESS",  # before penn, as it looks like it
        "corpussearch": "corpus.readers.corpussearch:CORPUSSEARCH",  # and this one too
        "penn": "corpus.readers.penn:PENN",
        "sinica": "corpus.readers.sinica:SINICA",
        "export": "corpus.readers.export:EXPORT",
        "alpino": "corpus.readers.alpino:ALPINO",
        "tigerxml": "corpus.readers.tigerxml:TIGERXML",
    },
)
"""The readers by the names of their formats, in the order in which they are asked."""


def checked_format(format: str | None) -> str | None:
    """A format that a user gave, checked to be one."""
    if format is not None:
        readers[format]  # raises an error if there is none
    return format


def by_extension(path: str) -> tuple[str, ...]:
    """The formats that the ending of a path stands for, before ``.gz`` if it has that."""
    ending = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    return tuple(name for name in readers.names() if ending in readers[name].endings)


def by_content(text: str) -> str:
    """The format that a text seems to be in."""
    return next((name for name in readers.names() if readers[name].recognises(text)), "text")


def recognised(path: str, text: str) -> str:
    """The format of a file, by its ending or else by its content."""
    known = by_extension(path)
    if len(known) == 1 and known != ("text",):
        return known[0]
    found = by_content(text)
    return "penn" if "penn" in known and found not in known else found
