"""The formats of corpora: the interface of readers, their registry, and format detection.

A format is a `CorpusReader` in its own module, listed in `readers`. A program adds another with
``readers.add("name", CorpusReader(...))``, a package with an entry point in ``dbpcfg.readers``.

If only one format has the extension of a file, the file is read in that format, so that mistakes
are reported.  Otherwise, as with ``.xml``, ``.txt`` and standard input, the content decides: some
treebanks are ``.txt`` files, and brackets read as words would go unnoticed.  ``.csv`` and ``.tsv``
files are tables unless recognised as something else.  Text that no reader recognises is plain text.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.registry import Registry

HEAD = 1 << 16
"""How many characters of a file are used to detect its format."""

SKIP_HINT = "--skip-broken (in Python broken='skip') skips what is broken"
"""The hint in errors about parts that can be skipped."""


@dataclass(slots=True)
class Speakers:
    """A choice of speakers.

    A speaker may be chosen by any name, such as the code ``MOT`` or the role ``Mother``; case does
    not matter. Without a choice, the default of the format applies.
    """

    include: tuple[str, ...] | None = None
    """Speakers to read; None for all."""
    exclude: tuple[str, ...] | None = None
    """Speakers to leave out."""
    seen: dict[str, None] = field(default_factory=dict)
    """Every name seen so far, in order."""

    @classmethod
    def from_names(cls, include: Iterable[str] | None, exclude: Iterable[str] | None) -> Speakers:
        """Make a choice from lists of names or single names."""
        return cls(_names(include), _names(exclude))

    @property
    def is_default(self) -> bool:
        """Whether no choice was made."""
        return self.include is None and self.exclude is None

    def includes(self, names: Collection[str]) -> bool:
        """Whether to read a speaker who has these names."""
        self.seen.update(dict.fromkeys(names))
        folded = {name.casefold() for name in names}
        if self.include is not None and folded.isdisjoint(map(str.casefold, self.include)):
            return False
        return self.exclude is None or folded.isdisjoint(map(str.casefold, self.exclude))

    def check(self) -> None:
        """Raise an error if no speaker has a chosen name, which is probably misspelt."""
        folded = {name.casefold() for name in self.seen}
        for name in (self.include or ()) + (self.exclude or ()):
            if name.casefold() not in folded:
                speakers = ", ".join(sorted(self.seen)) or "the files name nobody"
                raise DbpcfgError(f"no speaker is called {name!r}; the speakers are {speakers}")


def _names(names: Iterable[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


DAYS_PER_MONTH = 30.4375
"""The value that childes-db uses."""

_AGE = re.compile(r"([0-9]{1,3});(?:([0-9]{1,2})(?:\.([0-9]{1,2})?)?)?")


def parse_age(text: str) -> float | None:
    """An age in months; None if it is not given.

    It is written ``2;03.04`` (years, months, days), as in CHAT, or as a number of months.
    """
    text = text.strip()
    if match := _AGE.fullmatch(text):
        years, extra_months, days = (int(part or 0) for part in match.groups())
        return 12 * years + extra_months + days / DAYS_PER_MONTH
    try:
        age = float(text)
    except ValueError:
        return None
    return age if math.isfinite(age) and age >= 0 else None


@dataclass(frozen=True, slots=True)
class AgeRange:
    """A range of ages in months, ends included: ``24-36``, ``24-`` or ``-36``."""

    text: str
    """As it was given."""
    youngest: float
    oldest: float

    @classmethod
    def parse(cls, text: str | None) -> AgeRange | None:
        """Read a range; None stays None."""
        if text is None:
            return None
        first, dash, last = str(text).partition("-")
        youngest = parse_age(first) if first.strip() else 0.0
        oldest = parse_age(last) if last.strip() else math.inf
        has_limit = dash and (first.strip() or last.strip())
        if not has_limit or youngest is None or oldest is None or youngest > oldest:
            raise DbpcfgError(
                "ages must be a range in months, such as 24-36, 24- or 2;00-3;00, the younger age "
                f"first, got {text!r:.80}"
            )
        return cls(str(text), youngest, oldest)

    def reason_to_skip(self, age: float | None) -> str:
        """Why utterances at an age are left out; empty if they are read."""
        if age is None:
            return "utterances of transcripts without an age"
        inside = self.youngest <= age <= self.oldest
        return "" if inside else f"utterances at ages outside {self.text}"


class Malformed(Exception):
    """A malformed part of a file; ``hint`` says what is expected."""

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
    """What is wrong, with file and line."""

    def __str__(self) -> str:
        """The reason and the lines that were skipped."""
        if self.line == self.last_line:
            return f"{self.reason}; skipped line {self.line:,}"
        return f"{self.reason}; skipped lines {self.line:,} to {self.last_line:,}"


@dataclass(slots=True)
class Source:
    """A file being read: the options of its reader, and counts of what it removed or modified."""

    name: str = "<text>"
    """The name of the file in messages."""
    skip_broken: bool = False
    """Whether to skip broken parts, which are errors otherwise."""
    speakers: Speakers = field(default_factory=Speakers)
    """The speakers to read."""
    ages: AgeRange | None = None
    """The ages of the target child to read; None: all."""
    text: str | None = None
    """The column of a table that has the sentences; the reader's own if not given."""
    function_tags: bool = False
    """Whether labels in brackets keep function tags."""
    empty_elements: bool = False
    """Whether brackets keep empty elements."""
    removed: Counter[str] = field(default_factory=Counter)
    """Counts of what was left out."""
    modified: Counter[str] = field(default_factory=Counter)
    """Counts of what was modified."""
    suspicious: Counter[str] = field(default_factory=Counter)
    """Counts of words that may not be words."""
    skipped: list[SkippedPart] = field(default_factory=list)
    """Broken parts that were skipped."""

    def merge(self, other: Source) -> None:
        """Add the counts of another source, or of a part of this one."""
        self.removed += other.removed
        self.modified += other.modified
        self.suspicious += other.suspicious
        self.skipped += other.skipped

    def record_skipped(self, kind: str, line: int, last_line: int, reason: str) -> None:
        """Record a broken part that is skipped."""
        self.removed[kind] += 1
        self.skipped.append(SkippedPart(self.name, line, last_line, reason))

    def skip_or_raise(
        self,
        fault: Malformed,
        line: int,
        last_line: int,
        kind: str = "broken sentences",
        error: type[DbpcfgError] = DbpcfgError,
    ) -> None:
        """Skip a malformed part, or raise an error about it."""
        reason = f"{self.name}:{fault.line}: {fault}"
        if self.skip_broken:
            self.record_skipped(kind, line, last_line, reason)
        else:
            hint = f"; {fault.hint}" if fault.hint else ""
            raise error(f"{reason}{hint}; {SKIP_HINT}") from None


