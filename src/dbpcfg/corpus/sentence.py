"""A sentence as it stands in a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree

__all__ = ["Sentence", "as_sentences"]


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

    def gold_tree(self) -> Tree:
        """Its tree; raises an error if it has none."""
        if self.tree is None:
            raise DbpcfgError(
                f"{self.place}: the sentence has no tree; gold trees come from a treebank in Penn "
                "brackets"
            )
        return self.tree


def as_sentences(items: Iterable[Sentence | Tree], source: str) -> list[Sentence]:
    """Sentences as they are, and those of trees, numbered from 1 in a text called ``source``."""
    return [
        item if isinstance(item, Sentence) else Sentence.from_tree(item, source, number)
        for number, item in enumerate(items, start=1)
    ]
