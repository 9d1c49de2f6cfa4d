"""CESS and AnCora brackets (``.tbf``): Penn brackets with a word and its lemma in each leaf.

``(da0ms0 El el)`` is the word *El* with the tag ``da0ms0``; lemmas are not read.  Labels lose their
functions and the marks of coordination, apposition and elision: ``sn-SUJ``, ``sn.co`` and ``sn.x``
are ``sn``.  Elided subjects, ``(sn.e-SUJ *0*)``, are empty elements: they go and are counted.  The
words ``-Fpa-`` and ``-Fpt-`` are round brackets, ``-LRB-`` and ``-RRB-``.  A leaf of more than two
tokens is kept as it is, and counted.

The files are in ISO-8859-1.  They are recognised as Penn brackets of which the first leaves all
have a word and a lemma, and tags such as ``da0ms0``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dbpcfg.corpus.readers import CorpusReader, Source
from dbpcfg.corpus.readers.penn import EMPTY, PENN, category, read_with
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.trees.tree import Tree

_MARK = re.compile(r"\.(co|x|e)$")
_ELIDED = "*0*"
_LEAF = re.compile(r"\(([^\s()]+(?:\s+[^\s()]+)+)\s*\)", re.ASCII)
_LEAVES = 2000
"""Characters in which leaves are looked at."""
_EAGLES = re.compile(r"[acdnpsvrz][a-z][a-z0-9]*[0-9][a-z0-9]*", re.ASCII)
_BRACKETS = {"-Fpa-": "-LRB-", "-Fpt-": "-RRB-"}


def _category(label: str) -> str:
    return _MARK.sub("", category(label))


def _read(text: str, source: Source) -> Iterator[Sentence]:
    relabel = cache(str if source.function_tags else _category)

    def clean(tree: Tree, counts: Source) -> Tree | None:
        def cleaned(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
            first = parts[0]
            if isinstance(first, str) and len(parts) <= 2 and not isinstance(parts[-1], Tree):
                if first == _ELIDED and not source.empty_elements:
                    counts.removed[EMPTY] += 1
                    return None
                return Tree(relabel(node.label), (_BRACKETS.get(first, first),))
            children = tuple([part for part in parts if part is not None])
            if len(children) > 2 and all(isinstance(child, str) for child in children):
                counts.suspicious["leaves of more than a word and its lemma"] += 1
            return Tree.unchecked(relabel(node.label), children) if children else None

        return tree.fold(str, cleaned)

    return read_with(clean, text, source)


def _recognises(text: str) -> bool:
    leaves = [leaf.split() for leaf in _LEAF.findall(text, 0, _LEAVES)]
    lemmas = all(len(leaf) == 3 or leaf[-1] == "*0*" for leaf in leaves)
    eagles = any(_EAGLES.fullmatch(leaf[0]) for leaf in leaves)
    return bool(lemmas and eagles and PENN.recognises(text))


CESS = CorpusReader(_read, (".tbf",), _recognises, has_function_tags=True)
