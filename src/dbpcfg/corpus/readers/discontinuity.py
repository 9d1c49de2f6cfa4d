"""Trees from treebanks with discontinuous constituents, by raising.

In Alpino, NEGRA and TIGER treebanks the words of a constituent need not be contiguous, but those of
a `dbpcfg.trees.tree.Tree` must be.  From the words upwards, every constituent with gaps is cut into
blocks of contiguous words.  One block stays, and the others become children of the parent, where
they may fill a gap or be raised again.  The block that stays is

* the one with the head child (the edge ``HD`` or ``hd``);
* without a head, the one with the most words that are children of the constituent itself, then one
  with any original child, then the one with the most words, then the leftmost.  So *a man* stays in
  ``(NP a man … (S who laughs))``.

This is the usual conversion of TIGER to Penn brackets (Boyd 2007 calls it raising), for each block.

Punctuation that is attached to the root makes no gaps.  It is removed first, and then attached to
the lowest constituent with words on both sides of it, or to the root at the beginning or end of the
sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeVar

from dbpcfg.corpus.readers import Malformed, Source
from dbpcfg.corpus.sentence import Sentence, by_characters, by_tags
from dbpcfg.trees.tree import Tree

_SUBSTITUTES = {"$(": "$["}
"""The STTS tag of brackets as in later releases of TIGER, since labels cannot have brackets."""


@dataclass(slots=True, eq=False)
class GraphNode:
    """A constituent or a word."""

    label: str
    """The category of a constituent, or the tag of a word; empty if it has none."""
    line: int
    """Its line in the file."""
    head: bool = False
    """Whether it is the head of its parent."""
    word: str | None = None
    """The word; None if it is a constituent."""
    children: list[GraphNode] = field(default_factory=list)
    """The children of a constituent, in any order."""


class TreePart(Protocol):
    """A sentence in a file."""

    line: int
    """Its first line."""
    last_line: int
    """Its last line."""


AnyPart = TypeVar("AnyPart", bound=TreePart)
Graph: TypeAlias = tuple[GraphNode, list[GraphNode]]
"""The root, and the words in order; every word is a descendant of the root."""


def graph_sentences(
    parts: Iterable[AnyPart],
    graph: Callable[[AnyPart, Counter[str]], Graph],
    source: Source,
) -> Iterator[Sentence]:
    """Turn the sentences of a file into sentences with trees.

    ``graph``: returns the graph of a sentence, and counts what it leaves out.
    """
    for part in parts:
        removed = Counter[str]()
        try:
            root, words = graph(part, removed)
        except Malformed as fault:
            source.skip_or_raise(fault, part.line, part.last_line)
            continue
        source.removed.update(+removed)
        tree = continuous_tree(root, words, source.modified)
        if tree is None:
            source.removed["trees without words"] += 1
        else:
            tags = tuple([node.label for node in words])
            yield Sentence(
                tuple(tree.words()),
                tags if all(tags) else None,
                tree,
                source=source.name,
                line=part.line,
            )


def is_head(edge: str) -> bool:
    """Whether an edge is labelled as that of a head."""
    return edge in ("HD", "hd")


def as_word(text: str, line: int) -> str:
    """A word as written in brackets; white space inside becomes ``_``."""
    word = "_".join(text.split())
    if not word:
        raise Malformed(line, "found an empty word, expected at least one character")
    return _without_brackets(word)


def as_label(text: str) -> str:
    """A label or tag as written in brackets."""
    return _SUBSTITUTES.get(text) or _without_brackets("_".join(text.split()))


def _without_brackets(token: str) -> str:
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def check_connected(root: GraphNode, nodes: Sequence[GraphNode]) -> None:
    """Raise an error if some nodes are in a cycle."""
    reached = set(map(id, _descendants(root)))
    lost = [node for node in nodes if id(node) not in reached]
    for node in sorted(lost, key=lambda node: node.word is not None)[:1]:
        raise Malformed(
            node.line,
            f"found {node.label[:30]!r} in a cycle of constituents, expected a way to the root",
        )


def continuous_tree(
    root: GraphNode, words: Sequence[GraphNode], modified: Counter[str]
) -> Tree | None:
    """Turn a graph into a tree without gaps; None if there are no words.

    ``root``: the ancestor of all words.
    ``modified``: counts constituents with gaps and children that are raised.
    """
    if not words:
        return None
    attached_to_root = {
        id(node) for node in root.children if node.word is not None and _punctuation(node)
    }
    if len(attached_to_root) == len(words):
        attached_to_root = set()
    leaves: dict[int, _Part] = {}
    removed_marks: list[_Part] = []
    rank = 0
    for position, node in enumerate(words):
        if id(node) in attached_to_root:
            removed_marks.append(_Part(node.label, rank, rank, position, node.word))
        else:
            leaves[id(node)] = _Part(node.label, rank, rank + 1, position, node.word)
            rank += 1
    top = _close_all_gaps(root, leaves, modified)
    for part in removed_marks:
        _lowest_around(top, part.start).marks.append(part)
    return _tree(top)


@dataclass(slots=True, eq=False)
class _Part:
    """A constituent without gaps, or a word."""

    label: str
    start: int
    end: int
    """The span of words, not counting removed punctuation."""
    position: int
    """The position of the first word in the sentence."""
    word: str | None = None
    children: list[_Part] = field(default_factory=list)
    marks: list[_Part] = field(default_factory=list)
    """Punctuation that was removed and attached here."""
    head: bool = False
    raised: bool = False


def _descendants(root: GraphNode) -> Iterator[GraphNode]:
    """All nodes, parents before their children."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(node.children)


