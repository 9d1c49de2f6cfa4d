"""A sentence as it stands in a file."""

from __future__ import annotations

from dataclasses import dataclass

from dbpcfg.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words, and whatever else the file says of them.

    ``tags`` are parts of speech, one a word; ``tree`` is over exactly these words. ``source`` and
    ``line`` say where the sentence begins.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    tree: Tree | None = None
    speaker: str | None = None
    source: str = "<text>"
    line: int = 0

    @classmethod
    def from_tree(cls, tree: Tree, source: str = "<text>", line: int = 0) -> Sentence:
        """The words of a tree, and its tags if every word has one."""
        words, tags = zip(*tree.leaves())
        return cls(words, tags if all(tags) else None, tree, source=source, line=line)

    @property
    def place(self) -> str:
        """Where the sentence is, as error messages name it."""
        return f"{self.source}:{self.line}"