@dataclass(frozen=True, slots=True)
class CorpusReader:
    """Reads the files of one format."""

    read: Callable[[str, Source], Iterator[Sentence]]
    """Reads a text, and adds to the counts of its source."""
    extensions: tuple[str, ...] = ()
    """File extensions, such as ``.mrg``."""
    recognises: Callable[[str], object] = lambda text: False
    """Whether a text begins like one in this format."""
    has_speakers: bool = False
    """Whether it reads the utterances of `Source.speakers` only."""
    has_ages: bool = False
    """Whether it reads the utterances to children of `Source.ages` only."""
    has_columns: bool = False
    """Whether it reads the column `Source.text`."""
    has_function_tags: bool = False
    """Whether it can keep function tags and empty elements."""
    read_lines: Callable[[Iterable[str], Source], Iterator[Sentence]] | None = None
    """Reads a file line by line, so that it need not fit into memory."""


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
        "table": "corpus.readers.table:TABLE",
        "babylm": "corpus.readers.babylm:BABYLM",
    },
)
"""The readers by format, in the order in which formats are tried."""


def check_format(format: str | None) -> str | None:
    """Return the format, or raise an error if it does not exist."""
    if format is not None:
        readers[format]  # raises an error if there is none
    return format


def formats_by_extension(path: str) -> tuple[str, ...]:
    """The formats that have the extension of a path (before ``.gz``)."""
    extension = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    return tuple(name for name in readers.names() if extension in readers[name].extensions)


def format_by_content(text: str) -> str:
    """The format that a text seems to be in."""
    return next((name for name in readers.names() if readers[name].recognises(text)), "text")


def detect_format(path: str, text: str) -> str:
    """The format of a file, by its extension or else by its content."""
    candidates = formats_by_extension(path)
    if len(candidates) == 1 and candidates[0] not in ("text", "table"):
        return candidates[0]
    format = format_by_content(text)
    if candidates == ("table",) and format == "text":
        return "table"
    return "penn" if "penn" in candidates and format not in candidates else format