def _punctuation(node: GraphNode) -> bool:
    return by_tags((node.label,))[0] or by_characters((node.word or "",))[0]


def _close_all_gaps(root: GraphNode, leaves: dict[int, _Part], modified: Counter[str]) -> _Part:
    """Close the gaps of all constituents; ``leaves`` are words other than removed punctuation."""
    parts_of: dict[int, list[_Part]] = {}  # of each node, first the part that stays, then raised
    for node in reversed(list(_descendants(root))):
        if node.word is not None:
            parts_of[id(node)] = [leaves[id(node)]] if id(node) in leaves else []
        else:
            parts = [part for child in node.children for part in parts_of.pop(id(child))]
            parts_of[id(node)] = _close_gaps(node, parts, modified) if parts else []
        for part in parts_of[id(node)][:1]:
            part.head = node.head
    (top,) = parts_of[id(root)]
    return top


def _close_gaps(node: GraphNode, parts: list[_Part], modified: Counter[str]) -> list[_Part]:
    parts.sort(key=attrgetter("start"))
    blocks: list[list[_Part]] = []
    for part in parts:
        if blocks and blocks[-1][-1].end == part.start:
            blocks[-1].append(part)
        else:
            blocks.append([part])
    staying = max(blocks, key=_priority)
    others = [part for block in blocks if block is not staying for part in block]
    if others:
        modified["constituents with gaps"] += 1
        modified["children raised to close gaps"] += sum(not part.raised for part in others)
    for part in others:
        part.raised, part.head = True, False
    first, last = staying[0], staying[-1]
    return [_Part(node.label, first.start, last.end, first.position, children=staying), *others]


def _priority(block: list[_Part]) -> tuple[bool, int, bool, int]:
    children = [part for part in block if not part.raised]
    words = sum(part.word is not None for part in children)
    return (
        any(part.head for part in children),
        words,
        bool(children),
        block[-1].end - block[0].start,
    )


def _lowest_around(top: _Part, rank: int) -> _Part:
    """The lowest constituent with words on both sides of a position."""
    part = top
    if not top.start < rank < top.end:
        return top
    while True:
        inner = part.children[bisect_left(part.children, rank, key=attrgetter("start")) - 1]
        if inner.end <= rank or inner.word is not None:
            return part
        part = inner


def _tree(top: _Part) -> Tree:
    order: list[_Part] = []
    todo = [top]
    while todo:
        order.append(todo.pop())
        todo.extend(order[-1].children)
    built: dict[int, Tree | str] = {}
    for part in reversed(order):
        if part.word is not None:
            built[id(part)] = _leaf(part)
            continue
        for mark in part.marks:
            built[id(mark)] = _leaf(mark)
        children = sorted([*part.children, *part.marks], key=attrgetter("position"))
        inner = tuple([built.pop(id(child)) for child in children])
        built[id(part)] = Tree.unchecked(part.label, inner)
    tree = built[id(top)]
    assert isinstance(tree, Tree)
    return tree


def _leaf(part: _Part) -> Tree | str:
    assert part.word is not None
    return Tree(part.label, (part.word,)) if part.label else part.word
