"""A sentence as it stands in a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
