"""Random trees whose constituents may have gaps, and a naive definition of raising."""

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import strategies as st

from dbpcfg.trees.tree import Tree


@dataclass
class Vertex:
    """A constituent or, if it has a place, a word."""

    label: str
    edge: str
    place: int = -1
    children: list = field(default_factory=list)

    def places(self):
        below = [place for child in self.children for place in child.places()]
        return sorted(below) if self.place < 0 else [self.place]

    def vertices(self):
        """This one and those below it, children first."""
        return [*(v for child in self.children for v in child.vertices()), self]


NAMES = st.sampled_from(["NP", "VP", "S"])
EDGES = st.sampled_from(["HD", "NK", "MO"])


@st.composite
def graphs(draw, crossing=True):
    """A root over words in a random order (or in theirs), grouped at random."""
    words = draw(st.integers(1, 9))
    order = list(range(words))
    if crossing:
        order = draw(st.permutations(order))
    parts = [Vertex("W", draw(EDGES), place) for place in order]
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(parts) - 1))
        stop = draw(st.integers(start + 1, len(parts)))
        parts[start:stop] = [Vertex(draw(NAMES), draw(EDGES), children=parts[start:stop])]
    return Vertex("ROOT", "--", children=parts)


def as_tree(root):
    """The tree of a graph without gaps, word i called wi."""
    children = sorted(root.children, key=Vertex.places)
    return Tree(root.label, [f"w{root.place}"] if root.place >= 0 else map(as_tree, children))


def gaps(root):
    """How many constituents have gaps."""
    return sum(any(b != a + 1 for a, b in pairwise(v.places())) for v in root.vertices())


def naively_raised(root):
    """The same graph, with blocks raised one constituent after the other."""

    def visit(vertex):
        """The vertex without gaps, and what it gives its parent."""
        if vertex.place >= 0:
            return vertex, []
        own, others = [], []
        for child in vertex.children:
            kept, given = visit(child)
            own.append(kept)
            others += given
        blocks = []
        for place in sorted(p for part in (*own, *others) for p in part.places()):
            if blocks and blocks[-1][-1] == place - 1:
                blocks[-1].append(place)
            else:
                blocks.append([place])

        def weight(block):
            mine = [part for part in own if part.places()[0] in block]
            heads = any(part.edge == "HD" for part in mine)
            words = sum(part.place >= 0 for part in mine)
            return heads, words, bool(mine), len(block), -block[0]

        best = max(blocks, key=weight)
        parts = [*own, *others]
        stay = [part for part in parts if part.places()[0] in best]
        go = [part for part in parts if part.places()[0] not in best]
        return Vertex(vertex.label, vertex.edge, children=stay), go

    whole, rest = visit(root)
    assert not rest
    return whole


def numbered(root):
    """Each constituent but the root with a number from 500, and each vertex's parent's number."""
    phrases = [vertex for vertex in root.vertices()[:-1] if vertex.place < 0]
    numbers = {id(vertex): 500 + n for n, vertex in enumerate(phrases)}
    parents = {id(child): numbers[id(v)] for v in phrases for child in v.children}
    words = sorted((v for v in root.vertices() if v.place >= 0), key=lambda v: v.place)
    return words, phrases, numbers, parents
