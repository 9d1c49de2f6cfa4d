"""A sentence as it stands in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, with what its file says about it."""

    words: tuple[str, ...]
    """The words from left to right."""
    tags: tuple[str, ...] | None = None
    """Parts of speech, one a word; None if the file has none."""
    tree: Tree | None = None
    """A tree over exactly these words."""
    speaker: str | None = None
    """Who said it, by code or role."""
    source: str = "<text>"
    """The file."""
    line: int = 0
    """The line on which it begins, counted from 1."""
    xpos: tuple[str, ...] | None = None
    """Parts of speech of the treebank's own, beside universal ones; CoNLL-U has both."""
    heads: tuple[int, ...] | None = None
    """The position of each word's head, from 0, and -1 for the root; only CoNLL-U has them."""

    @classmethod
    def from_tree(cls, tree: Tree, source: str = "<text>", line: int = 0) -> Sentence:
        """The words of a tree, and its tags if every word has one.

        Parameters
        ----------
        tree
            The tree.
        source
            The file that it comes from.
        line
            Its line there.
        """
        words, tags = zip(*tree.leaves())
        return cls(words, tags if all(tags) else None, tree, source=source, line=line)

    @property
    def place(self) -> str:
        """Where the sentence is, as error messages name it."""
        return f"{self.source}:{self.line}"

    def gold_tree(self) -> Tree:
        """Its tree.

        Raises
        ------
        DbpcfgError
            If it has none.
        """
        if self.tree is None:
            raise DbpcfgError(
                f"{self.place}: the sentence has no tree; gold trees come from a treebank, "
                "such as one in Penn brackets"
            )
        return self.tree


def as_sentences(items: Iterable[Sentence | Tree], source: str) -> list[Sentence]:
    """Make sentences of trees.

    ``source``: the name of the text that trees are lines of.
    """
    return [
        item if isinstance(item, Sentence) else Sentence.from_tree(item, source, number)
        for number, item in enumerate(items, start=1)
    ]


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
