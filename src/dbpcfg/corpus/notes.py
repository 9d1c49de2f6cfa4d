"""What a reader leaves out, changes or skips: nothing of a file goes in silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from dbpcfg.errors import DbpcfgError

__all__ = ["SKIP_HINT", "Broken", "Malformed", "Notes", "SkippedPart", "checked_broken"]

Broken = Literal["error", "skip"]

SKIP_HINT = "--skip-broken (in Python broken='skip') skips what is broken"
"""The end of an error about something that can be skipped."""


class Malformed(Exception):
    """What is wrong with a part of a file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


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
class Notes:
    """Counts of what a reader leaves out and changes, and a list of what it skips."""

    dropped: Counter[str] = field(default_factory=Counter)
    """How many of what was left out."""
    changed: Counter[str] = field(default_factory=Counter)
    """How many of what was changed."""
    skipped: list[SkippedPart] = field(default_factory=list)
    """What was broken and skipped."""

    def skip(self, what: str, part: SkippedPart) -> None:
        """Skip a broken part."""
        self.dropped[what] += 1
        self.skipped.append(part)

    def fault(
        self, fault: Malformed, source: str, line: int, last_line: int, broken: Broken
    ) -> None:
        """Skip a sentence with a fault."""
        reason = f"{source}:{fault.line}: {fault}"
        if broken == "error":
            raise DbpcfgError(f"{reason}; {SKIP_HINT}") from None
        self.skip("broken sentences", SkippedPart(source, line, last_line, reason))


def checked_broken(broken: str) -> Broken:
    """What to do with broken parts of files, checked."""
    for known in get_args(Broken):
        if broken == known:
            checked: Broken = known
            return checked
    raise DbpcfgError(f"broken must be 'error' or 'skip', not {broken!r}")
