"""A prepared corpus as lines of text or trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree


def lines(prepared: Prepared, kind: str, no_punctuation: bool = False) -> Iterator[str]:
    """One line a sentence, of ``text`` or of ``penn`` brackets, in its prepared forms.

    A sentence of nothing but punctuation keeps it, so that line i stays sentence i.
    """
    for sentence, forms, marks in zip(
        prepared.sentences, prepared.forms, prepared.punctuation, strict=True
    ):
        drop = marks if no_punctuation and not all(marks) else (False,) * len(marks)
        if kind == "text":
            yield " ".join(form for form, gone in zip(forms, drop, strict=True) if not gone)
            continue
        if sentence.tree is None:
            raise DbpcfgError(f"{sentence.place}: the sentence has no tree; convert it to text")
        yield str(without_words(sentence.tree.replace_words(forms), drop))


def without_words(tree: Tree, gone: Sequence[bool]) -> Tree:
    """The tree without some of its words, and without nodes that are left with none.

    At least one word must stay.
    """
    built: list[Tree | str | None] = []
    position = len(gone)
    for label, size, word in _reversed(tree):
        if word is not None:
            position -= 1
            built.append(None if gone[position] else word)
        else:
            children = [child for child in (built.pop() for _ in range(size)) if child is not None]
            built.append(Tree(label, children) if children else None)
    (whole,) = built
    assert isinstance(whole, Tree)
    return whole


def _reversed(tree: Tree) -> list[tuple[str, int, str | None]]:
    """Nodes and words from the last to the first in pre-order: label, number of children, word."""
    listed: list[tuple[str, int, str | None]] = []
    todo: list[Tree | str] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            listed.append(("", 0, item))
        else:
            listed.append((item.label, len(item.children), None))
            todo.extend(reversed(item.children))
    return listed[::-1]
