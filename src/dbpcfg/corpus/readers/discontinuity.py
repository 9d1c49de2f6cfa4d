"""Trees from treebanks with crossing branches: what makes a gap in a constituent is raised.

In Alpino, NEGRA and TIGER treebanks a constituent may have gaps: its words need not be next to
each other.  A `dbpcfg.trees.tree.Tree` has no gaps.  From the words upwards, every constituent with
gaps is cut into blocks of neighbouring words.  One block stays, the others become children of the
parent, and there may fill a gap or be raised again:

* the block with the head child stays (the edge ``HD`` or ``hd``);
* without a head, the one with most words that are children of the constituent itself, then one with
  any child of its own and not only raised ones, then the one with most words, then the leftmost.
  So *a man* stays in ``(NP a man … (S who laughs))``.

This is the usual conversion of TIGER to Penn brackets (Boyd 2007 calls it raising), for each block.

Punctuation that hangs on the root is no reason for gaps.  It is taken off before the cutting, and
put back at the lowest constituent that has words on both sides of it; at the beginning or end of
the sentence it stays on the root.
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
"""The tag of brackets in STTS, as later releases of TIGER write it: labels cannot hold brackets."""


@dataclass(slots=True, eq=False)
class GraphNode:
    """A constituent or a word of a graph."""

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
    """A sentence in a file, as a reader found it."""

    line: int
    """Its first line."""
    last_line: int
    """Its last line."""


AnyPart = TypeVar("AnyPart", bound=TreePart)
Graph: TypeAlias = tuple[GraphNode, list[GraphNode]]
"""The root, and the words in their order; every word is below the root."""


def graph_sentences(
    parts: Iterable[AnyPart],
    graph: Callable[[AnyPart, Counter[str]], Graph],
    source: Source,
) -> Iterator[Sentence]:
    """Make sentences with trees of the sentences of a file.

    ``graph``: makes the graph of a sentence, and counts what it leaves out.
    """
    for part in parts:
        removed = Counter[str]()
        try:
            root, words = graph(part, removed)
        except Malformed as fault:
            source.skip_or_raise(fault, part.line, part.last_line)
            continue
        source.removed.update(+removed)
        tree = raised(root, words, source.modified)
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
    """Whether the label of an edge is that of heads."""
    return edge in ("HD", "hd")


def as_word(text: str, line: int) -> str:
    """A word as it can stand in a sentence and in brackets.

    ``text``: the word in the file; white space inside becomes ``_``.
    """
    word = "_".join(text.split())
    if not word:
        raise Malformed(line, "found an empty word, expected at least one character")
    return _without_brackets(word)


def as_label(text: str) -> str:
    """A label or tag as it can stand in brackets."""
    return _SUBSTITUTES.get(text) or _without_brackets("_".join(text.split()))


def _without_brackets(token: str) -> str:
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def check_connected(root: GraphNode, nodes: Sequence[GraphNode]) -> None:
    """Raise an error if nodes, each of which has one parent, are in a cycle."""
    reached = set(map(id, _below(root)))
    lost = [node for node in nodes if id(node) not in reached]
    for node in sorted(lost, key=lambda node: node.word is not None)[:1]:
        raise Malformed(
            node.line,
            f"found {node.label[:30]!r} in a cycle of constituents, expected a way to the root",
        )


def raised(root: GraphNode, words: Sequence[GraphNode], modified: Counter[str]) -> Tree | None:
    """Make a tree without gaps of a graph.

    ``root``: the root; every word is below it.
    ``changed``: counts constituents with gaps and the children that are raised.
    Returns the tree; None if there are no words.
    """
    if not words:
        return None
    loose = {id(node) for node in root.children if node.word is not None and _punctuation(node)}
    if len(loose) == len(words):
        loose = set()
    leaves: dict[int, _Part] = {}
    taken_off: list[_Part] = []
    rank = 0
    for position, node in enumerate(words):
        if id(node) in loose:
            taken_off.append(_Part(node.label, rank, rank, position, node.word))
        else:
            leaves[id(node)] = _Part(node.label, rank, rank + 1, position, node.word)
            rank += 1
    top = _cut(root, leaves, modified)
    for part in taken_off:
        _lowest_around(top, part.start).marks.append(part)
    return _tree(top)


@dataclass(slots=True, eq=False)
class _Part:
    """A constituent without gaps, or a word."""

    label: str
    start: int
    end: int
    """Its words, counted without the punctuation that was taken off."""
    position: int
    """Where it begins in the sentence."""
    word: str | None = None
    children: list[_Part] = field(default_factory=list)
    marks: list[_Part] = field(default_factory=list)
    """Punctuation that was put back."""
    head: bool = False
    raised: bool = False


def _below(root: GraphNode) -> Iterator[GraphNode]:
    """All nodes, parents before their children."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(node.children)


def _punctuation(node: GraphNode) -> bool:
    return by_tags((node.label,))[0] or by_characters((node.word or "",))[0]


def _cut(root: GraphNode, leaves: dict[int, _Part], modified: Counter[str]) -> _Part:
    """The root as one part; the leaves are those of the words that were not taken off."""
    given: dict[int, list[_Part]] = {}  # what a node gives its parent, the part that stays first
    for node in reversed(list(_below(root))):
        if node.word is not None:
            given[id(node)] = [leaves[id(node)]] if id(node) in leaves else []
        else:
            parts = [part for child in node.children for part in given.pop(id(child))]
            given[id(node)] = _block_that_stays(node, parts, modified) if parts else []
        for part in given[id(node)][:1]:
            part.head = node.head
    (top,) = given[id(root)]
    return top


def _block_that_stays(node: GraphNode, parts: list[_Part], modified: Counter[str]) -> list[_Part]:
    parts.sort(key=attrgetter("start"))
    blocks: list[list[_Part]] = []
    for part in parts:
        if blocks and blocks[-1][-1].end == part.start:
            blocks[-1].append(part)
        else:
            blocks.append([part])
    kept = max(blocks, key=_weight)
    others = [part for block in blocks if block is not kept for part in block]
    if others:
        modified["constituents with gaps"] += 1
        modified["children raised to close gaps"] += sum(not part.raised for part in others)
    for part in others:
        part.raised, part.head = True, False
    first, last = kept[0], kept[-1]
    return [_Part(node.label, first.start, last.end, first.position, children=kept), *others]


def _weight(block: list[_Part]) -> tuple[bool, int, bool, int]:
    own = [part for part in block if not part.raised]
    words = sum(part.word is not None for part in own)
    return any(part.head for part in own), words, bool(own), block[-1].end - block[0].start


def _lowest_around(top: _Part, rank: int) -> _Part:
    """The lowest constituent with words on both sides of a place."""
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
