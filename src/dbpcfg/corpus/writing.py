"""A prepared corpus as lines of text or trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree


def corpus_lines(prepared: Prepared, kind: str, no_punctuation: bool = False) -> Iterator[str]:
    """Write a prepared corpus, one line a sentence, in its prepared forms.

    A sentence of nothing but punctuation keeps it, so that line i stays sentence i.

    Parameters
    ----------
    prepared
        The corpus.
    kind
        ``"text"`` or ``"penn"``.
    no_punctuation
        Whether punctuation is left out.

    Yields
    ------
    str
        The lines, without their ends.

    Raises
    ------
    DbpcfgError
        If brackets are wanted and a sentence has no tree.
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
    """The tree without some of its words, and without nodes that then have none.

    Parameters
    ----------
    tree
        The tree.
    gone
        For each word whether it is removed; at least one stays.
    """
    marks = iter(gone)

    def kept(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
        children = [part for part in parts if part is not None]
        return Tree(node.label, children) if children else None

    whole = tree.fold(lambda word: None if next(marks) else word, kept)
    assert whole is not None
    return whole
