"""Trees in the brackets of the Penn Treebank: ``(S (NP (D the) (N dog)) (V barks))``.

* Only ASCII white space separates; any other character may be part of a word or label.
* A label directly follows its bracket.  A bracket followed by white space or another bracket has
  the empty label, like the treebank's top bracket in ``( (S (V go)))``.
* A round bracket inside a word or label is written ``-LRB-`` or ``-RRB-``, as in treebanks.  The
  reader does not convert these back, because texts have real ``-LRB-`` tokens; all other tokens
  are read as they were written.
* An empty word, or white space inside a word or label, cannot be written: `TreeSyntaxError`.

`Tree.bracketed` writes brackets; this module reads them.  `evalb_line` writes them for EVALB and
similar tools: one tree a line, below a node ``TOP``.  These tools do not score preterminals: a word
without one gets the tag ``XX``, which is the Penn Treebank's for unknown parts of speech.  A node
without a label becomes ``X``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.tree import Tree

_TOKEN = re.compile(r"\([^\s()]*|\)|[^\s()]+", re.ASCII)  # an opening bracket takes its label
_LINE_BREAK = re.compile(r"\r\n?|\n")
_QUOTED = 40  # characters of the text that a message repeats, at most
_OUTSIDE = re.compile(rf"[^()\r\n]{{1,{_QUOTED}}}(?<!\s)", re.ASCII)
_LOOKS_LIKE = "a tree looks like (S (NP (D the) (N dog)) (V barks))"
_BRACKET_IN_WORD = "a bracket inside a word is written -LRB- or -RRB-"


def read_trees(text: str, source: str = "<string>", *, drop_empty: bool = False) -> Iterator[Tree]:
    """Read all trees of a text; line breaks do not matter.

    Equal preterminals may be the same object.

    ``drop_empty``: drop nodes without children, and parents that become empty; otherwise such nodes
    are an error.
    """
    trees = _read(text.removeprefix("\ufeff"), source, drop_empty)
    return (tree for _, tree in trees if tree is not None)


def read_trees_at(
    text: str, source: str = "<string>", *, drop_empty: bool = False, first_line: int = 1
) -> Iterator[tuple[int, Tree | None]]:
    """Read all trees of a text with their line numbers; None for a tree that is dropped.

    ``drop_empty``: see `read_trees`.
    ``first_line``: the number of the first line of the text.
    """
    text = text.removeprefix("\ufeff")
    line, counted = first_line, 0
    for offset, tree in _read(text, source, drop_empty, first_line):
        line += len(_LINE_BREAK.findall(text, counted, offset))
        counted = offset
        yield line, tree


def read_tree(text: str, source: str = "<string>") -> Tree:
    """Read the tree of a text that has exactly one."""
    text = text.removeprefix("\ufeff")
    trees = list(islice(((offset, tree) for offset, tree in _read(text, source) if tree), 2))
    if not trees:
        raise _error(text, 0, source, "no tree", "exactly one tree", _LOOKS_LIKE)
    if len(trees) > 1:
        hint = "read_trees reads many"
        raise _error(text, trees[1][0], source, "a second tree", "exactly one tree", hint)
    return trees[0][1]


def _read(
    text: str, source: str, drop_empty: bool = False, first_line: int = 1
) -> Iterator[tuple[int, Tree | None]]:
    """The trees with the offsets of their first brackets; None for a tree that is dropped."""
    # Most nodes are preterminals seen before; sharing them halves time and memory.
    preterminal = cache(lambda label, word: Tree(label, [word]))
    unclosed: list[tuple[int, str, list[Tree | str]]] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] == "(":
            unclosed.append((match.start(), token[1:], []))
        elif not unclosed:
            if token == ")":
                found, hint = "a ')' that closes nothing", "is a '(' missing before it?"
            else:
                stray = next(_OUTSIDE.finditer(text, match.start()))[0]
                found, hint = f"{stray!r} outside any bracket", _LOOKS_LIKE
            expected = "'(' or the end of the text"
            raise _error(text, match.start(), source, found, expected, hint, first_line)
        elif token != ")":
            unclosed[-1][2].append(token)
        else:
            offset, label, children = unclosed.pop()
            if not children:
                in_word = _TOKEN.match(text, offset - 1) if offset else None  # as in foo(bar)
                if drop_empty and (in_word is None or in_word[0][0] in "()"):
                    if not unclosed:
                        yield offset, None
                    continue
                found = f"an empty node labelled {label[:_QUOTED]!r}"
                hint = (
                    f"a word needs a label, as in (N dog); {_BRACKET_IN_WORD}; "
                    "drop_empty leaves out such nodes"
                )
                expected = "a word or a node inside it"
                raise _error(text, offset, source, found, expected, hint, first_line)
            if len(children) == 1 and isinstance(children[0], str):
                tree = preterminal(label, children[0])
            else:
                tree = Tree(label, children)
            if unclosed:
                unclosed[-1][2].append(tree)
            else:
                yield offset, tree
    if unclosed:
        expected = f"{len(unclosed)} more ')'"
        hint = "the bracket at this place is never closed"
        found = "the end of the text"
        raise _error(text, unclosed[0][0], source, found, expected, hint, first_line)


def _error(
    text: str,
    offset: int,
    source: str,
    found: str,
    expected: str,
    hint: str,
    first_line: int = 1,
) -> TreeSyntaxError:
    # Lines are counted only for errors, to keep reading fast.
    lines = _LINE_BREAK.split(text[:offset])
    location = f"{source}:{len(lines) + first_line - 1}:{len(lines[-1]) + 1}"
    return TreeSyntaxError(f"{location}: found {found}, expected {expected}; hint: {hint}")


TOP, TAG, LABEL = "TOP", "XX", "X"
_TOPS = ("", "TOP", "ROOT")


def evalb_line(tree: Tree) -> str:
    """Write a tree on one line for EVALB."""
    labelled = tree.fold(lambda word: Tree(TAG, (word,)), _labelled)
    if tree.label in _TOPS and not tree.preterminal:
        return str(Tree(TOP, labelled.children))
    return str(Tree(TOP, (labelled,)))


def _labelled(node: Tree, children: list[Tree]) -> Tree:
    """A node with a label, over children that have one."""
    if not node.preterminal:
        return Tree(node.label or LABEL, children)
    return children[0] if node.label in _TOPS else node
