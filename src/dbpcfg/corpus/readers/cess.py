"""CESS and AnCora brackets (``.tbf``): Penn brackets with a word and its lemma in each leaf.

``(da0ms0 El el)`` is the word *El* with the tag ``da0ms0``; lemmas are not read.  Labels lose their
functions, ``sn-SUJ`` is ``sn``.  Elided subjects, ``(sn.e-SUJ *0*)``, are empty elements and go, as
traces do.  The words ``-Fpa-`` and ``-Fpt-`` are round brackets, ``-LRB-`` and ``-RRB-``.  A leaf
of more than two tokens is kept as it is, and counted.

The files are in ISO-8859-1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

from dbpcfg.corpus.readers.penn import category, read_with
from dbpcfg.corpus.sentence import Broken, Notes, Sentence
from dbpcfg.trees.tree import Tree

_ELIDED = "*0*"
_BRACKETS = {"-Fpa-": "-LRB-", "-Fpt-": "-RRB-"}


def read_cess(
    text: str,
    source: str = "<text>",
    *,
    function_tags: bool = False,
    empty_elements: bool = False,
    broken: Broken = "error",
    notes: Notes | None = None,
) -> Iterator[Sentence]:
    """Read CESS or AnCora brackets.

    ``notes``: counts what is left out, and lists what is skipped.
    """
    relabel = cache(str if function_tags else category)

    def clean(tree: Tree, dropped: Counter[str]) -> Tree | None:
        def cleaned(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
            first = parts[0]
            if isinstance(first, str) and len(parts) <= 2 and not isinstance(parts[-1], Tree):
                if first == _ELIDED and not empty_elements:
                    return None
                return Tree(relabel(node.label), (_BRACKETS.get(first, first),))
            children = tuple([part for part in parts if part is not None])
            if len(children) > 2 and all(isinstance(child, str) for child in children):
                dropped["leaves of more than a word and its lemma (kept as words)"] += 1
            return Tree.unchecked(relabel(node.label), children) if children else None

        return tree.fold(str, cleaned)

    yield from read_with(clean, text, source, broken, Notes() if notes is None else notes)
