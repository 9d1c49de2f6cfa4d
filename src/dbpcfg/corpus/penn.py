"""Penn brackets: treebanks such as the Wall Street Journal (``.mrg``) and CHILDES (``.parsed``).

Trees may share lines or spread over them, as `dbpcfg.trees` reads them.  They are cleaned, the way
that grammar induction is usually scored:

* Labels lose their function tags and annotations: everything from the first ``-``, ``=`` or ``<``,
  so that ``NP-SBJ-1``, ``NP=2`` and ``NP-<ANIM>-<AGENT-V1>`` are all ``NP``.  A label that begins
  with one of these is kept whole (``-LRB-``), and so is ``ADVP|PRT``.
* Empty elements go, and with them the parents that they leave empty.  A preterminal is empty if its
  label has ``NONE`` in it, as every trace of the Penn Treebank has; or if its word is the name of a
  trace between stars, such as ``*T*-1``, ``*PRO*`` or ``*NULL*``: the CHILDES treebank has
  ``(WP *NULL*)``.  Any other word with a star in front is a word, as in web text: ``*``, ``***``,
  ``*NOT*``, ``*sigh*``.
* The outer bracket without a label is called ``ROOT``.
* A node without children (a mistake that real treebanks have) is dropped and counted; but where it
  looks like a bracket inside a word, as in ``(-LRB- ()``, that is an error, since a word would be
  lost.  Trees without words are dropped and counted.

A sentence has tags if each of its words has a labelled preterminal of its own; a word below a
bigger node, as in ``(X the dog)``, has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.brackets import read_trees_at
from dbpcfg.trees.tree import Tree

__all__ = ["read_penn"]

_CATEGORY = re.compile(r"[^-=<]+")
_TRACE = re.compile(r"\*+(?:T|ICH|EXP|RNR|PPA|PRO|NULL|OP)\*(?:-\d+)?", re.ASCII)
_CHILDLESS = re.compile(r"\([^\s()]*\s*\)", re.ASCII)
_LOST_WORD = re.compile(r"\(-[LR][RCS]B-\s*\)|[^\s()]\s*\(\s*\)", re.ASCII)


def read_penn(
    text: str,
    source: str = "<text>",
    dropped: Counter[str] | None = None,
    *,
    function_tags: bool = False,
    empty_elements: bool = False,
) -> Iterator[Sentence]:
    """Read trees in Penn brackets, and clean them.

    Parameters
    ----------
    text
        The content of a file.
    source
        Its name in messages.
    dropped
        Counts what is left out, by reason.
    function_tags
        Whether labels are kept as they are.
    empty_elements
        Whether traces and other empty elements are kept.

    Yields
    ------
    Sentence
        The words, tags and tree of every tree that has words.

    Raises
    ------
    TreeSyntaxError
        If the brackets are not those of trees, or a word would be lost.
    """
    dropped = Counter() if dropped is None else dropped
    childless = len(_CHILDLESS.findall(text))
    if childless:
        _check_lost_words(text, source)
        dropped["nodes without children"] += childless
    relabel = cache(str if function_tags else _category)

    @cache  # preterminals come again and again
    def preterminal(label: str, word: str) -> Tree | None:
        return Tree(relabel(label), (word,)) if empty_elements or _heard(label, word) else None

    def cleaned(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
        if len(parts) == 1 and isinstance(parts[0], str):
            return preterminal(node.label, parts[0])
        children = tuple([part for part in parts if part is not None])
        return Tree.unchecked(relabel(node.label), children) if children else None

    for line, tree in read_trees_at(text, source, empty="drop"):
        root = tree.fold(str, cleaned) if tree else None
        if root is None:
            dropped["trees without words"] += 1
            continue
        sentence = Sentence.from_tree(root, source, line)
        yield sentence if root.label else replace(sentence, tree=Tree("ROOT", root.children))


def _category(label: str) -> str:
    category = _CATEGORY.match(label)
    return category[0] if category else label


def _heard(label: str, word: str) -> bool:
    return "NONE" not in label and not _TRACE.fullmatch(word)


def _check_lost_words(text: str, source: str) -> None:
    lost = _LOST_WORD.search(text)
    if lost is not None:
        line = text.count("\n", 0, lost.end()) + 1
        excerpt = text[max(0, lost.end() - 20) : lost.end()].strip()
        raise TreeSyntaxError(
            f"{source}:{line}: found an empty node at the end of {excerpt!r}, expected a word or "
            "a node inside it; hint: a bracket inside a word is written -LRB- or -RRB-"
        )
